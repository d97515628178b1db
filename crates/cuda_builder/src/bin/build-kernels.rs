//! Compiles a kernel crate and writes the compiled modules to its folder `ptx`, or checks the committed ones.

use cuda_builder::{BuildError, CudaBuilder};
use std::process::ExitCode;
use std::{env, path};

const USAGE: &str = "\
usage: build-kernels <folder of the kernel crate> [<module>...] [--check]

Compiles each module (a feature of the kernel crate; without any, all of them) for its targets, writes
<folder>/ptx/<module>.<target>.ptx, and lists in <folder>/ptx/index.toml what it was compiled from.

  --check          compares with the files that are there instead of writing them; the exit status is 1 if any differs
";

struct Arguments {
    builder: CudaBuilder,
    check: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let result = match parse(arguments) {
        Err(problem) => {
            eprint!("error: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
        Ok(Arguments { builder, check: true }) => check(builder),
        Ok(Arguments { builder, check: false }) => commit(builder),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn parse(arguments: Vec<String>) -> Result<Arguments, String> {
    let (mut folder, mut modules, mut check) = (None, Vec::new(), false);
    for argument in arguments {
        match argument.as_str() {
            "--check" => check = true,
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ if folder.is_none() => folder = Some(argument),
            _ => modules.push(argument),
        }
    }
    // Relative to the current folder. In a build script, folders are relative to its package.
    let folder = folder.ok_or("the folder of the kernel crate is missing")?;
    let folder = path::absolute(folder).map_err(|error| error.to_string())?;
    let builder = modules.into_iter().fold(CudaBuilder::new(folder), CudaBuilder::module);
    Ok(Arguments { builder, check })
}

fn commit(builder: CudaBuilder) -> Result<ExitCode, BuildError> {
    let committed = builder.commit()?;
    show(&committed.warnings);
    for file in committed.files {
        println!("{}", file.display());
    }
    for file in committed.removed {
        println!("removed {}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn check(builder: CudaBuilder) -> Result<ExitCode, BuildError> {
    let check = builder.check()?;
    show(&check.warnings);
    for (module, compiler) in &check.other_compilers {
        println!("{module}: made by {compiler}; this is {}, so only the sources were compared", check.compiler);
    }
    for difference in &check.differences {
        eprintln!("error: {difference}");
    }
    Ok(if check.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(warnings: &[String]) {
    for warning in warnings {
        eprintln!("{warning}\n");
    }
}
