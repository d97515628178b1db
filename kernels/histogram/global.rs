//! Counting in global memory, with one addition per sample.
//!
//! No shared memory, any number of bins. The speed depends on the data: additions to the same count are serialised.
//! `walk.rs` distributes the samples among the threads.

use super::walk::{Counter, walk};
use super::{Args, Binning};
use cuda_std::{Ordering, fence, thread};

/// Counts with one atomic addition per sample, in any number of blocks.
#[inline(always)]
pub(super) fn count<B: Binning>(args: &Args<B>) {
    walk(args, [thread::block_idx_x(), thread::grid_dim_x()], &Atomic(args));
}

/// Counts in global memory.
pub(super) struct Atomic<'a, B: Binning>(pub(super) &'a Args<'a, B>);

impl<B: Binning> Counter for Atomic<'_, B> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        let (counts, i) = (&self.0.counts, self.0.count_of(channel, key));
        match self.0.is_seq_cst() {
            true => counts.add(i, 1, Ordering::SeqCst),
            false => counts.add(i, 1, Ordering::Relaxed),
        }
    }
}

/// Counts in a critical section, in which a thread reads, adds and writes. A launch has one block.
///
/// The critical section is inside the branch that acquires the lock. So the lane that holds the lock releases it before
/// its warp reconverges with the waiting lanes.
#[inline(always)]
pub(super) fn count_in_critical_section<B: Binning>(args: &Args<B>) {
    walk(args, [thread::block_idx_x(), thread::grid_dim_x()], &Locked(args));
}

struct Locked<'a, B: Binning>(&'a Args<'a, B>);

impl<B: Binning> Counter for Locked<'_, B> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        let Args { counts, lock, .. } = self.0;
        let i = self.0.count_of(channel, key);
        let mut waiting = true;
        while waiting {
            if lock.compare_exchange(0, 0, 1, Ordering::SeqCst) == 0 {
                counts.set(i, counts.get(i).wrapping_add(1));
                fence::fence_device();
                lock.exchange(0, 0, Ordering::SeqCst);
                waiting = false;
            }
        }
    }
}
