//! Compilation of one module for one target.

use crate::Arch;
use crate::cargo_messages::Messages;
use crate::compiler::{Compiler, Core, TARGET};
use crate::convergence::{Copied, Copies, align_barriers};
use crate::environment;
use crate::error::BuildError;
use crate::files::{remove_if_present, write_if_changed};
use crate::flags::{Flags, Precaution};
use crate::kernel_crate::{KernelCrate, Module};
use crate::line_directives;
use crate::register_limits;
use crate::sources::Sources;
use crate::watched_files;
use crate::wrapper_package::{Wrapper, quoted};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The variable in which a kernel crate's build script passes on the list of its files.
const SOURCES: &str = "SLM_KERNEL_SOURCES";

/// Compiler and settings for the modules of one kernel crate.
#[derive(Debug)]
pub(crate) struct DeviceBuild<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) kernels: &'a KernelCrate,
    /// The nested target folder.
    pub(crate) target_dir: &'a Path,
    pub(crate) release: bool,
    /// Starts the compiler.
    pub(crate) rustc_wrapper: &'a Path,
    /// Builds with the same number run one after the other, because cargo locks its folders.
    pub(crate) job: usize,
    /// Crates that cargo compiles at the same time.
    pub(crate) crates: usize,
}

/// The files that cargo and the compiler write.
#[derive(Debug)]
struct Results {
    assembly: PathBuf,
    /// The same code as LLVM IR.
    ir: PathBuf,
    dep_info: PathBuf,
}

impl Results {
    fn of(wrapper: &Wrapper, arch_dir: &Path) -> Results {
        let release = arch_dir.join(TARGET).join("release");
        Results {
            // The command line names these paths, since cargo's default depends on its version.
            assembly: wrapper.dir.join(&wrapper.library).with_extension("s"),
            ir: wrapper.dir.join(&wrapper.library).with_extension("ll"),
            dep_info: release.join(&wrapper.library).with_extension("d"),
        }
    }

    /// Removes the files of an earlier run, so that they cannot be mistaken for this run's.
    fn remove(&self) -> Result<(), BuildError> {
        [&self.assembly, &self.ir, &self.dep_info].into_iter().try_for_each(|file| remove_if_present(file))
    }
}

/// A module, compiled for one target.
#[derive(Debug)]
pub(crate) struct CompiledImage {
    pub(crate) ptx: String,
    /// Source files and features that it was compiled from.
    pub(crate) sources: Sources,
    /// The files that the kernel crate's build script lists, with their digests.
    pub(crate) listed: String,
    /// The flags that it was compiled with. They contain no paths.
    pub(crate) flags: String,
    pub(crate) warnings: Vec<String>,
    /// Files whose change requires the module to be compiled again.
    pub(crate) watched: Vec<PathBuf>,
}

impl DeviceBuild<'_> {
    /// Compiles `module` so that no warp operation is copied, with as few precautions as possible, since they make the code
    /// slower.
    pub(crate) fn run(&self, module: &Module, arch: Arch) -> Result<CompiledImage, BuildError> {
        // The wrapper and the results have fixed names. Cargo itself locks the folders of targets.
        let _lock = lock(&Wrapper::dir(self.target_dir, self.kernels, module))?;
        let wrapper = Wrapper::write(self.target_dir, self.kernels, module)?;
        let mut copies = Vec::new();
        for precaution in Precaution::ALL {
            let (mut compiled, found) = Attempt { build: self, arch, precaution }.run(&wrapper, module)?;
            if found.is_empty() {
                if precaution == Precaution::NoJumpThreading {
                    compiled.warnings.push(no_jump_threading_warning(module, &copies));
                }
                return Ok(compiled);
            }
            copies = found;
        }
        let copies = copies.iter().map(Copied::to_string).collect();
        Err(BuildError::Copied { module: module.name.clone(), arch, copies })
    }
}

