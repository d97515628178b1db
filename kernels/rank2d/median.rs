//! Medians of 3 x 3 and 5 x 5 samples by networks of comparisons in registers. Those of 7 x 7 samples are in `median_seven.rs`, and
//! those of 3 x 3 samples of most tiles in `median_three.rs`.
//!
//! A block computes a tile of 64 x 64 outputs of one channel (`word_tile.rs`); the strides are 1. It has a warp for 16 rows of words: 4
//! warps, or 2 if a word has two keys. Thread `(x, y)` computes the outputs of columns `2 x` and `2 x + 1` from row `16 y` to `16 y + 15` of
//! words, so that each comparison of words with two keys is one for two outputs.
//!
//! For windows of `S` x `S` samples, the thread goes down two rows at a time, and shares what neighbouring windows have in common:
//!
//! ```text
//! window of row r      window of row r + 1
//! |  above   |                               a sorted row
//! |  rows r + 1 to r + S - 1, in pairs  |    their common rows
//!                      |  below   |          a sorted row
//! ```
//!
//! * Rows are sorted; the columns of a row that both windows of the thread have are sorted once for both.
//! * A pair of rows is merged once, for all the windows that have it.
//! * Of the common rows, only the `S + 1` middle ones can be the median of a window: it has `S` samples more. Merging finds these.
//! * The median of these and of the row above, or the row below, needs `S` comparisons more.
//!
//! Source: that windows share sorted parts, from which all samples are left out that cannot be a median any more, is the method of
//! *Hierarchical tiling* (arXiv 2507.19926, 2025); here with two levels, and the networks are Batcher's.
//!
//! Shared memory: the tile of words, then for floats a word of flags of each warp.

use super::Args;
use super::key::Ranked;
use super::median_three;
use super::network::{Network, Places, joined, median_of_lists};
use super::packing::Packing;
use super::word_tile::{Form, LANES, Tile, Whole};
use cuda_std::{Arena, thread, warp};

/// Rows, and columns, of a tile of outputs.
pub(super) const OUTPUTS: u32 = 64;

/// Rows of words of a thread.
const ROWS: u32 = 16;

/// Returns the sizes of the tile of a block for windows of `side` rows and columns, with this number of keys in a word.
#[inline(always)]
pub(super) const fn form(side: u32, keys: u32) -> Form {
    let (columns, upper) = (OUTPUTS + side - 1, OUTPUTS / keys);
    Form {
        outputs: [OUTPUTS; 2],
        rows: upper + side - 1,
        columns,
        pitch: columns.next_multiple_of(4),
        upper,
        warps: upper / ROWS,
    }
}

/// Networks for windows of `S` rows and columns. A thread has `S + 1` columns of a row.
struct Side<const S: usize>;

impl<const S: usize> Side<S> {
    /// The columns that both windows have.
    const COMMON: Network = Network::sorting(Places::from(1, S - 1));
    /// With the first column, after `COMMON`.
    const FIRST: Network = Network::merging(Self::COMMON.ascending, Places::from(0, 1));
    /// With the last column, after `COMMON`.
    const LAST: Network = Network::merging(Self::COMMON.ascending, Places::from(S, 1));
    /// Two rows.
    const PAIR: Network = Network::merging(Places::from(0, S), Places::from(S, S));
}

/// The columns of two neighbouring windows of a row, sorted.
pub(super) type Pair<P, const S: usize> = [[<P as Packing>::Word; S]; 2];

/// A thread's part of a block's tile, for windows of `S` rows and columns.
pub(super) struct Strip<'a, 'l, 's, P: Packing, const S: usize> {
    tile: Tile<'a, 'l, 's, P>,
    /// The outputs, if they are whole and there are no NaNs in the tile.
    whole: Whole<'l, P::Sample>,
    has_nan: bool,
    /// First row of words, and the end of those with outputs.
    pub(super) rows: [u32; 2],
    /// First one of two columns.
    column: u32,
}

