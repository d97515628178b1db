//! The types of samples and weights of filters of one and of two dimensions.

use crate::Element;
use crate::element::any::Erase;
use crate::filter1d::LineKernels;
use std::sync::Arc;

/// A type of samples and outputs of filters: `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of these traits in their generic code")]
pub trait FilterSample: Element + Erase + LineKernels {
    /// The type of generated weights, such as those of [`Filter2d::gaussian`](crate::Filter2d::gaussian): `f64` for `i32` and
    /// `f64`, `f32` for the others.
    type Weight: FilterWeight;
}

/// A type of weights and taps of filters: `i8`, `u8`, `i16`, `u16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Weigh` in their generic code")]
pub trait FilterWeight: Element + Weigh {}

/// Weights of a type that is known at run time only.
pub(crate) enum SharedWeights {
    I32(Arc<Vec<i32>>),
    F32(Arc<Vec<f32>>),
    F64(Arc<Vec<f64>>),
    /// Integers of 8 or 16 bits.
    Narrow,
}

/// Operations per type of weights.
pub(crate) trait Weigh: Sized {
    const NAME: &'static str;

    const IS_INTEGER: bool;
    /// Whether sums of floats with these weights may be `f32`.
    const FITS_F32: bool;

    fn of_f64(weight: f64) -> Self;

    /// Returns the same number. `f64` represents all weights.
    fn to_f64(self) -> f64;

    fn shared(weights: &Arc<Vec<Self>>) -> SharedWeights;
}

macro_rules! weights {
    ($($t:ident, $is_integer:expr, $fits_f32:expr, |$shared:pat_param| $erased:expr;)*) => {$(
        impl FilterWeight for $t {}
        impl Weigh for $t {
            const NAME: &'static str = stringify!($t);

            const IS_INTEGER: bool = $is_integer;
            const FITS_F32: bool = $fits_f32;

            fn of_f64(weight: f64) -> Self {
                weight as $t
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn shared($shared: &Arc<Vec<$t>>) -> SharedWeights {
                $erased
            }
        }
    )*};
}
weights! {
    i8, true, false, |_| SharedWeights::Narrow;
    u8, true, false, |_| SharedWeights::Narrow;
    i16, true, false, |_| SharedWeights::Narrow;
    u16, true, false, |_| SharedWeights::Narrow;
    i32, true, false, |weights| SharedWeights::I32(weights.clone());
    f32, false, true, |weights| SharedWeights::F32(weights.clone());
    f64, false, false, |weights| SharedWeights::F64(weights.clone());
}

macro_rules! samples {
    ($($t:ident: $weight:ident;)*) => {$(
        impl FilterSample for $t {
            type Weight = $weight;
        }
    )*};
}
samples! {
    u8: f32;
    u16: f32;
    i16: f32;
    i32: f64;
    f32: f32;
    f64: f64;
}
