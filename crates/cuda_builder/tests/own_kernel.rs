//! Checks that the example `own_kernel` can be copied: its manifests work outside of this workspace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

/// A folder outside of this workspace, removed on drop.
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
        // If this fails, the rest stays in the system's folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Copies the files of a folder, without its subfolders.
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
        // Reads only the package's own manifest, not those of its dependencies.
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
            .current_dir(copied.0.join(package))
            .output()
            .unwrap();
        assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
