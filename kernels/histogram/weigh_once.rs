//! Sums of weights in one pass, for weights of which most have similar magnitudes.
//!
//! All weights are multiples of one quantum ([`Span`]). Unlike `weigh.rs`, this needs no largest weight of each cell. The span is a
//! guess, from the largest of [`SAMPLED`] weights with equal distances; each warp takes the same ones. A thread that finds a weight
//! outside of the span sets the outcome. Then the sums are useless, and `peak.rs` and `weigh.rs` do the work. Otherwise the sums are
//! exact, and so equal to those of `weigh.rs`: there, the quantum of a cell whose weights are all in the span divides that of the
//! span.
//!
//! A block adds to sums of its own in shared memory, whose words overflow into the next one as in `weigh.rs`. Multiples are sign and
//! magnitude: a negative one is subtracted, so that small ones need few words, too. The sums are added to the result at the end. If
//! they do not fit into shared memory, the threads add to the result directly.
//!
//! Shared memory: the words of a multiple and one more for each key and channel. Word `k` of all sums comes before word `k + 1`. There
//! are several copies of each word, interleaved as the counters of `shared.rs`: lane `l` uses copy `l % copies`. With 32 copies each
//! lane has its own bank, so lanes never conflict, whatever the data are. With fewer copies, conflicts depend on the data. Sums that do
//! not fit are divided into ranges, as in `shared.rs`. Clearing has no conflicts: consecutive addresses. Nor has adding up: lanes whose
//! sums begin in the same bank begin with different copies.

use super::shared::first_copy;
use super::walk::channel_of;
use super::weigh::{WeightedArgs, add_to_result, clear};
use super::weight::{Multiple, Span, Weight, field_of};
use super::{Args, Binning};
use cuda_std::math::opaque;
use cuda_std::{Arena, GlobalIn, GlobalInOut, Ordering, Shared, arguments, thread, warp};

/// Number of weights from which a warp guesses the span.
const SAMPLED: u32 = 512;

/// Threads per block.
pub(super) const ONCE_THREADS: u32 = 1024;

/// Number of samples that a thread loads before it adds one to the sums of its block.
pub(super) const TOGETHER: u32 = 4;

/// Index of the counter of a sample that is not counted.
const NONE: u32 = u32::MAX;

/// Binary logarithm of the number of copies with which each lane has one.
pub(super) const MOST_COPIES_LOG2: u32 = warp::WARP.ilog2();

/// Number of 32-bit words of a sum in the result.
const WORDS_OF_RESULT: u32 = 4;

arguments! {
    /// Arguments of the kernel that adds up weights in one pass. The copies of a sum are those of a counter.
    pub struct WeighOnceArgs<'l, B: Binning> {
        /// The samples, the weights, and the sums.
        pub weighted: WeightedArgs<'l, B>,
        /// The first element receives the least field of the span. The second one becomes 1 if a weight is not in the span.
        pub outcome: GlobalInOut<'l, u64>,
    }
}

/// The number of bits by which the multiples in the result are greater than those of a weight. So weights near the largest one
/// have no bits in the low one of its two words.
#[must_use]
pub const fn result_shift<W: Weight>() -> u32 {
    u32::BITS * (WORDS_OF_RESULT - 1 - W::WORDS)
}

