//! Counting in global memory, with a cache in shared memory for frequent keys.
//!
//! For more counters than fit into shared memory. Atomic additions to one count in global memory are serialised, so samples
//! with few different keys, or with one frequent key, would take a hundred times as long as evenly spread ones. So each
//! block has a *cache* in shared memory with [`SLOTS`] slots. A hash assigns each key to one slot. A block repeats:
//!
//! ```text
//!  clear slots | nominate: each thread's next pack | count: 16 packs per thread | add slots to counts
//!              ^ barrier                           ^ barrier                    ^ barrier
//! ```
//!
//! When a pack *nominates*, the first key that requests a free slot gets it. A key that makes up a hundredth of the samples
//! almost certainly gets a slot. Other keys are rare, so their additions seldom collide. Then the threads count
//! [`PACKS_PER_FILL`] packs each, including the one that nominated: in the cache if the key has its slot, otherwise in global
//! memory. The cache is filled anew for the next packs, because the data may change.
//!
//! No keys change while samples are counted. The contents of the cache affect the speed, not the results.
//!
//! Shared memory: the keys of all slots, then their counts. Clearing and adding have no bank conflicts. While samples are
//! counted, lanes conflict if their keys' slots are in the same bank, which depends on the data.

use super::global::Atomic;
use super::walk::{Counter, count_pack, count_tail};
use super::{Args, Binning};
use cuda_std::{Arena, Ordering, Shared, shared_bytes, thread};

/// Binary logarithm of the number of slots.
const SLOTS_LOG2: u32 = 13;
const SLOTS: u32 = 1 << SLOTS_LOG2;

/// Number of packs that each thread counts before the cache is filled anew.
const PACKS_PER_FILL: u32 = 16;

/// Marks a free slot. No key has this value: there are fewer than 2^31 keys.
const FREE: u32 = u32::MAX;

/// Shared memory per block, in bytes.
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
    count_tail(args, &args.binning, block, &Atomic(args));
}

/// A block's cache.
struct Cache<'a, B: Binning> {
    keys: &'a Shared<'a, u32>,
    counts: &'a Shared<'a, u32>,
    args: &'a Args<'a, B>,
}

impl<B: Binning> Cache<'_, B> {
    /// Frees all slots. A thread clears the slots that it reads in `add_up`, so no barrier is needed in between.
    #[inline(always)]
    fn clear(&self) {
        let mut slot = thread::thread_idx_x();
        while slot < SLOTS {
            self.keys.set(slot, FREE);
            self.counts.set(slot, 0);
            slot += thread::block_dim_x();
        }
    }

    /// Adds the cached counts to the counts in global memory.
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

/// Returns the index of a key among the keys of all channels, and its slot. The slot is the high bits of the product with
/// 2^32 over the golden ratio, which spreads neighbouring keys (Knuth, *The Art of Computer Programming*, volume 3, 6.4).
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

/// Requests a slot for each sample's key, and counts nothing.
struct Nominee<'a, B: Binning>(&'a Cache<'a, B>);

impl<B: Binning> Counter for Nominee<'_, B> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        let (i, slot) = slot(self.0.args, channel, key);
        self.0.keys.compare_exchange(slot, FREE, i, Ordering::Relaxed);
    }
}
