//! What has to be known about a kernel crate before it is compiled.

use crate::BuildError;
use crate::environment;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A kernel crate, as its manifest describes it.
#[derive(Clone, Debug)]
pub(crate) struct KernelCrate {
    /// Its folder.
    pub(crate) dir: PathBuf,
    /// The name of its package.
    pub(crate) package: String,
    /// The name of its library in Rust.
    pub(crate) library: String,
    /// Its features.
    pub(crate) features: Vec<String>,
}

impl KernelCrate {
    /// Reads the manifest in `dir` with the program `cargo`. Dependencies are not looked at.
    pub(crate) fn read(dir: &Path, cargo: &Path) -> Result<KernelCrate, BuildError> {
        let wrong = |reason: String| BuildError::KernelCrate { dir: dir.to_owned(), reason };
        let manifest = dir.join("Cargo.toml");
        let output = environment::command(cargo)
            .args(["metadata", "--no-deps", "--offline", "--format-version=1", "--manifest-path"])
            .arg(&manifest)
            .output()
            .map_err(BuildError::io(cargo))?;
        if !output.status.success() {
            return Err(wrong(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| wrong(e.to_string()))?;
        parse(&metadata, dir).ok_or_else(|| wrong("it has no library".to_owned()))
    }
}

/// The folder of the kernel crate: `dir` itself if it is absolute, otherwise below the package that is being built.
pub(crate) fn locate(dir: &Path) -> Result<PathBuf, BuildError> {
    let dir = if dir.is_absolute() {
        dir.to_owned()
    } else {
        const VARIABLE: &str = "CARGO_MANIFEST_DIR";
        let package = env::var_os(VARIABLE).ok_or(BuildError::NotABuildScript { variable: VARIABLE })?;
        PathBuf::from(package).join(dir)
    };
    fs::canonicalize(&dir).map_err(|error| BuildError::KernelCrate { dir, reason: error.to_string() })
}

/// The cargo that runs this build script, or the one that the user has.
pub(crate) fn host_cargo() -> PathBuf {
    PathBuf::from(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn parse(metadata: &Value, dir: &Path) -> Option<KernelCrate> {
    let manifest = fs::canonicalize(dir.join("Cargo.toml")).ok()?;
    let is_manifest = |package: &&Value| {
        let path = package["manifest_path"].as_str().unwrap_or_default();
        fs::canonicalize(path).is_ok_and(|path| path == manifest)
    };
    let package = metadata["packages"].as_array()?.iter().find(is_manifest)?;
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        kinds.into_iter().any(|kind| kind == "lib" || kind == "rlib")
    };
    let library = package["targets"].as_array()?.iter().find(is_library)?;
    Some(KernelCrate {
        dir: dir.to_owned(),
        package: package["name"].as_str()?.to_owned(),
        // Older versions of cargo give the name with hyphens.
        library: library["name"].as_str()?.replace('-', "_"),
        features: package["features"].as_object()?.keys().cloned().collect(),
    })
}
