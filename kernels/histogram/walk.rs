//! Loops over the samples, which load them and compute their keys.
//!
//! A thread loads 16 bytes at a time, a *pack*. The samples are divided into *parts*, each for one block (or for one block
//! of each range of counters, `shared.rs`):
//!
//! ```text
//!  packs   | part 0: one per thread | part 1 | ... | last part | part 0 | part 1 | ...
//! ```
//!
//! Neighbouring threads load neighbouring packs, so the accesses of a warp are contiguous.

use super::{Args, Binning, Countable};
use core::array;
use cuda_std::math::opaque;
use cuda_std::thread;

/// Bytes per pack.
pub const PACK_BYTES: u32 = 16;

/// Number of samples whose keys are computed before the first one is counted. More would need too many registers.
const TOGETHER: usize = 4;

/// A set of counters, one for each key of each channel.
pub(super) trait Counter {
    /// Adds one to the counter of `key` in channel `channel`.
    fn count(&self, channel: u32, key: u32);
}

/// Counts the samples of part `part` of `parts`, which the block's threads share. The tail is counted first, so that `part`
/// does not occupy a register while the packs are counted.
#[inline(always)]
pub(super) fn walk<B: Binning, C: Counter>(args: &Args<B>, [part, parts]: [u32; 2], counter: &C) {
    count_tail(args, &args.binning, part, counter);
    let threads = thread::block_dim_x();
    let mut number = part * threads + thread::thread_idx_x();
    while number < args.packs {
        count_pack(args, number, counter);
        number += parts * threads;
    }
}

/// Counts the samples of part `part` of `parts`, for one channel. Faster than [`walk`].
///
/// `binning` gives the keys, with which `counter` counts. A thread has `AHEAD` loads of packs in flight, and issues one more before
/// it counts the first of them. It computes the keys of [`TOGETHER`] samples before it counts one. So the latencies of memory and of
/// conversions overlap. The loaded pack is [`opaque`]: otherwise the compiler moves the load to the end of the loop, to save registers.
#[inline(always)]
pub(super) fn walk_ahead<const AHEAD: usize, B: Binning, K: Binning<Sample = B::Sample>, C: Counter>(
    args: &Args<B>,
    binning: &K,
    [part, parts]: [u32; 2],
    counter: &C,
) {
    count_tail(args, binning, part, counter);
    let threads = thread::block_dim_x();
    let mut number = part * threads + thread::thread_idx_x();
    let mut packs = [[0; 4]; AHEAD];
    for (k, pack) in packs.iter_mut().enumerate() {
        *pack = load(args, number + k as u32 * parts * threads);
    }
    while number < args.packs {
        let last = load(args, number + AHEAD as u32 * parts * threads).map(opaque);
        let (mut samples, mut len) = (None, 0);
        B::Sample::unpack(packs[0], |sample| {
            let samples = samples.get_or_insert([sample; TOGETHER]);
            samples[len % TOGETHER] = sample;
            len += 1;
            if len % TOGETHER == 0 {
                binning.keys(*samples).iter().for_each(|key| counter.count(0, *key));
            }
        });
        // A pack has only two samples of eight bytes.
        if let Some([first, second, ..]) = samples
            && len % TOGETHER > 0
        {
            binning.keys([first, second]).iter().for_each(|key| counter.count(0, *key));
        }
        packs = array::from_fn(|k| if k + 1 < AHEAD { packs[k + 1] } else { last });
        number += parts * threads;
    }
}

/// Returns the pack with this index, or zeros after the last one.
#[inline(always)]
fn load<B: Binning>(args: &Args<B>, number: u32) -> [u32; 4] {
    args.words.at(0).get_pack_masked::<4>(4 * number)
}

/// Counts the samples of the pack with this index.
#[inline(always)]
pub(super) fn count_pack<B: Binning, C: Counter>(args: &Args<B>, number: u32, counter: &C) {
    let mut next = NextChannel::new(args, number * per_pack::<B>());
    B::Sample::unpack(load(args, number), |sample| next.count(args, &args.binning, sample, counter));
}

/// Counts the samples after the last pack, in the block of part 0.
#[inline(always)]
pub(super) fn count_tail<B: Binning, K: Binning<Sample = B::Sample>, C: Counter>(
    args: &Args<B>,
    binning: &K,
    part: u32,
    counter: &C,
) {
    if part == 0 && thread::thread_idx_x() < args.tail {
        let i = args.packs * per_pack::<B>() + thread::thread_idx_x();
        NextChannel::new(args, i).count(args, binning, args.samples.get(i.into()), counter);
    }
}

/// Returns the number of samples per pack.
#[inline(always)]
fn per_pack<B: Binning>() -> u32 {
    PACK_BYTES / size_of::<B::Sample>() as u32
}

/// Returns the channel of sample `i` of the launch.
#[inline(always)]
pub(super) fn channel_of<B: Binning>(args: &Args<B>, i: u32) -> u32 {
    if args.channels == 1 {
        return 0;
    }
    let channel = args.first_channel + i % args.channels.max(1);
    if channel < args.channels { channel } else { channel - args.channels }
}

/// The channel of the next sample.
struct NextChannel(u32);

impl NextChannel {
    /// Returns the channel of sample `i` of the launch.
    #[inline(always)]
    fn new<B: Binning>(args: &Args<B>, i: u32) -> Self {
        NextChannel(channel_of(args, i))
    }

    /// Counts the sample if its channel is counted, and advances to the next channel.
    #[inline(always)]
    fn count<B: Binning, K: Binning<Sample = B::Sample>, C: Counter>(
        &mut self,
        args: &Args<B>,
        binning: &K,
        sample: B::Sample,
        counter: &C,
    ) {
        if self.0 < args.counted {
            counter.count(self.0, binning.key(sample));
        }
        self.0 = if self.0 + 1 < args.channels { self.0 + 1 } else { 0 };
    }
}