/// Writes a script that starts the compiler with symbol names that do not depend on folders. Returns its path.
///
/// Cargo derives the value of `-Cmetadata` from a package's path, among others. The compiler mangles it into the names
/// of functions that it does not inline, and sorts by them. So the same kernels in another folder would give different
/// PTX. A package's name and version are enough to distinguish the crates of a kernel. Nothing else in optimised PTX
/// depends on a path: without panic messages, the names of source files are not used.
pub(crate) fn write_rustc_wrapper(target_dir: &Path) -> Result<PathBuf, BuildError> {
    const SCRIPT: &str = "#!/bin/sh\n\
        for argument do\n    \
            shift\n    \
            case $argument in metadata=*) argument=metadata=$CARGO_PKG_NAME-$CARGO_PKG_VERSION ;; esac\n    \
            set -- \"$@\" \"$argument\"\n\
        done\n\
        exec \"$@\"\n";
    let path = target_dir.join("rustc");
    // A script that is being written cannot be started.
    let _lock = lock(target_dir)?;
    write_if_changed(&path, SCRIPT)?;
    make_executable(&path)?;
    Ok(path)
}

/// An attempt to compile a module for a target with a precaution.
#[derive(Debug)]
struct Attempt<'a> {
    build: &'a DeviceBuild<'a>,
    arch: Arch,
    precaution: Precaution,
}

impl Attempt<'_> {
    /// Returns the compiled module, and the warp operations that were copied.
    fn run(&self, wrapper: &Wrapper, module: &Module) -> Result<(CompiledImage, Vec<Copied>), BuildError> {
        let results = Results::of(wrapper, &self.folder());
        results.remove()?;
        let (messages, output) = self.compile(wrapper, &results)?;
        if !output.status.success() {
            return Err(failure(&messages, &output, module, self.arch));
        }
        let copies = Copies::find(&read(&results.ir)?);
        let mut compiled = self.compiled(wrapper, &results, messages)?;
        if !copies.barriers {
            compiled.ptx = align_barriers(&compiled.ptx);
        }
        Ok((compiled, copies.warp_operations))
    }

    fn compiled(&self, wrapper: &Wrapper, results: &Results, messages: Messages) -> Result<CompiledImage, BuildError> {
        let DeviceBuild { kernels, compiler, release, .. } = self.build;
        let no_sources = || BuildError::NoSources { package: kernels.package.clone() };
        let listed = messages.variable(&kernels.dir.join("Cargo.toml"), SOURCES).ok_or_else(no_sources)?.to_owned();
        let own = [wrapper.dir.as_path(), compiler.sysroot.as_path()];
        let sources = Sources::find(&messages, &self.folder().join(TARGET), &own)?;
        let watched = watched_files::files(&results.dep_info, messages.manifests(), &own)?;
        let assembly = register_limits::limit(&read(&results.assembly)?);
        let ptx = if *release { line_directives::remove(&assembly) } else { assembly };
        Ok(CompiledImage {
            ptx,
            sources,
            listed,
            flags: self.flags().to_string(),
            watched,
            warnings: messages.warnings,
        })
    }

    fn flags(&self) -> Flags {
        let DeviceBuild { compiler, release, .. } = *self.build;
        Flags { arch: self.arch, core: compiler.core, release, precaution: self.precaution }
    }

    /// Returns the job's target folder. Cargo keeps crates that were compiled with other flags of the profile, but not those of the
    /// target.
    fn folder(&self) -> PathBuf {
        let (arch, job) = (self.arch, self.build.job);
        self.build.target_dir.join(if job == 0 { arch.to_string() } else { format!("{arch}-{job}") })
    }

    /// Runs cargo, without a network if possible.
    ///
    /// To compile `core`, cargo resolves the dependencies of the whole standard library, and would query the registry for
    /// them. The toolchain may contain their sources. Kernels with dependencies from a registry cannot be resolved from
    /// these, so cargo then runs again with the registry.
    fn compile(&self, wrapper: &Wrapper, results: &Results) -> Result<(Messages, Output), BuildError> {
        if let (Core::Sources, Some(vendored)) = (self.build.compiler.core, self.build.compiler.vendored()) {
            let directory = format!("source.vendored.directory={}", quoted(&vendored));
            let replaced = "source.crates-io.replace-with='vendored'";
            let mut command = self.command(wrapper);
            command.args(["--offline", "--config", replaced, "--config", &directory]);
            let done = run(command, results)?;
            if done.0.started {
                return Ok(done);
            }
        }
        run(self.command(wrapper), results)
    }

    fn command(&self, wrapper: &Wrapper) -> Command {
        let mut command = environment::command(&self.build.compiler.cargo);
        command.current_dir(&wrapper.dir);
        command.env("RUSTC", &self.build.compiler.rustc).env("RUSTFLAGS", self.flags().rustflags());
        // Twice the same script, because cargo does not keep what the compiler says about itself if one of them is empty.
        let script = self.build.rustc_wrapper;
        command.env("RUSTC_WRAPPER", script).env("RUSTC_WORKSPACE_WRAPPER", script);
        // Only the assembly is used, so nothing needs to be linked.
        command.env("CARGO_TARGET_NVPTX64_NVIDIA_CUDA_LINKER", "true");
        command.env("CARGO_BUILD_JOBS", self.build.crates.to_string());
        command.args(["rustc", "--release", "--message-format=json", "--target", TARGET, "--target-dir"]);
        command.arg(self.folder());
        if self.build.compiler.core == Core::Sources {
            command.arg("-Zbuild-std=core");
        }
        command.arg("-Zprofile-rustflags");
        for setting in self.flags().profile().into_iter().map(str::to_owned).chain(self.flags().crate_settings()) {
            command.arg("--config").arg(format!("profile.release.{setting}"));
        }
        command
    }
}

