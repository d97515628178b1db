//! Counting in global memory, with the counters that many samples meet in shared memory.
//!
//! For more counters than shared memory has room for. Additions to one count in global memory wait for each other, so
//! samples of few different keys, or of one that is frequent, would take a hundred times as long as evenly spread ones.
//! Hence a block keeps a *cache*, a table with room for [`SLOTS`] keys. Each key has one possible slot. The
//! first packs *nominate*: the first key that asks for a free slot has it. A key that makes up a hundredth of the samples
//! is nearly sure to have one, and one without is rarer, so that its additions seldom meet. Then the samples of
//! [`PACKS_PER_FILL`] packs of each thread are counted, those that nominated among them: in the cache if their key has its
//! slot and in global memory if not. In the end the block adds the cache to the counts. After that the cache is filled
//! anew, as the data may have changed.
//!
//! Between the barriers behind nomination and counting nobody changes a key. What is in the cache decides about speed,
//! not about results. Lanes whose keys' slots are in the same bank wait for each other, which the data decide.

use super::global::Atomic;
use super::walk::{Counter, count_pack, count_tail};
use super::{Args, Binning};
use cuda_std::{Arena, Ordering, Shared, shared_bytes, thread};

/// The keys that there is room for, as a power of two.
const SLOTS_LOG2: u32 = 13;
const SLOTS: u32 = 1 << SLOTS_LOG2;

/// The packs that each thread counts until the cache is filled anew.
const PACKS_PER_FILL: u32 = 16;

/// What no key is: there are fewer than 2^31.
const FREE: u32 = u32::MAX;

/// The shared memory of a block.
pub(super) const SHARED_BYTES: u64 = 2 * shared_bytes::<u32>(SLOTS as u64);

#[inline(always)]
pub(super) fn count<B: Binning>(arena: Arena, args: &Args<B>) {
    let (keys, arena) = arena.split(SLOTS);
    let (counts, _) = arena.split(SLOTS);
    let cache = Cache { keys: &keys, counts: &counts, args };
    let (block, threads, t) = (thread::block_idx_x(), thread::block_dim_x(), thread::thread_idx_x());

    let mut first = block * threads;
    while first < args.packs {
        cache.clear();
        thread::sync_threads();
        if first + t < args.packs {
            count_pack(args, first + t, &Nominee(&cache));
        }
        thread::sync_threads();
        let mut packs = 0;
        while packs < PACKS_PER_FILL && first < args.packs {
            if first + t < args.packs {
                count_pack(args, first + t, &cache);
            }
            first += thread::grid_dim_x() * threads;
            packs += 1;
        }
        thread::sync_threads();
        cache.add_up();
    }
    count_tail(args, block, &Atomic(args));
}

/// A block's cache.
struct Cache<'a, B: Binning> {
    keys: &'a Shared<u32>,
    counts: &'a Shared<u32>,
    args: &'a Args<B>,
}

impl<B: Binning> Cache<'_, B> {
    /// Frees all slots. Each thread always has the same ones, so there need not be a barrier behind `add_up`.
    #[inline(always)]
    fn clear(&self) {
        let mut slot = thread::thread_idx_x();
        while slot < SLOTS {
            self.keys.set(slot, FREE);
            self.counts.set(slot, 0);
            slot += thread::block_dim_x();
        }
    }

    /// Adds what has been counted here to the counts.
    #[inline(always)]
    fn add_up(&self) {
        let mut slot = thread::thread_idx_x();
        while slot < SLOTS {
            let key = self.keys.get(slot);
            if key != FREE {
                self.args.add_up(key, self.counts.get(slot).into());
            }
            slot += thread::block_dim_x();
        }
    }
}

/// The key of a channel among those of all channels, and its slot: the high bits of a product with 2^32 over the golden
/// ratio, which spreads neighbours (Knuth, The Art of Computer Programming, volume 3, 6.4).
#[inline(always)]
fn slot<B: Binning>(args: &Args<B>, channel: u32, key: u32) -> (u32, u32) {
    let key = channel * args.keys + key;
    (key, key.wrapping_mul(0x9e37_79b9) >> (32 - SLOTS_LOG2))
}

impl<B: Binning> Counter for Cache<'_, B> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        let (i, slot) = slot(self.args, channel, key);
        if self.keys.get(slot) == i {
            self.counts.add(slot, 1, Ordering::Relaxed);
        } else {
            Atomic(self.args).count(channel, key);
        }
    }
}

/// Asks for a slot, and counts nothing.
struct Nominee<'a, B: Binning>(&'a Cache<'a, B>);

impl<B: Binning> Counter for Nominee<'_, B> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        let (i, slot) = slot(self.0.args, channel, key);
        self.0.keys.compare_exchange(slot, FREE, i, Ordering::Relaxed);
    }
}
