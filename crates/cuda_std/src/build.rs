//! For the build script of a kernel crate.

mod manifest;
mod source;
mod tokens;
mod without_std;

use crate::digest::Digest;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The files of this crate that device code is made of.
const CUDA_STD: &[(&str, &[u8])] = &[
    ("argument.rs", include_bytes!("argument.rs")),
    ("atomic.rs", include_bytes!("atomic.rs")),
    ("constants.rs", include_bytes!("constants.rs")),
    ("copy.rs", include_bytes!("copy.rs")),
    ("device.rs", include_bytes!("device.rs")),
    ("digest.rs", include_bytes!("digest.rs")),
    ("expansion.rs", include_bytes!("expansion.rs")),
    ("fence.rs", include_bytes!("fence.rs")),
    ("global.rs", include_bytes!("global.rs")),
    ("global/rows.rs", include_bytes!("global/rows.rs")),
    ("global/tail.rs", include_bytes!("global/tail.rs")),
    ("half.rs", include_bytes!("half.rs")),
    ("kernel.rs", include_bytes!("kernel.rs")),
    ("layout.rs", include_bytes!("layout.rs")),
    ("lib.rs", include_bytes!("lib.rs")),
    ("math.rs", include_bytes!("math.rs")),
    ("math/approximate.rs", include_bytes!("math/approximate.rs")),
    ("math/ieee.rs", include_bytes!("math/ieee.rs")),
    ("shared.rs", include_bytes!("shared.rs")),
    ("thread.rs", include_bytes!("thread.rs")),
    ("value.rs", include_bytes!("value.rs")),
    ("warp.rs", include_bytes!("warp.rs")),
    ("warp/lane.rs", include_bytes!("warp/lane.rs")),
    ("warp/reduce.rs", include_bytes!("warp/reduce.rs")),
    ("warp/vote.rs", include_bytes!("warp/vote.rs")),
];

/// The whole build script of a kernel crate: says where the crate is and what the digest of its sources is.
///
/// The digest covers every `.rs` file below the crate's folder (without `target` and hidden folders), the files of
/// `cuda_std` that device code is made of, and every `.rs` file below the folders in `dependencies`, which are
/// relative to the crate's: name the kernel crate's other path dependencies there.
///
/// Cargo hands `dir` and `sources` to the build scripts of the crates that depend on this one, if its manifest has
/// a `links` key; [`kernel!`](crate::kernel) takes the digest from `SLM_KERNEL_SOURCES`.
///
/// # Crates without `std`
///
/// What `std` promises of threads, it promises of OS threads: a lazily initialised `thread_local!` counts on its
/// initialiser to end before anything else uses it in the same OS thread. So a machine on the host may run several threads
/// of a kernel on one OS thread, which is fast, only if the kernel cannot reach `std`. This function vouches for that
/// ([`Entry::WITHOUT_STD`](crate::Entry::WITHOUT_STD)) if
///
/// * the crate root has `#![no_std]`, unconditionally;
/// * no source file names `std`, `alloc`, `proc_macro` or `include`, or what this crate has that allocates
///   ([`image::Header`](crate::image::Header) and its likes), declares an `extern crate` other than `core`, or has `#[path]`, which
///   would bring in files that are not looked at; and modules are declared outside of functions and macros;
/// * the only dependencies are `slm-cuda-std` and path dependencies that are in `dependencies` and pass the same check.
///
/// All `.rs` files below the folder of the manifest count, except those of nested packages, `target`, hidden folders, and
/// the package's `build.rs`, `tests`, `examples`, `benches`, `src/bin` and `src/main.rs`; a module must not have the name of one
/// of these. It vouches for the library alone:
/// tests, doctests, examples and binaries of the same package may use `std`. A crate that is not vouched for works as well,
/// but slowly.
///
/// # Errors
///
/// If a folder or file cannot be read.
pub fn kernel_crate(dependencies: &[&str]) -> io::Result<()> {
    let dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?);
    let mut digest = add_files(Digest::new(), &dir, &dir)?;
    for dependency in dependencies {
        let folder = dir.join(dependency);
        digest = add_files(digest, &folder, &folder)?;
    }
    for (name, contents) in CUDA_STD {
        digest = digest.add_part(name.as_bytes()).add_part(contents);
    }
    println!("cargo::metadata=dir={}", dir.display());
    println!("cargo::metadata=sources={digest}");
    println!("cargo::rustc-env=SLM_KERNEL_SOURCES={digest}");
    println!("cargo::rerun-if-changed={}", dir.join("Cargo.toml").display());
    let library = without_std::library(&dir, dependencies)?.unwrap_or_default();
    println!("cargo::rustc-env=SLM_KERNELS_WITHOUT_STD={library}");
    Ok(())
}

/// Adds the path (relative to `root`) and contents of every `.rs` file below `folder`, in the order of their names, and
/// has cargo watch them. A new file counts as soon as an old one refers to it.
fn add_files(mut digest: Digest, root: &Path, folder: &Path) -> io::Result<Digest> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        if entry.file_type()?.is_dir() {
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                digest = add_files(digest, root, &path)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            println!("cargo::rerun-if-changed={}", path.display());
            let relative = path.strip_prefix(root).unwrap_or(&path);
            digest = digest.add_part(relative.to_string_lossy().as_bytes()).add_part(&fs::read(&path)?);
        }
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What only the host compiles.
    const HOST: [&str; 5] = ["build", "build.rs", "host", "host.rs", "image.rs"];

    /// The files below `folder`, by their paths from `src` on.
    fn files(src: &Path, folder: &Path) -> Vec<String> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = paths.flat_map(|path| match path.is_dir() {
            true => files(src, &path),
            false => vec![path.strip_prefix(src).unwrap().to_str().unwrap().to_owned()],
        });
        files.collect()
    }

    #[test]
    fn the_digest_covers_every_device_file() {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut names = files(&src, &src);
        names.retain(|name| !HOST.contains(&name.split('/').next().unwrap_or_default()));
        names.sort();
        assert_eq!(names, CUDA_STD.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
