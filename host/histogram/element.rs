//! The element types.

use super::{HistogramAlgorithm, HistogramBound, PreparedHistogram, Rule};
use crate::{Device, Element, Result};

/// An element type that can be counted: `u8`, `u16`, `u32`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Prepare` in their generic code")]
pub trait HistogramElement: Element + PartialOrd + HistogramBound<Self> + Prepare {
    /// Type of the borders of bins: `i64` for integers, because a range may end beyond the largest sample value, and the sample
    /// type for floats.
    type Bound: Element + PartialOrd + From<Self>;
}

/// Operations per element type, compiled once in this crate and not again in every dependent crate.
pub(crate) trait Prepare: Element {
    /// Checks a rule and binds it to a device. Returns the prepared histogram.
    fn prepare(device: &Device, rule: Rule<Self>, algorithm: HistogramAlgorithm) -> Result<PreparedHistogram<Self>>
    where
        Self: HistogramElement;
}

macro_rules! elements {
    ($($t:ty: $bound:ty;)*) => {$(
        impl HistogramElement for $t {
            type Bound = $bound;
        }
    )*};
}
elements! {
    u8: i64;
    u16: i64;
    u32: i64;
    i32: i64;
    f32: f32;
    f64: f64;
}
