//! The build script of a kernel crate.

mod manifest;
mod source;
mod tokens;
mod without_std;

use crate::digest::Digest;
use crate::image::Sources;
use manifest::package_name;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Does all that the build script of a kernel crate must do: prints the crate's folder, and the files that its kernels may
/// be compiled from.
///
/// These are all `.rs` files below the crate's folder (without `target` and hidden folders), all `.rs` files of `cuda_std`,
/// and all `.rs` files below the folders in `dependencies`, which are relative to the crate's folder. List the kernel
/// crate's other path dependencies there. [`kernel!`](crate::kernel) takes the files, with a digest of each, from
/// `SLM_KERNEL_SOURCES`. A compiled module is used only if the files that it was compiled from are the same
/// ([`image::Module::verify`](crate::image::Module::verify)).
///
/// Cargo passes `dir`, the folder, and `sources`, the files, to the build scripts of the crates that depend on this one, if its
/// manifest has a `links` key.
///
/// # Crates without `std`
///
/// The guarantees of `std` for threads are for OS threads. A lazily initialised `thread_local!`, for example, relies on its
/// initialiser to end before anything else uses it in the same OS thread. So a machine on the host may run several threads
/// of a kernel on one OS thread, which is fast, only if the kernel cannot reach `std`. This function vouches for that
/// ([`Entry::WITHOUT_STD`](crate::Entry::WITHOUT_STD)) if
///
/// * the crate root has `#![no_std]`, unconditionally;
/// * no source file contains the names `std`, `alloc`, `proc_macro` or `include`, or the word `unsafe`, with which a static
///   could hold code of the program, and foreign functions be called, or those of the parts of this crate that allocate (`image`,
///   [`include_kernels`](crate::include_kernels), `kernel_crate`);
/// * no source file declares an `extern crate` other than `core`, or contains `#[path]`, which could include files that are
///   not checked;
/// * modules are declared outside of functions and macros;
/// * the only dependencies are `slm-cuda-std` and path dependencies that are in `dependencies` and pass the same check.
///
/// All `.rs` files below the folder of the manifest are checked, except those of nested packages, `target`, hidden folders,
/// and the package's `build.rs`, `tests`, `examples`, `benches`, `src/bin` and `src/main.rs`. A module must not have the
/// name of one of these. The function vouches for the library only: tests, doctests, examples and binaries of the same
/// package may use `std`. A crate that it does not vouch for works too, but slowly.
///
/// # Errors
///
/// Returns an error if a folder or file cannot be read, or if the manifest of a dependency has no name.
pub fn kernel_crate(dependencies: &[&str]) -> io::Result<()> {
    let dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let own = (env::var("CARGO_PKG_NAME").map_err(|_| io::ErrorKind::NotFound)?, dir.clone());
    let sources = list(&[vec![own], packages(&dir, dependencies)?].concat())?;
    println!("cargo::metadata=dir={}", dir.display());
    println!("cargo::metadata=sources={sources}");
    println!("cargo::rustc-env=SLM_KERNEL_SOURCES={sources}");
    println!("cargo::rerun-if-changed={}", dir.join("Cargo.toml").display());
    let library = without_std::library(&dir, dependencies)?.unwrap_or_default();
    println!("cargo::rustc-env=SLM_KERNELS_WITHOUT_STD={library}");
    Ok(())
}

/// Returns the names and folders of these dependencies.
fn packages(dir: &Path, dependencies: &[&str]) -> io::Result<Vec<(String, PathBuf)>> {
    let package = |dependency: &&str| {
        let folder = dir.join(dependency);
        let manifest = read_text(&folder.join("Cargo.toml"))?;
        let unnamed = || io::Error::other(format!("{} has no package with a name", folder.display()));
        Ok((package_name(&manifest).ok_or_else(unnamed)?, folder))
    };
    dependencies.iter().map(package).collect()
}

/// Lists the files of these packages and of this crate ([`Sources`]). Cargo watches them; it notices a new file as soon as
/// an old one refers to it.
fn list(packages: &[(String, PathBuf)]) -> io::Result<String> {
    let mut files = Vec::new();
    for (name, folder) in packages {
        add_files(&mut files, name, folder, folder)?;
    }
    // `src` only: this crate's tests are in another package.
    let this = Path::new(env!("CARGO_MANIFEST_DIR"));
    add_files(&mut files, env!("CARGO_PKG_NAME"), this, &this.join("src"))?;
    Ok(Sources::list(files.iter().map(|(name, digest)| (name.as_str(), *digest))))
}

/// Adds the digests of all `.rs` files below `folder`, in the order of their names. A file is named by its package and its
/// path below `root`.
fn add_files(files: &mut Vec<(String, Digest)>, package: &str, root: &Path, folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|error| named(folder, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                add_files(files, package, root, &path)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            println!("cargo::rerun-if-changed={}", path.display());
            let contents = fs::read(&path).map_err(|error| named(&path, &error))?;
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            files.push((format!("{package}/{relative}"), Digest::of(&contents)));
        }
    }
    Ok(())
}

fn read_text(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map_err(|error| named(path, &error))
}

/// Returns the same error with the path of its file.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder with these files.
    fn folder(name: &str, files: &[&str]) -> PathBuf {
        let root = env::temp_dir().join(format!("slm-cuda-std-{}-{name}", std::process::id()));
        for path in files.iter().map(|file| root.join(file)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    #[test]
    fn files_are_named_by_package_and_path() {
        let root =
            folder("list", &["k/lib.rs", "k/rows/mod.rs", "k/ptx/x.ptx", "k/.git/x.rs", "k/target/x.rs", "h/lib.rs"]);
        let packages = [("my-kernels", "k"), ("helper", "h")].map(|(name, dir)| (name.to_owned(), root.join(dir)));
        let listed = list(&packages).unwrap();
        let names: Vec<&str> = listed.split('|').map(|entry| &entry[33..]).collect();
        assert_eq!(names[..3], ["my-kernels/lib.rs", "my-kernels/rows/mod.rs", "helper/lib.rs"]);
        assert!(names[3..].contains(&"slm-cuda-std/src/global/rows.rs"), "{names:?}");
        assert!(names[3..].iter().all(|name| name.starts_with("slm-cuda-std/src/")), "{names:?}");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = list(&[("helper".to_owned(), "/nowhere/helper".into())]).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/helper: "), "{error}");
        let error = packages(Path::new("/nowhere"), &["helper"]).unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/helper/Cargo.toml: "), "{error}");
    }
}
