//! The way through the samples: from memory to keys.
//!
//! Samples are read 16 bytes at a time, a *pack*. Each block that shares the work takes a pack for each of its threads,
//! neighbouring threads neighbouring packs, and continues after the packs of the others.

use super::{Args, Binning, Countable};
use core::array;
use cuda_std::math::opaque;
use cuda_std::thread;

/// The bytes of a pack.
pub const PACK_BYTES: u32 = 16;

/// The samples whose keys are worked out before one is counted. More take too many registers.
const TOGETHER: usize = 4;

/// Where keys are counted.
pub(super) trait Counter {
    /// Counts `key` once, in the channel of this number.
    fn count(&self, channel: u32, key: u32);
}

/// Counts the samples of part `part` of `parts`; the block's threads divide it among themselves. The tail
/// comes first, so that no register has the part while the packs are counted.
#[inline(always)]
pub(super) fn walk<B: Binning, C: Counter>(args: &Args<B>, [part, parts]: [u32; 2], counter: &C) {
    count_tail(args, part, counter);
    let threads = thread::block_dim_x();
    let mut number = part * threads + thread::thread_idx_x();
    while number < args.packs {
        count_pack(args, number, counter);
        number += parts * threads;
    }
}

/// The same for one channel, and faster.
///
/// A thread has asked for `AHEAD` packs, and asks for one more before it counts the first of them; it works out the keys of
/// some samples before it counts one. So the latencies of memory and of conversions overlap. The pack is
/// [`opaque`]: otherwise the compiler moves the load to the loop's end, to save registers.
#[inline(always)]
pub(super) fn walk_ahead<const AHEAD: usize, B: Binning, C: Counter>(
    args: &Args<B>,
    [part, parts]: [u32; 2],
    counter: &C,
) {
    count_tail(args, part, counter);
    let threads = thread::block_dim_x();
    let mut number = part * threads + thread::thread_idx_x();
    let mut packs = [[0; 4]; AHEAD];
    for (k, pack) in packs.iter_mut().enumerate() {
        *pack = load(args, number + k as u32 * parts * threads);
    }
    while number < args.packs {
        let last = load(args, number + AHEAD as u32 * parts * threads).map(opaque);
        let (mut keys, mut len) = ([0; TOGETHER], 0);
        B::Sample::unpack(packs[0], |sample| {
            keys[len % TOGETHER] = args.binning.key(sample);
            len += 1;
            if len % TOGETHER == 0 {
                keys.iter().for_each(|key| counter.count(0, *key));
            }
        });
        keys[..len % TOGETHER].iter().for_each(|key| counter.count(0, *key));
        packs = array::from_fn(|k| if k + 1 < AHEAD { packs[k + 1] } else { last });
        number += parts * threads;
    }
}

/// The pack of this number; zeros behind the last one.
#[inline(always)]
fn load<B: Binning>(args: &Args<B>, number: u32) -> [u32; 4] {
    args.words.at(0).get_pack_masked::<4>(4 * number)
}

/// Counts the samples of the pack of this number.
#[inline(always)]
pub(super) fn count_pack<B: Binning, C: Counter>(args: &Args<B>, number: u32, counter: &C) {
    let mut next = NextChannel::new(args, number * per_pack::<B>());
    B::Sample::unpack(load(args, number), |sample| next.count(args, sample, counter));
}

/// Counts the samples behind the last pack.
#[inline(always)]
pub(super) fn count_tail<B: Binning, C: Counter>(args: &Args<B>, part: u32, counter: &C) {
    if part == 0 && thread::thread_idx_x() < args.tail {
        let i = args.packs * per_pack::<B>() + thread::thread_idx_x();
        NextChannel::new(args, i).count(args, args.samples.get(i.into()), counter);
    }
}

/// Samples of a pack.
#[inline(always)]
fn per_pack<B: Binning>() -> u32 {
    PACK_BYTES / size_of::<B::Sample>() as u32
}

/// The channel of sample `i` of the launch.
#[inline(always)]
pub(super) fn channel_of<B: Binning>(args: &Args<B>, i: u32) -> u32 {
    let channel = args.first_channel + i % args.channels.max(1);
    if channel < args.channels { channel } else { channel - args.channels }
}

/// The channel of the next sample.
struct NextChannel(u32);

impl NextChannel {
    /// That of sample `i` of the launch.
    #[inline(always)]
    fn new<B: Binning>(args: &Args<B>, i: u32) -> Self {
        NextChannel(channel_of(args, i))
    }

    /// Counts the channel's sample, and advances to the next channel.
    #[inline(always)]
    fn count<B: Binning, C: Counter>(&mut self, args: &Args<B>, sample: B::Sample, counter: &C) {
        if self.0 < args.counted {
            counter.count(self.0, args.binning.key(sample));
        }
        self.0 = if self.0 + 1 < args.channels { self.0 + 1 } else { 0 };
    }
}
