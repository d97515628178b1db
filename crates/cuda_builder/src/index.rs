//! The list of a kernel crate's committed modules, `ptx/index.toml`: what each was compiled from, and how.
//!
//! ```toml
//! [blur]
//! compiler = "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8"
//! features = ["my-kernels/blur"]
//! files.my-kernels = ["blur.rs","lib.rs"]
//! files.slm-cuda-std = ["src/argument.rs","src/lib.rs"]
//! sources = "32 hexadecimal digits"
//!
//! [blur.sm_75]
//! flags = "-Ctarget-cpu=sm_75 …"
//! digest = "32 hexadecimal digits"
//! ```
//!
//! `sources` is the digest of the files, and `digest` the digest of the text.

use crate::Arch;
use crate::module_names::is_identifier;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str =
    "# The compiled modules of this folder, and what each was compiled from. Written by build-kernels.\n";

/// The modules by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index(pub(crate) BTreeMap<String, Record>);

/// The list's entry for a compiled module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// The compiler and its version.
    pub(crate) compiler: String,
    /// The features of its packages, such as `my-kernels/blur`.
    pub(crate) features: Vec<String>,
    /// The files that it was compiled from, such as `my-kernels/blur.rs`, in ascending order.
    pub(crate) files: Vec<String>,
    /// The digest of the files.
    pub(crate) sources: String,
    /// The image for each target.
    pub(crate) images: BTreeMap<Arch, ImageRecord>,
}

/// The list's entry for the text for one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ImageRecord {
    /// The flags that it was compiled with. They contain no paths.
    pub(crate) flags: String,
    /// The digest of the text.
    pub(crate) digest: String,
}

impl Index {
    pub(crate) fn render(&self) -> String {
        let mut text = HEAD.to_owned();
        for (name, record) in &self.0 {
            let _ = write!(text, "\n[{name}]\n");
            record.render(&mut text);
            for (arch, ImageRecord { flags, digest }) in &record.images {
                let _ = write!(text, "\n[{name}.{arch}]\n");
                add(&mut text, "flags", &Value::from(flags.as_str()));
                add(&mut text, "digest", &Value::from(digest.as_str()));
            }
        }
        text
    }

    /// Parses the output of [`render`](Index::render). Returns the number of the first invalid line as an error.
    pub(crate) fn parse(text: &str) -> Result<Index, usize> {
        let mut index = Index::default();
        let mut place = Place::Nowhere;
        for (number, line) in (1_usize..).zip(text.lines()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(section) => Place::read(section).map(|section| place = section),
                None => index.set(&place, line),
            };
            read.ok_or(number)?;
        }
        Ok(index)
    }

    /// Reads the line `key = value`.
    fn set(&mut self, place: &Place<'_>, line: &str) -> Option<()> {
        let (key, value) = line.split_once(" = ")?;
        let value: Value = serde_json::from_str(value).ok()?;
        match place {
            Place::Nowhere => None,
            Place::Module(name) => self.0.entry((*name).to_owned()).or_default().set(key, &value),
            Place::Image(name, arch) => {
                let record = self.0.entry((*name).to_owned()).or_default();
                record.images.entry(*arch).or_default().set(key, &value)
            }
        }
    }
}

