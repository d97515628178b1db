//! The files that a module is compiled from, and the features that it is compiled with.

use crate::cargo_messages::{Crate, Messages};
use crate::error::BuildError;
use crate::watched_files;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The only package from a registry whose files count. The build scripts of kernel crates list them.
const CUDA_STD: &str = "slm-cuda-std";

/// Source files and features of one module for one target.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// The files, such as `my-kernels/blur.rs`.
    pub(crate) files: BTreeSet<String>,
    /// The features, such as `my-kernels/blur`.
    pub(crate) features: BTreeSet<String>,
}

impl Sources {
    /// Returns the sources of the crates in `messages` that were compiled for the device: their results are below `folder`.
    /// Crates in the folders `own`, the toolchain's and the builder's, are excluded. So are crates from a registry, which do
    /// not change, except `slm-cuda-std`.
    pub(crate) fn find(messages: &Messages, folder: &Path, own: &[&Path]) -> Result<Sources, BuildError> {
        let mut sources = Sources::default();
        let is_own = |found: &&Crate| own.iter().any(|dir| found.manifest.starts_with(dir));
        for found in messages.crates.iter().filter(|found| !is_own(found)) {
            let package = found.package();
            if !found.is_local() && package != CUDA_STD {
                continue;
            }
            let Some(dep_info) =
                found.results.iter().filter(|file| file.starts_with(folder)).find_map(|file| dep_info(file))
            else {
                continue;
            };
            let root = found.manifest.parent().unwrap_or(folder);
            let listed = fs::read_to_string(&dep_info).map_err(BuildError::io(&dep_info))?;
            sources.files.extend(watched_files::parse(&listed).iter().map(|file| name(package, root, file)));
            sources.features.extend(found.features.iter().map(|feature| format!("{package}/{feature}")));
        }
        Ok(sources)
    }
}

/// Returns the path of the dep-info file that the compiler wrote next to the library `lib….rlib` or `lib….rmeta`.
fn dep_info(library: &Path) -> Option<PathBuf> {
    let stem = library.file_stem()?.to_str()?.strip_prefix("lib")?;
    Some(library.with_file_name(format!("{stem}.d")))
}

/// Returns the name of a file of `package`, whose folder is `root`. The name of a file elsewhere is its path.
fn name(package: &str, root: &Path, file: &Path) -> String {
    match file.strip_prefix(root) {
        Ok(path) => format!("{package}/{}", path.to_string_lossy().replace('\\', "/")),
        Err(_) => file.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::TestDir;

    fn artifact(id: &str, manifest: &Path, library: &Path) -> String {
        format!(
            "{{\"reason\":\"compiler-artifact\",\"package_id\":\"{id}\",\"manifest_path\":{manifest:?},\
             \"features\":[\"blur\"],\"filenames\":[{library:?}]}}\n"
        )
    }

    #[test]
    fn only_files_of_device_crates_count() {
        let dir = TestDir::new("sources_find");
        let path = |name: &str| dir.path(name);
        let rule = |files: &[&str]| {
            let files: Vec<_> = files.iter().map(|file| path(file).display().to_string()).collect();
            format!("x: {}\n", files.join(" "))
        };
        dir.write("t/nvptx/deps/k-1.d", &rule(&["k/lib.rs", "k/rows/mod.rs", "elsewhere.rs"]));
        dir.write("t/nvptx/deps/cuda_std-2.d", &rule(&["registry/c/src/lib.rs"]));
        dir.write("t/host/deps/h-3.d", &rule(&["h/lib.rs"]));
        dir.write("t/nvptx/deps/w-4.d", &rule(&["w/lib.rs"]));
        dir.write("t/nvptx/deps/libm-5.d", &rule(&["registry/libm/lib.rs"]));
        let text = [
            ("path+file:///k#my-kernels@0.1.0", "k", "t/nvptx/deps/libk-1.rlib"),
            ("registry+https://x#slm-cuda-std@0.1.0", "registry/c", "t/nvptx/deps/libcuda_std-2.rmeta"),
            ("path+file:///h#0.1.0", "h", "t/host/deps/libh-3.rlib"),
            ("path+file:///w#0.0.0", "w", "t/nvptx/deps/libw-4.rlib"),
            ("registry+https://x#libm@0.2.8", "registry/libm", "t/nvptx/deps/liblibm-5.rlib"),
        ]
        .map(|(id, folder, library)| artifact(id, &path(folder).join("Cargo.toml"), &path(library)))
        .concat();
        let found = Sources::find(&Messages::parse(&text), &path("t/nvptx"), &[&path("w")]).unwrap();
        let elsewhere = path("elsewhere.rs").display().to_string();
        let expected = ["my-kernels/lib.rs", "my-kernels/rows/mod.rs", "slm-cuda-std/src/lib.rs", &elsewhere];
        assert_eq!(found.files, expected.map(str::to_owned).into());
        assert_eq!(found.features, ["my-kernels/blur", "slm-cuda-std/blur"].map(str::to_owned).into());
    }
}
