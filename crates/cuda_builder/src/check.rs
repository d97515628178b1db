//! Comparison of a kernel crate's committed modules with its sources.

use crate::committed;
use crate::compilation::CompiledModule;
use crate::error::{BuildError, renew};
use crate::index::{Index, Record};
use cuda_std::image::{self, ModuleError};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// Difference between a committed module and the compiled one.
#[derive(Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The file that differs: the module's text, or the list of modules.
    pub file: PathBuf,
    /// The module.
    pub module: String,
    /// Kind of the difference.
    pub kind: DifferenceKind,
}

/// Kinds of differences of a committed module.
#[derive(Debug)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// It is not in the list.
    Missing,
    /// It is in the list, but the kernel crate has no such module.
    Superfluous,
    /// It was compiled from other files or contents, or for other targets.
    Stale,
    /// The file cannot be read.
    Unreadable(
        /// The cause.
        io::Error,
    ),
    /// The text was altered.
    Invalid(
        /// The cause.
        ModuleError,
    ),
    /// The same compiler makes another text from the same sources.
    Text,
}

impl fmt::Display for Difference {
    /// Writes one line, with the command that renews the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { file, module, kind } = self;
        write!(f, "{}: ", file.display())?;
        match kind {
            DifferenceKind::Missing => write!(f, "the module {module} is missing")?,
            DifferenceKind::Superfluous => write!(f, "the kernel crate has no module {module}")?,
            DifferenceKind::Stale => write!(f, "the module {module} was compiled from other sources")?,
            DifferenceKind::Unreadable(error) => write!(f, "{error}")?,
            DifferenceKind::Invalid(error) => write!(f, "{error}")?,
            DifferenceKind::Text => write!(f, "the compiler that made {module} now makes something else")?,
        }
        // A commit of all modules removes superfluous ones.
        let module = Some(module.as_str()).filter(|_| !matches!(kind, DifferenceKind::Superfluous));
        let dir = file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        write!(f, "; renew it with: {}", renew(dir, module))
    }
}

/// Comparison of the committed modules with the sources. [`CudaBuilder::check`](crate::CudaBuilder::check) returns it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The compiler.
    pub compiler: String,
    /// Differences of the committed modules.
    pub differences: Vec<Difference>,
    /// Modules that another compiler made, with its name. Only their sources can be compared.
    pub other_compilers: Vec<(String, String)>,
    /// Warnings of the kernels.
    pub warnings: Vec<String>,
}

impl Check {
    /// Compares the committed modules in `dir` with the freshly compiled ones. If `all` is true, every module was compiled,
    /// and a committed module without a fresh one is a difference too.
    pub(crate) fn new(dir: &Path, compiler: String, fresh: &[CompiledModule], all: bool) -> Result<Check, BuildError> {
        let index = committed::read_index(dir)?;
        let mut check = Check { compiler, differences: Vec::new(), other_compilers: Vec::new(), warnings: Vec::new() };
        for text in fresh {
            check.compare(dir, &index, text);
        }
        let is_fresh = |module: &String| fresh.iter().any(|text| text.module == *module);
        for module in index.0.keys().filter(|module| all && !is_fresh(module)) {
            check.differ(committed::index_file(dir), module, DifferenceKind::Superfluous);
        }
        Ok(check)
    }

    fn differ(&mut self, file: PathBuf, module: &str, kind: DifferenceKind) {
        self.differences.push(Difference { file, module: module.to_owned(), kind });
    }

    fn compare(&mut self, dir: &Path, index: &Index, fresh: &CompiledModule) {
        let list = committed::index_file(dir);
        let Some(record) = index.0.get(&fresh.module) else {
            return self.differ(list, &fresh.module, DifferenceKind::Missing);
        };
        if !has_same_sources(record, &fresh.record) {
            return self.differ(list, &fresh.module, DifferenceKind::Stale);
        }
        if record.compiler != self.compiler {
            self.other_compilers.push((fresh.module.clone(), record.compiler.clone()));
        } else if *record != fresh.record {
            self.differ(list, &fresh.module, DifferenceKind::Text);
        }
        for (arch, image) in &record.images {
            let file = committed::file(dir, &fresh.module, *arch);
            // The list's record of the text has been compared above.
            let text = fs::read_to_string(&file).map_err(DifferenceKind::Unreadable);
            let whole = text.and_then(|text| image::verify_text(&text, &image.digest).map_err(DifferenceKind::Invalid));
            if let Err(kind) = whole {
                self.differ(file, &fresh.module, kind);
            }
        }
    }
}

fn has_same_sources(record: &Record, fresh: &Record) -> bool {
    let sources = (&record.sources, &record.files, &record.features);
    sources == (&fresh.sources, &fresh.files, &fresh.features) && record.images.keys().eq(fresh.images.keys())
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
