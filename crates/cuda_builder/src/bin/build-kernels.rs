//! Compiles a kernel crate and keeps its compiled modules beside its sources, or checks the ones that are there.

use cuda_builder::{Arch, BuildError, CudaBuilder};
use std::process::ExitCode;
use std::{env, path};

const USAGE: &str = "\
usage: build-kernels <folder of the kernel crate> [<module>...] [--arch <target>]... [--check]

Compiles each module (a feature of the kernel crate; without any, all of the crate) for each target (without any:
sm_75, sm_80 and sm_90) and writes <folder>/ptx/<module>.<target>.ptx.

  --arch <target>  a target, as in sm_90
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
    let (mut folder, mut modules, mut archs, mut check) = (None, Vec::new(), Vec::new(), false);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => check = true,
            "--arch" => {
                let name = arguments.next().ok_or("--arch needs a target")?;
                archs.push(name.parse::<Arch>().map_err(|error| error.to_string())?);
            }
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ if folder.is_none() => folder = Some(argument),
            _ => modules.push(argument),
        }
    }
    // Relative to where the user is; a build script's folders are relative to its package.
    let folder = folder.ok_or("the folder of the kernel crate is missing")?;
    let folder = path::absolute(folder).map_err(|error| error.to_string())?;
    let builder = modules.into_iter().fold(CudaBuilder::new(folder), CudaBuilder::module);
    Ok(Arguments { builder: archs.into_iter().fold(builder, CudaBuilder::arch), check })
}

fn commit(builder: CudaBuilder) -> Result<ExitCode, BuildError> {
    let committed = builder.commit()?;
    show(&committed.warnings);
    for file in committed.files {
        println!("{}", file.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn check(builder: CudaBuilder) -> Result<ExitCode, BuildError> {
    let check = builder.check()?;
    show(&check.warnings);
    for (file, compiler) in &check.other_compilers {
        println!(
            "{}: made by {compiler}; this is {}, so only the sources were compared",
            file.display(),
            check.compiler
        );
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
