//! Medians of 3 x 3, 5 x 5 and 7 x 7 samples by networks of comparisons in registers.
//!
//! A block of 32 x 4 threads computes a tile of 64 x 64 outputs of one channel; the strides are 1. It loads the keys of the tile with its
//! halo. Then thread `(x, y)` computes the outputs of columns `2 x` and `2 x + 1` from row `16 y` to `16 y + 15`.
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
//! Shared memory: rows of keys, then a word of each warp. A thread loads its columns in packs of two, so the lanes of a warp load
//! neighbouring packs, and they store neighbouring keys: there are no bank conflicts.

use super::Args;
use super::key::{Key, Ranked};
use super::network::{Network, Places, joined, median_of_lists};
use cuda_std::{Arena, Shared, thread, warp};

/// Threads of a block along a row and along a column.
pub(super) const THREADS: [u32; 2] = [32, 4];

/// Rows of a thread.
const ROWS: u32 = 16;

/// Rows, and columns, of a tile of outputs.
pub(super) const OUTPUTS: u32 = 64;

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

/// The block's tile of keys.
struct Tile<'a, 'l, 's, T: Ranked> {
    args: &'a Args<'l, T>,
    keys: Shared<'s, T::Key>,
    pitch: u32,
    plane: u64,
    /// First output: row and column.
    first: [u64; 2],
    channel: u64,
    /// Whether a key is that of NaNs.
    has_nan: bool,
}

impl<'a, 'l, 's, T: Ranked> Tile<'a, 'l, 's, T> {
    /// Loads the keys of windows with this number of rows and columns. All threads take part.
    #[inline(always)]
    fn load(arena: Arena<'s>, args: &'a Args<'l, T>, side: u32) -> Self {
        let (block, tile_rows) = (thread::block_idx_x(), args.rows.outputs.div_ceil(OUTPUTS as u64));
        let (group, part) = (args.first_group + (block / args.tiles) as u64, block % args.tiles);
        let pitch = OUTPUTS + side - 1;
        let (keys, arena) = arena.split::<T::Key>(pitch * pitch);
        let mut tile = Tile {
            args,
            keys,
            pitch,
            plane: group / tile_rows,
            first: [group % tile_rows * OUTPUTS as u64, (part / args.channels) as u64 * OUTPUTS as u64],
            channel: (part % args.channels) as u64,
            has_nan: false,
        };
        let is_nan = tile.load_keys(side);
        if T::IS_FLOAT {
            let (flags, _) = arena.split::<u32>(THREADS[1]);
            let of_warp = warp::ballot(u32::MAX, is_nan);
            if thread::thread_idx_x() == 0 {
                flags.set(thread::thread_idx_y(), of_warp);
            }
            thread::sync_threads();
            let mut warp = 0;
            while warp < THREADS[1] {
                tile.has_nan |= flags.get(warp) != 0;
                warp += 1;
            }
        } else {
            thread::sync_threads();
        }
        tile
    }

    /// Stores the thread's keys, and returns whether one is that of NaNs.
    #[inline(always)]
    fn load_keys(&self, side: u32) -> bool {
        let Args { rows, columns, .. } = self.args;
        let first = [rows.first(self.first[0]), columns.first(self.first[1])];
        if rows.has(first[0], self.pitch) && columns.has(first[1], self.pitch) {
            return self.load_inside(first.map(|place| place as u64));
        }
        // Of outputs in pairs, which may be one more than there are.
        let samples = |outputs| (outputs as u32).next_multiple_of(2) + side - 1;
        let (end, width) = (samples(self.rows()), samples(self.columns()));
        let (mut row, mut is_nan) = (thread::thread_idx_y(), false);
        while row < end {
            let line = self.args.line(self.plane, rows.source(first[0] + row as i64));
            let mut column = thread::thread_idx_x();
            while column < width {
                let source = columns.source(first[1] + column as i64);
                let key = self.args.sample_at(line, source, self.channel).key();
                is_nan |= T::IS_FLOAT && key == T::Key::MAX;
                self.keys.set(row * self.pitch + column, key);
                column += THREADS[0];
            }
            row += THREADS[1];
        }
        is_nan
    }

