//! Counting in shared memory, with atomic additions.
//!
//! A block has counters of its own, which it adds to the counts in the end. There are several *copies* of each counter,
//! side by side: counter `i` of lane `l` is at `i * copies + l % copies`. With 32 copies each lane owns a bank, so that
//! nothing that the data contain makes lanes wait for each other; with fewer, fewer lanes can meet.
//!
//! If the counters of a block do not fit into shared memory, they are divided into *ranges*: as many neighbouring blocks
//! as there are ranges read the same samples, at about the same time, and each counts those of its range. Then there is
//! one copy of each counter. For one channel, samples of other ranges are counted too, in one counter behind the others that is
//! dropped: lanes that add 1 in the same place do not wait for each other, whereas a branch around the addition costs three
//! more instructions, and divides the warp. Several channels, and additions in order, go the other way.
//!
//! No bank conflicts when the counters are cleared (consecutive addresses) and added up: lanes whose counters begin in the
//! same bank begin with different copies. While counting there are as many as the data bring about, and none with 32
//! copies.
//!
//! Counters of each block's own are from Podlozhnyuk's *Histogram calculation in CUDA* (NVIDIA, 2007), and several copies
//! of them from Gómez-Luna et al., *An optimized approach to histogram computation on GPU* (Machine Vision and
//! Applications 24, 2013), who pad them where they are interleaved here.

use super::walk::{Counter, walk, walk_ahead};
use super::{Args, Binning};
use cuda_std::math::opaque;
use cuda_std::{Arena, Ordering, Shared, thread, warp};

/// The counters behind a range's own, for samples of other ranges.
pub(super) const DROPPED: u32 = 1;

/// For any number of copies, channels and blocks on a multiprocessor.
#[inline(always)]
pub(super) fn count<B: Binning>(arena: Arena, args: &Args<B>) {
    with_counters(arena, args, |part, counters| {
        match (args.is_seq_cst(), args.channels, args.ranges, args.copies_log2) {
            (true, ..) => walk(args, part, &SeqCst(counters)),
            (false, 1, 1, 1..) => walk_ahead::<1, _, _>(args, part, &Copies::new(counters)),
            (false, 1, ..) => walk_ahead::<1, _, _>(args, part, &Single(counters)),
            (false, ..) => walk(args, part, &Relaxed(counters)),
        }
    });
}

/// For one copy of the counters of one channel that leaves no room for another block. With half as many threads a compiler has
/// to overlap more of what one thread does, and has the registers for it.
#[inline(always)]
pub(super) fn count_alone<B: Binning>(arena: Arena, args: &Args<B>) {
    with_counters(arena, args, |part, counters| walk_ahead::<1, _, _>(args, part, &Single(counters)));
}

/// Has samples counted in the block's counters, and adds these up.
#[inline(always)]
fn with_counters<B: Binning>(arena: Arena, args: &Args<B>, count: impl FnOnce([u32; 2], Counters)) {
    let (block, t) = (thread::block_idx_x(), thread::thread_idx_x());
    let ranges = args.ranges.max(1);
    let first = block % ranges * args.range;
    let len = args.range.min(args.counters() - first);
    let dropped = if args.ranges > 1 { DROPPED } else { 0 };
    let (window, _) = arena.split::<u32>((args.range << args.copies_log2) + dropped);
    clear(&window);
    thread::sync_threads();

    let part = [block / ranges, thread::grid_dim_x() / ranges];
    let lane = warp::lane() & ((1 << args.copies_log2) - 1);
    let counters = Counters { window: &window, keys: args.keys, first, len, copies_log2: args.copies_log2, lane };
    count(part, counters);
    thread::sync_threads();

    // Blocks end at about the same time: each begins with other counters, so that few add to the same counts at once.
    let threads = thread::block_dim_x();
    let start = block % len.div_ceil(threads.max(1)).max(1) * threads;
    for [from, to] in [[start, len], [0, start]] {
        let mut i = from + t;
        while i < to {
            args.add_up(first + i, sum(&window, i, args.copies_log2).into());
            i += threads;
        }
    }
}

/// Sets all counters to zero, 16 bytes at a time and then the rest.
#[inline(always)]
fn clear(window: &Shared<u32>) {
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

/// All copies of counter `i`.
///
/// The counters of 32 lanes begin in `32 / copies` different banks, which the low bits of the lane tell; the high bits
/// tell the copy to begin with. As a Gray code, so that the same holds for 16 lanes and 16 banks.
#[inline(always)]
fn sum(window: &Shared<u32>, i: u32, copies_log2: u32) -> u32 {
    let lane = i % warp::WARP;
    let start = (lane ^ lane << 1) >> (5 - copies_log2) & ((1 << copies_log2) - 1);
    let (mut sum, mut copy) = (0, 0);
    while copy < 1 << copies_log2 {
        sum += window.get((i << copies_log2) + (start ^ copy));
        copy += 1;
    }
    sum
}

/// A block's counters, as a lane sees them.
struct Counters<'a> {
    window: &'a Shared<u32>,
    keys: u32,
    /// The first counter of the block's range, and their number.
    first: u32,
    len: u32,
    copies_log2: u32,
    /// The lane's copy.
    lane: u32,
}

impl Counters<'_> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32, ordering: Ordering) {
        let i = (channel * self.keys + key).wrapping_sub(self.first);
        self.window.add_if(i < self.len, (i << self.copies_log2).wrapping_add(self.lane), 1, ordering);
    }
}

/// For one channel, all of whose counters are in the block's range, several copies of each.
struct Copies<'a> {
    window: &'a Shared<u32>,
    copies: u32,
    /// The lane's copy.
    lane: u32,
}

impl<'a> Copies<'a> {
    #[inline(always)]
    fn new(Counters { window, copies_log2, lane, .. }: Counters<'a>) -> Self {
        // A compiler that knew it to be a power of two would shift, and add the lane with one more instruction.
        Copies { window, copies: opaque(1 << copies_log2), lane }
    }
}

impl Counter for Copies<'_> {
    #[inline(always)]
    fn count(&self, _: u32, key: u32) {
        self.window.add(key * self.copies + self.lane, 1, Ordering::Relaxed);
    }
}

/// For one channel, one copy of each counter of the block's range.
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
