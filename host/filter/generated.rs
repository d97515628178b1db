//! Generated weights along one axis, for filters of one and of two dimensions.

use crate::cpu::allocation;
use crate::{Error, FilterWeight, Result};

/// Maximum length of a side of a box.
const MAX_BOX: usize = 1 << 24;

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightSource {
    /// The user gives them, or they are no mean.
    Given,
    /// A Gaussian blur.
    Gaussian,
    /// Equal weights whose sum is 1.
    Box,
}

/// A parameter that is out of range. Each operation has an error for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfRange {
    pub(crate) what: &'static str,
    pub(crate) range: &'static str,
    pub(crate) value: f64,
}

/// Returns equal weights whose sum is 1, for the side `what` of a box.
pub(crate) fn box_weights<W: FilterWeight>(what: &'static str, taps: usize) -> Result<Vec<W>> {
    if taps > MAX_BOX {
        return Err(Error::TooLarge { what, factors: [taps as u64, 1], limit: MAX_BOX as u64 });
    }
    allocation::filled(W::of_f64(1.0 / taps as f64), taps)
}