    /// Stores the thread's keys of a tile that lies within the plane, as most do, and returns whether one is that of NaNs.
    #[inline(always)]
    fn load_inside(&self, [row, column]: [u64; 2]) -> bool {
        let Args { input, input_pitch, .. } = self.args;
        let channels = self.args.channels as u64;
        let first = (self.plane * self.args.rows.samples + row) * input_pitch + column * channels + self.channel;
        let (mut place, mut is_nan) = (thread::thread_idx_y() * THREADS[0] + thread::thread_idx_x(), false);
        while place < self.pitch * self.pitch {
            let [row, column] = [place / self.pitch, place % self.pitch];
            let key = input.get(first + row as u64 * input_pitch + column as u64 * channels).key();
            is_nan |= T::IS_FLOAT && key == T::Key::MAX;
            self.keys.set(place, key);
            place += THREADS[0] * THREADS[1];
        }
        is_nan
    }

    /// Returns the number of rows with outputs.
    #[inline(always)]
    fn rows(&self) -> u64 {
        (self.args.rows.outputs - self.first[0]).min(OUTPUTS as u64)
    }

    /// Returns the number of columns with outputs.
    #[inline(always)]
    fn columns(&self) -> u64 {
        (self.args.columns.outputs - self.first[1]).min(OUTPUTS as u64)
    }

    /// Returns the sorted samples of a row for the windows that begin in this column, and in the next one.
    #[inline(always)]
    fn sorted<const S: usize, const W: usize>(&self, row: u32, column: u32) -> [[T::Key; S]; 2] {
        const { assert!(W == S + 1 && W.is_multiple_of(2)) };
        let (mut keys, mut i) = ([T::Key::ZERO; W], 0);
        while i < W {
            [keys[i], keys[i + 1]] = self.keys.get_pack(row * self.pitch + column + i as u32);
            i += 2;
        }
        let keys = const { Side::<S>::COMMON }.run(keys);
        let (first, last) = (const { Side::<S>::FIRST }, const { Side::<S>::LAST });
        [first.middle(&first.run(keys), 0), last.middle(&last.run(keys), 0)]
    }

    /// Stores the outputs of a row in two columns: medians, or NaN if the window has one.
    #[inline(always)]
    fn store<const S: usize>(&self, row: u32, column: u32, medians: [T::Key; 2]) {
        let args = self.args;
        let line = (self.plane * args.rows.outputs + self.first[0] + row as u64) * args.output_pitch;
        let place = |column: u64| line + (self.first[1] + column) * args.channels as u64 + self.channel;
        let nans = if T::IS_FLOAT && self.has_nan { self.nans::<S>(row, column) } else { [false; 2] };
        let outputs = [0, 1].map(|i| if nans[i] { T::NONE } else { T::of_key(medians[i]) });
        let has_two = column as u64 + 1 < self.columns();
        if has_two && args.channels == 1 && args.output_pitch.is_multiple_of(2) && args.output.is_aligned(2) {
            args.output.set_pack(place(column as u64), outputs);
        } else {
            args.output.set(place(column as u64), outputs[0]);
            args.output.set_if(has_two, place(column as u64 + 1), outputs[1]);
        }
    }

    /// Returns whether the windows that begin in this column, and in the next one, have NaNs.
    #[inline(always)]
    fn nans<const S: usize>(&self, row: u32, column: u32) -> [bool; 2] {
        let (mut nans, mut i) = ([false; 2], 0);
        while i < S as u32 {
            let mut k = 0;
            while k <= S as u32 {
                let keys = self.keys.get_pack((row + i) * self.pitch + column + k);
                let [first, second] = keys.map(|key: T::Key| key == T::Key::MAX);
                nans = [nans[0] | first | (second & (k + 1 < S as u32)), nans[1] | second | (first & (k > 0))];
                k += 2;
            }
            i += 1;
        }
        nans
    }
}

