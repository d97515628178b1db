//! Errors of this crate.

use crate::arch::{Arch, UnknownArch};
use crate::mode::{Mode, UnknownMode};
use cuda_std::image::ModuleError;
use std::path::{Path, PathBuf};
use std::{error, fmt, io, process};

/// Commands that install a compiler for the device, one per line.
pub(crate) const INSTALL: [&str; 3] = [
    "rustup toolchain install nightly --component rust-src",
    "on Debian: apt-get install rustc-web cargo-web rust-web-src",
    "SLM_DEVICE_RUSTC=<path>: a rustc with the sources of the standard library or with the target nvptx64-nvidia-cuda",
];

/// A compiler that cannot compile for the device, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The compiler, or the folder that was searched.
    pub path: PathBuf,
    /// What it lacks.
    pub reason: String,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// Reason why there are no kernels.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// `SLM_KERNELS` has an invalid value.
    UnknownMode(
        /// The value.
        UnknownMode,
    ),
    /// A target that does not exist or is too old.
    UnknownArch(
        /// The target.
        UnknownArch,
    ),
    /// A module's name is not an identifier, or equals another one, ignoring case.
    ModuleName {
        /// The name.
        name: String,
    },
    /// A variable that cargo sets for build scripts is missing.
    NotABuildScript {
        /// The variable.
        variable: &'static str,
    },
    /// The kernel crate cannot be found or read.
    KernelCrate {
        /// Its folder.
        dir: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The kernel crate has no feature of a module's name.
    NoSuchModule {
        /// The module.
        module: String,
        /// The kernel crate's package.
        package: String,
        /// Its features.
        features: Vec<String>,
    },
    /// No compiler for the device was found.
    NoCompiler {
        /// The compilers that were tried.
        tried: Vec<Rejected>,
    },
    /// The compiler that `SLM_DEVICE_RUSTC` names cannot be used.
    UnusableCompiler(
        /// The compiler and the reason.
        Rejected,
    ),
    /// The kernel crate has no committed module.
    NotCommitted {
        /// The folder of the kernel crate.
        dir: PathBuf,
        /// The module; `None` if there are no committed modules at all.
        module: Option<String>,
    },
    /// A committed file was altered.
    BadImage {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        source: ModuleError,
    },
    /// The list of committed modules cannot be read.
    BadIndex {
        /// The file.
        file: PathBuf,
        /// Number of the first invalid line.
        line: usize,
    },
    /// The kernels have errors.
    Compile {
        /// The module.
        module: String,
        /// What it was compiled for.
        arch: Arch,
        /// Messages of the compiler.
        diagnostics: String,
    },
    /// Warp operations were copied into several arms of a branch, so that lanes of a warp may execute different copies.
    Copied {
        /// The module.
        module: String,
        /// What it was compiled for.
        arch: Arch,
        /// The operations, each with its function and the calls that lead to it.
        copies: Vec<String>,
    },
    /// Cargo failed before the compiler ran, or without an error of the compiler.
    Cargo {
        /// The module.
        module: String,
        /// What it was compiled for.
        arch: Arch,
        /// Messages of cargo.
        output: String,
    },
    /// The build script of the kernel crate does not list its sources.
    NoSources {
        /// The kernel crate's package.
        package: String,
    },
    /// A module is compiled from a file that the build script of the kernel crate does not list, so changes of it would not be noticed.
    UnlistedSource {
        /// The module.
        module: String,
        /// The kernel crate's package.
        package: String,
        /// The file. If it is below its package's folder, the path starts with the package's name.
        file: String,
    },
    /// A file cannot be read or written, or a program cannot be started.
    Io {
        /// The file or program.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl BuildError {
    /// Returns a function for `map_err` that makes an error of the file `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        let path = path.to_owned();
        move |source| BuildError::Io { path, source }
    }

    /// Ends the build script, so that cargo shows the error and nothing else.
    ///
    /// ```no_run
    /// use cuda_builder::{BuildError, CudaBuilder};
    ///
    /// CudaBuilder::new("kernels").build().unwrap_or_else(|error| error.exit());
    /// ```
    pub fn exit(self) -> ! {
        for line in self.to_string().lines() {
            println!("cargo::error={line}");
        }
        process::exit(1)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::UnknownMode(error) => write!(f, "{error}"),
            BuildError::UnknownArch(error) => write!(f, "{error}"),
            BuildError::ModuleName { name } => write!(
                f,
                "'{name}' is not a valid module name: use an identifier that differs from all other modules' names, ignoring case"
            ),
            BuildError::NotABuildScript { variable } => {
                write!(f, "{variable} is not set: call this from a build script")
            }
            BuildError::KernelCrate { dir, reason } => {
                write!(f, "there is no kernel crate in {}: {}", dir.display(), reason.trim_end())
            }
            BuildError::NoSuchModule { module, package, features } => write!(
                f,
                "{package} has no feature '{module}' to compile a module from; it has: {}",
                features.join(", ")
            ),
            BuildError::NoCompiler { tried } => no_compiler(f, tried),
            BuildError::UnusableCompiler(rejected) => {
                write!(f, "SLM_DEVICE_RUSTC cannot compile for the device: {rejected}")
            }
            BuildError::NotCommitted { dir, module } => {
                let what = module.as_ref().map_or("modules".to_owned(), |module| format!("module {module}"));
                write!(
                    f,
                    "the folder {} has no compiled {what}; make it with: {} (cargo install slm-cuda-builder), or have kernels compiled with the program: \
                     {}=auto, or .default_mode(Mode::Auto) in the build script",
                    dir.join("ptx").display(),
                    renew(dir, module.as_deref()),
                    Mode::VARIABLE
                )
            }
            BuildError::BadImage { file, source } => {
                write!(f, "{} cannot be used: {source}", file.display())
            }
            BuildError::BadIndex { file, line } => {
                let dir = file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
                write!(f, "line {line} of {} is not what build-kernels writes; renew it with: ", file.display())?;
                f.write_str(&renew(dir, None))
            }
            BuildError::Compile { module, arch, diagnostics } => {
                write!(f, "the kernel module {module} does not compile for {arch}:\n{diagnostics}")
            }
            BuildError::Copied { module, arch, copies } => write!(
                f,
                "in the kernel module {module} for {arch} the compiler has copied operations that the lanes of a warp \
                 execute together into several arms of a branch; write each once, outside of the branch, in a function \
                 with #[inline(always)] and without recursion:\n{}",
                copies.join("\n")
            ),
            BuildError::Cargo { module, arch, output } => {
                write!(f, "cargo cannot compile the kernel module {module} for {arch}:\n{output}")
            }
            BuildError::NoSources { package } => write!(
                f,
                "the build script of {package} does not list its sources: it must call cuda_std::build::kernel_crate"
            ),
            BuildError::UnlistedSource { module, package, file } => write!(
                f,
                "the kernel module {module} is compiled from {file}, which the build script of {package} does not list: \
                 name the folder of each path dependency in the call of cuda_std::build::kernel_crate; files must be \
                 below the folder of their package and end in .rs"
            ),
            BuildError::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl error::Error for BuildError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            BuildError::BadImage { source, .. } => Some(source),
            BuildError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<UnknownMode> for BuildError {
    fn from(error: UnknownMode) -> Self {
        BuildError::UnknownMode(error)
    }
}

impl From<UnknownArch> for BuildError {
    fn from(error: UnknownArch) -> Self {
        BuildError::UnknownArch(error)
    }
}

fn no_compiler(f: &mut fmt::Formatter<'_>, tried: &[Rejected]) -> fmt::Result {
    write!(f, "no compiler for the device was found; either of these commands installs one:")?;
    for way in INSTALL {
        write!(f, "\n  {way}")?;
    }
    write!(f, "\ntried:")?;
    for rejected in tried {
        write!(f, "\n  {rejected}")?;
    }
    Ok(())
}

/// Returns the command that renews a committed module of the kernel crate in `dir`, or all of them.
pub(crate) fn renew(dir: &Path, module: Option<&str>) -> String {
    let module = module.map(|module| format!(" {module}")).unwrap_or_default();
    format!("build-kernels {}{module}", dir.display())
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