#[inline(always)]
pub(super) fn add<B: Binning>(arena: Arena, args: &WeighOnceArgs<B>) {
    let weighted = &args.weighted;
    let Args { range, ranges, copies_log2, .. } = weighted.args;
    let has_doubles = weighted.doubles.len() > 0;
    let words = 1 + if has_doubles { <f64 as Weight>::WORDS } else { <f32 as Weight>::WORDS };
    let (window, _) = arena.split::<u32>((words * range) << copies_log2);
    clear(&window);
    thread::sync_threads();

    let first = thread::block_idx_x() % ranges.max(1) * range;
    let len = range.min(weighted.args.counters() - first);
    let copy = warp::lane() & ((1 << copies_log2) - 1);
    let sums = Sums { window: &window, first, len, range, copies_log2, copies: opaque(1 << copies_log2), copy };
    let (span, is_plain) = (guess(weighted), weighted.args.channels == 1 && ranges == 1);
    let outside = match (has_doubles, range, is_plain) {
        (false, 0, _) => add_to_results(&weighted.args, &weighted.singles, span),
        (true, 0, _) => add_to_results(&weighted.args, &weighted.doubles, span),
        (false, _, true) => add_in_block::<true, _, _>(&weighted.args, &weighted.singles, span, &sums),
        (false, _, false) => add_in_block::<false, _, _>(&weighted.args, &weighted.singles, span, &sums),
        (true, _, true) => add_in_block::<true, _, _>(&weighted.args, &weighted.doubles, span, &sums),
        (true, _, false) => add_in_block::<false, _, _>(&weighted.args, &weighted.doubles, span, &sums),
    };
    if outside != 0 {
        args.outcome.fetch_max(1, 1, Ordering::Relaxed);
    }
    if thread::global_x() == 0 {
        args.outcome.set(0, span.least.into());
    }
    thread::sync_threads();

    let shift = if has_doubles { result_shift::<f64>() } else { result_shift::<f32>() };
    let mut i = thread::thread_idx_x();
    while i < len {
        let total = sums.total(i, words);
        if total != 0 {
            let (channel, key) = weighted.args.channel_and_key(first + i);
            add_to_result(&weighted.args, weighted.args.count_of(channel, key), total << shift);
        }
        i += thread::block_dim_x();
    }
}

/// Adds the weights of this thread to the sums of the block, if they are in its range. Returns 0 if all are in the span. `IS_PLAIN` for one
/// channel and one range.
///
/// A thread loads [`TOGETHER`] samples and weights before it adds one. Neighbouring threads load neighbouring ones, and the next
/// ones of a thread are [`ONCE_THREADS`] further.
#[inline(always)]
fn add_in_block<const IS_PLAIN: bool, B: Binning, W: Weight>(
    args: &Args<B>,
    weights: &GlobalIn<W>,
    span: Span,
    sums: &Sums,
) -> u64 {
    let (samples, weights) = (args.samples.at(0), weights.at(0));
    let (ranges, piece) = (if IS_PLAIN { 1 } else { args.ranges.max(1) }, ONCE_THREADS * TOGETHER);
    let mut i = thread::block_idx_x() / ranges * piece + thread::thread_idx_x();
    let mut outside = 0;
    while i < args.tail {
        // Zeros behind the last ones.
        let samples = samples.get4_strided::<ONCE_THREADS>(i);
        let weights = weights.get4_strided::<ONCE_THREADS>(i);
        for k in 0..TOGETHER {
            let (multiple, is_outside) = span.multiple(weights[k as usize]);
            outside |= is_outside;
            let key = args.binning.key(samples[k as usize]);
            if IS_PLAIN {
                sums.accumulate::<W>(key, multiple);
            } else {
                let channel = channel_of(args, i + k * ONCE_THREADS);
                // Wraps around for channels that are not counted.
                let counter = channel.wrapping_mul(args.keys).wrapping_add(key).wrapping_sub(sums.first);
                let is_here = channel < args.counted && counter < sums.len;
                sums.accumulate::<W>(counter, if is_here { multiple } else { Multiple::ZERO });
            }
        }
        i += thread::grid_dim_x() / ranges * piece;
    }
    outside
}

/// Adds the weights of this thread to the result. Returns 0 if all are in the span.
///
/// If all lanes of a warp have samples of one cell, they add up their weights first. The lanes end together.
#[inline(always)]
fn add_to_results<B: Binning, W: Weight>(args: &Args<B>, weights: &GlobalIn<W>, span: Span) -> u64 {
    let (samples, weights) = (args.samples.at(0), weights.at(0));
    // Zeros behind the last ones.
    let load = |i: u32| (samples.get_masked(i), weights.get_masked(i));
    let step = thread::grid_dim_x() * thread::block_dim_x();
    let mut i = thread::global_x() as u32;
    let (mut next, mut outside) = (load(i), 0);
    while i - warp::lane() < args.tail {
        let (sample, weight) = next;
        next = load(i + step);
        let (multiple, is_outside) = span.multiple(weight);
        outside |= is_outside;
        let channel = channel_of(args, i);
        let (counter, number) = match channel < args.counted {
            true => (channel * args.keys + args.binning.key(sample), multiple.signed()),
            false => (NONE, 0),
        };
        let common = warp::shuffle(warp::FULL, counter, 0);
        let (counter, number) = match warp::all(warp::FULL, counter == common || counter == NONE) {
            true => (if warp::lane() == 0 { counter } else { NONE }, sum_of_lanes(number)),
            false => (counter, number),
        };
        if counter != NONE {
            let (channel, key) = args.channel_and_key(counter);
            add_to_result(args, args.count_of(channel, key), number << result_shift::<W>());
        }
        i += step;
    }
    outside
}

