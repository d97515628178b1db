//! The kernels that transpose square matrices in place.
//!
//! Tiles are square. Each block has a tile on or above the diagonal. It loads the tile and its mirror image into shared memory, waits
//! at a barrier, and writes each one, transposed, to the position of the other:
//!
//! ```text
//!  . A .         .  B^T .       the block of A also loads and writes B
//!  B . .   -->  A^T  .  .       blocks on the diagonal have one tile
//!  . . .         .   .  .
//! ```
//!
//! Shared memory: both tiles, one after the other, each with the layout of `shared.rs` or `packed.rs`.

use super::packed::{self, Shape};
use super::shared::{load, store};
use super::tile::Tile;
use super::{Layout, SwapArgs};
use cuda_std::{Arena, Value, thread};

/// Maximum number of words that a thread loads of a tile while it still holds those of the other one. More would not leave
/// enough registers.
const MOST_WORDS_OF_TWO: usize = 32;

/// A tile on or above the diagonal, and its mirror image.
struct Pair {
    tile: Tile,
    mirrored: Tile,
    /// Whether these are two tiles. The same for all threads of the block.
    differ: bool,
}

impl Pair {
    /// Returns the tiles of the block.
    ///
    /// The x axis of the grid runs over lines of tiles on and above the diagonal, so no block is idle. A line has the rest of a row and
    /// of another row as far from the end, and all lines are equally long.
    ///
    /// ```text
    ///  0 1 2 3           0 1 2 3 | 9           0 1 2 3 4           0 1 2 3 4
    ///    4 5 6    -->    4 5 6 | 7 8             5 6 7 8           5 6 7 8 | e
    ///      7 8                                     9 a b    -->    9 a b | c d
    ///        9                                       c d
    ///                                                  e
    /// ```
    #[inline(always)]
    fn of_block(layout: &Layout) -> Self {
        let tiles = layout.columns.div_ceil(layout.tile_columns.max(1) as u64).max(1) as u32;
        let even = 1 - tiles % 2;
        let (line, place) = (thread::block_idx_x() / (tiles + even), thread::block_idx_x() % (tiles + even));
        let rest = tiles - line;
        let (row, along) = if place < rest { (line, place) } else { (rest - even, place - rest) };
        let tile = Tile::at(layout, 0, [row, row + along]);
        let mirrored = Tile { row: tile.column, column: tile.row, rows: tile.columns, columns: tile.rows, ..tile };
        Pair { tile, mirrored, differ: along > 0 }
    }
}

/// Returns the first unit of the block's matrix. The z axis of the grid runs over the matrices, which may be side by side.
#[inline(always)]
fn start<U: Value>(SwapArgs { layout, squares, .. }: &SwapArgs<U>) -> u64 {
    let (matrix, across) = (layout.first_matrix + thread::block_idx_z() as u64, squares.across.max(1));
    matrix / across * squares.below + matrix % across * squares.beside
}

#[inline(always)]
pub(super) fn transpose<U: Value>(arena: Arena, args: &SwapArgs<U>) {
    let (start, layout) = (start(args), &args.layout);
    let (first, arena) = arena.split::<U>(layout.tile_rows * layout.tile_pitch);
    let (second, _) = arena.split::<U>(layout.tile_rows * layout.tile_pitch);
    let Pair { tile, mirrored, differ } = Pair::of_block(layout);
    load(&first, layout, &tile, |i| args.matrices.get(start + i));
    if differ {
        load(&second, layout, &mirrored, |i| args.matrices.get(start + i));
    }
    thread::sync_threads();
    store(&first, layout, &tile, |i, value| args.matrices.set(start + i, value));
    if differ {
        store(&second, layout, &mirrored, |i, value| args.matrices.set(start + i, value));
    }
}

/// The same with packs. See [`packed::transpose`].
#[inline(always)]
pub(super) fn transpose_packed<const WORDS: usize, const PACKS: usize, const ELEMENTS: usize, const SQUARES: usize>(
    arena: Arena,
    args: &SwapArgs<u32>,
    shape: Shape,
) {
    let (start, layout) = (start(args), &args.layout);
    let (first, arena) = shape.split::<WORDS, PACKS, ELEMENTS>(arena);
    let (second, _) = shape.split::<WORDS, PACKS, ELEMENTS>(arena);
    let Pair { tile, mirrored, differ } = Pair::of_block(layout);
    let get = |i| args.matrices.get_pack(start + i);
    let squares = packed::load::<WORDS, PACKS, ELEMENTS, SQUARES>(layout, &tile, shape, get);
    let few = WORDS * PACKS * ELEMENTS * SQUARES <= MOST_WORDS_OF_TWO;
    if !few {
        packed::put(&first, shape, squares);
    }
    let mut others = [[[[0; WORDS]; PACKS]; ELEMENTS]; SQUARES];
    if differ {
        others = packed::load::<WORDS, PACKS, ELEMENTS, SQUARES>(layout, &mirrored, shape, get);
    }
    if few {
        packed::put(&first, shape, squares);
    }
    if differ {
        packed::put(&second, shape, others);
    }
    thread::sync_threads();
    let set = |i, pack| args.matrices.set_pack(start + i, pack);
    packed::store::<WORDS, PACKS, ELEMENTS, SQUARES>(&first, layout, &tile, shape, set);
    if differ {
        packed::store::<WORDS, PACKS, ELEMENTS, SQUARES>(&second, layout, &mirrored, shape, set);
    }
}
