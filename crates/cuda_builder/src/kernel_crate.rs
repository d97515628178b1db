//! Properties of a kernel crate, read before it is compiled.

use crate::environment;
use crate::module_names::check_names;
use crate::{Arch, BuildError, UnknownArch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A module: its name, and the feature of the kernel crate that it is compiled with. `None` stands for the default features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) feature: Option<String>,
}

/// A kernel crate, as its manifest describes it.
#[derive(Clone, Debug)]
pub(crate) struct KernelCrate {
    /// Its folder.
    pub(crate) dir: PathBuf,
    /// The name of its package.
    pub(crate) package: String,
    /// The name of its library in Rust.
    pub(crate) library: String,
    /// Its features other than `default`. Each is a module.
    pub(crate) features: Vec<String>,
    /// Targets of the modules for which the manifest lists them.
    pub(crate) targets: BTreeMap<String, Vec<Arch>>,
}

impl KernelCrate {
    /// Reads the manifest in `dir` with the program `cargo`, without dependencies.
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
        let package = package(&metadata, &manifest).ok_or_else(|| wrong("it has no package".to_owned()))?;
        parse(package, dir).map_err(wrong)
    }

    /// Returns the modules with the given names, or all modules if there are no names.
    ///
    /// A module is the crate with one of its features. A crate without features is one module, named after the library.
    pub(crate) fn select(&self, names: &[String]) -> Result<Vec<Module>, BuildError> {
        if self.features.is_empty() && names.is_empty() {
            return Ok(vec![Module { name: self.library.clone(), feature: None }]);
        }
        let names = if names.is_empty() { &self.features } else { names };
        check_names(names)?;
        let module = |name: &String| match self.features.contains(name) {
            true => Ok(Module { name: name.clone(), feature: Some(name.clone()) }),
            false => Err(BuildError::NoSuchModule {
                module: name.clone(),
                package: self.package.clone(),
                features: self.features.clone(),
            }),
        };
        names.iter().map(module).collect()
    }

    /// Returns the number of a module among all of the crate.
    pub(crate) fn number(&self, module: &Module) -> usize {
        self.features.iter().position(|name| *name == module.name).unwrap_or(0)
    }

    /// Returns the targets of a module.
    pub(crate) fn targets(&self, module: &str) -> &[Arch] {
        self.targets.get(module).map_or(&[Arch::DEFAULT], Vec::as_slice)
    }
}

/// Returns the kernel crate's folder, `dir`, which is absolute or relative to the package that is being built.
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

/// Returns the package with the given manifest.
fn package<'a>(metadata: &'a Value, manifest: &Path) -> Option<&'a Value> {
    let manifest = fs::canonicalize(manifest).ok()?;
    let has_manifest = |package: &&Value| {
        let path = package["manifest_path"].as_str().unwrap_or_default();
        fs::canonicalize(path).is_ok_and(|path| path == manifest)
    };
    metadata["packages"].as_array()?.iter().find(has_manifest)
}

/// Returns the kernel crate in `dir`, from cargo's description of its `package`.
fn parse(package: &Value, dir: &Path) -> Result<KernelCrate, String> {
    let is_library = |target: &&Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        kinds.into_iter().any(|kind| kind == "lib" || kind == "rlib")
    };
    let library = package["targets"].as_array().into_iter().flatten().find(is_library).ok_or("it has no library")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let features: Vec<String> =
        package["features"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    // Older versions of cargo report the name with hyphens.
    let library = text(&library["name"]).replace('-', "_");
    let modules = features.into_iter().filter(|name| name != "default").collect::<Vec<_>>();
    let targets = targets(&package["metadata"]["slm-cuda-builder"]["targets"], &modules, &library)?;
    Ok(KernelCrate { dir: dir.to_owned(), package: text(&package["name"]), library, features: modules, targets })
}

/// Returns the targets that the manifest lists for modules.
fn targets(table: &Value, modules: &[String], library: &String) -> Result<BTreeMap<String, Vec<Arch>>, String> {
    let known = |module: &String| modules.contains(module) || (modules.is_empty() && module == library);
    let mut targets = BTreeMap::new();
    for (module, list) in table.as_object().into_iter().flatten() {
        let archs = list.as_array().into_iter().flatten().map(|arch| arch.as_str().unwrap_or_default().parse());
        let mut archs: Vec<Arch> = archs.collect::<Result<_, _>>().map_err(|error: UnknownArch| error.to_string())?;
        archs.sort_unstable();
        archs.dedup();
        if archs.is_empty() || !known(module) {
            return Err(format!(
                "its manifest has targets for '{module}', but that is not a module, or the list is empty"
            ));
        }
        targets.insert(module.clone(), archs);
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(features: &[&str], targets: Value) -> Result<KernelCrate, String> {
        let features: serde_json::Map<_, _> = features.iter().map(|name| ((*name).to_owned(), json!([]))).collect();
        let package = json!({
            "name": "my-kernels",
            "targets": [{ "kind": ["custom-build"], "name": "build" }, { "kind": ["lib"], "name": "my-kernels" }],
            "features": features,
            "metadata": { "slm-cuda-builder": { "targets": targets } },
        });
        parse(&package, Path::new("/k"))
    }

    fn names(modules: Result<Vec<Module>, BuildError>) -> Vec<String> {
        modules.unwrap().into_iter().map(|module| module.name).collect()
    }

    #[test]
    fn each_feature_is_a_module() {
        let kernels = read(&["blur", "default", "sum"], Value::Null).unwrap();
        assert_eq!(names(kernels.select(&[])), ["blur", "sum"]);
        assert_eq!(names(kernels.select(&["sum".into()])), ["sum"]);
        let error = kernels.select(&["default".into()]).unwrap_err().to_string();
        assert_eq!(error, "my-kernels has no feature 'default' to compile a module from; it has: blur, sum");
    }

    #[test]
    fn features_that_cannot_name_modules_are_refused() {
        for (features, refused) in [(vec!["a-b"], "a-b"), (vec!["Blur", "blur"], "blur")] {
            let error = read(&features, Value::Null).unwrap().select(&[]).unwrap_err();
            assert!(matches!(&error, BuildError::ModuleName { name } if name == refused), "{error}");
        }
    }

    #[test]
    fn a_crate_without_features_is_one_module() {
        let kernels = read(&[], json!({ "my_kernels": ["sm_80"] })).unwrap();
        assert_eq!(kernels.select(&[]).unwrap(), [Module { name: "my_kernels".into(), feature: None }]);
        assert_eq!(kernels.targets("my_kernels"), [Arch::SM_80]);
    }

    #[test]
    fn modules_may_name_their_targets() {
        let kernels = read(&["blur", "sum"], json!({ "sum": ["sm_90", "sm_80", "sm_90"] })).unwrap();
        assert_eq!(kernels.targets("blur"), [Arch::SM_75]);
        assert_eq!(kernels.targets("sum"), [Arch::SM_80, Arch::SM_90]);
    }

    #[test]
    fn invalid_targets_are_refused() {
        let error = read(&["sum"], json!({ "sum": ["sm_61"] })).unwrap_err();
        assert_eq!(error, "'sm_61' is not a target: use sm_70 or later, such as sm_75, sm_80 or sm_90");
        for (module, list) in [("blur", json!(["sm_80"])), ("sum", json!([])), ("sum", json!("sm_80"))] {
            let error = read(&["sum"], json!({ module: list })).unwrap_err();
            assert_eq!(
                error,
                format!("its manifest has targets for '{module}', but that is not a module, or the list is empty")
            );
        }
    }
}
