//! The kernel with a byte for each cell, and a tile in shared memory.
//!
//! A block of 32 x 8 threads computes a tile of 32 words of four cells, and 32 rows. It loads the tile and a halo of one into
//! shared memory: the rows above and below, and a word on the left and on the right, of which one cell is needed. After a
//! barrier, a thread computes a word in each of four rows. It adds up all four cells and their neighbours at once, because
//! no sum exceeds a byte, and looks up each sum in the table of the rule.
//!
//! ```text
//!        word 0      1 … 32      33
//!  row 0   . . . x | x x … x | x . . .      halo
//!  row 1   . . . x | tile    | x . . .
//!   …
//!  row 33  . . . x | x x … x | x . . .      halo
//! ```
//!
//! Shared memory: row after row, 34 words each. A warp has one row of the tile. Its 32 lanes store or load consecutive words, so
//! they access 32 different banks, and there are no bank conflicts.

use super::Args;
use super::place::block;
use cuda_std::{Arena, Shared, thread};

/// Threads along x and y; words of a tile.
pub(super) const THREADS: [u32; 2] = [32, 8];

/// Rows of a thread.
const ROWS: u32 = 4;

/// Rows of a tile.
pub(super) const TILE_ROWS: u32 = THREADS[1] * ROWS;

/// Words of a row in shared memory.
const PITCH: u32 = THREADS[0] + 2;

/// Words of shared memory.
pub(super) const SHARED: u32 = PITCH * (TILE_ROWS + 2);

#[inline(always)]
pub(super) fn step(arena: Arena, args: &Args) {
    let (tile, _) = arena.split::<u32>(SHARED);
    let board = &args.board;
    let width = board.last_word::<8>() + 1;
    let [across, down] = block(width.div_ceil(THREADS[0]));
    let (first_word, first_row) = (across * THREADS[0], down * TILE_ROWS);
    load(&tile, args, first_word, first_row);
    thread::sync_threads();
    let (column, first) = (first_word + thread::thread_idx_x(), first_row + thread::thread_idx_y() * ROWS);
    if first >= board.rows || column >= width {
        return;
    }
    let (valid, end) = (board.valid::<8>(column), board.rows.min(first + ROWS));
    // As in `packed.rs`, from the row above the first one on.
    let (mut above, mut here, mut cells, mut row) = (0, 0, 0, first);
    while row < end + 2 {
        let (word, below) = sums(&tile, (row - first_row) * PITCH + thread::thread_idx_x());
        if row >= first + 2 {
            let next = look_up(args.table, above + here + below, cells) & valid;
            args.output.set((row - 2) as u64 * board.pitch + column as u64, next);
        }
        (above, here, cells) = (here, below, word);
        row += 1;
    }
}

/// Loads the tile and its halo into shared memory.
#[inline(always)]
fn load(tile: &Shared<u32>, args: &Args, first_word: u32, first_row: u32) {
    let mut row = thread::thread_idx_y();
    while row < TILE_ROWS + 2 && first_row + row <= args.board.rows + 1 {
        let line = args.board.row_above(first_row + row);
        let mut word = thread::thread_idx_x();
        while word < PITCH {
            tile.set(row * PITCH + word, args.board.word_behind::<8>(&args.input, &line, first_word + word));
            word += THREADS[0];
        }
        row += THREADS[1];
    }
}

/// Returns the word behind word `at` of the tile, and the sums of its cells and their two neighbours in the row.
#[inline(always)]
fn sums(tile: &Shared<u32>, at: u32) -> (u32, u32) {
    let (left, here, right) = (tile.get(at), tile.get(at + 1), tile.get(at + 2));
    (here, (here << 8 | left >> 24) + here + (here >> 8 | right << 24))
}

/// Returns the next generation of four cells with these sums.
#[inline(always)]
fn look_up(table: u32, sums: u32, cells: u32) -> u32 {
    let index = sums + (cells << 4);
    let of_byte = |at: u32| (table >> (index >> at & 31) & 1) << at;
    of_byte(0) | of_byte(8) | of_byte(16) | of_byte(24)
}
