//! Committed modules that would be the same if they were compiled again.

use crate::Arch;
use crate::committed;
use crate::compilation::CompiledModule;
use crate::compiler::Compiler;
use crate::flags::{Flags, Precaution};
use crate::index::{Index, Record};
use cuda_std::image::Sources;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// The committed modules of a kernel crate, and its present files.
#[derive(Debug)]
pub(crate) struct UpToDate<'a> {
    dir: &'a Path,
    committed: Index,
    /// The files with their digests, as the kernel crate's build script lists them.
    listed: String,
}

impl<'a> UpToDate<'a> {
    /// Reads the list of committed modules. Returns `None` if there is none, or if the `environment` of the running build script
    /// does not have the files of the kernel crate in `dir`: cargo passes them to the crates that depend on it.
    pub(crate) fn new(dir: &'a Path, environment: impl Iterator<Item = (OsString, OsString)>) -> Option<Self> {
        let listed = passed_on(dir, &environment.collect::<Vec<_>>())?;
        Some(UpToDate { dir, committed: committed::read_index(dir).ok()?, listed })
    }

    /// Returns the committed module if `compiler` made it with the present flags, for these targets, from files that have not
    /// changed since.
    pub(crate) fn module(&self, name: &str, targets: &[Arch], compiler: &Compiler) -> Option<CompiledModule> {
        let record = self.committed.0.get(name)?;
        let is_same = record.compiler == compiler.version
            && record.images.keys().eq(targets)
            && record.images.iter().all(|(arch, image)| is_flags(&image.flags, *arch, compiler))
            && self.has_same_files(record);
        // A file that is missing or altered is compiled again.
        if is_same { committed::read_module(self.dir, name.to_owned(), record.clone()).ok() } else { None }
    }

    fn has_same_files(&self, record: &Record) -> bool {
        let digest = Sources::new(&self.listed).digest(record.files.iter().map(String::as_str));
        digest.is_ok_and(|digest| digest == record.sources)
    }
}

/// Returns whether these are the flags of optimised modules. Which precaution a module needs depends on its files.
fn is_flags(flags: &str, arch: Arch, compiler: &Compiler) -> bool {
    let with = |precaution| Flags { arch, core: compiler.core, release: true, precaution }.to_string();
    Precaution::ALL.into_iter().any(|precaution| with(precaution) == flags)
}

/// Returns the files of the kernel crate in `dir` from the variables that cargo makes of the output of its build script:
/// `DEP_<links>_DIR` and `DEP_<links>_SOURCES`.
fn passed_on(dir: &Path, environment: &[(OsString, OsString)]) -> Option<String> {
    let is_dir = |value: &OsString| fs::canonicalize(value).is_ok_and(|path| path == dir);
    let crates = environment.iter().filter_map(|(name, value)| {
        let links = name.to_str()?.strip_prefix("DEP_")?.strip_suffix("_DIR")?;
        is_dir(value).then(|| format!("DEP_{links}_SOURCES"))
    });
    let variables: Vec<_> = crates.collect();
    let sources = environment.iter().find(|(name, _)| variables.iter().any(|variable| name == variable.as_str()))?;
    sources.1.to_str().map(str::to_owned)
}

#[cfg(test)]
#[path = "up_to_date_tests.rs"]
mod tests;
