//! Checks whose errors have the actual values.

use libtest_mimic::Failed;
use std::fmt::Debug;

pub fn ensure(condition: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(message().into()) }
}

pub fn equal<T: PartialEq + Debug>(actual: T, expected: T) -> Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?} instead of {expected:?}").into()) }
}

/// Compares long results. The error has the first difference only.
pub fn same<T: PartialEq + Debug>(actual: &[T], expected: &[T]) -> Result<(), Failed> {
    if actual == expected {
        return Ok(());
    }
    equal(actual.len(), expected.len())?;
    match actual.iter().zip(expected).position(|(a, b)| a != b) {
        Some(i) => Err(format!("element {i} is {:?} instead of {:?}", actual[i], expected[i]).into()),
        None => Ok(()),
    }
}
