//! Standard deviations of Gaussians on the command line: one rule for all examples.

use super::number::Short;

/// Largest standard deviation, the limit of the library's Gaussians.
const MOST: f64 = 1_048_576.0;

/// A standard deviation that is out of range.
#[derive(Debug, thiserror::Error)]
#[error("{option} {}: a standard deviation must be from 0, which does not blur, to {MOST} pixels", Short(*.sigma))]
pub(crate) struct SigmaError {
    option: &'static str,
    sigma: f64,
}

/// Returns the standard deviation that was given with an option, if it is valid.
pub(crate) fn checked(option: &'static str, sigma: f64) -> Result<f64, SigmaError> {
    // Not for NaN either.
    if (0.0..=MOST).contains(&sigma) { Ok(sigma) } else { Err(SigmaError { option, sigma }) }
}
