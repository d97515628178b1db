//! Any rank of windows of few samples, by networks of comparisons in registers.
//!
//! Blocks, tiles and shared memory are those of `tile.rs`, followed by a table: the offsets of the samples of a window in the tile from its
//! first row and column. Thread `i` stores the offset of sample `i`, in the order of the runs, and all threads load the same four
//! offsets at a time. A thread loads the keys of a window, sorts them, and takes the one that has the rank. Networks have a fixed size, so
//! smaller windows are filled up with the greatest key.

use super::key::{Key, Ranked};
use super::network::{Network, Places};
use super::packing::Single;
use super::select::rank;
use super::tile::{Layout, Place};
use super::{Args, BLOCK};
use cuda_std::{Arena, Shared, thread};

/// Maximum numbers of samples of a window, of two kernels: larger networks take registers that would leave smaller ones fewer resident blocks.
pub(super) const MOST: [u32; 2] = [25, 49];

/// Length of the table of offsets, which is loaded four at a time.
pub(super) const OFFSETS: u32 = MOST[1].next_multiple_of(4);

#[inline(always)]
pub(super) fn outputs<T: Ranked, const IS_LARGE: bool>(arena: Arena, args: &Args<T>) {
    let (layout, block) = (Layout::new(args), Place::new(args));
    let (tile, arena) = arena.split::<T::Key>(layout.len());
    let (offsets, _) = arena.split::<u32>(OFFSETS);
    block.load(&tile, args, &layout, T::key);
    let sample = thread::thread_idx_y() * BLOCK[0] + thread::thread_idx_x();
    if sample < OFFSETS {
        offsets.set(sample, if sample < args.count { offset(args, &layout, sample) } else { 0 });
    }
    thread::sync_threads();
    let windows = Windows { args, layout, tile, offsets, rank: rank(args, args.count) };
    match (IS_LARGE, args.count) {
        (false, ..=3) => windows.store::<3>(&block),
        (false, 4..=5) => windows.store::<5>(&block),
        (false, 6..=9) => windows.store::<9>(&block),
        (false, 10..=16) => windows.store::<16>(&block),
        (false, _) => windows.store::<25>(&block),
        (true, ..=36) => windows.store::<36>(&block),
        (true, _) => windows.store::<49>(&block),
    }
}

/// Returns the offset of a sample of a window, which has one with this number.
#[inline(always)]
fn offset<T: Ranked>(args: &Args<T>, layout: &Layout, mut sample: u32) -> u32 {
    let (mut run, [mut row, mut column, mut end]) = (0, args.run(0));
    while sample >= end - column {
        sample -= end - column;
        run += 1;
        [row, column, end] = args.run(run);
    }
    layout.place(args, row, column + sample)
}

/// The windows of a block's outputs.
struct Windows<'a, 'l, 's, T: Ranked> {
    args: &'a Args<'l, T>,
    layout: Layout,
    tile: Shared<'s, T::Key>,
    offsets: Shared<'s, u32>,
    /// The rank of windows without NaNs.
    rank: Option<u32>,
}

impl<T: Ranked> Windows<'_, '_, '_, T> {
    /// Stores the outputs, of windows of at most `N` samples.
    #[inline(always)]
    fn store<const N: usize>(&self, block: &Place) {
        block.store(
            self.args,
            #[inline(always)]
            |row, element| self.output::<N>(row * self.args.rows.stride * self.layout.pitch + element),
        );
    }

    /// Returns the output of the window whose first row and column are at `start` in the tile.
    #[inline(always)]
    fn output<const N: usize>(&self, start: u32) -> T {
        let keys = self.keys::<N>(start);
        let nans = if T::IS_FLOAT { nans(&keys, self.args.count) } else { 0 };
        let rank = if nans == 0 { self.rank } else { rank(self.args, self.args.count - nans) };
        let network = const { Network::sorting(Places::from(0, N)) };
        let sorted: [T::Key; N] = network.middle(&network.run::<Single<T>, N>(keys), 0);
        match rank {
            Some(rank) => T::of_key(chosen(sorted, rank)),
            None => T::NONE,
        }
    }

    /// Returns the keys of a window, and the greatest key for the samples that it does not have.
    #[inline(always)]
    fn keys<const N: usize>(&self, start: u32) -> [T::Key; N] {
        let (mut keys, mut offsets, mut i) = ([T::Key::MAX; N], [0; 4], 0);
        while i < N {
            if i.is_multiple_of(4) {
                offsets = self.offsets.get_pack(i as u32);
            }
            if (i as u32) < self.args.count {
                keys[i] = self.tile.get(start + offsets[i % 4]);
            }
            i += 1;
        }
        keys
    }
}

/// Returns the number of NaNs among the first `count` keys.
#[inline(always)]
fn nans<K: Key, const N: usize>(keys: &[K; N], count: u32) -> u32 {
    // Keys that fill up a window are that of a NaN.
    let (mut nans, mut i) = (0, 0);
    while i < N {
        nans += (keys[i] == K::MAX) as u32;
        i += 1;
    }
    nans - (N as u32 - count)
}

/// Returns the key with this index, bit by bit: other indices than constants would keep the keys in memory.
#[inline(always)]
fn chosen<K: Key, const N: usize>(mut keys: [K; N], index: u32) -> K {
    let mut bit = 0;
    while bit < const { N.next_power_of_two().ilog2() } {
        // Each bit halves the number of keys; the compiler leaves out those that are not needed any more.
        let mut i = 0;
        while i < N / 2 {
            keys[i] = if index >> bit & 1 != 0 { keys[2 * i + 1] } else { keys[2 * i] };
            i += 1;
        }
        if !N.is_multiple_of(2) {
            keys[N / 2] = keys[N - 1];
        }
        bit += 1;
    }
    keys[0]
}
