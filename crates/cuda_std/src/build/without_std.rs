//! Checks that a kernel crate does without `std`, on the host too.

use super::manifest::Manifest;
use super::source::{does_without, says_no_std};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Files and folders of a package that are not part of its library.
const OTHERS: [&str; 6] = ["build.rs", "tests", "examples", "benches", "src/bin", "src/main.rs"];

/// Returns the name of the library of the package in `dir`, if it and all its dependencies do without `std`. Path
/// dependencies must be in `dependencies`, relative to `dir`.
pub(super) fn library(dir: &Path, dependencies: &[&str]) -> io::Result<Option<String>> {
    let known: io::Result<BTreeSet<PathBuf>> = dependencies.iter().map(|path| dir.join(path).canonicalize()).collect();
    let known = known?;
    let own = check(&dir.canonicalize()?, &known)?;
    for folder in &known {
        if check(folder, &known)?.is_none() {
            return Ok(None);
        }
    }
    Ok(own)
}

/// Returns the name of the library of the package in `dir`, if it does without `std` and depends only on the `known`
/// folders.
fn check(dir: &Path, known: &BTreeSet<PathBuf>) -> io::Result<Option<String>> {
    let Some(manifest) = Manifest::read(&fs::read_to_string(dir.join("Cargo.toml"))?) else { return Ok(None) };
    let is_known = |path: &String| dir.join(path).canonicalize().is_ok_and(|path| known.contains(&path));
    if !manifest.dependencies.iter().all(is_known) {
        return Ok(None);
    }
    let root = dir.join(manifest.root());
    let inside = !manifest.root().contains("..") && Path::new(manifest.root()).is_relative();
    let Some(files) = Files::below(dir)? else { return Ok(None) };
    let is_root = inside && files.sources.contains(&root) && says_no_std(&fs::read_to_string(root)?);
    Ok(if is_root && files.do_without()? { manifest.library() } else { None })
}

/// The files that a library may consist of.
struct Files {
    /// All `.rs` files that are checked.
    sources: Vec<PathBuf>,
    /// The names that modules in unchecked files would have.
    skipped: BTreeSet<String>,
}

impl Files {
    /// Returns the files of the package in `root`, or `None` if a link leads to another folder.
    fn below(root: &Path) -> io::Result<Option<Self>> {
        let others = OTHERS.iter().filter_map(|other| Path::new(other).file_stem()).chain([OsStr::new("target")]);
        let skipped = others.map(|name| name.to_string_lossy().into_owned()).collect();
        let mut files = Files { sources: Vec::new(), skipped };
        Ok(files.add(root, root)?.then_some(files))
    }

    /// Adds the files below `folder`. Returns `false` if a link leads to another folder.
    fn add(&mut self, root: &Path, folder: &Path) -> io::Result<bool> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if OTHERS.iter().any(|other| path == root.join(other)) {
                continue;
            }
            if !path.is_dir() {
                let is_source = path.extension().is_some_and(|extension| extension == "rs");
                self.sources.extend(is_source.then_some(path));
            } else if entry.file_type()?.is_symlink() {
                return Ok(false);
            } else if name == "target" || name.starts_with('.') || path.join("Cargo.toml").exists() {
                self.skipped.insert(name);
            } else if !self.add(root, &path)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether all files do without `std`, and have no modules in unchecked files.
    fn do_without(&self) -> io::Result<bool> {
        for path in &self.sources {
            if !does_without(&fs::read_to_string(path)?, &self.skipped) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder with these files, in which `kernels` is a package.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("slm-cuda-std-{}-{name}", std::process::id()));
        for (path, contents) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        root
    }

    const KERNELS: &str = "[package]\nname = \"my-kernels\"\n[dependencies]\nhelper = { path = \"../helper\" }";
    const HELPER: &str = "[package]\nname = \"helper\"\n[dependencies]\nslm-cuda-std = \"0.1\"";
    const ROOT: &str = "#![no_std]\nmod rows;";

    #[test]
    fn a_crate_and_its_dependencies_are_looked_at() {
        let files = [
            ("kernels/Cargo.toml", KERNELS),
            ("kernels/src/lib.rs", ROOT),
            ("kernels/src/rows.rs", ""),
            ("kernels/src/main.rs", "use std::fmt;"),
            ("kernels/tests/all.rs", "#![no_std] use std::fmt;"),
            ("kernels/lib.txt", "#![no_std] use std::fmt;"),
            ("kernels/build.rs", "use std::fmt;"),
            ("kernels/nested/Cargo.toml", ""),
            ("kernels/nested/lib.rs", "#![no_std] use std::fmt;"),
            ("helper/Cargo.toml", HELPER),
            ("helper/src/lib.rs", "#![no_std]"),
        ];
        let changes: [(&str, &str, Option<&str>); 11] = [
            ("kernels/src/rows.rs", "use core::fmt;", Some("my_kernels")),
            ("kernels/src/rows.rs", "use std::fmt;", None),
            ("helper/src/lib.rs", "", None),
            ("helper/src/more/deep.rs", "use std::fmt;", None),
            ("helper/Cargo.toml", "[package]\nname = \"helper\"\n[dependencies]\nserde = \"1\"", None),
            // A module in a folder that is not checked.
            ("kernels/src/rows.rs", "mod target;", None),
            ("kernels/src/rows.rs", "mod nested;", None),
            ("kernels/src/rows/nested/mod.rs", "use std::fmt;", None),
            // A crate root that is not checked.
            ("kernels/Cargo.toml", "[package]\nname = \"my-kernels\"\n[lib]\npath = \"tests/all.rs\"", None),
            ("kernels/Cargo.toml", "[package]\nname = \"my-kernels\"\n[lib]\npath = \"nested/lib.rs\"", None),
            ("kernels/Cargo.toml", "[package]\nname = \"my-kernels\"\n[lib]\npath = \"lib.txt\"", None),
        ];
        for (number, (path, contents, expected)) in changes.into_iter().enumerate() {
            let root = folder(&number.to_string(), &files);
            folder(&number.to_string(), &[(path, contents)]);
            let found = library(&root.join("kernels"), &["../helper"]).unwrap();
            assert_eq!(found.as_deref(), expected, "{path} with {contents}");
            assert_eq!(library(&root.join("kernels"), &[]).unwrap(), None, "a dependency that is not named");
            fs::remove_dir_all(root).unwrap();
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_another_folder_is_not_followed() {
        let files =
            [("kernels/Cargo.toml", "[package]\nname = \"k\""), ("kernels/src/lib.rs", "#![no_std]"), ("o/mod.rs", "")];
        let root = folder("link", &files);
        assert_eq!(library(&root.join("kernels"), &[]).unwrap().as_deref(), Some("k"));
        std::os::unix::fs::symlink(root.join("o"), root.join("kernels/src/o")).unwrap();
        assert_eq!(library(&root.join("kernels"), &[]).unwrap(), None);
        fs::remove_dir_all(root).unwrap();
    }
}
