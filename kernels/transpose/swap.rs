//! The kernel that transposes square matrices in place.
//!
//! Tiles are square. The block of a tile above the diagonal brings it and the one that it changes places with to shared
//! memory, waits, and writes each, transposed, where the other one was; that of a tile on the diagonal has only this one,
//! and that of a tile below has nothing to do.
//!
//! Shared memory: the two tiles, each as in `shared.rs`.

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