impl<'a, 'l, 's, P: Packing, const S: usize> Strip<'a, 'l, 's, P, S> {
    /// Returns the block's tile, which is not loaded yet, and the rest of shared memory.
    #[inline(always)]
    pub(super) fn tile(arena: Arena<'s>, args: &'a Args<'l, P::Sample>) -> (Tile<'a, 'l, 's, P>, Arena<'s>) {
        Tile::new(arena, args, const { form(S as u32, P::KEYS) }, None)
    }

    /// Loads the tile and returns the thread's part, if it has outputs. All threads take part.
    #[inline(always)]
    pub(super) fn load((tile, arena): (Tile<'a, 'l, 's, P>, Arena<'s>)) -> Option<Self> {
        let form = const { form(S as u32, P::KEYS) };
        let is_nan = tile.load();
        let mut has_nan = false;
        if P::Sample::IS_FLOAT {
            let (flags, _) = arena.split::<u32>(form.warps);
            let of_warp = warp::ballot(u32::MAX, is_nan);
            if thread::thread_idx_x() == 0 {
                flags.set(thread::thread_idx_y(), of_warp);
            }
            thread::sync_threads();
            let mut warp = 0;
            while warp < form.warps {
                has_nan |= flags.get(warp) != 0;
                warp += 1;
            }
        } else {
            thread::sync_threads();
        }
        let (row, column) = (thread::thread_idx_y() * ROWS, thread::thread_idx_x() * (OUTPUTS / LANES));
        let end = tile.rows().min(row + ROWS);
        let whole = if has_nan { None } else { tile.whole_outputs() };
        let has_outputs = row < end && column < tile.width();
        has_outputs.then_some(Strip { tile, whole, has_nan, rows: [row, end], column })
    }

    /// Returns the words of a row in the columns of both windows.
    #[inline(always)]
    pub(super) fn words<const W: usize>(&self, row: u32) -> [P::Word; W] {
        const { assert!(W == S + 1) };
        self.tile.words(row, self.column)
    }

    /// Stores the outputs of two rows in both columns: medians, or NaN if the window has one.
    #[inline(always)]
    pub(super) fn store(&self, row: u32, mut medians: Pair<P, 2>) {
        if P::Sample::IS_FLOAT && self.has_nan {
            let mut i = 0;
            while i < 2 {
                let nans = if row + (i as u32) < self.rows[1] { self.nans(row + i as u32) } else { [false; 2] };
                let mut k = 0;
                while k < 2 {
                    if nans[k] {
                        medians[i][k] = P::word([P::Sample::NONE; 2], None);
                    }
                    k += 1;
                }
                i += 1;
            }
        }
        self.tile.store(&self.whole, row, self.column, medians);
    }

    /// Returns whether the windows of a row have NaNs.
    #[inline(always)]
    fn nans(&self, row: u32) -> [bool; 2] {
        let (mut nans, mut i) = ([false; 2], 0);
        while i < S as u32 {
            let mut k = 0;
            while k <= S as u32 {
                let [first, second] = self.tile.words::<2>(row + i, self.column + k).map(P::is_nan);
                nans = [nans[0] | first | (second & (k + 1 < S as u32)), nans[1] | second | (first & (k > 0))];
                k += 2;
            }
            i += 1;
        }
        nans
    }

    /// Returns the sorted keys of a row for both windows.
    #[inline(always)]
    fn sorted<const W: usize>(&self, row: u32) -> Pair<P, S> {
        sorted::<P, S, W, 0>(self.words(row)).1
    }
}

/// Returns the sorted keys of a row: the first `C` of those that both windows have, and those of each window.
#[inline(always)]
pub(super) fn sorted<P: Packing, const S: usize, const W: usize, const C: usize>(
    words: [P::Word; W],
) -> ([P::Word; C], Pair<P, S>) {
    let common = const { Side::<S>::COMMON };
    let keys = common.run::<P, W>(words);
    let (first, last) = (const { Side::<S>::FIRST }, const { Side::<S>::LAST });
    let windows = [first.middle(&first.run::<P, W>(keys), 0), last.middle(&last.run::<P, W>(keys), 0)];
    (common.middle(&keys, 0), windows)
}

