//! Minima and maxima of small rectangles, with strides of 1: along the rows first, then down the columns.
//!
//! A block of 32 x 8 threads loads a square of [`SIDE`] columns, and of as many rows or half of them, with the words of one channel
//! (`word_tile.rs`). It computes the outputs whose windows lie in the square: for windows of `h x w` samples, that many rows of words less
//! `h - 1`, rounded down to a multiple of 2, and that many columns less `w - 1`, rounded down to a multiple of 2 or 4. After the barrier,
//! thread `(x, y)` finds the least keys of the windows' columns `2 x` and `2 x + 1` in rows `y`, `y + 8`, …, and stores them in a second
//! window of shared memory. After another barrier, it finds the least of these in the windows of rows `2 y` and `2 y + 1`, `2 y + 16`, …: two
//! rows have `h - 1` rows in common. Maxima are minima of inverted keys.
//!
//! Shared memory: two squares of words. In the second one, too, the lanes of a warp load and store neighbouring packs of two, so there are no
//! bank conflicts.

use super::key::{Extreme, Ranked};
use super::packing::Packing;
use super::word_tile::{Form, LANES, Tile};
use super::{Args, BLOCK};
use cuda_std::{Arena, Shared, thread};

/// Columns of the square.
const SIDE: u32 = 64;

/// Returns the sizes of the tile of a block, with this number of keys in a word. All types of samples take the same shared memory.
#[inline(always)]
pub(super) const fn form<T: Ranked>([height, width]: [u32; 2], keys: u32) -> Form {
    let rows = SIDE * 4 / size_of::<T::Key>() as u32;
    // Rows and columns are stored together.
    let upper = (rows + 1 - height) / 2 * 2;
    let columns = if keys == 2 && size_of::<T>() == 1 { 4 } else { 2 };
    Form {
        outputs: [keys * upper, (SIDE + 1 - width) / columns * columns],
        rows,
        columns: SIDE,
        pitch: SIDE,
        upper,
        warps: BLOCK[1],
    }
}

#[inline(always)]
pub(super) fn extreme<P: Packing>(arena: Arena, args: &Args<P::Sample>) {
    let form = form::<P::Sample>([args.rows.taps, args.columns.taps], P::KEYS);
    let extreme = Extreme { greatest: args.greatest != 0, omit: args.omit != 0 };
    let (square, arena) = Tile::<P>::new(arena, args, form, Some(extreme));
    let (lines, _) = arena.split::<P::Word>(form.rows * SIDE);
    square.load();
    thread::sync_threads();

    let column = thread::thread_idx_x() * (SIDE / LANES);
    let mut row = thread::thread_idx_y();
    while row < form.rows {
        if column < form.outputs[1] {
            lines.set_pack(row * SIDE + column, least_along(&square, row, column, args.columns.taps));
        }
        row += form.warps;
    }
    thread::sync_threads();

    let whole = square.whole_outputs();
    let mut row = thread::thread_idx_y() * 2;
    while row < square.rows() && column < square.width() {
        let words = least_down::<P>(&lines, row * SIDE + column, args.rows.taps, row + 1 < square.rows());
        square.store(&whole, row, column, words);
        row += form.warps * 2;
    }
}

/// Returns the least of `taps` words of a row from a column on, and from the next one on.
#[inline(always)]
fn least_along<P: Packing>(square: &Tile<P>, row: u32, column: u32, taps: u32) -> [P::Word; 2] {
    let mut pair = square.words::<2>(row, column);
    let (mut least, mut k) = (pair, 1);
    // `pair` has word `k`, and the next one has words `k + 1` and `k + 2`.
    while k < taps {
        let next = square.words::<2>(row, column + k + 1);
        least = [P::least(least[0], pair[1]), P::least(least[1], next[0])];
        if k + 1 < taps {
            least = [P::least(least[0], next[0]), P::least(least[1], next[1])];
        }
        (pair, k) = (next, k + 2);
    }
    least
}

/// Returns the least of `taps` rows of two words from `start` on, and from the next row on, if it has an output.
#[inline(always)]
fn least_down<P: Packing>(lines: &Shared<P::Word>, start: u32, taps: u32, has_second: bool) -> [[P::Word; 2]; 2] {
    let least = |a: [P::Word; 2], b: [P::Word; 2]| [P::least(a[0], b[0]), P::least(a[1], b[1])];
    let first = lines.get_pack(start);
    if taps == 1 {
        return [first, if has_second { lines.get_pack(start + SIDE) } else { first }];
    }
    let (mut common, mut k) = (lines.get_pack(start + SIDE), 2);
    while k < taps {
        common = least(common, lines.get_pack(start + k * SIDE));
        k += 1;
    }
    let last = if has_second { lines.get_pack(start + taps * SIDE) } else { common };
    [least(first, common), least(common, last)]
}
