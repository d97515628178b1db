//! Finding a compiler for the device.

use crate::environment;
use crate::error::{BuildError, Rejected};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// rustc's name of the device.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// Where the device's `core` comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// It is compiled from the sources that the toolchain carries, for the very target and without panic messages.
    Sources,
    /// The toolchain carries it compiled, for the oldest GPU.
    Prebuilt,
}

/// A compiler that can compile for the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    pub(crate) rustc: PathBuf,
    pub(crate) cargo: PathBuf,
    pub(crate) sysroot: PathBuf,
    /// Its name and version, as in `rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8`.
    pub(crate) version: String,
    pub(crate) core: Core,
}

impl Compiler {
    /// The compiler `rustc`, if it can compile for the device; otherwise what it lacks.
    ///
    /// The program may be one that starts the compiler of some toolchain, so what counts is the toolchain.
    fn examine(rustc: &Path) -> Result<Compiler, String> {
        let sysroot = PathBuf::from(run(rustc, &["--print", "sysroot"])?.trim());
        let own = sysroot.join("bin/rustc");
        let rustc = if own.is_file() { own } else { rustc.to_owned() };
        let core = find_core(&sysroot)?;
        let cargo = rustc.with_file_name("cargo");
        if !cargo.is_file() {
            return Err("there is no cargo in its folder".to_owned());
        }
        // An old compiler does not know the flag, one without LLVM's backend does not know the target.
        let mut probe = vec!["--print", "cfg", "--target", TARGET];
        probe.extend(core.flags());
        run(&rustc, &probe)?;
        let version = version(&run(&rustc, &["-vV"])?);
        Ok(Compiler { rustc, cargo, sysroot, version, core })
    }

    /// The sources that the standard library's own dependencies are taken from without a network, if it has them.
    pub(crate) fn vendored(&self) -> Option<PathBuf> {
        let vendor = library(&self.sysroot).join("vendor");
        vendor.is_dir().then_some(vendor)
    }
}

impl Core {
    /// The flags for everything that is compiled with this `core`.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            // A panic traps at once. Nothing could print its message, which costs registers and code to prepare.
            Core::Sources => &["-Zunstable-options", "-Cpanic=immediate-abort"],
            // This `core` does prepare messages: at least without the paths of the kernels' files.
            Core::Prebuilt => &["-Zlocation-detail=none"],
        }
    }
}

/// The places where a compiler is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The compiler that the user chose.
    pub(crate) explicit: Option<PathBuf>,
    /// The folder of rustup's toolchains.
    pub(crate) toolchains: Option<PathBuf>,
    /// The compiler of the operating system.
    pub(crate) system: PathBuf,
}

impl Search {
    /// The environment variable that chooses a compiler.
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

    /// The first compiler that can compile for the device. The one that the user chose has no substitute.
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

    /// What changes when another compiler is chosen or gets what it lacks, as far as it exists.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        let mut watched = vec![self.system.clone()];
        watched.extend(self.explicit.clone());
        if let Some(toolchains) = &self.toolchains {
            // Rustup's one small file for each toolchain. The toolchains themselves are too large to be watched.
            watched.push(toolchains.with_file_name("update-hashes"));
            watched.extend(nightlies(toolchains).iter().map(|t| t.join("lib/rustlib/components")));
        }
        watched.retain(|path| path.exists());
        watched
    }

    fn candidates(&self, tried: &mut Vec<Rejected>) -> Vec<PathBuf> {
        let mut candidates = Vec::new();
        if cfg!(not(unix)) {
            // The nested build is driven through a shell script and a linker that does nothing.
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

/// The folders of rustup's nightlies: the one without a date, then the latest first.
fn nightlies(toolchains: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(toolchains).into_iter().flatten().flatten();
    let mut nightlies: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("nightly"))
        .map(|entry| entry.path())
        .collect();
    // `nightly-x86_64…` before `nightly-2026-05-25-x86_64…`: letters come after digits.
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

/// What `program` prints, or in one line why it fails.
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

/// One line out of what `rustc -vV` prints.
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
