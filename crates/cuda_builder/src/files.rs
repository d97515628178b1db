//! Files that are written.

use crate::error::BuildError;
use std::fs;
use std::path::Path;

/// Writes a file unless it already has these contents. A new modification time would cause its users to be compiled again.
pub(crate) fn write_if_changed(path: &Path, contents: &str) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|old| old == contents.as_bytes()) {
        return Ok(());
    }
    fs::write(path, contents).map_err(BuildError::io(path))
}
