//! The way through the samples: from memory to keys.
//!
//! Samples are read 16 bytes at a time, a *pack*. The blocks that share the work take turns: each takes the packs for
//! its threads, neighbouring threads neighbouring packs, and goes on behind what the others take. All packs of a turn
//! are asked for before the first is counted, so that their latencies overlap.

use super::{Args, Binning, Countable};
use cuda_std::thread;

/// Packs of a thread that are under way together, if counting is fast.
pub(super) const PACKS: u32 = 2;

/// Where keys are counted.
pub(super) trait Counter {
    /// Counts `key` once, in the channel of this number.
    fn add(&self, channel: u32, key: u32);
}

/// Counts the samples of which part `part` of `parts` takes care; the block's threads divide it among themselves.
#[inline(always)]
pub(super) fn walk<B: Binning, C: Counter>(args: &Args<B>, part: [u32; 2], counter: &C) {
    // One channel, the usual case, pays nothing for several.
    match args.channels {
        1 => walk_packs::<B, { PACKS as usize }>(args, part, |_, words| {
            B::Sample::unpack(words, |sample| counter.add(0, args.binning.key(sample)));
        }),
        _ => walk_in_channels(args, part, counter),
    }
    walk_tail(args, part, counter);
}

/// The same for counters that are slow anyway: less code.
#[inline(always)]
pub(super) fn walk_slowly<B: Binning, C: Counter>(args: &Args<B>, part: [u32; 2], counter: &C) {
    walk_in_channels(args, part, counter);
    walk_tail(args, part, counter);
}

#[inline(always)]
fn walk_in_channels<B: Binning, C: Counter>(args: &Args<B>, part: [u32; 2], counter: &C) {
    walk_packs::<B, 1>(args, part, |pack, words| {
        let mut turn = Turn::new(args, pack * per_pack::<B>());
        B::Sample::unpack(words, |sample| turn.count(args, sample, counter));
    });
}

/// Counts the samples behind the last pack.
#[inline(always)]
fn walk_tail<B: Binning, C: Counter>(args: &Args<B>, [part, _]: [u32; 2], counter: &C) {
    if part == 0 && thread::thread_idx_x() < args.tail {
        let i = args.packs * per_pack::<B>() + thread::thread_idx_x();
        Turn::new(args, i).count(args, args.samples.get(i.into()), counter);
    }
}

/// Calls `each` with the packs of this thread and their numbers; `N` are under way together.
#[inline(always)]
fn walk_packs<B: Binning, const N: usize>(args: &Args<B>, [part, parts]: [u32; 2], each: impl Fn(u32, [u32; 4])) {
    let threads = thread::block_dim_x();
    let words = args.words.at(0);
    let mut first = part * threads * N as u32 + thread::thread_idx_x();
    while first < args.packs {
        let mut packs = [[0; 4]; N];
        for (k, pack) in packs.iter_mut().enumerate() {
            *pack = words.get4_masked(4 * (first + k as u32 * threads));
        }
        for (k, pack) in packs.into_iter().enumerate() {
            let number = first + k as u32 * threads;
            if number < args.packs {
                each(number, pack);
            }
        }
        first += parts * threads * N as u32;
    }
}

/// Samples of a pack.
#[inline(always)]
fn per_pack<B: Binning>() -> u32 {
    16 / size_of::<B::Sample>() as u32
}

/// The channel whose turn it is.
struct Turn(u32);

impl Turn {
    /// That of sample `i` of the launch.
    #[inline(always)]
    fn new<B: Binning>(args: &Args<B>, i: u32) -> Self {
        let channel = args.first_channel + i % args.channels;
        Turn(if channel < args.channels { channel } else { channel - args.channels })
    }

    /// Counts the channel's sample, and gives the turn to the next one.
    #[inline(always)]
    fn count<B: Binning, C: Counter>(&mut self, args: &Args<B>, sample: B::Sample, counter: &C) {
        if self.0 < args.counted {
            counter.add(self.0, args.binning.key(sample));
        }
        self.0 = if self.0 + 1 < args.channels { self.0 + 1 } else { 0 };
    }
}
