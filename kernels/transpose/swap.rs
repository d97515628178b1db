//! The kernel that transposes square matrices in place.
//!
//! Tiles are square. The block of a tile above the diagonal loads it and its mirror image into shared memory, waits at a
//! barrier, and writes each one, transposed, to the position of the other:
//!
//! ```text
//!  . A .         .  B^T .       the block of A also loads and writes B
//!  B . .   -->  A^T  .  .       blocks on the diagonal have one tile, blocks below do nothing
//!  . . .         .   .  .
//! ```
//!
//! Shared memory: both tiles, one after the other, each with the layout of `shared.rs`.

use super::SwapArgs;
use super::shared::{load, store};
use super::tile::Tile;
use cuda_std::{Arena, Value, thread};

#[inline(always)]
pub(super) fn transpose<U: Value>(arena: Arena, args: &SwapArgs<U>) {
    let layout = &args.layout;
    let (first, arena) = arena.split::<U>(layout.tile_rows * layout.tile_pitch);
    let (second, _) = arena.split::<U>(layout.tile_rows * layout.tile_pitch);
    let tile = Tile::of_block(layout);
    // The same for all threads of the block.
    if tile.row > tile.column {
        return;
    }
    let mirrored = Tile { row: tile.column, column: tile.row, rows: tile.columns, columns: tile.rows, ..tile };
    load(&first, layout, &tile, |i| args.matrices.get(i));
    if tile.row < tile.column {
        load(&second, layout, &mirrored, |i| args.matrices.get(i));
    }
    thread::sync_threads();
    store(&first, layout, &tile, |i, value| args.matrices.set(i, value));
    if tile.row < tile.column {
        store(&second, layout, &mirrored, |i, value| args.matrices.set(i, value));
    }
}
