//! Reading golden files.

use libtest_mimic::Failed;
use serde_json::Value;

/// Returns the list of `value` with the given key.
pub fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], Failed> {
    value[key].as_array().map(Vec::as_slice).ok_or_else(|| format!("no list {key}").into())
}
