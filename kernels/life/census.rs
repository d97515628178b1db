//! The number of living cells, and the sums of the hash. Every word is read once.
//!
//! Words of 64 cells are counted, as the host has them. The lanes of a warp have neighbouring columns of words, and a lane goes
//! down its column in groups of eight rows, whose loads are in flight together. On a board of fewer than 32 words across, several
//! lanes have the same column and different groups. At the end, the first lane of each warp adds the warp's sums to those of the
//! board:
//!
//! ```text
//!                   33 words                      3 words
//!  rows 0 to 7      warp 0  … warp 0 | warp 1     lanes  0  1  2
//!  rows 8 to 15     warp 2  … warp 2 | warp 3            4  5  6
//!  rows 16 to 23    warp 0  … warp 0 | warp 1            8  9 10
//!                   (with four warps)             (lanes 3, 7, … have no column)
//! ```
//!
//! Shared memory is not used.

use super::hash::GROUP;
use super::place::{Warps, across_and_down};
use super::{CensusArgs, Counts, SUMS, column_keys, hash_terms, row_keys};
use cuda_std::warp::{FULL, WARP, lane, shuffle_xor};
use cuda_std::{GlobalIn2, Ordering, Shared, thread};

/// Threads of a block in the kernels that take a census alone.
pub(super) const THREADS: u32 = 256;

/// Returns the columns of words that a warp has, for rows of `width` words.
#[inline(always)]
pub(super) fn columns_of_warp(width: u32) -> u32 {
    width.clamp(1, WARP).next_power_of_two()
}

/// Returns the warps of the whole grid.
#[inline(always)]
fn of_grid() -> Warps {
    Warps::of_blocks(THREADS / WARP, thread::thread_idx_x() / WARP)
}

/// Counts a board with a bit for each cell.
#[inline(always)]
pub(super) fn of_bits(args: &CensusArgs) {
    count_bits(&args.cells, &args.counts, of_grid());
}

/// Counts a board with a byte for each cell.
#[inline(always)]
pub(super) fn of_bytes(args: &CensusArgs) {
    count([args.cells.rows(), args.cells.columns() / 16], &args.counts, of_grid(), |row, word| {
        let row = args.cells.row(row);
        let (mut halves, mut part) = ([0; 2], 0);
        while part < 4 {
            let [a, b, c, d] = row.get_pack::<4>(16 * word + 4 * part);
            let bits = four(a) | four(b) << 4 | four(c) << 8 | four(d) << 12;
            halves[part as usize / 2] |= bits << (16 * (part % 2));
            part += 1;
        }
        halves
    });
}

/// Returns the cells of four bytes as bits.
#[inline(always)]
fn four(bytes: u32) -> u32 {
    (bytes | bytes >> 7 | bytes >> 14 | bytes >> 21) & 15
}

/// Counts a board with a bit for each cell, with these warps.
#[inline(always)]
pub(super) fn count_bits(cells: &GlobalIn2<u32>, counts: &Counts, warps: Warps) {
    count([cells.rows(), cells.columns() / 2], counts, warps, |row, word| cells.row(row).get_pack::<2>(2 * word));
}

/// Adds the sums of all words to those of the board. `load` returns the word of a row and a column.
#[inline(always)]
fn count([rows, width]: [u32; 2], counts: &Counts, warps: Warps, load: impl Fn(u32, u32) -> [u32; 2]) {
    let columns = columns_of_warp(width);
    let across = width.div_ceil(columns).max(1);
    let down = (warps.count / across).max(1);
    let (mut sums, mut index) = (Sums::default(), warps.index);
    while index < across * down {
        let [x, y] = across_and_down(index, across);
        let column = x * columns + lane() % columns;
        if column < width {
            let groups = WARP / columns;
            sums.count_column(rows, (y * groups + lane() / columns) * GROUP, down * groups * GROUP, column, &load);
        }
        index += warps.count;
    }
    sums.add_to(counts);
}

/// Sums over words.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums([u64; SUMS]);

impl Sums {
    /// Counts groups of words of a column: one that begins at row `row`, and one every `next` rows after it.
    #[inline(always)]
    fn count_column(&mut self, rows: u32, mut row: u32, next: u32, column: u32, load: &impl Fn(u32, u32) -> [u32; 2]) {
        let keys = column_keys(column);
        while row < rows {
            if rows - row >= GROUP {
                let mut words = [[0; 2]; GROUP as usize];
                let mut k = 0;
                while k < GROUP {
                    words[k as usize] = load(row + k, column);
                    k += 1;
                }
                let mut k = 0;
                while k < GROUP {
                    self.count_word(words[k as usize], row_keys(row + k), keys);
                    k += 1;
                }
            } else {
                let mut last = row;
                while last < rows {
                    self.count_word(load(last, column), row_keys(last), keys);
                    last += 1;
                }
            }
            row += next;
        }
    }

    /// Counts a word with the keys of its row and column.
    #[inline(always)]
    pub(super) fn count_word(&mut self, word: [u32; 2], row: [u32; 2], column: [u32; 2]) {
        let Sums([population, a, b]) = *self;
        let [of_a, of_b] = hash_terms(word, row, column);
        let living = word[0].count_ones() + word[1].count_ones();
        *self = Sums([population + living as u64, a.wrapping_add(of_a), b.wrapping_add(of_b)]);
    }

    /// Returns the sums of the warp. All lanes must call this.
    #[inline(always)]
    pub(super) fn of_warp(self) -> Self {
        let Sums(mut sums) = self;
        let mut lanes = 1;
        while lanes < WARP {
            let mut k = 0;
            while k < SUMS {
                sums[k] = sums[k].wrapping_add(shuffle_xor(FULL, sums[k], lanes));
                k += 1;
            }
            lanes *= 2;
        }
        Sums(sums)
    }

    /// Adds the sums of the warp to those of the board. All lanes must call this.
    #[inline(always)]
    pub(super) fn add_to(self, counts: &Counts) {
        let Sums(sums) = self.of_warp();
        let mut k = 0;
        while k < SUMS {
            counts.sums.add_if(lane() == 0, counts.first + k as u64, sums[k], Ordering::Relaxed);
            k += 1;
        }
    }

    /// Stores sums in shared memory, from element `first` on. One lane does.
    #[inline(always)]
    pub(super) fn put(self, slots: &Shared<u64>, first: u32) {
        if lane() == 0 {
            let mut k = 0;
            while k < SUMS {
                slots.set(first + k as u32, self.0[k]);
                k += 1;
            }
        }
    }

    /// Returns the sums in shared memory from element `first` on.
    #[inline(always)]
    pub(super) fn get(slots: &Shared<u64>, first: u32) -> Self {
        let mut sums = [0; SUMS];
        let mut k = 0;
        while k < SUMS {
            sums[k] = slots.get(first + k as u32);
            k += 1;
        }
        Sums(sums)
    }
}
