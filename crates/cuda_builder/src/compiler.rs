//! Search for a compiler for the device.

use crate::environment;
use crate::error::{BuildError, Rejected};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// rustc's name of the device target.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// Origin of the device's `core`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// Compiled from the toolchain's sources for exactly the module's target, without panic messages.
    Sources,
    /// Part of the toolchain, compiled for the oldest GPU.
    Prebuilt,
}

/// A compiler that can compile for the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    pub(crate) rustc: PathBuf,
    pub(crate) cargo: PathBuf,
    pub(crate) sysroot: PathBuf,
    /// Name and version, such as `rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8`.
    pub(crate) version: String,
    pub(crate) core: Core,
}

impl Compiler {
    /// Returns the compiler `rustc` if it can compile for the device, or the reason why it cannot.
    ///
    /// `rustc` may be a proxy that starts a toolchain's compiler, so the compiler of its sysroot is examined.
    fn examine(rustc: &Path) -> Result<Compiler, String> {
        let sysroot = PathBuf::from(run(rustc, &["--print", "sysroot"])?.trim());
        let own = sysroot.join("bin/rustc");
        let rustc = if own.is_file() { own } else { rustc.to_owned() };
        let core = find_core(&sysroot)?;
        let cargo = rustc.with_file_name("cargo");
        if !cargo.is_file() {
            return Err("there is no cargo in its folder".to_owned());
        }
        // Fails if the compiler is too old for the flags, or has no LLVM backend for the target.
        let mut probe = vec!["--print", "cfg", "--target", TARGET];
        probe.extend(core.flags());
        run(&rustc, &probe)?;
        let version = version(&run(&rustc, &["-vV"])?);
        Ok(Compiler { rustc, cargo, sysroot, version, core })
    }

    /// Returns the folder with the sources of the standard library's own dependencies, if the toolchain has them. With it,
    /// no network is needed.
    pub(crate) fn vendored(&self) -> Option<PathBuf> {
        let vendor = library(&self.sysroot).join("vendor");
        vendor.is_dir().then_some(vendor)
    }
}

impl Core {
    /// Returns the flags for all code that is compiled with this `core`.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            // A panic traps at once. Preparing its message would cost registers and code, and nothing could print it.
            Core::Sources => &["-Zunstable-options", "-Cpanic=immediate-abort"],
            // This `core` prepares panic messages. The flag omits the paths of source files from them.
            Core::Prebuilt => &["-Zlocation-detail=none"],
        }
    }
}

/// Places to search for a compiler.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The compiler that the user selected.
    pub(crate) explicit: Option<PathBuf>,
    /// The folder of rustup's toolchains.
    pub(crate) toolchains: Option<PathBuf>,
    /// The compiler of the operating system.
    pub(crate) system: PathBuf,
}

impl Search {
    /// The environment variable that selects a compiler.
    pub(crate) const VARIABLE: &str = "SLM_DEVICE_RUSTC";

    pub(crate) fn from_env() -> Search {
        let rustup = env::var_os("RUSTUP_HOME").map(PathBuf::from);
        let rustup = rustup.or_else(|| Some(env::home_dir()?.join(".rustup")));
        Search {
            explicit: env::var_os(Search::VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from),
            toolchains: rustup.map(|rustup| rustup.join("toolchains")),
            system: PathBuf::from("/usr/bin/rustc"),
        }
    }

    /// Returns the first compiler that can compile for the device. If the user selected one, no other is tried.
    pub(crate) fn find(&self) -> Result<Compiler, BuildError> {
        if let Some(rustc) = &self.explicit {
            return Compiler::examine(rustc)
                .map_err(|reason| BuildError::UnusableCompiler(Rejected { path: rustc.clone(), reason }));
        }
        let mut tried = Vec::new();
        for path in self.candidates(&mut tried) {
            match Compiler::examine(&path) {
                Ok(compiler) => return Ok(compiler),
                Err(reason) => tried.push(Rejected { path, reason }),
            }
        }
        Err(BuildError::NoCompiler { tried })
    }

    /// Returns those files, if they exist, that change when a compiler is installed or updated, or gets a component.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut watched = vec![self.system.clone()];
        watched.extend(self.explicit.clone());
        if let Some(toolchains) = &self.toolchains {
            // rustup's small file for each toolchain. The toolchains themselves are too large to watch.
            watched.push(toolchains.with_file_name("update-hashes"));
            watched.extend(nightlies(toolchains).iter().map(|t| t.join("lib/rustlib/components")));
        }
        watched.retain(|path| path.exists());
        watched
    }

    fn candidates(&self, tried: &mut Vec<Rejected>) -> Vec<PathBuf> {
        let mut candidates = Vec::new();
        if cfg!(not(unix)) {
            // The nested build uses a shell script, and the command `true` as linker.
            let reason = "kernels can be compiled on Unix systems only".to_owned();
            tried.push(Rejected { path: self.system.clone(), reason });
            return candidates;
        }
        if let Some(toolchains) = &self.toolchains {
            candidates.extend(nightlies(toolchains).iter().map(|t| t.join("bin/rustc")));
            if candidates.is_empty() {
                let reason = "there is no nightly toolchain".to_owned();
                tried.push(Rejected { path: toolchains.clone(), reason });
            }
        }
        candidates.push(self.system.clone());
        candidates
    }
}

/// Returns the folders of rustup's nightly toolchains: first the one without a date, then the others, latest first.
fn nightlies(toolchains: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(toolchains).into_iter().flatten().flatten();
    let mut nightlies: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("nightly"))
        .map(|entry| entry.path())
        .collect();
    // In descending order `nightly-x86_64…` precedes `nightly-2026-05-25-x86_64…`, since letters sort after digits.
    nightlies.sort();
    nightlies.reverse();
    nightlies
}

fn library(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib/src/rust/library")
}

fn find_core(sysroot: &Path) -> Result<Core, String> {
    if library(sysroot).join("core").is_dir() {
        Ok(Core::Sources)
    } else if sysroot.join("lib/rustlib").join(TARGET).is_dir() {
        Ok(Core::Prebuilt)
    } else {
        Err(format!("it has neither the sources of the standard library nor the target {TARGET}"))
    }
}

/// Returns the output of `program`, or one line with the reason why it failed.
fn run(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = environment::command(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("it cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let first = stderr.lines().next().unwrap_or("it gave no reason");
    Err(format!("'rustc {}' failed: {first}", arguments.join(" ")))
}

/// Returns the compiler's name and version in one line, from the output of `rustc -vV`.
fn version(verbose: &str) -> String {
    let name = verbose.lines().next().unwrap_or("rustc");
    match verbose.lines().find_map(|line| line.strip_prefix("LLVM version: ")) {
        Some(llvm) => format!("{name}, LLVM {llvm}"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
#[path = "compiler_tests.rs"]
mod tests;
