//! Whether a kernel crate does without `std` on the host as well.

use super::manifest::Manifest;
use super::tokens::{Token, tokens};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What a package's folder has besides its library.
const OTHERS: [&str; 6] = ["build.rs", "tests", "examples", "benches", "src/bin", "src/main.rs"];

/// The name of the library of the package in `dir`, if it and all that it depends on do without `std`. Path dependencies
/// count if they are in `dependencies`, relative to `dir`.
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

/// The name of the library of the package in `dir`, if it does without `std` and depends on the `known` folders alone.
fn check(dir: &Path, known: &BTreeSet<PathBuf>) -> io::Result<Option<String>> {
    let Some(manifest) = Manifest::read(&fs::read_to_string(dir.join("Cargo.toml"))?) else { return Ok(None) };
    let is_known = |path: &String| dir.join(path).canonicalize().is_ok_and(|path| known.contains(&path));
    if !manifest.dependencies.iter().all(is_known) {
        return Ok(None);
    }
    let root = dir.join(manifest.root());
    let inside = !manifest.root().contains("..") && Path::new(manifest.root()).is_relative();
    let is_root = inside && root.is_file() && says_no_std(&fs::read_to_string(root)?);
    Ok((is_root && all_files(dir, dir)?).then(|| manifest.library()))
}

/// Whether all `.rs` files below `folder` that may be in the library of the package in `root` do without `std`.
fn all_files(root: &Path, folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if OTHERS.iter().any(|other| path == root.join(other)) {
            continue;
        }
        let passes = if entry.file_type()?.is_dir() {
            let skipped =
                name == "target" || name.to_string_lossy().starts_with('.') || path.join("Cargo.toml").exists();
            skipped || all_files(root, &path)?
        } else {
            path.extension().is_none_or(|extension| extension != "rs") || does_without(&fs::read_to_string(&path)?)
        };
        if !passes {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a crate root begins with `#![no_std]`, among other attributes.
fn says_no_std(source: &str) -> bool {
    use Token::{Mark, Name};
    let attribute = [Mark('#'), Mark('!'), Mark('['), Name("no_std"), Mark(']')];
    tokens(source).is_some_and(|tokens| {
        // A macro's argument or a module's inner attribute would be inside of brackets.
        let mut depth = 0;
        tokens.iter().enumerate().any(|(place, token)| {
            let found = depth == 0 && tokens[place..].starts_with(&attribute);
            match token {
                Mark('(' | '[' | '{') => depth += 1,
                Mark(')' | ']' | '}') => depth -= 1,
                _ => {}
            }
            found
        })
    })
}

/// Whether a source file names nothing that leads to `std`, or to a file that is not looked at.
fn does_without(source: &str) -> bool {
    use Token::{Mark, Name};
    let Some(tokens) = tokens(source) else { return false };
    (0..tokens.len()).all(|place| match tokens[place..] {
        [Name("std"), ..] => false,
        [Name("extern"), Name("crate"), Name("core"), ..] => true,
        [Name("extern"), Name("crate"), ..] => false,
        [Name("include"), Mark('!'), ..] | [Name("path"), Mark('='), Token::Literal, ..] => false,
        // Modules in files that are taken to be other targets.
        [Name("mod"), Name("build" | "tests" | "examples" | "benches" | "bin" | "main"), Mark(';'), ..] => false,
        [Name("mod"), Mark('$'), ..] => false,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_std_is_for_all_targets() {
        let all = [
            ("//! Kernels.\n#![no_std]\n", true),
            ("#![cfg_attr(target_os = \"cuda\", feature(abi_ptx))] #![ no_std ] fn f() {}", true),
            ("#![cfg_attr(target_os = \"cuda\", no_std)]", false),
            ("// #![no_std]", false),
            ("macro_rules! m { () => { #![no_std] } }", false),
            ("#[no_std]", false),
            ("", false),
        ];
        for (source, expected) in all {
            assert_eq!(says_no_std(source), expected, "{source}");
        }
    }

    #[test]
    fn what_leads_to_std_is_seen() {
        let all = [
            ("use core::fmt; // std", true),
            ("const TEXT: &str = \"std\";", true),
            ("extern crate core;", true),
            ("extern \"C\" { } mod main { } mod rows; let path = 1;", true),
            ("use std::fmt;", false),
            ("use r#std::fmt;", false),
            ("extern crate std as other;", false),
            ("extern crate alloc;", false),
            ("include!(\"other\");", false),
            ("#[path = \"../other.rs\"] mod other;", false),
            ("#[cfg_attr(all(), path = r\"x\")] mod other;", false),
            ("mod tests;", false),
            ("mod $name;", false),
            ("/*", false),
        ];
        for (source, expected) in all {
            assert_eq!(does_without(source), expected, "{source}");
        }
    }

    /// A folder with these files, in which `kernels` is a package.
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
            ("kernels/tests/all.rs", "use std::fmt;"),
            ("kernels/build.rs", "use std::fmt;"),
            ("kernels/nested/Cargo.toml", ""),
            ("kernels/nested/lib.rs", "use std::fmt;"),
            ("helper/Cargo.toml", HELPER),
            ("helper/src/lib.rs", "#![no_std]"),
        ];
        let changes: [(&str, &str, Option<&str>); 5] = [
            ("kernels/src/rows.rs", "use core::fmt;", Some("my_kernels")),
            ("kernels/src/rows.rs", "use std::fmt;", None),
            ("helper/src/lib.rs", "", None),
            ("helper/src/more/deep.rs", "use std::fmt;", None),
            ("helper/Cargo.toml", "[package]\nname = \"helper\"\n[dependencies]\nserde = \"1\"", None),
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
}
