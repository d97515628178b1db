//! Bounds of bins.

use super::HistogramElement;
#[cfg(doc)]
use crate::Histogram;

/// A number that can bound bins of samples of type `T`. For floats it has type `T`; [`Histogram::single_precision`] makes bounds of
/// type `f64` those of `f32` samples. For integers it has type `T`, `i32` or `i64`.
///
/// Integers of a wider type can lie outside the range of the sample type: `0..256` contains all bytes. Integer literals need no
/// suffix. The trait is sealed.
///
/// ```
/// use slm::{Device, Histogram};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::cpu();
/// let sixteens = Histogram::even(16, 0..256).prepare(&device)?; // the samples below are `u8`
/// assert_eq!(sixteens.apply(&[0u8, 15, 16, 255])?.bins()?[..2], [2, 1]);
/// let halves = Histogram::even(2, 0.0..1.0).prepare(&device)?; // and these `f32`
/// assert_eq!(halves.apply(&[0.25f32, 0.75, 0.5])?.bins()?, [1, 2]);
/// let all = Histogram::<u32>::even(2, 0..1i64 << 32).prepare(&device)?;
/// assert_eq!(all.edges(), [0, 1 << 31, 1 << 32]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot bound the bins of a histogram of `{T}`",
    note = "bounds of floats have the sample type, except for `single_precision`; bounds of integers have the sample type, `i32` or `i64`"
)]
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `IntoBound` in their generic code")]
pub trait HistogramBound<T: HistogramElement>: Copy + IntoBound<T> {}

/// Conversion to the type in which bounds of samples of type `T` are stored.
pub(crate) trait IntoBound<T: HistogramElement> {
    fn into_bound(self) -> T::Bound;
}

macro_rules! bounds {
    ($($sample:ty: $($bound:ty)*;)*) => {$($(
        impl HistogramBound<$sample> for $bound {}
        impl IntoBound<$sample> for $bound {
            fn into_bound(self) -> <$sample as HistogramElement>::Bound {
                self.into()
            }
        }
    )*)*};
}
bounds! {
    u8: u8 i32 i64;
    u16: u16 i32 i64;
    u32: u32 i32 i64;
    i32: i32 i64;
    f32: f32;
    f64: f64;
}
