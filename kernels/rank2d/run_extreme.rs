//! Minima and maxima of any flat window, run by run, with strides of 1.
//!
//! Tile and threads are those of `tile.rs`. The keys of the tile are level 0, and level `i` has the least key of `2^i` neighbours in a row:
//! the lesser one of two of the level before. A run of a window is two of `2^i` neighbours, which overlap, with the largest `i` that fits:
//! so an output takes two comparisons for each run, however long that is.
//!
//! Shared memory: the levels, one after the other, and a table of the places of two neighbourhoods for each run, relative to the window's first
//! row and column. Thread `i` stores those of run `i`, and all threads load those of two runs at a time. Lanes of a warp load and store
//! consecutive keys of a level, so there are no bank conflicts.

use super::key::{Extreme, Key, Ranked};
use super::tile::{Layout, Place, THREADS};
use super::{Args, BLOCK};
use cuda_std::{Arena, Shared, thread};

/// Returns the number of levels for windows with this number of columns.
#[inline(always)]
pub(super) fn levels(taps: u32) -> u32 {
    taps.ilog2() + 1
}

/// Returns the length of the table for windows with this number of runs: whole packs of four.
#[inline(always)]
pub(super) fn table(runs: u32) -> u32 {
    2 * runs.next_multiple_of(2)
}

#[inline(always)]
pub(super) fn extreme<T: Ranked>(arena: Arena, args: &Args<T>) {
    let (layout, block) = (Layout::new(args), Place::new(args));
    let extreme = Extreme { greatest: args.greatest != 0, omit: args.omit != 0 };
    let (levels, table) = (levels(args.columns.taps), table(args.runs));
    let (minima, arena) = arena.split::<T::Key>(levels * layout.len());
    let (neighbourhoods, _) = arena.split::<u32>(table);
    block.load(&minima, args, &layout, |sample| extreme.key(sample));
    store_table(&neighbourhoods, args, &layout);
    thread::sync_threads();
    let mut level = 1;
    while level < levels {
        store_level(&minima, level, args, &layout);
        thread::sync_threads();
        level += 1;
    }
    block.store(
        args,
        #[inline(always)]
        |row, element| {
            let start = row * layout.pitch + element;
            let (mut least, mut i) = (T::Key::MAX, 0);
            while i < table {
                let [first, second, third, fourth] =
                    neighbourhoods.get_pack(i).map(|place: u32| minima.get(start + place));
                least = least.min(first.min(second).min(third.min(fourth)));
                i += 4;
            }
            extreme.sample(least)
        },
    );
}

#[inline(always)]
fn thread_number() -> u32 {
    thread::thread_idx_y() * BLOCK[0] + thread::thread_idx_x()
}

/// Stores the places of the neighbourhoods of each run. If their number is odd, those of the last run are there twice.
#[inline(always)]
fn store_table<T: Ranked>(neighbourhoods: &Shared<u32>, args: &Args<T>, layout: &Layout) {
    let mut number = thread_number();
    while number < neighbourhoods.len() / 2 {
        let [row, column, end] = args.run(number.min(args.runs - 1));
        let level = (end - column).ilog2();
        let place = |column| level * layout.len() + layout.place(args, row, column);
        neighbourhoods.set_pack(2 * number, [place(column), place(end - (1 << level))]);
        number += THREADS;
    }
}

/// Stores a level from the one before. Neighbourhoods that reach beyond a row belong to no window.
#[inline(always)]
fn store_level<T: Ranked>(minima: &Shared<T::Key>, level: u32, args: &Args<T>, layout: &Layout) {
    let (before, half) = ((level - 1) * layout.len(), args.channels << (level - 1));
    let count = layout.len() - (2 * half - args.channels);
    let mut element = thread_number();
    while element < count {
        let place = before + element;
        minima.set(place + layout.len(), minima.get(place).min(minima.get(place + half)));
        element += THREADS;
    }
}
