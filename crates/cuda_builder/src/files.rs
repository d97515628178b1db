//! Files that the builder writes and removes.

use crate::error::BuildError;
use std::path::Path;
use std::{fs, io};

/// Writes a file unless it already has these contents. A new modification time would cause its users to be compiled again.
pub(crate) fn write_if_changed(path: &Path, contents: &str) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|old| old == contents.as_bytes()) {
        return Ok(());
    }
    fs::write(path, contents).map_err(BuildError::io(path))
}

/// Removes a file, if there is one.
pub(crate) fn remove_if_present(path: &Path) -> Result<(), BuildError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(BuildError::io(path)(error)),
        _ => Ok(()),
    }
}
