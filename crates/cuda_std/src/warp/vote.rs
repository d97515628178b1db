//! Votes, and the search for lanes with the same value.

use super::Lane;
use crate::machine;

macro_rules! votes {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        #[track_caller]
        pub fn $name(mask: u32, predicate: bool) -> bool {
            machine::warp::$name(mask, predicate)
        }
    )*};
}
votes! {
    /// Returns whether any lane of the mask called with `true`.
    any;
    /// Returns whether all lanes of the mask called with `true`.
    all;
}

/// Returns the lanes of the mask whose values have the same bits as the caller's, including the caller's lane.
///
/// Bits are compared: -0 and +0 differ, and NaNs with the same bits are equal. This is two instructions for 64-bit values,
/// otherwise one (`match.any.sync`, which on some GPUs needs one step for each different value).
#[inline(always)]
#[must_use]
#[track_caller]
pub fn match_any<T: Lane>(mask: u32, value: T) -> u32 {
    let [low, high] = value.to_words();
    let lanes = machine::warp::match_any(mask, low);
    if T::IS_WIDE { lanes & machine::warp::match_any(mask, high) } else { lanes }
}
