//! The wrapper package of a module.
//!
//! Cargo compiles only a `cdylib` to PTX, but a kernel crate is a plain library, because the host depends on it. So each
//! module gets a tiny package in the target folder: a `cdylib` without code that depends on the kernel crate with the
//! module's feature. The package is its own workspace, so the profiles of the kernel crate's workspace do not apply.

use crate::error::BuildError;
use crate::files::write_if_changed;
use crate::kernel_crate::{KernelCrate, Module};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A package on disk that compiles to one module.
#[derive(Debug)]
pub(crate) struct Wrapper {
    /// Its folder.
    pub(crate) dir: PathBuf,
    /// The name of its library in Rust.
    pub(crate) library: String,
}

impl Wrapper {
    /// Writes the package for `module` of `kernels` below `target_dir`.
    pub(crate) fn write(target_dir: &Path, kernels: &KernelCrate, module: &Module) -> Result<Wrapper, BuildError> {
        let package = package(kernels, module);
        let dir = Wrapper::dir(target_dir, kernels, module);
        fs::create_dir_all(&dir).map_err(BuildError::io(&dir))?;
        write_if_changed(&dir.join("Cargo.toml"), &manifest(&package, kernels, module))?;
        let code = format!("#![no_std]\nextern crate {} as _;\n", kernels.library);
        write_if_changed(&dir.join("lib.rs"), &code)?;
        Ok(Wrapper { dir, library: package.replace('-', "_") })
    }

    /// Returns the folder of the package for `module` of `kernels`.
    pub(crate) fn dir(target_dir: &Path, kernels: &KernelCrate, module: &Module) -> PathBuf {
        target_dir.join("packages").join(package(kernels, module))
    }
}

/// Returns the name of a package. It contains both names, since all kernel crates of a workspace share the target folder.
fn package(kernels: &KernelCrate, module: &Module) -> String {
    format!("slm-device-{}-{}", kernels.package, module.name)
}

fn manifest(package: &str, kernels: &KernelCrate, module: &Module) -> String {
    let path = quoted(&kernels.dir);
    let features = match &module.feature {
        Some(feature) => format!("default-features = false, features = [{}]", Value::from(feature.as_str())),
        None => "default-features = true".to_owned(),
    };
    format!(
        "[package]\nname = \"{package}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\npath = \"lib.rs\"\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\n{} = {{ path = {path}, {features} }}\n\n\
         [workspace]\n",
        kernels.package
    )
}

/// Returns the path as a TOML string. JSON strings are valid TOML.
pub(crate) fn quoted(path: &Path) -> String {
    Value::from(path.to_string_lossy()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels() -> KernelCrate {
        KernelCrate {
            dir: "/with \"quotes\"".into(),
            package: "my-kernels".into(),
            library: "my_kernels".into(),
            features: Vec::new(),
            targets: Default::default(),
        }
    }

    #[test]
    fn a_feature_replaces_the_default_ones() {
        let module = Module { name: "blur".into(), feature: Some("blur".into()) };
        let text = manifest("p", &kernels(), &module);
        let line = r#"my-kernels = { path = "/with \"quotes\"", default-features = false, features = ["blur"] }"#;
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn without_a_feature_there_are_the_default_ones() {
        let text = manifest("p", &kernels(), &Module { name: "my_kernels".into(), feature: None });
        assert!(text.contains("default-features = true }"), "{text}");
    }
}
