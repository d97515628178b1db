//! The largest magnitude of the weights in each cell, from which `weigh.rs` derives the quantum of the cell's sum.
//!
//! A magnitude is the exponent of a weight ([`magnitude`]). A block finds the largest ones in shared memory, and combines them
//! with the result at the end. If they do not fit into shared memory, the threads update the result directly. A thread skips
//! the update if its previous sample was in the same cell and had at least this magnitude. So equal samples do not queue for
//! one address.
//!
//! Shared memory: half a word per key and channel, those with an even number in the low half. So the magnitudes of 65,536 keys fit
//! into the 227 KiB of an H100, whose atomic operations are several times faster than those in global memory. There is no
//! atomic maximum of halves: a thread reads the word, and exchanges it only if the magnitude is larger, which is rare. No bank
//! conflicts when the words are cleared: consecutive addresses. When they are combined with the result, two lanes read the same
//! word. While weights are visited, conflicts depend on the data: words whose indices differ by a multiple of 32 share a bank.

use super::Binning;
use super::weigh::{WeightedArgs, clear};
use super::weight::{NOT_FINITE, magnitude};
use cuda_std::{Arena, GlobalInOut, Ordering, Shared, arguments, thread};

arguments! {
    /// Arguments of the kernel that finds the largest magnitudes.
    pub struct PeakArgs<'l, B: Binning> {
        /// The samples and the weights.
        pub weighted: WeightedArgs<'l, B>,
        /// Receives the largest [`magnitude`] of the weights in each cell. The last element becomes 1 if a weight is not finite.
        pub peaks: GlobalInOut<'l, u32>,
    }
}

/// Magnitudes per word of shared memory.
pub(super) const PER_WORD: u32 = 2;

/// A magnitude in the low half of a word.
const MASK: u32 = 0xffff;

#[inline(always)]
pub(super) fn find<B: Binning>(arena: Arena, args: &PeakArgs<B>) {
    let PeakArgs { weighted, peaks } = args;
    let args = &weighted.args;
    let (largest, _) = arena.split::<u32>(args.range.div_ceil(PER_WORD));
    clear(&largest);
    thread::sync_threads();

    let (mut last, mut are_finite) = ((0, 0), true);
    weighted.for_each(|channel, sample, weight| {
        let magnitude = magnitude(weight);
        are_finite &= magnitude != NOT_FINITE;
        if channel < args.counted {
            let key = args.binning.key(sample);
            let cell = args.count_of(channel, key);
            if cell != last.0 || magnitude > last.1 {
                match args.range {
                    0 => drop(peaks.fetch_max(cell, magnitude, Ordering::Relaxed)),
                    _ => raise(&largest, channel * args.keys + key, magnitude),
                }
                last = (cell, magnitude);
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
        let magnitude = largest.get(i / PER_WORD) >> shift_of(i) & MASK;
        if magnitude > 0 {
            peaks.fetch_max(args.count_of(channel, key), magnitude, Ordering::Relaxed);
        }
        i += thread::block_dim_x();
    }
}

/// Returns the bits of a word below the magnitude of key `i`.
#[inline(always)]
fn shift_of(i: u32) -> u32 {
    i % PER_WORD * (u32::BITS / PER_WORD)
}

/// Replaces the magnitude of key `i` of a block if this one is larger.
#[inline(always)]
fn raise(largest: &Shared<u32>, i: u32, magnitude: u32) {
    let (word, shift) = (i / PER_WORD, shift_of(i));
    let mut old = largest.fetch_or(word, 0, Ordering::Relaxed);
    while (old >> shift & MASK) < magnitude {
        let new = old & !(MASK << shift) | magnitude << shift;
        let found = largest.compare_exchange(word, old, new, Ordering::Relaxed);
        if found == old {
            return;
        }
        old = found;
    }
}
