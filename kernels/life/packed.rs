//! The kernel with a bit for each cell, 32 cells to a word.
//!
//! A thread computes a word in each of eight rows, from top to bottom. For each row it loads three words and adds up each cell
//! and its two neighbours in the row, as binary digits in two registers. The next generation of a row depends on three such
//! sums, and two of them are those of the row above. Neighbouring threads compute neighbouring words of a row.
//!
//! Computing with the binary digits of all sums of a word at once is a folklore method, described for instance by Rokicki
//! ("Life Algorithms", 2018).

use super::Args;
use super::place::Place;
use super::rule::{Sum, full_sum, sum_of_rows};

/// Rows of a thread.
pub(super) const ROWS: u32 = 8;

/// Computes the words of a thread. `rule` returns the next generation, from the sums and the cells.
#[inline(always)]
pub(super) fn step(args: &Args, rule: impl Fn(Sum<u32>, u32) -> u32) {
    let board = &args.board;
    let width = board.last_word::<1>() + 1;
    let Place { column, row: first } = Place::of_thread(width, ROWS);
    if first >= board.rows || column >= width {
        return;
    }
    let (valid, end) = (board.valid::<1>(column), board.rows.min(first + ROWS));
    let (mut above, mut here, mut cells) = ([0; 2], [0; 2], 0);
    // The row above the first one, then those whose next generation can be computed when the row below is known.
    let mut row = first;
    while row < end + 2 {
        let [left, word, right] = board.words::<1>(&args.input, &board.row_above(row), column);
        let below = sums(left, word, right);
        if row >= first + 2 {
            let next = rule(sum_of_rows(above, here, below), cells) & valid;
            args.output.set((row - 2) as u64 * board.pitch + column as u64, next);
        }
        (above, here, cells) = (here, below, word);
        row += 1;
    }
}

/// Returns the sums of each cell of a word and its two neighbours in the row. `left` and `right` are the words beside it.
#[inline(always)]
pub(super) fn sums(left: u32, word: u32, right: u32) -> [u32; 2] {
    full_sum(word << 1 | left >> 31, word, word >> 1 | right << 31)
}
