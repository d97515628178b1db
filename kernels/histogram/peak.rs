//! The largest magnitude of the weights in each cell, from which `weigh.rs` derives the quantum of the cell's sum.
//!
//! A magnitude is the exponent of a weight ([`magnitude`]). A block finds the largest ones in shared memory, and combines them
//! with the result at the end. If they do not fit into shared memory, the threads update the result directly. A thread skips
//! the update if its previous sample was in the same cell and had at least this magnitude. So equal samples do not queue for
//! one address.
//!
//! Shared memory: one word per key and channel. No bank conflicts when the words are cleared and combined with the result:
//! consecutive addresses. While weights are visited, conflicts depend on the data: words whose indices differ by a multiple of
//! 32 share a bank.

use super::Binning;
use super::weigh::{WeightedArgs, clear};
use super::weight::{NOT_FINITE, magnitude};
use cuda_std::{Arena, GlobalInOut, Ordering, arguments, thread};

arguments! {
    /// Arguments of the kernel that finds the largest magnitudes.
    pub struct PeakArgs<'l, B: Binning> {
        /// The samples and the weights.
        pub weighted: WeightedArgs<'l, B>,
        /// Receives the largest [`magnitude`] of the weights in each cell. The last element becomes 1 if a weight is not finite.
        pub peaks: GlobalInOut<'l, u32>,
    }
}

#[inline(always)]
pub(super) fn find<B: Binning>(arena: Arena, args: &PeakArgs<B>) {
    let PeakArgs { weighted, peaks } = args;
    let args = &weighted.args;
    let (largest, _) = arena.split::<u32>(args.range);
    clear(&largest);
    thread::sync_threads();

    let (mut last, mut are_finite) = ((0, 0), true);
    weighted.for_each(|i, channel| {
        let magnitude = magnitude(weighted.weight(i));
        are_finite &= magnitude != NOT_FINITE;
        if channel < args.counted {
            let key = args.binning.key(args.samples.get(i.into()));
            if args.range > 0 {
                largest.fetch_max(channel * args.keys + key, magnitude, Ordering::Relaxed);
            } else {
                let cell = args.count_of(channel, key);
                if cell != last.0 || magnitude > last.1 {
                    peaks.fetch_max(cell, magnitude, Ordering::Relaxed);
                    last = (cell, magnitude);
                }
            }
        }
    });
    if !are_finite {
        peaks.fetch_max(peaks.len() - 1, 1, Ordering::Relaxed);
    }
    thread::sync_threads();

    let mut i = thread::thread_idx_x();
    while i < args.range {
        let (channel, key) = args.channel_and_key(i);
        if largest.get(i) > 0 {
            peaks.fetch_max(args.count_of(channel, key), largest.get(i), Ordering::Relaxed);
        }
        i += thread::block_dim_x();
    }
}