/// Stores the medians of windows of `S` rows and columns. `middle` returns the `W = S + 1` middle keys of `R = S / 2` sorted pairs of rows,
/// which have `P = 2 S` keys each.
#[inline(always)]
fn medians<T: Ranked, const S: usize, const W: usize, const R: usize, const P: usize>(
    arena: Arena,
    args: &Args<T>,
    middle: impl Fn(&[[T::Key; P]; R]) -> [T::Key; W],
) {
    let tile = Tile::load(arena, args, S as u32);
    let (mut row, column) = (thread::thread_idx_y() * ROWS, thread::thread_idx_x() * 2);
    let end = (tile.rows() as u32).min(row + ROWS);
    if row >= end || column as u64 >= tile.columns() {
        return;
    }
    let mut pairs = [[[T::Key::ZERO; P]; R]; 2];
    let mut i = 0;
    while i < R {
        let first = tile.sorted::<S, W>(row + 1 + 2 * i as u32, column);
        let second = tile.sorted::<S, W>(row + 2 + 2 * i as u32, column);
        [pairs[0][i], pairs[1][i]] = [pair(&first[0], &second[0]), pair(&first[1], &second[1])];
        i += 1;
    }
    loop {
        let middles = [middle(&pairs[0]), middle(&pairs[1])];
        // To sort it again takes less time than to keep it: registers are scarce.
        let above = tile.sorted::<S, W>(row, column);
        let below = tile.sorted::<S, W>(row + S as u32, column);
        let median = |rows: &[[T::Key; S]; 2]| [0, 1].map(|i| median_of_lists(&middles[i], &rows[i]));
        tile.store::<S>(row, column, median(&above));
        if row + 1 < end {
            tile.store::<S>(row + 1, column, median(&below));
        }
        row += 2;
        if row >= end {
            return;
        }
        let mut i = 1;
        while i < R {
            [pairs[0][i - 1], pairs[1][i - 1]] = [pairs[0][i], pairs[1][i]];
            i += 1;
        }
        let next = tile.sorted::<S, W>(row + S as u32 - 1, column);
        [pairs[0][R - 1], pairs[1][R - 1]] = [pair(&below[0], &next[0]), pair(&below[1], &next[1])];
    }
}

/// Merges two sorted rows.
#[inline(always)]
fn pair<K: Key, const S: usize, const P: usize>(first: &[K; S], second: &[K; S]) -> [K; P] {
    let network = const { Side::<S>::PAIR };
    network.middle(&network.run::<_, P>(joined(first, second)), 0)
}

/// Medians of 3 x 3 samples.
#[inline(always)]
pub(super) fn median3<T: Ranked>(arena: Arena, args: &Args<T>) {
    medians::<T, 3, 4, 1, 6>(
        arena,
        args,
        #[inline(always)]
        |[[_, a, b, c, d, _]]| [*a, *b, *c, *d],
    );
}

/// Medians of 5 x 5 samples.
#[inline(always)]
pub(super) fn median5<T: Ranked>(arena: Arena, args: &Args<T>) {
    const ALL: Network = Network::merging(Places::from(0, 10), Places::from(10, 10));
    medians::<T, 5, 6, 2, 10>(
        arena,
        args,
        #[inline(always)]
        |[a, b]| ALL.middle(&ALL.run::<_, 20>(joined(a, b)), 7),
    );
}

/// Medians of 7 x 7 samples.
#[inline(always)]
pub(super) fn median7<T: Ranked>(arena: Arena, args: &Args<T>) {
    const TWO: Network = Network::merging(Places::from(0, 14), Places::from(14, 14));
    const ALL: Network = Network::merging(Places::from(0, 22), Places::from(22, 14));
    medians::<T, 7, 8, 3, 14>(
        arena,
        args,
        #[inline(always)]
        |[a, b, c]| {
            // With 21 samples more, neither the three least ones nor the three greatest ones can be the median of 49.
            let two: [_; 22] = TWO.middle(&TWO.run::<_, 28>(joined(a, b)), 3);
            ALL.middle(&ALL.run::<_, 36>(joined(&two, c)), 14)
        },
    );
}
