//! Medians of 3 x 3 samples straight from global memory, for tiles that lie within the picture (`word_tile.rs`) and whose samples and
//! outputs are loaded and stored together: bytes in words of two keys, and floats of 32 bits whose tile begins one sample before a multiple of
//! four, as with outputs for all samples. Other tiles go through shared memory (`median.rs`).
//!
//! A thread computes four words of outputs in each of 8 rows, from six words of samples in each of 10 rows. It goes down two rows at a time:
//!
//! * In each column, the samples of the two rows that both windows have are put in order once. Those of the row above, or below, are
//!   inserted.
//! * The median of nine is that of three numbers: the greatest of the columns' least samples, the median of their middle ones, and the
//!   least of their greatest ones. Two neighbouring windows share what their two common columns yield.
//!
//! So two words of outputs take 35 minima and maxima. Source of the selection: A. W. Paeth, *Median finding on a 3 x 3 grid* (Graphics Gems,
//! 1990), and the sharing of sorted columns is that of *Hierarchical tiling* (arXiv 2507.19926, 2025).
//!
//! Shared memory: none, but a launch has that of the other tiles.

use super::Args;
use super::key::Ranked;
use super::median::OUTPUTS;
use super::packing::Packing;
use super::word_tile::{LANES, Tile};
use cuda_std::{GlobalIn, GlobalOut, math, thread};

/// Words of a row that a thread loads.
const LOADED: usize = 6;

/// Words of a row that a thread stores.
const STORED: usize = LOADED - 2;

/// Rows of outputs of a thread.
const ROWS: u32 = 8;

/// Words of a row.
type Row<P> = [<P as Packing>::Word; LOADED];

/// The words of three rows in a column, in ascending order.
type Column<P> = [<P as Packing>::Word; 3];

/// A thread's part of a tile.
pub(super) struct Strip<'l, P: Packing> {
    /// From the first sample on, or up to three before it.
    samples: GlobalIn<'l, P::Sample, u32>,
    /// The number of samples before the first one.
    shift: u32,
    outputs: GlobalOut<'l, P::Sample, u32>,
    /// Elements from one row of samples, and of outputs, to the next.
    pitches: [u32; 2],
    /// First row and column.
    first: [u32; 2],
}

impl<'l, P: Packing> Strip<'l, P> {
    /// Returns the thread's part, if the block's tile can be computed so.
    #[inline(always)]
    pub(super) fn new(args: &Args<'l, P::Sample>, tile: &Tile<'_, 'l, '_, P>) -> Option<Self> {
        let (samples, shift) = tile.samples_in_packs()?;
        if !P::is_across(shift) {
            return None;
        }
        let columns = STORED as u32 * P::KEYS;
        let outputs = tile.outputs_in_packs(columns)?;
        let (threads, number) = (OUTPUTS / columns, thread::thread_idx_y() * LANES + thread::thread_idx_x());
        let first = [number / threads * ROWS, number % threads * columns];
        Some(Strip { samples, shift, outputs, pitches: [args.input_pitch as u32, args.output_pitch as u32], first })
    }

    /// Stores the medians.
    #[inline(always)]
    pub(super) fn store(&self) {
        let (mut row, mut has_nan) = (0, false);
        let mut load = |row| {
            let words = self.row(row);
            has_nan |= P::Sample::IS_FLOAT && has_nans::<P>(&words);
            words
        };
        let (mut above, mut first) = (load(0), load(1));
        while row < ROWS {
            let (second, below) = (load(row + 2), load(row + 3));
            let mut columns = [[[P::Word::default(); 3]; LOADED]; 2];
            let mut k = 0;
            while k < LOADED {
                let common = [P::least(first[k], second[k]), P::greatest(first[k], second[k])];
                columns[0][k] = inserted::<P>(common, above[k]);
                columns[1][k] = inserted::<P>(common, below[k]);
                k += 1;
            }
            self.store_row(row, medians::<P>(&columns[0]));
            self.store_row(row + 1, medians::<P>(&columns[1]));
            (above, first, row) = (second, below, row + 2);
            if P::Sample::IS_FLOAT {
                // The compiler does not unroll the loop then, and keeps fewer rows in registers, where words of floats take twice as many.
                row = math::opaque(row);
            }
        }
        if has_nan {
            self.store_nans();
        }
    }

    /// Returns the words of a row of samples.
    #[inline(always)]
    fn row(&self, row: u32) -> Row<P> {
        P::across(&self.samples, (self.first[0] + row) * self.pitches[0] + self.first[1], self.shift)
    }

    #[inline(always)]
    fn store_row(&self, row: u32, words: [P::Word; STORED]) {
        P::set_across(&self.outputs, (self.first[0] + row) * self.pitches[1] + self.first[1], words);
    }

    /// Stores NaN in the place of medians whose windows have one.
    #[inline(always)]
    fn store_nans(&self) {
        let mut row = 0;
        while row < ROWS {
            let rows = [self.row(row), self.row(row + 1), self.row(row + 2)];
            let mut column = 0;
            while column < STORED {
                let is_nan =
                    |row: &Row<P>| P::is_nan(row[column]) | P::is_nan(row[column + 1]) | P::is_nan(row[column + 2]);
                if is_nan(&rows[0]) | is_nan(&rows[1]) | is_nan(&rows[2]) {
                    let place = (self.first[0] + row) * self.pitches[1] + self.first[1] + column as u32;
                    self.outputs.set(place, P::Sample::NONE);
                }
                column += 1;
            }
            row += 1;
        }
    }
}

/// Returns whether a row has NaNs.
#[inline(always)]
fn has_nans<P: Packing>(row: &Row<P>) -> bool {
    let (mut has_nan, mut k) = (false, 0);
    while k < LOADED {
        has_nan |= P::is_nan(row[k]);
        k += 1;
    }
    has_nan
}

/// Returns two words in ascending order, and a third one, in ascending order.
#[inline(always)]
fn inserted<P: Packing>([low, high]: [P::Word; 2], word: P::Word) -> Column<P> {
    [P::least(low, word), P::greatest(low, P::least(high, word)), P::greatest(high, word)]
}

/// Returns the medians of three neighbouring columns each.
#[inline(always)]
fn medians<P: Packing>(columns: &[Column<P>; LOADED]) -> [P::Word; STORED] {
    let (mut medians, mut k) = ([P::Word::default(); STORED], 0);
    while k < STORED {
        // The windows `k` and `k + 1` have the columns `k + 1` and `k + 2`.
        let [a, b] = [columns[k + 1], columns[k + 2]];
        let least = P::greatest(a[0], b[0]);
        let middle = [P::least(a[1], b[1]), P::greatest(a[1], b[1])];
        let greatest = P::least(a[2], b[2]);
        let median = |column: Column<P>| {
            let low = P::greatest(least, column[0]);
            let high = P::least(greatest, column[2]);
            let middle = P::greatest(middle[0], P::least(middle[1], column[1]));
            P::greatest(P::least(low, middle), P::least(P::greatest(low, middle), high))
        };
        [medians[k], medians[k + 1]] = [median(columns[k]), median(columns[k + 3])];
        k += 2;
    }
    medians
}
