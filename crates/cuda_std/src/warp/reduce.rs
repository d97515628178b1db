//! Reductions: the sum, minimum, maximum, AND or OR of all lanes' values, returned to every lane of the mask.

#[cfg(not(target_os = "cuda"))]
use crate::host::{WarpOperation, machine};
#[cfg(not(target_os = "cuda"))]
use core::panic::Location;

// SAFETY: the declarations match LLVM's intrinsics of these names (`IntrinsicsNVVM.td`), with `u32` for `i32`, which has no
// sign in LLVM.
#[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_add(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_umin(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_umax(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_min(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_max(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_and(word: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_or(word: u32, mask: u32) -> u32;
}

/// An integer that the lanes of a warp can reduce: `u32` and `i32`.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of the supertrait in their generic code")]
pub trait Reduce: super::Lane + sealed::Reduce {}

mod sealed {
    pub(super) trait Reduce: Sized {
        #[track_caller]
        fn add(mask: u32, value: Self) -> Self;
        #[track_caller]
        fn min(mask: u32, value: Self) -> Self;
        #[track_caller]
        fn max(mask: u32, value: Self) -> Self;
        #[track_caller]
        fn and(mask: u32, value: Self) -> Self;
        #[track_caller]
        fn or(mask: u32, value: Self) -> Self;
    }
}

macro_rules! reductions {
    ($([$t:ty] $($name:ident, $intrinsic:ident, $operation:ident, $neutral:expr, $combine:expr;)*)*) => {$(
        impl Reduce for $t {}
        impl sealed::Reduce for $t {$(
            #[inline(always)]
            #[track_caller]
            fn $name(mask: u32, value: Self) -> Self {
                #[cfg(target_os = "cuda")]
                crate::device::in_one_place();
                #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
                // SAFETY: exchanges registers; a missing lane makes the value unspecified, not invalid.
                return unsafe { $intrinsic(value as u32, mask) as $t };
                #[cfg(all(target_os = "cuda", not(target_feature = "sm_80")))]
                return by_shuffles(mask, value, $neutral, $combine);
                #[cfg(not(target_os = "cuda"))]
                return machine().exchange(WarpOperation::$operation, mask, value as u32, Location::caller()) as $t;
            }
        )*}
    )*};
}
reductions! {
    [u32]
        add, redux_add, ReduceAdd, 0, u32::wrapping_add;
        min, redux_umin, ReduceMin, u32::MAX, Ord::min;
        max, redux_umax, ReduceMax, 0, Ord::max;
        and, redux_and, ReduceAnd, u32::MAX, core::ops::BitAnd::bitand;
        or, redux_or, ReduceOr, 0, core::ops::BitOr::bitor;
    [i32]
        add, redux_add, ReduceAdd, 0, i32::wrapping_add;
        min, redux_min, ReduceMinSigned, i32::MAX, Ord::min;
        max, redux_max, ReduceMaxSigned, i32::MIN, Ord::max;
        and, redux_and, ReduceAnd, -1, core::ops::BitAnd::bitand;
        or, redux_or, ReduceOr, 0, core::ops::BitOr::bitor;
}

/// Reduces with one shuffle for each lane of the mask.
#[cfg(all(target_os = "cuda", not(target_feature = "sm_80")))]
#[inline(always)]
fn by_shuffles<T: super::Lane>(mask: u32, value: T, neutral: T, combine: impl Fn(T, T) -> T) -> T {
    let mut result = neutral;
    let mut left = mask;
    while left != 0 {
        result = combine(result, super::shuffle(mask, value, left.trailing_zeros()));
        left &= left - 1;
    }
    result
}

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
