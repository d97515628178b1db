//! The table that equalises a histogram, from its counts. One block makes it.
//!
//! A lane has packs of neighbouring values, so that a warp has neighbouring packs, and the warps have equal parts of the
//! values. First each warp adds up its counts. Then each knows the number of samples below its part, and in all, and goes
//! through its counts again: running sums of a lane's pack, a scan of the lanes by shuffles, an entry for each value.
//!
//! Shared memory: for each warp, the sum of its counts and its smallest value with samples. All lanes read the same word, so
//! there are no bank conflicts.
//!
//! Sums have 128 bits, because counts may be any 64-bit numbers.

use super::TableIndex;
use cuda_std::math::round_ties_even;
use cuda_std::warp::{FULL, WARP};
use cuda_std::{Arena, GlobalIn, GlobalOut, Shared, arguments, thread, warp};

/// Counts of a pack.
const PACK: u32 = 4;

/// Words of a warp in shared memory.
const WORDS: u32 = 3;

/// Most threads of a block.
const MOST_THREADS: u32 = 1024;

arguments! {
    /// Arguments of the equalisation of samples of type `S`.
    pub struct EqualiseArgs<'l, S: TableIndex> {
        /// The counts of a histogram: one for each value, and others behind them.
        pub counts: GlobalIn<'l, u64>,
        /// Receives the entries, one for each value.
        pub entries: GlobalOut<'l, S>,
    }
}

/// Returns the threads of the block, and its bytes of shared memory.
#[must_use]
pub const fn equalise_shape<S: TableIndex>() -> (u32, u32) {
    let packs = S::VALUES / PACK;
    let threads = if packs < MOST_THREADS { packs } else { MOST_THREADS };
    (threads, threads / WARP * WORDS * size_of::<u64>() as u32)
}

/// The formula of equalisation, for host and device.
#[derive(Clone, Copy, Debug)]
pub struct Equalisation {
    /// The count of the smallest value with samples.
    first: u128,
    /// The number of all other samples.
    others: u128,
    /// The largest value.
    last: u32,
    /// Approximately `last / others`.
    scale: f64,
}

impl Equalisation {
    /// Returns the equalisation of values up to `last`. `first` is the count of the smallest value with samples, and `total`
    /// the number of all samples.
    #[inline(always)]
    #[must_use]
    pub fn new(first: u64, total: u128, last: u32) -> Self {
        let others = total - first as u128;
        Equalisation { first: first as u128, others, last, scale: last as f64 / approximate(others) }
    }

    /// Returns the entry of a value, for the number of samples that are not larger: `last · (sum - first) / others`, rounded
    /// to the nearest integer, ties to even; 0 below all samples. Returns the value itself if there are no other samples.
    #[inline(always)]
    #[must_use]
    pub fn entry(&self, value: u32, sum: u128) -> u32 {
        if self.others == 0 {
            return value;
        }
        let part = sum.saturating_sub(self.first);
        // The quotient is at most 65,535 and the error of five roundings, so only a quotient next to a tie is rounded to a
        // neighbour of the right integer.
        let nearest = round_ties_even(approximate(part) * self.scale) as u32;
        let (twice, is_odd) = (2 * self.last as u128 * part, nearest % 2 == 1);
        let tie_above = (2 * nearest + 1) as u128 * self.others;
        let tie_below = tie_above.saturating_sub(2 * self.others);
        if twice > tie_above || twice == tie_above && is_odd {
            nearest + 1
        } else if twice < tie_below || twice == tie_below && is_odd {
            nearest - 1
        } else {
            nearest
        }
    }
}

/// Returns the number, with a relative error of a few roundings.
#[inline(always)]
fn approximate(number: u128) -> f64 {
    const TWO_TO_64: f64 = (1u128 << 64) as f64;
    (number >> 64) as u64 as f64 * TWO_TO_64 + number as u64 as f64
}

