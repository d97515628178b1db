//! Compiling one module for one target.

use crate::Arch;
use crate::compiler::{Compiler, Core, TARGET};
use crate::environment;
use crate::error::BuildError;
use crate::kernel_crate::KernelCrate;
use crate::messages::Messages;
use crate::output::write_if_changed;
use crate::watch;
use crate::wrapper::{Module, Wrapper, quoted};
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The build script of a kernel crate leaves the digest of the sources here.
const SOURCES: &str = "SLM_KERNEL_SOURCES";

/// Loops with a constant number of turns are unrolled whatever their size: an array is in registers only if every
/// index is known when compiling. Other loops are left as they are, since the driver compiles the code once more when
/// it is loaded, and that takes time in proportion to its length.
const UNROLLING: &str = "-Cllvm-args=-unroll-threshold=2000 \
     -Cllvm-args=-unroll-partial-threshold=100 -Cllvm-args=-unroll-runtime=false";

/// How modules of one kernel crate are compiled.
#[derive(Debug)]
pub(crate) struct DeviceBuild<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) kernels: &'a KernelCrate,
    /// The nested target folder.
    pub(crate) target_dir: &'a Path,
    pub(crate) release: bool,
}

/// A compiled module.
#[derive(Debug)]
pub(crate) struct Compiled {
    /// The text without a header.
    pub(crate) ptx: String,
    /// The digest of the sources.
    pub(crate) sources: String,
    /// The flags that it was compiled with; there are no paths in them.
    pub(crate) flags: String,
    pub(crate) warnings: Vec<String>,
    /// The files that it was made of.
    pub(crate) files: Vec<PathBuf>,
}

