//! Kernels with a tile in shared memory that move 16 bytes at a time where they can.
//!
//! A *group* is as many elements, side by side, as make whole *packs*, the bytes of one access. A thread reads the groups
//! that stand in the same columns of as many rows as a group has elements: a square, which it transposes in registers. Its
//! rows are then groups of the output, which go to shared memory. When all have waited, the threads write the tile to the
//! output pack after pack.
//!
//! Shared memory: the packs of the output's rows one row after another, and an empty place after every `ELEMENTS` rows. A
//! thread's squares stand side by side, so what a warp writes at a time is in every `ELEMENTS`-th row: with the empty
//! places an odd number of packs apart, so that the lanes which are served together meet in no bank. What it reads are
//! neighbouring packs.

use super::Args;
use super::tile::Tile;
use cuda_std::{Arena, GlobalIn, thread};

/// How a tile is made of squares, and how many of them a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Squares side by side.
    pub(super) across: u32,
    /// Squares one under the other.
    pub(super) down: u32,
    /// Squares of a thread, which stand one under the other.
    pub(super) squares: u32,
}

impl Shape {
    /// Threads of a block.
    #[inline(always)]
    #[must_use]
    pub(super) const fn threads(&self) -> u32 {
        self.across * self.down / self.squares
    }

    /// The packs of shared memory that the output's first `rows` rows take, where a square has `packs` for each of its
    /// `elements` rows.
    #[inline(always)]
    #[must_use]
    pub(super) const fn packs(&self, rows: u32, packs: u32, elements: u32) -> u32 {
        rows * self.down * packs + rows / elements
    }
}

/// `WORDS` words of a pack, `PACKS` packs and `ELEMENTS` elements of a group, `SQUARES` squares of a thread.
#[inline(always)]
pub(super) fn transpose<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize, const SQUARES: usize>(
    arena: Arena,
    args: &Args<u32>,
    shape: Shape,
) {
    let (words, packs, elements) = (WORDS as u32, PACKS as u32, ELEMENTS as u32);
    let place = |row: u32| shape.packs(row, packs, elements) * words;
    let (shared, _) = arena.split::<u32>(place(shape.across * elements));
    let tile = Tile::of_block(&args.layout);
    let (groups_across, groups_down) = (tile.columns / elements, tile.rows / elements);
    let (t, threads) = (thread::thread_idx_x(), shape.threads());
    let (x, y, below) = (t % shape.across, t / shape.across, threads / shape.across);
    let source = tile.source(&args.layout, elements, packs * words) + (x * packs * words) as u64;
    let mut squares = [[[[0; WORDS]; PACKS]; ELEMENTS]; SQUARES];
    for (k, square) in squares.iter_mut().enumerate() {
        let y = y + k as u32 * below;
        if x < groups_across && y < groups_down {
            let first = source + (y * elements) as u64 * args.layout.input_pitch;
            *square = load(&args.input, first, args.layout.input_pitch);
        }
    }
    for (k, square) in squares.into_iter().enumerate() {
        let y = y + k as u32 * below;
        for (row, group) in transposed(square).into_iter().enumerate() {
            for (i, pack) in group.into_iter().enumerate() {
                shared.set_pack(place(x * elements + row as u32) + (y * packs + i as u32) * words, pack);
            }
        }
    }
    thread::sync_threads();
    let (target, row_packs) = (tile.target(&args.layout, elements, packs * words), shape.down * packs);
    for k in 0..(SQUARES * ELEMENTS * PACKS) as u32 {
        let at = t + k * threads;
        let (row, pack) = (at / row_packs, at % row_packs);
        if row < tile.columns && pack < groups_down * packs {
            let value = shared.get_pack::<WORDS>(place(row) + pack * words);
            args.output.set_pack(target + row as u64 * args.layout.output_pitch + (pack * words) as u64, value);
        }
    }
}

/// A group, and as many of them as it has elements.
type Square<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize> = [[[u32; WORDS]; PACKS]; ELEMENTS];

/// The square whose first word is `first`.
#[inline(always)]
#[track_caller]
fn load<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize>(
    input: &GlobalIn<u32>,
    first: u64,
    pitch: u64,
) -> Square<WORDS, PACKS, ELEMENTS> {
    let mut square = [[[0; WORDS]; PACKS]; ELEMENTS];
    for (row, group) in square.iter_mut().enumerate() {
        for (i, pack) in group.iter_mut().enumerate() {
            *pack = input.get_pack(first + row as u64 * pitch + (i * WORDS) as u64);
        }
    }
    square
}

/// Element `i` of row `j` becomes element `j` of row `i`. All indices are constants once the loops are unrolled, so words
/// are only renamed, and bytes are taken from two or four of them.
#[inline(always)]
fn transposed<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize>(
    square: Square<WORDS, PACKS, ELEMENTS>,
) -> Square<WORDS, PACKS, ELEMENTS> {
    let element_bytes = 4 * WORDS * PACKS / ELEMENTS;
    let mut result = [[[0; WORDS]; PACKS]; ELEMENTS];
    for (row, group) in result.iter_mut().enumerate() {
        for word in 0..WORDS * PACKS {
            let mut bytes = 0;
            for byte in 0..4 {
                let at = 4 * word + byte;
                let (from, source) = (at / element_bytes, row * element_bytes + at % element_bytes);
                let source_word = square[from][source / 4 / WORDS][source / 4 % WORDS];
                bytes |= (source_word >> (8 * (source % 4)) & 0xff) << (8 * byte);
            }
            group[word / WORDS][word % WORDS] = bytes;
        }
    }
    result
}