#[inline(always)]
pub(super) fn equalise<S: TableIndex>(arena: Arena, args: &EqualiseArgs<S>) {
    let (number, warps) = (thread::thread_idx_x() / WARP, thread::block_dim_x() / WARP);
    let part = S::VALUES / warps.max(1);
    let part = [number * part, (number + 1) * part];
    let (words, _) = arena.split::<u64>(WORDS * warps);
    let warps = Warps { words, number, warps };
    warps.store(args, part);
    thread::sync_threads();

    let Totals { mut below, total, smallest } = warps.totals();
    let first = args.counts.get_or(smallest, 0);
    let equalisation = Equalisation::new(first, total, S::VALUES - 1);
    for_packs(args, part, |value, counts| {
        let mut sum = 0;
        let sums = counts.map(|count| {
            sum += count as u128;
            sum
        });
        let up_to_lane = scan(sum);
        let before = below + (up_to_lane - sum);
        let entry = |k: usize| S::of_index(equalisation.entry(value + k as u32, before + sums[k]));
        args.entries.set_pack::<{ PACK as usize }>(value as u64, core::array::from_fn(entry));
        below += of_last_lane(up_to_lane);
    });
}

/// Calls `pack` with the first value and the counts of each pack of the calling lane in its warp's part of the values.
#[inline(always)]
fn for_packs<S: TableIndex>(
    args: &EqualiseArgs<S>,
    [from, to]: [u32; 2],
    mut pack: impl FnMut(u32, [u64; PACK as usize]),
) {
    let mut first = from;
    while first < to {
        let value = first + PACK * warp::lane();
        let [a, b] = args.counts.get_pack::<2>(value as u64);
        let [c, d] = args.counts.get_pack::<2>(value as u64 + 2);
        pack(value, [a, b, c, d]);
        first += PACK * WARP;
    }
}

/// What each warp knows of its part of the values, in shared memory.
struct Warps<'l> {
    /// For each warp, both halves of the sum of its counts, and its smallest value with samples; `u32::MAX` if there are none.
    words: Shared<'l, u64>,
    /// The calling warp.
    number: u32,
    warps: u32,
}

/// Numbers of samples.
struct Totals {
    /// In the parts below that of the calling warp.
    below: u128,
    /// In all parts.
    total: u128,
    /// The smallest value with samples; `u32::MAX` if there are none.
    smallest: u64,
}

impl Warps<'_> {
    /// Stores what the calling warp knows.
    #[inline(always)]
    #[track_caller]
    fn store<S: TableIndex>(&self, args: &EqualiseArgs<S>, part: [u32; 2]) {
        let (mut sum, mut smallest) = (0, u32::MAX);
        for_packs(args, part, |value, counts| {
            for (count, value) in counts.into_iter().zip(value..) {
                sum += count as u128;
                smallest = if count > 0 { smallest.min(value) } else { smallest };
            }
        });
        let (sum, smallest) = (scan(sum), warp::reduce_min(FULL, smallest));
        if warp::lane() == WARP - 1 {
            let place = WORDS * self.number;
            self.words.set(place, sum as u64);
            self.words.set(place + 1, (sum >> 64) as u64);
            self.words.set(place + 2, smallest as u64);
        }
    }

    /// Returns what all warps know together.
    #[inline(always)]
    #[track_caller]
    fn totals(&self) -> Totals {
        let mut totals = Totals { below: 0, total: 0, smallest: u64::MAX };
        let mut i = 0;
        while i < self.warps {
            if i == self.number {
                totals.below = totals.total;
            }
            let place = WORDS * i;
            totals.total += of_halves([self.words.get(place), self.words.get(place + 1)]);
            totals.smallest = totals.smallest.min(self.words.get(place + 2));
            i += 1;
        }
        totals
    }
}

#[inline(always)]
fn of_halves([low, high]: [u64; 2]) -> u128 {
    low as u128 | (high as u128) << 64
}

/// Returns the sum of the numbers of all lanes up to the calling one.
#[inline(always)]
#[track_caller]
fn scan(number: u128) -> u128 {
    let (mut sum, mut distance) = (number, 1);
    while distance < WARP {
        let low = warp::shuffle_up(FULL, sum as u64, distance);
        let high = warp::shuffle_up(FULL, (sum >> 64) as u64, distance);
        sum += if warp::lane() >= distance { of_halves([low, high]) } else { 0 };
        distance *= 2;
    }
    sum
}

/// Returns the number of the last lane.
#[inline(always)]
#[track_caller]
fn of_last_lane(number: u128) -> u128 {
    let low = warp::shuffle(FULL, number as u64, WARP - 1);
    of_halves([low, warp::shuffle(FULL, (number >> 64) as u64, WARP - 1)])
}
