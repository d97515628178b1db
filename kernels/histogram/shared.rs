//! Counting in shared memory, with atomic additions.
//!
//! Each block counts in its own counters, which it adds to the counts in global memory at the end. `walk.rs` distributes the
//! samples among the threads.
//!
//! Shared memory: several *copies* of each counter, interleaved. Lane `l` uses copy `l % copies`, at index
//! `i * copies + l % copies` for counter `i`:
//!
//! ```text
//!  copies = 4   | counter 0: 0 1 2 3 | counter 1: 0 1 2 3 | counter 2: 0 1 2 3 | ...
//! ```
//!
//! With 32 copies each lane has its own bank, so lanes never conflict, whatever the data are. With fewer copies, bank
//! conflicts depend on the data. Clearing has no conflicts: consecutive addresses. Nor has adding up: lanes whose counters
//! begin in the same bank begin with different copies.
//!
//! If the counters do not fit into shared memory, they are divided into *ranges*, with one copy of each counter. For each
//! range there is a block. These neighbouring blocks read the same samples at about the same time, and each counts the
//! samples of its range. For one channel, samples of other ranges are counted in an extra counter, which is dropped. Lanes
//! that add 1 to the same counter are not serialised, whereas a branch around the addition costs three more instructions and
//! divides the warp. With several channels or sequentially consistent additions, samples of other ranges are skipped.
//!
//! Source: counters per block are from Podlozhnyuk's *Histogram calculation in CUDA* (NVIDIA, 2007). Several copies are from
//! Gómez-Luna et al., *An optimized approach to histogram computation on GPU* (Machine Vision and Applications 24, 2013), who
//! pad the copies instead of interleaving them.

use super::walk::{Counter, walk, walk_ahead};
use super::{Args, Binning};
use cuda_std::math::opaque;
use cuda_std::{Arena, Ordering, Shared, thread, warp};

/// Number of extra counters after those of a range, for samples of other ranges.
pub(super) const DROPPED: u32 = 1;

/// Counts with any number of copies, channels and resident blocks.
#[inline(always)]
pub(super) fn count<B: Binning>(arena: Arena, args: &Args<B>) {
    with_counters(arena, args, |part, counters| {
        match (args.is_seq_cst(), args.channels, args.ranges, args.copies_log2) {
            (true, ..) => walk(args, part, &SeqCst(counters)),
            (false, 1, 1, 1..) => {
                walk_ahead::<1, _, _, _>(args, &args.binning, part, &Copies::new(counters.window, counters.copies_log2))
            }
            (false, 1, ..) => walk_ahead::<1, _, _, _>(args, &args.binning, part, &Single(counters)),
            (false, ..) => walk(args, part, &Relaxed(counters)),
        }
    });
}

/// Counts several channels, or with sequentially consistent additions.
#[inline(always)]
pub(super) fn count_searched<B: Binning>(arena: Arena, args: &Args<B>) {
    with_counters(arena, args, |part, counters| match args.is_seq_cst() {
        true => walk(args, part, &SeqCst(counters)),
        false => walk(args, part, &Relaxed(counters)),
    });
}

/// Counts one channel with one copy of each counter, if one block fills a multiprocessor. With half as many resident
/// threads, each thread needs more overlapping operations, and has the registers for them.
#[inline(always)]
pub(super) fn count_alone<B: Binning>(arena: Arena, args: &Args<B>) {
    with_counters(arena, args, |part, counters| {
        walk_ahead::<1, _, _, _>(args, &args.binning, part, &Single(counters));
    });
}

/// Clears the block's counters, calls `count` with the block's part of the samples, and adds the counters to the counts.
#[inline(always)]
fn with_counters<B: Binning>(arena: Arena, args: &Args<B>, count: impl FnOnce([u32; 2], Counters)) {
    let block = thread::block_idx_x();
    let ranges = args.ranges.max(1);
    let first = block % ranges * args.range;
    let len = args.range.min(args.counters() - first);
    let dropped = if args.ranges > 1 { DROPPED } else { 0 };
    let (window, _) = arena.split::<u32>((args.range << args.copies_log2) + dropped);
    clear(&window);
    thread::sync_threads();

    let part = [block / ranges, thread::grid_dim_x() / ranges];
    let lane = copy_of_lane(args.copies_log2);
    let counters = Counters { window: &window, keys: args.keys, first, len, copies_log2: args.copies_log2, lane };
    count(part, counters);
    thread::sync_threads();

    add_up(&window, len, args.copies_log2, |i, n| args.add_up(first + i, n));
}

