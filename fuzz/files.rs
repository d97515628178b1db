//! Inputs in files.

use std::path::Path;
use std::{env, fs, process};

/// Returns what a function makes of a file with this extension that contains the bytes. Each process has one file.
///
/// # Panics
///
/// If the file cannot be written.
pub fn in_file<T>(extension: &str, bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    let path = env::temp_dir().join(format!("slm-fuzz-{}.{extension}", process::id()));
    fs::write(&path, bytes).expect("the folder for temporary files can be written");
    let result = read(&path);
    // Not a failure of what is tested.
    let _ = fs::remove_file(path);
    result
}
