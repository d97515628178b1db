//! Votes, and the search for lanes with the same value.

use super::Lane;
#[cfg(not(target_os = "cuda"))]
use crate::host::{WarpOperation, machine};
#[cfg(not(target_os = "cuda"))]
use core::panic::Location;

// SAFETY: the declarations match LLVM's intrinsics of these names (`IntrinsicsNVVM.td`), with `bool` for `i1` and `u32` for
// `i32`, which has no sign in LLVM.
#[cfg(target_os = "cuda")]
unsafe extern "C" {
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_word(mask: u32, word: u32) -> u32;
}

macro_rules! votes {
    ($($(#[$doc:meta])* $name:ident, $intrinsic:ident, $operation:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        #[track_caller]
        pub fn $name(mask: u32, predicate: bool) -> bool {
            #[cfg(target_os = "cuda")]
            crate::device::in_one_place();
            #[cfg(target_os = "cuda")]
            // SAFETY: exchanges predicates; a missing lane makes the value unspecified, not invalid.
            return unsafe { $intrinsic(mask, predicate) };
            #[cfg(not(target_os = "cuda"))]
            return machine().exchange(WarpOperation::$operation, mask, predicate.into(), Location::caller()) != 0;
        }
    )*};
}
votes! {
    /// Returns whether any lane of the mask called with `true`.
    any, vote_any, Any;
    /// Returns whether all lanes of the mask called with `true`.
    all, vote_all, All;
}

/// Returns the lanes of the mask whose values have the same bits as the caller's, including the caller's lane.
///
/// Bits are compared: -0 and +0 differ, and NaNs with the same bits are equal. This is two instructions for 64-bit values,
/// otherwise one (`match.any.sync`, which on some GPUs needs one step for each different value).
#[inline(always)]
#[must_use]
#[track_caller]
pub fn match_any<T: Lane>(mask: u32, value: T) -> u32 {
    #[cfg(not(target_os = "cuda"))]
    let at = Location::caller();
    let matching = |word: u32| {
        #[cfg(target_os = "cuda")]
        crate::device::in_one_place();
        #[cfg(target_os = "cuda")]
        // SAFETY: exchanges registers; a missing lane makes the value unspecified, not invalid.
        return unsafe { match_any_word(mask, word) };
        #[cfg(not(target_os = "cuda"))]
        return machine().exchange(WarpOperation::MatchAny, mask, word, at);
    };
    let [low, high] = value.to_words();
    let lanes = matching(low);
    if T::IS_WIDE { lanes & matching(high) } else { lanes }
}