/// Calls `add` with each of `len` counters and the sum of its copies.
///
/// Blocks end at about the same time. Each begins with different counters, so that few blocks add to the same count at once.
#[inline(always)]
pub(super) fn add_up(window: &Shared<u32>, len: u32, copies_log2: u32, add: impl Fn(u32, u64)) {
    let threads = thread::block_dim_x();
    let start = thread::block_idx_x() % len.div_ceil(threads.max(1)).max(1) * threads;
    for [from, to] in [[start, len], [0, start]] {
        let mut i = from + thread::thread_idx_x();
        while i < to {
            add(i, sum(window, i, copies_log2).into());
            i += threads;
        }
    }
}

/// Returns the index of the calling lane's copy.
#[inline(always)]
fn copy_of_lane(copies_log2: u32) -> u32 {
    warp::lane() & ((1 << copies_log2) - 1)
}

/// Sets all counters to zero, 16 bytes at a time, and then the rest.
#[inline(always)]
pub(super) fn clear(window: &Shared<u32>) {
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let quads = window.len() / 4;
    let mut i = t;
    while i < quads {
        window.set_pack(4 * i, [0; 4]);
        i += threads;
    }
    let i = 4 * quads + t;
    if i < window.len() {
        window.set(i, 0);
    }
}

/// Returns the sum of all copies of counter `i`.
#[inline(always)]
fn sum(window: &Shared<u32>, i: u32, copies_log2: u32) -> u32 {
    let (start, mut sum, mut copy) = (first_copy(i, copies_log2), 0, 0);
    while copy < 1 << copies_log2 {
        sum += window.get((i << copies_log2) + (start ^ copy));
        copy += 1;
    }
    sum
}

/// Returns the copy of counter `i` with which a lane begins to add up.
///
/// The counters of 32 lanes begin in `32 / copies` different banks, which depend on the low bits of the lane. The high bits
/// select the copy with which a lane begins, in Gray code, so that the same holds for 16 lanes and 16 banks.
#[inline(always)]
pub(super) fn first_copy(i: u32, copies_log2: u32) -> u32 {
    let lane = i % warp::WARP;
    (lane ^ lane << 1) >> (5 - copies_log2) & ((1 << copies_log2) - 1)
}

/// A block's counters, with the copy of the calling lane.
struct Counters<'a> {
    window: &'a Shared<'a, u32>,
    keys: u32,
    /// The first counter of the block's range, and their number in `len`.
    first: u32,
    len: u32,
    copies_log2: u32,
    /// Index of the lane's copy.
    lane: u32,
}

impl Counters<'_> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32, ordering: Ordering) {
        let i = (channel * self.keys + key).wrapping_sub(self.first);
        self.window.add_if(i < self.len, (i << self.copies_log2).wrapping_add(self.lane), 1, ordering);
    }
}

/// Counts one channel, with several copies of each counter.
pub(super) struct Copies<'a> {
    window: &'a Shared<'a, u32>,
    copies: u32,
    /// Index of the lane's copy.
    lane: u32,
}

impl<'a> Copies<'a> {
    /// Returns the copies of the calling lane.
    #[inline(always)]
    pub(super) fn new(window: &'a Shared<'a, u32>, copies_log2: u32) -> Self {
        let lane = copy_of_lane(copies_log2);
        // If the compiler knew that this is a power of two, it would use a shift and an addition instead of one
        // multiply-add.
        Copies { window, copies: opaque(1 << copies_log2), lane }
    }
}

impl Counter for Copies<'_> {
    #[inline(always)]
    fn count(&self, _: u32, key: u32) {
        self.window.add(key * self.copies + self.lane, 1, Ordering::Relaxed);
    }
}

/// Counts one channel in the block's range, with one copy of each counter.
struct Single<'a>(Counters<'a>);

impl Counter for Single<'_> {
    #[inline(always)]
    fn count(&self, _: u32, key: u32) {
        let Counters { window, first, len, .. } = self.0;
        window.add(key.wrapping_sub(first).min(len), 1, Ordering::Relaxed);
    }
}

struct Relaxed<'a>(Counters<'a>);

impl Counter for Relaxed<'_> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        self.0.count(channel, key, Ordering::Relaxed);
    }
}

struct SeqCst<'a>(Counters<'a>);

impl Counter for SeqCst<'_> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        self.0.count(channel, key, Ordering::SeqCst);
    }
}
