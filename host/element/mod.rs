//! Element types of buffers.

pub(crate) mod any;
pub(crate) mod raw;
pub(crate) mod stored;

use crate::Result;
use crate::cpu::allocation;
use cuda_std::{Bf16, F16};
#[cfg(feature = "dlpack")]
use dlpark::ffi::DLDataType;

/// Number types that buffers can hold: the integers of 8 to 64 bits, `f32`, `f64`, and `F16` and `Bf16` of `cuda_std`.
///
/// The trait is sealed, as are [`FilterElement`](crate::FilterElement), [`HistogramElement`](crate::HistogramElement) and
/// [`TransposeElement`](crate::TransposeElement): each operation supports the types that have kernels. Except for the items of
/// [`Value`](cuda_std::Value), these traits add no items to generic code, so names of other traits stay unambiguous:
///
/// ```
/// use slm::{Device, Element, FilterElement, Histogram, HistogramElement, Result, TransposeElement};
///
/// trait Named {
///     const VALUE_NAME: &str;
///     fn prepare() -> &'static str;
///     fn from_bits64(bits: u64) -> u64;
///     fn filled(self, len: usize) -> usize;
/// }
/// impl Named for f32 {
///     const VALUE_NAME: &str = "f32";
///     fn prepare() -> &'static str {
///         "mine"
///     }
///     fn from_bits64(bits: u64) -> u64 {
///         bits
///     }
///     fn filled(self, len: usize) -> usize {
///         len
///     }
/// }
///
/// fn names<T: Element + FilterElement + HistogramElement + TransposeElement + Named>(x: T) -> (&'static str, &'static str, u64, usize) {
///     (T::VALUE_NAME, T::prepare(), T::from_bits64(7), x.filled(3))
/// }
/// assert_eq!(names(0.5f32), ("f32", "mine", 7, 3));
///
/// // An example of their use.
/// fn largest_bin<T: HistogramElement>(device: &Device, edges: &[T], samples: &[T]) -> Result<Option<u64>> {
///     Ok(Histogram::edges(edges).prepare(device)?.apply(samples)?.bins()?.iter().copied().max())
/// }
/// assert_eq!(largest_bin(&Device::cpu(), &[0, 5, 10], &[1, 2, 7]), Ok(Some(2)));
/// ```
///
/// ```compile_fail,E0624
/// fn hidden<T: slm::Element>() -> T {
///     T::from_bits64(7)
/// }
/// ```
///
/// ```compile_fail,E0624
/// fn hidden<T: slm::Element>(x: T) {
///     let _ = x.filled(3);
/// }
/// ```
///
/// ```compile_fail,E0599
/// fn hidden<T: slm::FilterElement>(sum: T, x: T) -> T {
///     sum.add_product(x, x)
/// }
/// ```
///
/// ```compile_fail,E0599
/// fn hidden<T: slm::HistogramElement>(x: T) -> T {
///     x.before()
/// }
/// ```
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Fill` in their generic code")]
pub trait Element: cuda_std::Value + Fill {}

/// Allocation of elements. It is compiled with the library, since programs that use it may not be optimised.
pub(crate) trait Fill: Sized {
    /// The type's description in tensors of DLPack.
    #[cfg(feature = "dlpack")]
    const DATA_TYPE: DLDataType;

    /// Returns `len` copies.
    fn filled(self, len: usize) -> Result<Vec<Self>>;
}

macro_rules! elements {
    ($($t:ident: $data_type:ident;)*) => {$(
        impl Fill for $t {
            #[cfg(feature = "dlpack")]
            const DATA_TYPE: DLDataType = DLDataType::$data_type;

            fn filled(self, len: usize) -> Result<Vec<Self>> {
                allocation::filled_here(self, len)
            }
        }
        impl Element for $t {}
    )*};
}
elements! {
    u8: U8;
    i8: I8;
    u16: U16;
    i16: I16;
    u32: U32;
    i32: I32;
    u64: U64;
    i64: I64;
    f32: F32;
    f64: F64;
    F16: F16;
    Bf16: BF16;
}
