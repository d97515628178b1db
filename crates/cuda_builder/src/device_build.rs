//! Compiling one module for one target.

use crate::Arch;
use crate::compiler::{Compiler, Core, TARGET};
use crate::environment;
use crate::error::BuildError;
use crate::flags::Flags;
use crate::kernel_crate::KernelCrate;
use crate::messages::Messages;
use crate::output::write_if_changed;
use crate::registers;
use crate::watch;
use crate::wrapper::{Module, Wrapper, quoted};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The build script of a kernel crate leaves the digest of the sources here.
const SOURCES: &str = "SLM_KERNEL_SOURCES";

/// How modules of one kernel crate are compiled.
#[derive(Debug)]
pub(crate) struct DeviceBuild<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) kernels: &'a KernelCrate,
    /// The nested target folder.
    pub(crate) target_dir: &'a Path,
    pub(crate) release: bool,
}

/// The files that cargo and the compiler leave.
#[derive(Debug)]
struct Results {
    assembly: PathBuf,
    dep_info: PathBuf,
}

impl Results {
    fn of(wrapper: &Wrapper, arch_dir: &Path) -> Results {
        let release = arch_dir.join(TARGET).join("release");
        Results {
            // A place that is named on the command line. Where cargo would put the file depends on its version.
            assembly: wrapper.dir.join(&wrapper.library).with_extension("s"),
            dep_info: release.join(&wrapper.library).with_extension("d"),
        }
    }

    /// Removes those of an earlier run, so that they can never be taken for this one's.
    fn remove(&self) -> Result<(), BuildError> {
        for file in [&self.assembly, &self.dep_info] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(BuildError::io(file)(error)),
                _ => {}
            }
        }
        Ok(())
    }
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
        let results = Results::of(&wrapper, &self.arch_dir(arch));
        results.remove()?;
        let (messages, output) = self.compile(&wrapper, &results, arch)?;
        if !output.status.success() {
            return Err(failure(&messages, &output, module, arch));
        }
        let manifest = self.kernels.dir.join("Cargo.toml");
        let no_sources = || BuildError::NoSources { package: self.kernels.package.clone() };
        let sources = messages.variable(&manifest, SOURCES).ok_or_else(no_sources)?;
        let own = [wrapper.dir.as_path(), self.compiler.sysroot.as_path()];
        let assembly = fs::read_to_string(&results.assembly).map_err(BuildError::io(&results.assembly))?;
        Ok(Compiled {
            ptx: registers::limit(&assembly),
            sources: sources.to_owned(),
            flags: self.flags(arch).to_string(),
            files: watch::files(&results.dep_info, messages.manifests(), &own)?,
            warnings: messages.warnings,
        })
    }

    fn flags(&self, arch: Arch) -> Flags {
        Flags { arch, core: self.compiler.core, release: self.release }
    }

    /// `core` depends on the flags, so each target has a folder of its own and keeps what was compiled.
    fn arch_dir(&self, arch: Arch) -> PathBuf {
        self.target_dir.join(arch.to_string())
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
    fn compile(&self, wrapper: &Wrapper, results: &Results, arch: Arch) -> Result<(Messages, Output), BuildError> {
        let assembly = &results.assembly;
        if let (Core::Sources, Some(vendored)) = (self.compiler.core, self.compiler.vendored()) {
            let directory = format!("source.vendored.directory={}", quoted(&vendored));
            let replaced = "source.crates-io.replace-with='vendored'";
            let mut command = self.command(wrapper, arch)?;
            command.args(["--offline", "--config", replaced, "--config", &directory]);
            let done = run(command, assembly)?;
            if done.0.started {
                return Ok(done);
            }
        }
        run(self.command(wrapper, arch)?, assembly)
    }

    fn command(&self, wrapper: &Wrapper, arch: Arch) -> Result<Command, BuildError> {
        let mut command = environment::command(&self.compiler.cargo);
        command.current_dir(&wrapper.dir);
        command.env("RUSTC", &self.compiler.rustc).env("RUSTFLAGS", self.flags(arch).rustflags());
        command.env("RUSTC_WRAPPER", self.rustc_wrapper()?).env("RUSTC_WORKSPACE_WRAPPER", "");
        // There is nothing to link: the assembly is what counts.
        command.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true");
        if let Some(jobs) = env::var_os("NUM_JOBS") {
            command.env("CARGO_BUILD_JOBS", jobs);
        }
        command.args(["rustc", "--release", "--message-format=json", "--target", TARGET, "--target-dir"]);
        command.arg(self.arch_dir(arch));
        if self.compiler.core == Core::Sources {
            command.arg("-Zbuild-std=core");
        }
        for setting in self.flags(arch).profile() {
            command.arg("--config").arg(format!("profile.release.{setting}"));
        }
        Ok(command)
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

/// Runs `command`, a cargo that passes on the order to write `assembly`.
fn run(mut command: Command, assembly: &Path) -> Result<(Messages, Output), BuildError> {
    let mut emit = OsString::from("--emit=asm=");
    emit.push(assembly);
    let program = PathBuf::from(command.get_program());
    let output = command.arg("--").arg(emit).output().map_err(BuildError::io(&program))?;
    Ok((Messages::parse(&String::from_utf8_lossy(&output.stdout)), output))
}

fn failure(messages: &Messages, output: &Output, module: &Module, arch: Arch) -> BuildError {
    let module = module.name.clone();
    if messages.errors.is_empty() {
        let output = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        BuildError::Cargo { module, arch, output }
    } else {
        BuildError::Compile { module, arch, diagnostics: messages.errors.join("\n\n") }
    }
}
