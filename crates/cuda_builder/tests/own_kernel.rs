//! The example `own_kernel` is there to be copied: its manifests need no workspace around them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// A folder outside of this workspace, removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = env::temp_dir().join(format!("own-kernel-{}", process::id()));
        fs::create_dir(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left lies in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies files, no folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_copy_of_the_example_stands_alone() {
    let (example, copied) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own_kernel"), Folder::new());
    for package in [".", "src", "tests", "kernels"] {
        copy(&example.join(package), &copied.0.join(package));
    }
    for package in [".", "kernels"] {
        // Reads the package's own manifest, and none of its dependencies.
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
            .current_dir(copied.0.join(package))
            .output()
            .unwrap();
        assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
