//! Counting in shared memory, almost without atomic operations: every thread has private counters of one byte.
//!
//! Four warps form a *group*. A counter of a group is a row of 128 bytes, one for each thread:
//!
//! ```text
//!  bank                  0          1         ...        31
//!  row of counter i   [0 1 2 3]  [0 1 2 3]    ...    [0 1 2 3]    byte w of word l: warp w of the group, lane l
//! ```
//!
//! So each lane uses only its own bank, whatever the data are: no bank conflicts. No two threads share a byte.
//!
//! A counter wraps around after 255. Then the thread adds one to the counter's *rounds*, which the block shares: one atomic
//! addition per 256 samples of a thread and counter. At the end, thread `i` adds up counter `i` of all groups. The `k`-th
//! word that it reads is word `k ^ i % 32` of the row, so 32 threads read from 32 different banks.
//!
//! Shared memory: the rows of each group, then the rounds. `walk.rs` distributes the samples among the threads.
//!
//! Source: private bytes, each thread's in one bank, are the histogram of 64 bins in Podlozhnyuk's *Histogram calculation
//! in CUDA* (NVIDIA, 2007).

use super::walk::{Counter, walk, walk_ahead};
use super::{Args, Binning, GROUP, ROW};
use cuda_std::{Arena, Ordering, Shared, thread, warp};

/// Words per row.
const WORDS: u32 = ROW / 4;

#[inline(always)]
pub(super) fn count<B: Binning>(arena: Arena, args: &Args<B>) {
    let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let groups = threads / GROUP;
    let counters = args.counters();
    let (bytes, arena) = arena.split::<u8>(groups * counters * ROW);
    let (rounds, _) = arena.split::<u32>(counters);
    let mut word = t;
    while word < groups * counters * WORDS {
        bytes.set_pack(4 * word, [0; 4]);
        word += threads;
    }
    let mut i = t;
    while i < counters {
        rounds.set(i, 0);
        i += threads;
    }
    thread::sync_threads();

    let place = t / GROUP * counters * ROW + warp::lane() * 4 + t % GROUP / warp::WARP;
    let part = [thread::block_idx_x(), thread::grid_dim_x()];
    let counter = Bytes { bytes: &bytes, rounds: &rounds, keys: args.keys, place };
    match args.channels {
        1 => walk_ahead::<2, _, _, _>(args, &args.binning, part, &counter),
        _ => walk(args, part, &counter),
    }
    thread::sync_threads();

    let mut i = t;
    while i < counters {
        args.add_up(i, (256 * rounds.get(i) + sum(&bytes, i, counters, groups)).into());
        i += threads;
    }
}

/// Returns the sum of the bytes of counter `i` of all groups.
#[inline(always)]
fn sum(bytes: &Shared<u8>, i: u32, counters: u32, groups: u32) -> u32 {
    let (mut sum, mut word) = (0, 0);
    while word < groups * WORDS {
        let row = word / WORDS * counters + i;
        for byte in bytes.get_pack::<4>(row * ROW + (word ^ i) % WORDS * 4) {
            sum += byte as u32;
        }
        word += 1;
    }
    sum
}

/// A thread's counters.
struct Bytes<'a> {
    bytes: &'a Shared<'a, u8>,
    rounds: &'a Shared<'a, u32>,
    keys: u32,
    /// Index of the thread's byte of counter 0.
    place: u32,
}

impl Counter for Bytes<'_> {
    #[inline(always)]
    fn count(&self, channel: u32, key: u32) {
        let i = channel * self.keys + key;
        let at = self.place + i * ROW;
        let count = self.bytes.get(at);
        self.bytes.set(at, count.wrapping_add(1));
        if count == u8::MAX {
            self.rounds.add(i, 1, Ordering::Relaxed);
        }
    }
}