/// Returns the sum of the numbers of all lanes.
#[inline(always)]
fn sum_of_lanes(number: i128) -> i128 {
    let (mut sum, mut distance) = (number, warp::WARP / 2);
    while distance > 0 {
        let [low, high] = [sum as u64, (sum >> 64) as u64].map(|half| warp::shuffle_xor(warp::FULL, half, distance));
        sum += ((high as u128) << 64 | low as u128) as i128;
        distance /= 2;
    }
    sum
}

/// Returns a span that contains most of the weights, of which there is at least one.
#[inline(always)]
fn guess<B: Binning>(weighted: &WeightedArgs<B>) -> Span {
    let (has_doubles, len) = (weighted.doubles.len() > 0, weighted.args.tail);
    let (mut most, mut k) = (0, warp::lane());
    while k < SAMPLED {
        let i = k as u64 * len as u64 / SAMPLED as u64;
        let field = if has_doubles { field_of(weighted.doubles.get(i)) } else { field_of(weighted.singles.get(i)) };
        most = most.max(field);
        k += warp::WARP;
    }
    let most = warp::reduce_max(warp::FULL, most);
    if has_doubles { Span::around::<f64>(most) } else { Span::around::<f32>(most) }
}

/// The sums of a block.
struct Sums<'a> {
    window: &'a Shared<'a, u32>,
    /// The first counter of the block's range, and their number in `len`.
    first: u32,
    len: u32,
    /// Number of sums of most blocks.
    range: u32,
    copies_log2: u32,
    copies: u32,
    /// Index of the lane's copy.
    copy: u32,
}

impl Sums<'_> {
    /// Adds to sum `i`: subtracts the magnitude of a negative multiple, with borrows instead of carries. `i` may be anything if the
    /// multiple is 0.
    #[inline(always)]
    fn accumulate<W: Weight>(&self, i: u32, Multiple { is_negative, words }: Multiple) {
        let (mut carry, mut k) = (false, 0);
        while k <= W::WORDS {
            let last = if k == W::WORDS { 0 } else { words[k as usize] };
            let (word, mut overflows) = last.overflowing_add(carry as u32);
            if word != 0 {
                let (operand, kept) = if is_negative { (word.wrapping_neg(), 0) } else { (word, word) };
                let old = self.window.fetch_add(self.place(k, i, self.copy), operand, Ordering::Relaxed);
                overflows = old.wrapping_add(kept) < word;
            }
            carry = overflows;
            k += 1;
        }
    }

    /// Returns the sum of all copies of sum `i`, which have `words` words each.
    #[inline(always)]
    fn total(&self, i: u32, words: u32) -> i128 {
        let (start, mut total, mut copy) = (first_copy(i, self.copies_log2), 0i128, 0);
        while copy < 1 << self.copies_log2 {
            let word = |k: u32| self.window.get(self.place(k, i, start ^ copy));
            let (low, third) = (word(0) as u64 | (word(1) as u64) << 32, word(2));
            // The last word has the sign.
            let high = if words == 3 { third as i32 as i64 } else { (third as u64 | (word(3) as u64) << 32) as i64 };
            total += (high as i128) << 64 | low as i128;
            copy += 1;
        }
        total
    }

    /// Returns the index of word `k` of a copy of sum `i`.
    #[inline(always)]
    fn place(&self, k: u32, i: u32, copy: u32) -> u32 {
        // One multiply-add, which a shift by a variable is not.
        (k * self.range + i) * self.copies + copy
    }
}
