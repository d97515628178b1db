//! Selection by bisection: a rank is found bit by bit, from the most significant one on.
//!
//! The sample of rank `k` is the greatest key for which at most `k` keys are less. Each bit takes one pass over the window, so the time is
//! proportional to the size of the window and to the bits of a sample, and nothing is written.

use super::Args;
use super::any_extreme::any_extreme;
use super::key::{Key, Ranked};

/// A rank that no output has: it is the table's entry for too few samples.
pub const NO_RANK: u32 = u32::MAX;

/// The samples of an output's window.
pub(super) trait Window<K> {
    /// Calls `visit` with each key.
    fn for_each(&self, visit: impl FnMut(K));
}

/// Returns the output of a window: its extreme, or any rank.
#[inline(always)]
pub(super) fn output<T: Ranked, const IS_EXTREME: bool>(args: &Args<T>, window: &impl Window<T::Key>) -> T {
    if IS_EXTREME { any_extreme(args, window) } else { select(args, window) }
}

/// Returns the rank for a number of samples that are present, if there is one.
#[inline(always)]
pub(super) fn rank<T: Ranked>(args: &Args<T>, present: u32) -> Option<u32> {
    let rank = args.ranks.get(present as u64);
    let is_none = rank == NO_RANK || (args.omit == 0 && present < args.count);
    (!is_none).then_some(rank)
}

/// Returns the sample of a window that has its rank. All threads take the same way, whatever their samples, so that the lanes of a warp stay
/// together.
#[inline(always)]
fn select<T: Ranked>(args: &Args<T>, window: &impl Window<T::Key>) -> T {
    let mut present = args.count;
    if T::IS_FLOAT {
        window.for_each(|key| present -= (key == T::Key::MAX) as u32);
    }
    let found_rank = rank(args, present);
    let (is_none, rank) = (found_rank.is_none(), found_rank.unwrap_or(NO_RANK));
    let (mut found, mut bit) = (T::Key::ZERO, T::BITS);
    while bit > 0 {
        bit -= 1;
        let (trial, mut less) = (found.with_bit(bit), 0);
        window.for_each(|key| less += (key < trial) as u32);
        if less <= rank {
            found = trial;
        }
    }
    if is_none { T::NONE } else { T::of_key(found) }
}
