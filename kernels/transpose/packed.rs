//! Kernels with a tile in shared memory that move a *pack* at a time: 16 bytes, or 4 for elements of 3 bytes.
//!
//! A *group* is `ELEMENTS` neighbouring elements that fill `PACKS` whole packs. A *square* is `ELEMENTS` groups, one below
//! the other. A thread loads one or several squares, transposes each in registers, and stores its rows, which are groups of
//! the output, to shared memory:
//!
//! ```text
//!  input, one square             output
//!  row 0   [ a0 a1 a2 a3 ]       row 0   [ a0 b0 c0 d0 ]     ELEMENTS = 4, one pack per group
//!  row 1   [ b0 b1 b2 b3 ]       row 1   [ a1 b1 c1 d1 ]
//!  row 2   [ c0 c1 c2 c3 ]  -->  row 2   [ a2 b2 c2 d2 ]
//!  row 3   [ d0 d1 d2 d3 ]       row 3   [ a3 b3 c3 d3 ]
//! ```
//!
//! After a barrier, neighbouring threads write neighbouring packs of the tile to the output.
//!
//! Shared memory: the packs of the tile's output rows, row by row, with an empty pack after every `ELEMENTS` rows. No bank
//! conflicts: neighbouring lanes have neighbouring squares of the input, so in one store they write to every `ELEMENTS`-th
//! output row. With the empty packs, these positions are an odd number of packs apart, so lanes that are served together
//! use different banks. Loads read neighbouring packs.

use super::tile::Tile;
use super::{Args, Layout};
use cuda_std::{Arena, Shared, thread};

/// The squares of a tile and of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Squares per row of the tile.
    pub(super) across: u32,
    /// Squares per column of the tile.
    pub(super) down: u32,
    /// Squares per thread, all in one column of the tile.
    pub(super) squares: u32,
}

impl Shape {
    /// Returns the number of threads per block.
    #[inline(always)]
    #[must_use]
    pub(super) const fn threads(&self) -> u32 {
        self.across * self.down / self.squares
    }

    /// Returns the number of packs in shared memory for the first `rows` output rows. A square has `elements` rows of `packs`
    /// packs.
    #[inline(always)]
    #[must_use]
    pub(super) const fn packs(&self, rows: u32, packs: u32, elements: u32) -> u32 {
        rows * self.down * packs + rows / elements
    }

    /// Splits off the shared memory for a tile.
    #[inline(always)]
    pub(super) fn split<'l, const WORDS: usize, const PACKS: usize, const ELEMENTS: usize>(
        &self,
        arena: Arena<'l>,
    ) -> (Shared<'l, u32>, Arena<'l>) {
        let elements = ELEMENTS as u32;
        arena.split(self.packs(self.across * elements, PACKS as u32, elements) * WORDS as u32)
    }

    /// Returns the column and the row of the thread's first square, and the distance in rows to the next one, in squares.
    #[inline(always)]
    fn place(&self) -> [u32; 3] {
        let t = thread::thread_idx_x();
        [t % self.across, t / self.across, self.threads() / self.across]
    }
}

/// Transposes a tile, with `WORDS` words per pack, `PACKS` packs and `ELEMENTS` elements per group, and `SQUARES` squares
/// per thread.
#[inline(always)]
pub(super) fn transpose<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize, const SQUARES: usize>(
    arena: Arena,
    args: &Args<u32>,
    shape: Shape,
) {
    let (shared, _) = shape.split::<WORDS, PACKS, ELEMENTS>(arena);
    let tile = Tile::of_block(&args.layout);
    let squares = load::<WORDS, PACKS, ELEMENTS, SQUARES>(&args.layout, &tile, shape, |i| args.input.get_pack(i));
    put(&shared, shape, squares);
    thread::sync_threads();
    store::<WORDS, PACKS, ELEMENTS, SQUARES>(&shared, &args.layout, &tile, shape, |i, pack| {
        args.output.set_pack(i, pack)
    });
}

/// `ELEMENTS` groups of `PACKS` packs of `WORDS` words.
pub(super) type Square<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize> =
    [[[u32; WORDS]; PACKS]; ELEMENTS];

/// Loads the squares of a thread.
#[inline(always)]
pub(super) fn load<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize, const SQUARES: usize>(
    layout: &Layout,
    tile: &Tile,
    shape: Shape,
    get: impl Fn(u64) -> [u32; WORDS],
) -> [Square<WORDS, PACKS, ELEMENTS>; SQUARES] {
    let (words, packs, elements) = (WORDS as u32, PACKS as u32, ELEMENTS as u32);
    let (groups_across, groups_down) = (tile.columns / elements, tile.rows / elements);
    let [x, y, below] = shape.place();
    let source = tile.source(layout, elements, packs * words) + (x * packs * words) as u64;
    let mut squares = [[[[0; WORDS]; PACKS]; ELEMENTS]; SQUARES];
    for (k, square) in squares.iter_mut().enumerate() {
        let y = y + k as u32 * below;
        if x < groups_across && y < groups_down {
            let first = source + (y * elements) as u64 * layout.input_pitch;
            let mut loaded = [[[0; WORDS]; PACKS]; ELEMENTS];
            for (row, group) in loaded.iter_mut().enumerate() {
                for (i, pack) in group.iter_mut().enumerate() {
                    *pack = get(first + row as u64 * layout.input_pitch + (i * WORDS) as u64);
                }
            }
            *square = loaded;
        }
    }
    squares
}

/// Stores the transposed squares of a thread to shared memory.
#[inline(always)]
pub(super) fn put<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize, const SQUARES: usize>(
    shared: &Shared<u32>,
    shape: Shape,
    squares: [Square<WORDS, PACKS, ELEMENTS>; SQUARES],
) {
    let (words, packs, elements) = (WORDS as u32, PACKS as u32, ELEMENTS as u32);
    let [x, y, below] = shape.place();
    for (k, square) in squares.into_iter().enumerate() {
        let y = y + k as u32 * below;
        for (row, group) in transposed(square).into_iter().enumerate() {
            let start = shape.packs(x * elements + row as u32, packs, elements) * words;
            for (i, pack) in group.into_iter().enumerate() {
                shared.set_pack(start + (y * packs + i as u32) * words, pack);
            }
        }
    }
}

/// Writes the transposed tile.
#[inline(always)]
pub(super) fn store<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize, const SQUARES: usize>(
    shared: &Shared<u32>,
    layout: &Layout,
    tile: &Tile,
    shape: Shape,
    set: impl Fn(u64, [u32; WORDS]),
) {
    let (words, packs, elements) = (WORDS as u32, PACKS as u32, ELEMENTS as u32);
    let (target, row_packs) = (tile.target(layout, elements, packs * words), shape.down * packs);
    let groups_down = tile.rows / elements;
    for k in 0..(SQUARES * ELEMENTS * PACKS) as u32 {
        let at = thread::thread_idx_x() + k * shape.threads();
        let (row, pack) = (at / row_packs, at % row_packs);
        if row < tile.columns && pack < groups_down * packs {
            let value = shared.get_pack::<WORDS>(shape.packs(row, packs, elements) * words + pack * words);
            set(target + row as u64 * layout.output_pitch + (pack * words) as u64, value);
        }
    }
}

/// Returns the transposed square. All indices are constants once the loops are unrolled. So whole words cost nothing; other
/// words are assembled from bytes of two or four words.
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
