//! The compiled modules that a kernel crate carries, in its folder `ptx`.

use crate::Arch;
use crate::compilation::Text;
use crate::error::{BuildError, renew};
use crate::output::file_name;
use cuda_std::image::{Header, ImageError};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// The file that holds a module for a target in the kernel crate in `dir`.
pub(crate) fn file(dir: &Path, module: &str, arch: Arch) -> PathBuf {
    folder(dir).join(file_name(module, arch))
}

/// The folder of the compiled modules in the kernel crate in `dir`.
pub(crate) fn folder(dir: &Path) -> PathBuf {
    dir.join("ptx")
}

/// Reads every module for every target, and checks that each is whole.
pub(crate) fn read(dir: &Path, modules: &[String], archs: &[Arch]) -> Result<Vec<Text>, BuildError> {
    let pairs = modules.iter().flat_map(|module| archs.iter().map(move |arch| (module, *arch)));
    pairs.map(|(module, arch)| read_one(dir, module, arch)).collect()
}

fn read_one(dir: &Path, module: &str, arch: Arch) -> Result<Text, BuildError> {
    let file = file(dir, module, arch);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(BuildError::NotCommitted { file, module: module.to_owned() });
        }
        Err(error) => return Err(BuildError::io(&file)(error)),
    };
    match Header::read(&text) {
        Err(source) => Err(BuildError::BadImage { file, source }),
        Ok(header) if (&*header.module, header.target) != (module, arch.number()) => {
            let (expected, actual) = ((module.to_owned(), arch), (header.module, header.target));
            Err(BuildError::OtherImage { file, expected, actual })
        }
        Ok(_) => Ok(Text { module: module.to_owned(), arch, text }),
    }
}

/// How a committed module differs from the one that was compiled now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Difference {
    /// The committed file.
    pub file: PathBuf,
    /// Its module.
    pub module: String,
    /// What is wrong with it.
    pub kind: DifferenceKind,
}

/// What can be wrong with a committed module.
#[derive(Debug)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// The file cannot be read.
    Unreadable(
        /// The cause.
        io::Error,
    ),
    /// The file is not what a compiler wrote, or was compiled from other sources.
    Invalid(
        /// The cause.
        ImageError,
    ),
    /// The same compiler makes another text of the same sources.
    Text,
}

impl fmt::Display for Difference {
    /// One line, with the command that renews the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.kind {
            DifferenceKind::Unreadable(error) => write!(f, "{error}")?,
            DifferenceKind::Invalid(error) => write!(f, "{error}")?,
            DifferenceKind::Text => write!(f, "the compiler that made it now makes another text")?,
        }
        write!(f, "; renew it with: {}", renew(&self.file, &self.module))
    }
}

/// The comparison of the committed modules with the sources.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The compiler at hand.
    pub compiler: String,
    /// The committed files that are not what they should be.
    pub differences: Vec<Difference>,
    /// The files that another compiler made, with its name. Their text cannot be compared, only their sources.
    pub other_compilers: Vec<(PathBuf, String)>,
    /// The kernels' warnings.
    pub warnings: Vec<String>,
}

impl Check {
    pub(crate) fn new(compiler: String, warnings: Vec<String>) -> Check {
        Check { compiler, differences: Vec::new(), other_compilers: Vec::new(), warnings }
    }

    /// Compares the committed module in `dir` with `fresh`.
    pub(crate) fn compare(&mut self, dir: &Path, fresh: &Text) {
        let file = file(dir, &fresh.module, fresh.arch);
        match self.maker_or_difference(&file, &fresh.text) {
            Err(kind) => self.differences.push(Difference { file, module: fresh.module.clone(), kind }),
            Ok(compiler) if compiler != self.compiler => self.other_compilers.push((file, compiler)),
            Ok(_) => {}
        }
    }

    /// The compiler that made the committed `file`, if it is as good as `fresh`.
    fn maker_or_difference(&self, file: &Path, fresh: &str) -> Result<String, DifferenceKind> {
        let text = fs::read_to_string(file).map_err(DifferenceKind::Unreadable)?;
        let current = Header::read(fresh).map_err(DifferenceKind::Invalid)?;
        let header = Header::verify(&text, &current.sources).map_err(DifferenceKind::Invalid)?;
        if header.compiler == self.compiler && text != fresh {
            return Err(DifferenceKind::Text);
        }
        Ok(header.compiler)
    }
}

#[cfg(test)]
#[path = "committed_tests.rs"]
mod tests;
