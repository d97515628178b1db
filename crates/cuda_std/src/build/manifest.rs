//! The parts of a package's manifest that determine its library.

/// The parts of a manifest that determine the library.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The name of the package.
    package: String,
    /// The name of the library, if the manifest has one.
    library: Option<String>,
    /// The crate root, relative to the manifest, if the manifest has one.
    root: Option<String>,
    /// The paths of the dependencies other than `slm-cuda-std`, relative to the manifest.
    pub(super) dependencies: Vec<String>,
}

impl Manifest {
    /// Returns the library's name in Rust, or `None` if documentation tests may have the same name.
    pub(super) fn library(&self) -> Option<String> {
        let name = self.library.as_ref().unwrap_or(&self.package).replace('-', "_");
        (name != "rust_out" && !name.starts_with("doctest")).then_some(name)
    }

    /// Returns the crate root, relative to the manifest.
    pub(super) fn root(&self) -> &str {
        self.root.as_deref().unwrap_or("src/lib.rs")
    }

    /// Reads a manifest. Returns `None` if a part that concerns the library is not understood: a procedural macro, a
    /// dependency that is neither `slm-cuda-std` nor a path, or anything that needs a complete TOML parser.
    pub(super) fn read(text: &str) -> Option<Manifest> {
        let mut manifest = Manifest::default();
        let mut section = String::new();
        // Lines of a multi-line string could be mistaken for others.
        (!text.contains("\"\"\"") && !text.contains("'''")).then_some(())?;
        for line in text.lines().map(str::trim) {
            match line.strip_prefix('[') {
                Some(header) => {
                    section = header.trim_start_matches('[').split(']').next().unwrap_or_default().trim().to_owned();
                    Manifest::understands(&section, header).then_some(())?;
                }
                None => manifest.set(&section, line)?,
            }
        }
        Some(manifest)
    }

    /// Returns whether `set` understands a section with this header. Dependencies are understood only as lines of one table.
    /// A header that may be a line of an array is not understood.
    fn understands(section: &str, header: &str) -> bool {
        let of_library = header.replace("build-dependencies", "").replace("dev-dependencies", "");
        let elsewhere = !of_library.contains("dependencies") || section == "workspace.dependencies";
        let is_plain = !header.contains('\\') && (!header.contains('=') || section.starts_with("target."));
        is_plain && (elsewhere || section == "dependencies") && !section.starts_with(['"', '\''])
    }

    fn set(&mut self, section: &str, line: &str) -> Option<()> {
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else { return Some(()) };
        let (key, value) = (key.trim(), value.trim());
        let is_quoted = key.starts_with(['"', '\'']);
        match section {
            "package" | "lib" | "example" | "dependencies" if is_quoted => return None,
            "package" if key == "name" => self.package = string(value)?,
            "lib" if key == "name" => self.library = Some(string(value)?),
            "lib" if key == "path" => self.root = Some(string(value)?),
            "lib" if key.starts_with("proc") => return None,
            // A library that is an example may have the name of the library.
            "example" if key.starts_with("crate") => return None,
            "dependencies" => self.add_dependency(key, value)?,
            // `dependencies.x = …` and `lib.path = …` without a section of their own.
            "" => return None,
            _ => {}
        }
        Some(())
    }

    fn add_dependency(&mut self, key: &str, value: &str) -> Option<()> {
        if value.contains("package") {
            return None;
        }
        if ["slm-cuda-std", "slm-cuda-std.workspace", "slm-cuda-std.path"].contains(&key) {
            return Some(());
        }
        let path = match key.split_once('.') {
            Some((_, "path")) => string(value)?,
            Some(_) => return None,
            None => string(value.split_once("path")?.1.trim_start().strip_prefix('=')?.trim_start())?,
        };
        self.dependencies.push(path);
        Some(())
    }
}

/// Returns the name of the package. The rest of the manifest does not matter.
pub(super) fn package_name(text: &str) -> Option<String> {
    let package = text.lines().map(str::trim).skip_while(|line| *line != "[package]").skip(1);
    let mut keys = package.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    keys.find(|(key, _)| key.trim() == "name").and_then(|(_, value)| string(value.trim()))
}

/// Returns the string that `value` begins with, if it contains no escapes.
fn string(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    let (string, _) = value[1..].split_once(quote)?;
    (!string.contains('\\')).then(|| string.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_their_paths_are_read() {
        let text = "[package]\nname = \"my-kernels\" # ours\n[features]\nstd = []\n[lib]\npath = 'lib.rs'\n\
            [dependencies]\nslm-cuda-std.workspace = true\n# more\nhelper = { version = \"1\", path = \"../helper\" }\n\
            other.path = \"other\"\n[build-dependencies]\nserde = \"1\"\n[dev-dependencies.x]\nversion = \"1\"\n\
            [target.'cfg(unix)'.dev-dependencies]\nlibc = \"1\"";
        let manifest = Manifest::read(text).unwrap();
        assert_eq!((manifest.library().as_deref(), manifest.root()), (Some("my_kernels"), "lib.rs"));
        assert_eq!(manifest.dependencies, ["../helper", "other"]);
        let plain = Manifest::read("[package]\nname = \"a\"\n[lib]\nname = \"b\"").unwrap();
        assert_eq!((plain.library().as_deref(), plain.root()), (Some("b"), "src/lib.rs"));
        assert_eq!(Manifest::read("[package]\nname = \"rust-out\"").unwrap().library(), None);
    }

    #[test]
    fn a_package_has_one_name() {
        let text = "[lib]\nname = \"other\"\n[package]\nversion = \"1\"\nname = \"my-kernels\"\n[dependencies.serde]\n";
        assert_eq!(package_name(text).as_deref(), Some("my-kernels"));
        for text in ["", "[package]\n[lib]\nname = \"other\"", "[package]\nname = 1"] {
            assert_eq!(package_name(text), None, "{text}");
        }
    }

    #[test]
    fn other_dependencies_are_not_understood() {
        let all = [
            "[dependencies]\nserde = \"1\"",
            "[dependencies]\nserde.workspace = true",
            "[dependencies]\nserde = { version = \"1\" }",
            "[dependencies]\nslm-cuda-std = { package = \"serde\", version = \"1\" }",
            "[dependencies]\nserde.path = \"a\\\\b\"",
            "[dependencies.serde]\npath = \"a\"",
            "[target.'cfg(unix)'.dependencies]\nserde = \"1\"",
            "[target.'cfg(target_os = \"linux\")'.dependencies]\nserde = \"1\"",
            "[lib]\nproc-macro = true",
            "dependencies.serde = \"1\"",
            "[features]\n[dependencies] # a = b\nserde = \"1\"",
            "[target.x.\"depend\\u0065ncies\"]\nserde = \"1\"",
            "[lib]\n\"path\" = \"other.rs\"",
            "[package.metadata]\nx = \"\"\"\n[lib]\npath = \"lib.rs\"\n\"\"\"",
            "[package.metadata]\nx = '''\n[lib]\n'''",
            "[[example]]\nname = \"kernels\"\ncrate-type = [\"lib\"]",
        ];
        for text in all {
            assert_eq!(Manifest::read(text), None, "{text}");
        }
    }
}
