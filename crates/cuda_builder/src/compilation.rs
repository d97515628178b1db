//! Compiled modules: compiled now, or read from the committed files.

use crate::Arch;
use crate::index::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Compiled modules.
#[derive(Debug, Default)]
pub(crate) struct Compilation {
    /// Whether some of them were compiled now.
    pub(crate) is_new: bool,
    pub(crate) modules: Vec<CompiledModule>,
    /// The compiler's warnings, without duplicates.
    pub(crate) warnings: Vec<String>,
    /// Files whose change requires the modules to be compiled again.
    pub(crate) watched: BTreeSet<PathBuf>,
}

/// A compiled module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompiledModule {
    pub(crate) module: String,
    pub(crate) record: Record,
    /// The PTX for each target of the record.
    pub(crate) ptx: BTreeMap<Arch, String>,
}

/// Returns the name of the file with a module for a target.
pub(crate) fn file_name(module: &str, arch: Arch) -> String {
    format!("{module}.{arch}.ptx")
}