/// Stores the medians of windows of `S` rows and columns in the thread's part of a tile. `middle` returns the `W = S + 1` middle keys of
/// `R = S / 2` sorted pairs of rows, which have `L = 2 S` keys each.
#[inline(always)]
fn medians<P: Packing, const S: usize, const W: usize, const R: usize, const L: usize>(
    strip: Strip<P, S>,
    middle: impl Fn(&[[P::Word; L]; R]) -> [P::Word; W],
) {
    let [mut row, end] = strip.rows;
    let mut pairs = [[[P::Word::default(); L]; R]; 2];
    let mut above = strip.sorted::<W>(row);
    let (mut last, mut i) = (above, 0);
    while i < R {
        let first = strip.sorted::<W>(row + 1 + 2 * i as u32);
        last = strip.sorted::<W>(row + 2 + 2 * i as u32);
        [pairs[0][i], pairs[1][i]] = pair::<P, S, L>(&first, &last);
        i += 1;
    }
    loop {
        let middles = [middle(&pairs[0]), middle(&pairs[1])];
        let below = strip.sorted::<W>(row + S as u32);
        let median = |rows: &Pair<P, S>| [0, 1].map(|i| median_of_lists::<P, W, S>(&middles[i], &rows[i]));
        strip.store(row, [median(&above), median(&below)]);
        row += 2;
        if row >= end {
            return;
        }
        let mut i = 1;
        while i < R {
            [pairs[0][i - 1], pairs[1][i - 1]] = [pairs[0][i], pairs[1][i]];
            i += 1;
        }
        let next = strip.sorted::<W>(row + S as u32 - 1);
        [pairs[0][R - 1], pairs[1][R - 1]] = pair::<P, S, L>(&below, &next);
        // To sort a row again takes less time than to keep several: registers are scarce.
        above = if R == 1 { last } else { strip.sorted::<W>(row) };
        last = next;
    }
}

/// Merges two sorted rows of both windows.
#[inline(always)]
fn pair<P: Packing, const S: usize, const L: usize>(first: &Pair<P, S>, second: &Pair<P, S>) -> Pair<P, L> {
    [merged::<P, S, L>(&first[0], &second[0]), merged::<P, S, L>(&first[1], &second[1])]
}

/// Merges two sorted rows.
#[inline(always)]
fn merged<P: Packing, const S: usize, const L: usize>(first: &[P::Word; S], second: &[P::Word; S]) -> [P::Word; L] {
    let network = const { Side::<S>::PAIR };
    network.middle(&network.run::<P, L>(joined(first, second)), 0)
}

/// Medians of 3 x 3 samples.
#[inline(always)]
pub(super) fn median3<P: Packing>(arena: Arena, args: &Args<P::Sample>) {
    let tile = Strip::<P, 3>::tile(arena, args);
    if let Some(strip) = median_three::Strip::new(args, &tile.0) {
        return strip.store();
    }
    let Some(strip) = Strip::load(tile) else { return };
    medians::<P, 3, 4, 1, 6>(
        strip,
        #[inline(always)]
        |[[_, a, b, c, d, _]]| [*a, *b, *c, *d],
    );
}

/// Medians of 5 x 5 samples.
#[inline(always)]
pub(super) fn median5<P: Packing>(arena: Arena, args: &Args<P::Sample>) {
    const ALL: Network = Network::merging(Places::from(0, 10), Places::from(10, 10));
    let Some(strip) = Strip::load(Strip::<P, 5>::tile(arena, args)) else { return };
    medians::<P, 5, 6, 2, 10>(
        strip,
        #[inline(always)]
        |[a, b]| ALL.middle(&ALL.run::<P, 20>(joined(a, b)), 7),
    );
}