/// Locks a folder against other builds. Creates it if necessary.
fn lock(folder: &Path) -> Result<File, BuildError> {
    fs::create_dir_all(folder).map_err(BuildError::io(folder))?;
    let path = folder.join("lock");
    let file = File::create(&path).map_err(BuildError::io(&path))?;
    // Like cargo, continues without a lock if the file system has none.
    let _ = file.lock();
    Ok(file)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), BuildError> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).map_err(BuildError::io(path))
}

/// Does nothing: kernels are compiled on Unix systems only.
#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<(), BuildError> {
    Ok(())
}

/// Runs `command`, a cargo command, and has the compiler write `results`.
fn run(mut command: Command, results: &Results) -> Result<(Messages, Output), BuildError> {
    let emit = |kind: &str, file: &Path| {
        let mut argument = OsString::from(format!("--emit={kind}="));
        argument.push(file);
        argument
    };
    let program = PathBuf::from(command.get_program());
    command.arg("--").arg(emit("asm", &results.assembly)).arg(emit("llvm-ir", &results.ir));
    let output = command.output().map_err(BuildError::io(&program))?;
    Ok((Messages::parse(&String::from_utf8_lossy(&output.stdout)), output))
}

fn read(file: &Path) -> Result<String, BuildError> {
    fs::read_to_string(file).map_err(BuildError::io(file))
}

/// Returns the warning that a module was compiled without JumpThreading.
fn no_jump_threading_warning(module: &Module, copies: &[Copied]) -> String {
    let copies: Vec<_> = copies.iter().map(Copied::to_string).collect();
    format!(
        "warning: the kernel module {} is compiled without rustc's pass JumpThreading, which would copy operations of \
         warps into several arms of a branch. Arrays that are otherwise in registers may be in memory. With \
         `#[inline(always)]` on the functions that contain these operations, and without recursion, the pass can stay:\n{}",
        module.name,
        copies.join("\n")
    )
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