impl DeviceBuild<'_> {
    pub(crate) fn run(&self, module: &Module, arch: Arch) -> Result<Compiled, BuildError> {
        let _lock = self.lock()?;
        let wrapper = Wrapper::write(self.target_dir, self.kernels, module)?;
        let (messages, output) = self.compile(&wrapper, arch)?;
        if !output.status.success() {
            return Err(failure(&messages, &output, module, arch));
        }
        let artifacts = self
            .target_dir
            .join(arch.to_string())
            .join(TARGET)
            .join("release");
        let assembly = artifacts
            .join("deps")
            .join(format!("{}.s", wrapper.library));
        let no_sources = || BuildError::NoSources {
            package: self.kernels.package.clone(),
        };
        let sources = messages
            .variable(&self.kernels.dir.join("Cargo.toml"), SOURCES)
            .ok_or_else(no_sources)?;
        let own = [wrapper.dir.as_path(), self.compiler.sysroot.as_path()];
        Ok(Compiled {
            ptx: fs::read_to_string(&assembly).map_err(BuildError::io(&assembly))?,
            sources: sources.to_owned(),
            flags: self.flags(arch),
            files: watch::files(
                &artifacts.join(format!("{}.d", wrapper.library)),
                messages.manifests(),
                &own,
            ),
            warnings: messages.warnings,
        })
    }

    /// Keeps other builds out of the nested target folder, in which the wrapper and the result have fixed names.
    fn lock(&self) -> Result<File, BuildError> {
        fs::create_dir_all(self.target_dir).map_err(BuildError::io(self.target_dir))?;
        let path = self.target_dir.join("lock");
        let file = File::create(&path).map_err(BuildError::io(&path))?;
        // On a file system that has no locks, cargo works without them too.
        let _ = file.lock();
        Ok(file)
    }

    /// Runs cargo, if possible without a network.
    ///
    /// To compile `core`, cargo resolves the dependencies of the whole standard library, and would ask the registry for
    /// them; the toolchain may carry their sources. Kernels with dependencies from a registry cannot be resolved that
    /// way, and then cargo is run again as usual.
    fn compile(&self, wrapper: &Wrapper, arch: Arch) -> Result<(Messages, Output), BuildError> {
        if let (Core::Sources, Some(vendored)) = (self.compiler.core, self.compiler.vendored()) {
            let directory = format!("source.vendored.directory={}", quoted(&vendored));
            let replaced = "source.crates-io.replace-with='vendored'";
            let mut command = self.command(wrapper, arch)?;
            let done =
                run(command.args(["--offline", "--config", replaced, "--config", &directory]))?;
            if done.0.started {
                return Ok(done);
            }
        }
        run(&mut self.command(wrapper, arch)?)
    }

    fn command(&self, wrapper: &Wrapper, arch: Arch) -> Result<Command, BuildError> {
        let mut command = environment::command(&self.compiler.cargo);
        command.current_dir(&wrapper.dir);
        command
            .env("RUSTC", &self.compiler.rustc)
            .env("RUSTFLAGS", self.rustflags(arch));
        command
            .env("RUSTC_WRAPPER", self.rustc_wrapper()?)
            .env("RUSTC_WORKSPACE_WRAPPER", "");
        // There is nothing to link: the assembly is what counts.
        command.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true");
        if let Some(jobs) = env::var_os("NUM_JOBS") {
            command.env("CARGO_BUILD_JOBS", jobs);
        }
        command.args([
            "rustc",
            "--release",
            "--message-format=json",
            "--target",
            TARGET,
            "--target-dir",
        ]);
        // `core` depends on the flags, so each target keeps its own.
        command.arg(self.target_dir.join(arch.to_string()));
        if self.compiler.core == Core::Sources {
            command.arg("-Zbuild-std=core");
        }
        for setting in self.profile() {
            command
                .arg("--config")
                .arg(format!("profile.release.{setting}"));
        }
        Ok(command)
    }

    /// On the command line, so that no configuration file of the user changes what is compiled.
    fn profile(&self) -> [&'static str; 8] {
        let [optimised, debug] = match self.release {
            true => ["opt-level=3", "debug=false"],
            false => ["opt-level=1", "debug='line-tables-only'"],
        };
        let [assertions, overflow] = ["debug-assertions=false", "overflow-checks=false"];
        let [lto, units] = ["lto='fat'", "codegen-units=1"];
        [
            optimised,
            debug,
            assertions,
            overflow,
            lto,
            units,
            "panic='abort'",
            "incremental=false",
        ]
    }

    fn rustflags(&self, arch: Arch) -> String {
        let core = self.compiler.core.flags().join(" ");
        format!("-Ctarget-cpu={arch} {core} {UNROLLING}")
    }

    /// What the header says.
    fn flags(&self, arch: Arch) -> String {
        let [optimised, debug, ..] = self.profile();
        format!(
            "{} {optimised} {debug} lto=fat codegen-units=1",
            self.rustflags(arch)
        )
    }

    /// A program that starts the compiler with names that do not depend on folders.
    ///
    /// Cargo derives the value of `-Cmetadata` from a package's path, among others, and the compiler mangles it into the
    /// names of the functions that it does not inline and sorts by them, so the same kernels in another folder would give
    /// other PTX. A package's name and version are enough to tell the crates of a kernel apart. Nothing else in
    /// optimised PTX comes from a path: without panic messages the names of source files are not used.
    fn rustc_wrapper(&self) -> Result<PathBuf, BuildError> {
        const SCRIPT: &str = "#!/bin/sh\n\
            for argument do\n    \
                shift\n    \
                case $argument in metadata=*) argument=metadata=$CARGO_PKG_NAME-$CARGO_PKG_VERSION ;; esac\n    \
                set -- \"$@\" \"$argument\"\n\
            done\n\
            exec \"$@\"\n";
        let path = self.target_dir.join("rustc");
        write_if_changed(&path, SCRIPT)?;
        make_executable(&path)?;
        Ok(path)
    }
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(BuildError::io(path))
}

/// Elsewhere no compiler is looked for.
#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), BuildError> {
    Ok(())
}

fn run(command: &mut Command) -> Result<(Messages, Output), BuildError> {
    let program = PathBuf::from(command.get_program());
    let output = command
        .args(["--", "--emit=asm"])
        .output()
        .map_err(BuildError::io(&program))?;
    Ok((
        Messages::parse(&String::from_utf8_lossy(&output.stdout)),
        output,
    ))
}

fn failure(messages: &Messages, output: &Output, module: &Module, arch: Arch) -> BuildError {
    let module = module.name.clone();
    if messages.errors.is_empty() {
        let output = String::from_utf8_lossy(&output.stderr)
            .trim_end()
            .to_owned();
        BuildError::Cargo {
            module,
            arch,
            output,
        }
    } else {
        BuildError::Compile {
            module,
            arch,
            diagnostics: messages.errors.join("\n\n"),
        }
    }
}
