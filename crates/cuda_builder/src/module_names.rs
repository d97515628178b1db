//! Names of modules.

use crate::BuildError;
use std::collections::BTreeSet;

/// Checks that all names are identifiers and differ even if case is ignored. File names contain them, and some file systems
/// ignore case.
pub(crate) fn check_names(names: &[String]) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !is_identifier(name) || !seen.insert(name.to_uppercase())) {
        Some(name) => Err(BuildError::ModuleName { name: name.clone() }),
        None => Ok(()),
    }
}

pub(crate) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
