//! The files that cargo watches for a module.

use crate::error::BuildError;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files that a compiled module depends on: those that cargo lists in `dep_info`, and the manifests of the
/// packages. Files in the folders `own`, the toolchain's and the builder's, are excluded.
///
/// Cargo's list has every source file of every path dependency. Files from a registry do not change.
pub(crate) fn files<'a>(
    dep_info: &Path,
    manifests: impl Iterator<Item = &'a Path>,
    own: &[&Path],
) -> Result<Vec<PathBuf>, BuildError> {
    let listed = parse(&fs::read_to_string(dep_info).map_err(BuildError::io(dep_info))?);
    let mut files: Vec<_> = listed.into_iter().chain(manifests.map(Path::to_owned)).collect();
    files.retain(|file| file.is_file() && !own.iter().any(|dir| file.starts_with(dir)));
    files.sort();
    files.dedup();
    Ok(files)
}

/// Returns the sources and the manifest in the folder of a kernel crate.
///
/// Cargo watches everything below a folder, so the crate's own folder cannot be used: it contains the compiled modules, and
/// may contain a target folder.
pub(crate) fn kernel_crate(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut watched: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_source(path)).collect();
    watched.push(dir.join("Cargo.toml"));
    watched.sort();
    watched
}

fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        name != "ptx" && name != "target" && !name.starts_with('.')
    } else {
        path.extension().is_some_and(|extension| extension == "rs")
    }
}

/// Returns the prerequisites of all rules in a makefile, `result: file file`. Spaces in names are escaped.
pub(crate) fn parse(dep_info: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in dep_info.lines() {
        let Some((_, list)) = line.split_once(": ") else {
            continue;
        };
        let mut name = String::new();
        for part in list.split(' ') {
            name.push_str(part);
            if name.ends_with('\\') {
                name.pop();
                name.push(' ');
            } else if !name.is_empty() {
                files.push(PathBuf::from(std::mem::take(&mut name)));
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    #[test]
    fn names_may_have_spaces() {
        let files = parse("/t/a.ptx: /src/lib.rs /my\\ src/b.rs\n\n/src/lib.rs:\n");
        assert_eq!(files, ["/src/lib.rs", "/my src/b.rs"].map(PathBuf::from));
    }

    #[test]
    fn folders_and_files_of_the_builder_are_left_out() {
        let dir = TestDir::new("watch_files");
        let [kernel, own] = [dir.write("k/lib.rs", ""), dir.write("w/lib.rs", "")];
        let manifest = dir.write("k/Cargo.toml", "");
        let rule = format!("x: {} {} {}", own.display(), kernel.display(), dir.path("k").display());
        let dep_info = dir.write("x.d", &rule);
        let found = files(&dep_info, [manifest.as_path()].into_iter(), &[&dir.path("w")]).unwrap();
        assert_eq!(found, [manifest, kernel]);
    }

    #[test]
    fn only_sources_of_a_kernel_crate_are_watched() {
        let dir = TestDir::new("watch_kernels");
        for name in ["lib.rs", "Cargo.toml", "Cargo.lock", "blur/mod.rs", "ptx/blur.sm_90.ptx", "target/x", ".git/x"] {
            dir.write(name, "");
        }
        let expected = ["Cargo.toml", "blur", "lib.rs"].map(|name| dir.path(name));
        assert_eq!(kernel_crate(&dir.path("")), expected);
    }
}
