//! Copies of the fixture that tests may change.

use std::fs;
use std::path::{Path, PathBuf};

/// A copy of the fixture: the folders `kernels`, `helper` and `host`.
#[derive(Debug)]
pub struct Fixture {
    root: PathBuf,
}

impl Fixture {
    /// Makes a copy in the folder `name`. It uses the `cuda_std` of this workspace.
    pub fn new(name: &str) -> Fixture {
        Fixture::with_cuda_std(name, &manifest_dir().with_file_name("cuda_std"))
    }

    /// Makes a copy in the folder `name`. It uses a copy of `cuda_std`.
    pub fn apart(name: &str) -> Fixture {
        let cuda_std = scratch().join(name).join("a copy of cuda_std");
        let _ = fs::remove_dir_all(&cuda_std);
        copy(&manifest_dir().with_file_name("cuda_std").join("src"), &cuda_std.join("src"), &|text| text);
        let manifest = "[package]\nname = 'slm-cuda-std'\nversion = '0.1.0'\nedition = '2024'\n\
                        [lib]\nname = 'cuda_std'\n[workspace]\n";
        fs::write(cuda_std.join("Cargo.toml"), manifest).unwrap();
        Fixture::with_cuda_std(name, &cuda_std)
    }

    fn with_cuda_std(name: &str, cuda_std: &Path) -> Fixture {
        let root = scratch().join(name).join("fixture");
        let _ = fs::remove_dir_all(&root);
        let absolute = |text: String| {
            text.replace("../../../../cuda_std", &cuda_std.display().to_string())
                .replace("../../../../emulator", &manifest_dir().with_file_name("emulator").display().to_string())
                .replace("\"../../..\"", &format!("{:?}", manifest_dir()))
        };
        copy(&manifest_dir().join("tests/fixture"), &root, &absolute);
        Fixture { root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Replaces `old` in a file, which must contain it.
    pub fn edit(&self, name: &str, old: &str, new: &str) {
        let text = self.read(name);
        assert!(text.contains(old), "{text}");
        fs::write(self.path(name), text.replace(old, new)).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

/// Returns this workspace's target folder. The fixture's host has the same one, so that packages that both depend on are compiled
/// once, and so is `core` if a build script has compiled kernels.
pub fn target_dir() -> &'static Path {
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // With `--target`, the folder for tests is in a folder in it. Cargo marks those that it creates.
    let marked = tests.ancestors().take(3).filter(|folder| folder.join("CACHEDIR.TAG").is_file()).last();
    marked.unwrap_or_else(|| tests.parent().unwrap())
}

/// Returns the folder in which this workspace's build scripts compile kernels.
pub fn device_target_dir() -> PathBuf {
    target_dir().join("slm-device")
}

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cuda_builder")
}

fn manifest_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Copies the files below `from`, without files that cargo or the builder wrote. Applies `change` to manifests.
fn copy(from: &Path, to: &Path, change: &dyn Fn(String) -> String) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (name, path) = (entry.file_name(), entry.path());
        if path.is_dir() {
            if name != "target" && name != "ptx" {
                copy(&path, &to.join(name), change);
            }
        } else if name == "Cargo.toml" {
            fs::write(to.join(name), change(fs::read_to_string(path).unwrap())).unwrap();
        } else if name != "Cargo.lock" {
            fs::copy(path, to.join(name)).unwrap();
        }
    }
}
