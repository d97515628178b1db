//! Reductions: the sum, minimum, maximum, AND or OR of all lanes' values, returned to every lane of the mask.

use crate::machine::Reductions;

/// An integer that the lanes of a warp can reduce: `u32` and `i32`.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of the supertrait in their generic code")]
pub trait Reduce: super::Lane + Reductions {}
impl Reduce for u32 {}
impl Reduce for i32 {}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident, $method:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// One instruction in modules for `sm_80` and later; in modules for earlier GPUs, one shuffle for each lane of the
        /// mask.
        #[inline(always)]
        #[must_use]
        #[track_caller]
        pub fn $name<T: Reduce>(mask: u32, value: T) -> T {
            T::$method(mask, value)
        }
    )*};
}
functions! {
    /// Returns the wrapping sum of the lanes' values to every lane of the mask.
    reduce_add, add;
    /// Returns the smallest of the lanes' values to every lane of the mask.
    reduce_min, min;
    /// Returns the largest of the lanes' values to every lane of the mask.
    reduce_max, max;
    /// Returns the bits that are set in all lanes' values to every lane of the mask.
    reduce_and, and;
    /// Returns the bits that are set in any lane's value to every lane of the mask.
    reduce_or, or;
}
