//! Minima and maxima of any window, also with a height for each sample: `min (x - s)` and `max (x + s)`.
//!
//! Tile and threads are those of `tile.rs` or `global.rs`. A thread compares the samples of its window one after another. All lanes of a
//! warp read the same height at the same time.

use super::Args;
use super::key::{Extreme, Key, Ranked};
use super::select::Window;

/// Returns the output of a window.
#[inline(always)]
pub(super) fn any_extreme<T: Ranked>(args: &Args<T>, window: &impl Window<T::Key>) -> T {
    let extreme = Extreme { greatest: args.greatest != 0, omit: args.omit != 0 };
    let (mut least, mut place, is_flat) = (T::Key::MAX, 0, args.heights.len() == 0);
    window.for_each(
        #[inline(always)]
        |key| {
            let sample = T::of_key(key);
            let sample = if is_flat { sample } else { extreme.moved(sample, args.heights.get(place)) };
            least = least.min(extreme.key(sample));
            place += 1;
        },
    );
    extreme.sample(least)
}
