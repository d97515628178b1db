//! The source files of a program's kernels.

use crate::digest::{Digest, Hasher};
use std::fmt::Write;

/// The files that kernels may be compiled from, with a digest of each. The build script of a kernel crate writes this list
/// ([`build::kernel_crate`](crate::build::kernel_crate)), and [`Entry::SOURCES`](crate::Entry::SOURCES) contains it.
///
/// A file's name is its package, a slash and its path below the package's folder, as in `slm-cuda-std/src/lib.rs`.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a>(&'a str);

/// The hexadecimal digits of a digest.
const DIGITS: usize = 32;

/// The separator of files. A line feed would end the line in which Cargo reads the list.
const SEPARATOR: char = '|';

impl<'a> Sources<'a> {
    /// The files in `list`, as the build script of a kernel crate writes it.
    #[must_use]
    pub const fn new(list: &'a str) -> Self {
        Sources(list)
    }

    /// Writes a list of files and the digests of their contents.
    pub(crate) fn list<'n>(files: impl IntoIterator<Item = (&'n str, Digest)>) -> String {
        let mut list = String::new();
        for (name, digest) in files {
            if !list.is_empty() {
                list.push(SEPARATOR);
            }
            let _ = write!(list, "{digest} {name}");
        }
        list
    }

    /// Returns the digest of the names and contents of `files`.
    ///
    /// # Errors
    ///
    /// Returns the first of the files that is not in the list.
    pub fn digest<'n>(&self, files: impl IntoIterator<Item = &'n str>) -> Result<String, &'n str> {
        let mut hasher = Hasher::new();
        for file in files {
            let contents = self.find(file).ok_or(file)?;
            hasher = hasher.add(file.as_bytes()).add(contents.as_bytes());
        }
        Ok(hasher.finish().to_string())
    }

    /// Returns the digest of the contents of `file`.
    fn find(&self, file: &str) -> Option<&'a str> {
        let mut files = self.0.split(SEPARATOR).filter_map(|entry| entry.split_at_checked(DIGITS));
        files.find(|(_, name)| name.strip_prefix(' ') == Some(file)).map(|(digest, _)| digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(files: &[(&str, &str)]) -> String {
        Sources::list(files.iter().map(|(name, contents)| (*name, Digest::of(contents.as_bytes()))))
    }

    #[test]
    fn other_contents_and_other_names_give_another_digest() {
        let digest = |files: &[(&str, &str)]| {
            let names = files.iter().map(|(name, _)| *name);
            Sources::new(&list(files)).digest(names.collect::<Vec<_>>()).unwrap()
        };
        let both = digest(&[("k/a.rs", "a"), ("k/b.rs", "b")]);
        assert_eq!(both, digest(&[("k/a.rs", "a"), ("k/b.rs", "b")]));
        assert_ne!(both, digest(&[("k/a.rs", "a"), ("k/b.rs", "c")]));
        assert_ne!(both, digest(&[("k/a.rs", "a"), ("k/c.rs", "b")]));
        assert_ne!(both, digest(&[("k/a.rs", "a")]));
    }

    #[test]
    fn files_that_are_not_asked_for_do_not_count() {
        let [few, many] = [list(&[("k/a.rs", "a")]), list(&[("h/a.rs", "x"), ("k/a.rs", "a"), ("k/aa.rs", "y")])];
        assert_eq!(Sources::new(&few).digest(["k/a.rs"]), Sources::new(&many).digest(["k/a.rs"]));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let list = list(&[("k/a.rs", "a")]);
        for file in ["k/b.rs", "a.rs", "", "k/a.r"] {
            assert_eq!(Sources::new(&list).digest(["k/a.rs", file]), Err(file));
        }
        assert!(Sources::new("").digest(["k/a.rs"]).is_err());
    }
}
