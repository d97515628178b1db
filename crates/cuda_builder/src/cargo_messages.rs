//! Cargo's messages during a build, one JSON object per line.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// The messages of one run.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// Whether compilation started. If not, the dependencies could not be resolved.
    pub(crate) started: bool,
    /// The compiler's errors, with the source lines that it prints.
    pub(crate) errors: Vec<String>,
    /// The compiler's warnings, likewise.
    pub(crate) warnings: Vec<String>,
    /// The crates that were compiled.
    pub(crate) crates: Vec<Crate>,
    /// The variables that build scripts set for the compiler.
    variables: Vec<Variable>,
}

/// A crate that was compiled.
#[derive(Debug)]
pub(crate) struct Crate {
    /// Cargo's identifier of its package.
    id: String,
    pub(crate) manifest: PathBuf,
    /// The features that it was compiled with.
    pub(crate) features: Vec<String>,
    /// The files that the compiler wrote.
    pub(crate) results: Vec<PathBuf>,
}

#[derive(Debug)]
struct Variable {
    package: String,
    name: String,
    value: String,
}

impl Crate {
    /// Returns the name of its package (cargo's "Package ID Specifications"; in older versions a space follows the name).
    pub(crate) fn package(&self) -> &str {
        let Some((url, fragment)) = self.id.split_once('#') else {
            return self.id.split(' ').next().unwrap_or_default();
        };
        match fragment.split_once('@') {
            Some((name, _)) => name,
            None => url.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
        }
    }

    /// Returns whether its package is a local folder, whose files may change.
    pub(crate) fn is_local(&self) -> bool {
        self.id.contains("path+file:")
    }
}

