//! Counting between edges, with the edges, their guide and the counters in shared memory.
//!
//! For one channel. Each block counts in its own counters, like those of `shared.rs`, and adds them to the counts in global memory at
//! the end. `walk.rs` distributes the samples among the threads, and `guide.rs` describes how the bin of a sample is found.
//!
//! If this does not fit into shared memory for all bins, they are divided into *ranges* of neighbouring bins, with one copy of each
//! counter. For each range there is a block. These neighbouring blocks read the same samples at about the same time. Each counts
//! samples in its bins, and also, in three extra counters, those before its bins, behind them, and NaN. The first block adds the one
//! before to the counts, the last block the other two.
//!
//! Shared memory: the counters with their copies, as in `shared.rs`; the edges; the entries of the guide; and one word for the number of
//! candidates. Clearing and adding up have no bank conflicts.

use super::bins::OUTSIDE;
use super::guide::Guide;
use super::shared::{Copies, add_up, clear};
use super::walk::walk_ahead;
use super::{Args, Binning, DigitMap, Inside, Map, Searchable, Searched};
use core::array;
use cuda_std::math::opaque;
use cuda_std::{Arena, thread};

/// The cell behind the bins for samples above them; one before it is for those below, and one behind it for NaN.
const ABOVE: u32 = 1;

#[inline(always)]
pub(super) fn count<B: Searched>(arena: Arena, args: &Args<B>) {
    let (counters, arena) = arena.split::<u32>((args.range + OUTSIDE) << args.copies_log2);
    let (edges, arena) = arena.split::<B::Number>(args.range);
    let (entries, arena) = arena.split::<u16>(args.entries);
    let (most, _) = arena.split::<u32>(1);

    let Range { first, bins, part, .. } = Range::of(args, thread::block_idx_x());
    clear(&counters);
    let mut k = thread::thread_idx_x();
    while k < bins {
        edges.set(k, args.binning.edge(first, k));
        k += thread::block_dim_x();
    }

    // Between the outer bins, which may be much wider than the others.
    let ends = [bins.min(1), bins - 1].map(|k| args.binning.edge(first, k));
    let values = <B::Number as Searchable>::Values::new(ends, args.entries);
    let digits = <DigitMap as Map<B::Number>>::new(ends, args.entries);
    let guide = Guide { edges: &edges, bins, entries: &entries, most: &most };
    let (candidates, by_digits) = guide.make(&values, &digits);
    let limits = args.binning.limits(first, bins);
    let counter = Copies::new(&counters, args.copies_log2);
    if by_digits {
        walk_ahead::<1, _, _, _>(args, &BlockBins::<B, _> { limits, guide, map: digits, candidates }, part, &counter);
    } else {
        walk_ahead::<1, _, _, _>(args, &BlockBins::<B, _> { limits, guide, map: values, candidates }, part, &counter);
    }
    thread::sync_threads();

    // Computed again, so that it does not occupy registers while the samples are counted.
    let Range { first, bins, is_first, is_last, .. } = Range::of(args, opaque(thread::block_idx_x()));
    let have_numbers = args.binning.have_numbers(first, bins);
    add_up(&counters, bins + OUTSIDE, args.copies_log2, |i, n| {
        // What seems to be in bins without numbers is behind them.
        let (is_bin, outside) = (i < bins && have_numbers, if i < bins { ABOVE } else { i - bins });
        let is_counted = is_bin || if outside < ABOVE { is_first } else { is_last };
        let counter = if is_bin { first + i } else { args.binning.bins() + outside };
        args.add_up(counter, if is_counted { n } else { 0 });
    });
}

/// What a block counts.
struct Range {
    /// Its first bin, and the number of its bins.
    first: u32,
    bins: u32,
    is_first: bool,
    is_last: bool,
    /// The part of the samples, and the number of parts.
    part: [u32; 2],
}

impl Range {
    #[inline(always)]
    fn of<B: Searched>(args: &Args<B>, block: u32) -> Self {
        let ranges = args.ranges.max(1);
        let range = block % ranges;
        let first = range * args.range;
        let bins = args.range.min(args.binning.bins() - first);
        let part = [block / ranges, thread::grid_dim_x() / ranges];
        Range { first, bins, is_first: range == 0, is_last: range + 1 == ranges, part }
    }
}

/// The rule for the bins of a block. The keys are bins, then those of samples before the first one, behind the last one, and NaN.
struct BlockBins<'a, B: Searched, M> {
    limits: B::Limits,
    guide: Guide<'a, B::Number>,
    map: M,
    candidates: u32,
}

impl<B: Searched, M: Copy> Clone for BlockBins<'_, B, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Searched, M: Copy> Copy for BlockBins<'_, B, M> {}

impl<B: Searched, M: Map<B::Number>> Binning for BlockBins<'_, B, M> {
    type Sample = B::Sample;

    #[inline(always)]
    fn key(&self, sample: B::Sample) -> u32 {
        self.keys([sample])[0]
    }

    #[inline(always)]
    fn keys<const N: usize>(&self, samples: [B::Sample; N]) -> [u32; N] {
        let numbers = samples.map(|sample| self.limits.number(sample));
        let bins = self.guide.bins(&self.map, self.candidates, numbers);
        array::from_fn(|k| self.limits.cell(numbers[k], bins[k]))
    }
}
