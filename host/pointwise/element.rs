//! The types of samples and outputs.

use crate::Element;
use crate::any::Erase;
use slm_kernels::pointwise::TableIndex;
use slm_kernels::signal::Output;

/// A type of samples and outputs of pointwise operations: `u8`, `u16`, `i16`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Numeric` in their generic code")]
pub trait PointwiseElement: Element + Numeric {}

/// Operations per type.
pub(crate) trait Numeric: Erase {
    /// Returns the same number. `f64` represents all numbers.
    fn to_f64(self) -> f64;

    /// Returns the number in the place of NaN: NaN itself, or 0 if the type has none.
    fn of_nan() -> Self;
}

macro_rules! elements {
    ($($t:ident)*) => {$(
        impl PointwiseElement for $t {}
        impl Numeric for $t {
            fn to_f64(self) -> f64 {
                self.into()
            }

            fn of_nan() -> Self {
                Output::<f64>::of_sum(f64::NAN)
            }
        }
    )*};
}
elements!(u8 u16 i16 i32 f32 f64);

/// A type of samples whose values are indices in a table: `u8`, with 256 values, or `u16`, with 65,536. The trait is sealed.
pub trait LookupElement: PointwiseElement + TableIndex {}

impl LookupElement for u8 {}
impl LookupElement for u16 {}