impl Messages {
    pub(crate) fn parse(stdout: &str) -> Messages {
        let mut messages = Messages::default();
        // Other programs may print lines that are not JSON.
        for message in stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match message["reason"].as_str() {
                Some("compiler-message") => messages.add_diagnostic(&message["message"]),
                Some("compiler-artifact") => messages.add_crate(&message),
                Some("build-script-executed") => messages.add_variables(&message),
                Some("build-finished") => messages.started = true,
                _ => {}
            }
        }
        messages
    }

    /// Returns the manifests of the packages that were compiled.
    pub(crate) fn manifests(&self) -> impl Iterator<Item = &Path> {
        self.crates.iter().map(|found| found.manifest.as_path())
    }

    /// Returns the variable `name` that the build script of the package with the given manifest set.
    pub(crate) fn variable(&self, manifest: &Path, name: &str) -> Option<&str> {
        let package = self.crates.iter().find(|found| found.manifest == manifest)?;
        let matches = |variable: &&Variable| variable.package == package.id && variable.name == name;
        self.variables.iter().find(matches).map(|variable| variable.value.as_str())
    }

    fn add_diagnostic(&mut self, diagnostic: &Value) {
        let text = diagnostic["message"].as_str().unwrap_or_default();
        // Skips the last messages of a run, which only count the others.
        if text.starts_with("aborting due to") || text.ends_with(" emitted") {
            return;
        }
        // Skips the warning about the builder's own flag, which authors of kernels cannot change.
        if text.starts_with("unstable feature specified for `-Ctarget-feature`") {
            return;
        }
        let kind = match diagnostic["level"].as_str() {
            Some(level) if level.starts_with("error") => &mut self.errors,
            Some("warning") => &mut self.warnings,
            _ => return,
        };
        kind.push(diagnostic["rendered"].as_str().unwrap_or(text).trim_end().to_owned());
    }

    fn add_crate(&mut self, artifact: &Value) {
        let (id, manifest) = (artifact["package_id"].as_str(), artifact["manifest_path"].as_str());
        let (Some(id), Some(manifest)) = (id, manifest) else { return };
        let texts = |key: &str| artifact[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.crates.push(Crate {
            id: id.to_owned(),
            manifest: manifest.into(),
            features: texts("features").map(str::to_owned).collect(),
            results: texts("filenames").map(PathBuf::from).collect(),
        });
    }

    fn add_variables(&mut self, script: &Value) {
        let package = script["package_id"].as_str().unwrap_or_default();
        for pair in script["env"].as_array().into_iter().flatten() {
            if let (Some(name), Some(value)) = (pair[0].as_str(), pair[1].as_str()) {
                let [package, name, value] = [package, name, value].map(str::to_owned);
                self.variables.push(Variable { package, name, value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = r#"
Some tool's own words.
{"reason":"compiler-artifact","package_id":"path+file:///k#0.1.0","manifest_path":"/k/Cargo.toml"}
{"reason":"build-script-executed","package_id":"path+file:///other#0.1.0","env":[["SLM_KERNEL_SOURCES","77"]]}
{"reason":"build-script-executed","package_id":"path+file:///k#0.1.0","env":[["A","1"],["SLM_KERNEL_SOURCES","42"]]}
{"reason":"compiler-message","message":{"level":"warning","message":"unused","rendered":"warning: unused\n --> a.rs:1:1\n"}}
{"reason":"compiler-message","message":{"level":"warning","message":"unstable feature specified for `-Ctarget-feature`: `ptx65`","rendered":"warning: unstable feature\n"}}
{"reason":"compiler-message","message":{"level":"warning","message":"1 warning emitted","rendered":"warning: 1 warning emitted\n"}}
{"reason":"compiler-message","message":{"level":"error","message":"mismatched","rendered":"error: mismatched\n --> a.rs:2:1\n\n"}}
{"reason":"compiler-message","message":{"level":"error","message":"aborting due to 1 previous error","rendered":"error: aborting\n"}}
{"reason":"compiler-message","message":{"level":"failure-note","message":"For more information","rendered":"For more\n"}}
{"reason":"build-finished","success":false}
"#;

    #[test]
    fn diagnostics_are_kept_without_summaries_and_own_flags() {
        let messages = Messages::parse(FAILED);
        assert!(messages.started);
        assert_eq!(messages.errors, ["error: mismatched\n --> a.rs:2:1"]);
        assert_eq!(messages.warnings, ["warning: unused\n --> a.rs:1:1"]);
    }

    #[test]
    fn a_variable_is_found_by_its_package() {
        let messages = Messages::parse(FAILED);
        let manifest = Path::new("/k/Cargo.toml");
        assert_eq!(messages.variable(manifest, "SLM_KERNEL_SOURCES"), Some("42"));
        assert_eq!(messages.variable(manifest, "B"), None);
        assert_eq!(messages.variable(Path::new("/other/Cargo.toml"), "SLM_KERNEL_SOURCES"), None);
    }

    #[test]
    fn crates_are_known_by_their_packages() {
        let ids = [
            ("path+file:///k#0.1.0", "k", true),
            ("path+file:///k#my-kernels@0.1.0", "my-kernels", true),
            ("registry+https://github.com/rust-lang/crates.io-index#libm@0.2.8", "libm", false),
            ("my-kernels 0.1.0 (path+file:///k)", "my-kernels", true),
            ("libm 0.2.8 (registry+https://github.com/rust-lang/crates.io-index)", "libm", false),
        ];
        for (id, name, is_local) in ids {
            let line = format!(
                r#"{{"reason":"compiler-artifact","package_id":"{id}","manifest_path":"/m","features":["a"],"filenames":["/f"]}}"#
            );
            let messages = Messages::parse(&line);
            let found = &messages.crates[0];
            assert_eq!((found.package(), found.is_local()), (name, is_local), "{id}");
            assert_eq!((&found.features[..], &found.results[..]), (&["a".to_owned()][..], &["/f".into()][..]));
        }
    }

    #[test]
    fn a_run_that_compiles_nothing_has_not_started() {
        assert!(!Messages::parse("").started);
    }
}