/// A section of the file.
enum Place<'a> {
    Nowhere,
    Module(&'a str),
    Image(&'a str, Arch),
}

impl<'a> Place<'a> {
    fn read(section: &'a str) -> Option<Place<'a>> {
        let (name, arch) = section.split_once('.').map_or((section, None), |(name, arch)| (name, Some(arch)));
        // File names contain the module's name.
        if !is_identifier(name) {
            return None;
        }
        match arch {
            None => Some(Place::Module(name)),
            Some(arch) => Some(Place::Image(name, arch.parse().ok()?)),
        }
    }
}

impl Record {
    fn render(&self, text: &mut String) {
        add(text, "compiler", &Value::from(self.compiler.as_str()));
        add(text, "features", &Value::from(self.features.clone()));
        let mut packages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (package, path) in self.files.iter().filter_map(|file| file.split_once('/')) {
            packages.entry(package).or_default().push(path);
        }
        for (package, paths) in packages {
            add(text, &format!("files.{package}"), &Value::from(paths));
        }
        add(text, "sources", &Value::from(self.sources.as_str()));
    }

    fn set(&mut self, key: &str, value: &Value) -> Option<()> {
        match (key, key.strip_prefix("files.")) {
            ("compiler", _) => self.compiler = value.as_str()?.to_owned(),
            ("features", _) => self.features = strings(value)?,
            ("sources", _) => self.sources = value.as_str()?.to_owned(),
            (_, Some(package)) if is_package(package) => {
                self.files.extend(strings(value)?.iter().map(|path| format!("{package}/{path}")))
            }
            _ => return None,
        }
        Some(())
    }
}

impl ImageRecord {
    fn set(&mut self, key: &str, value: &Value) -> Option<()> {
        let field = match key {
            "flags" => &mut self.flags,
            "digest" => &mut self.digest,
            _ => return None,
        };
        *field = value.as_str()?.to_owned();
        Some(())
    }
}

/// Adds the line `key = value`. Strings and lists of strings have the same syntax in JSON and TOML.
fn add(text: &mut String, key: &str, value: &Value) {
    let _ = writeln!(text, "{key} = {value}");
}

/// Returns whether a package may have this name. Others could not be told from the rest of their line.
fn is_package(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# The compiled modules of this folder, and what each was compiled from. Written by build-kernels.

[blur]
compiler = "rustc 1.96.0"
features = ["my-kernels/blur"]
files.my-kernels = ["blur.rs","lib.rs"]
files.slm-cuda-std = ["src/lib.rs"]
sources = "0123"

[blur.sm_75]
flags = "-Ctarget-cpu=sm_75 debug=\"x\""
digest = "4567"

[blur.sm_90]
flags = "-Ctarget-cpu=sm_90"
digest = "89ab"

[sum]
compiler = "rustc 1.96.0"
features = []
files.my-kernels = ["lib.rs"]
sources = "cdef"
"#;

    #[test]
    fn written_is_read() {
        let index = Index::parse(TEXT).unwrap();
        assert_eq!(index.render(), TEXT);
        let blur = &index.0["blur"];
        assert_eq!(blur.files, ["my-kernels/blur.rs", "my-kernels/lib.rs", "slm-cuda-std/src/lib.rs"]);
        assert_eq!(blur.images[&Arch::SM_75].flags, "-Ctarget-cpu=sm_75 debug=\"x\"");
        assert_eq!(blur.images.keys().copied().collect::<Vec<_>>(), [Arch::SM_75, Arch::SM_90]);
        assert!(index.0["sum"].images.is_empty());
    }

    /// A million characters, which take minutes if a line starts from the beginning again.
    #[test]
    fn long_lists_are_read_once() {
        const LEN: usize = 1 << 20;
        for line in ["[blur]\n", "[blur.sm_75]\n", "# x\n", "\n"] {
            assert!(Index::parse(&line.repeat(LEN / line.len())).is_ok(), "{line}");
        }
        for line in ["sources = \"x\"\n", "files.a = [\"b\"]\n", "features = []\n"] {
            let index = Index::parse(&format!("[blur]\n{}", line.repeat(LEN / line.len()))).unwrap();
            assert_eq!(Index::parse(&index.render()).unwrap(), index, "{line}");
        }
        for part in ["[", "]", "=", " = ", "\"", "{\"a\":"] {
            assert_eq!(Index::parse(&part.repeat(LEN / part.len())), Err(1), "{part}");
        }
    }

    #[test]
    fn an_invalid_line_is_reported_by_its_number() {
        let last = TEXT.lines().count() + 1;
        let lines =
            ["x", "sources = 1", "sources = \"", "features = [1]", "other = \"x\"", "[../x]", "[a.b]", "[a.sm_1]"];
        for line in lines.into_iter().chain(["files. = []", "files.\"\" = = []"]) {
            assert_eq!(Index::parse(&format!("{TEXT}{line}\n")), Err(last), "{line}");
        }
        assert_eq!(Index::parse("sources = \"x\""), Err(1));
        assert_eq!(Index::parse("[a.sm_75]\nsources = \"x\""), Err(2));
    }
}
