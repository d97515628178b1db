//! The kernel with a tile in shared memory, for all matrices.
//!
//! A block of 256 threads takes a tile of any shape: it is as long as it has to be where a matrix is narrow. The threads
//! bring it to shared memory row after row, wait, and write it column after column, both times neighbours neighbouring
//! units in global memory.
//!
//! Shared memory: row `r` of the tile from unit `r * tile_pitch` on. Writing it has no bank conflicts as long as a warp
//! stays in a row. Reading it runs down a column, and `tile_pitch` decides: if that is the row's length, and this a
//! multiple of the banks, all lanes meet in one bank; the host can choose the next length at which they do not.

use super::tile::{Tile, Walk, element_of};
use super::{Args, Layout};
use cuda_std::{Arena, Shared, Value, thread};

/// Loads of a thread that are under way at a time.
const AT_ONCE: usize = 4;

/// No place in a tile.
const NOWHERE: u32 = u32::MAX;

#[inline(always)]
pub(super) fn transpose<U: Value>(arena: Arena, args: &Args<U>) {
    let layout = &args.layout;
    let (shared, _) = arena.split::<U>(layout.tile_rows * layout.tile_pitch);
    let tile = Tile::of_block(layout);
    // The same for all threads of the block.
    if tile.rows == 0 {
        return;
    }
    load(&shared, layout, &tile, |i| args.input.get(i));
    thread::sync_threads();
    store(&shared, layout, &tile, |i, value| args.output.set(i, value));
}

/// Brings the tile to shared memory.
#[inline(always)]
pub(super) fn load<U: Value>(shared: &Shared<U>, layout: &Layout, tile: &Tile, get: impl Fn(u64) -> U) {
    let source = tile.source(layout, 1, layout.units);
    let mut at = Walk::new(tile.columns * layout.units);
    while at.line < tile.rows {
        // Indices, not iterators, whose arrays would be in memory.
        let (mut places, mut values) = ([NOWHERE; AT_ONCE], [U::default(); AT_ONCE]);
        for k in 0..AT_ONCE {
            if at.line < tile.rows {
                places[k] = at.line * layout.tile_pitch + at.place;
                values[k] = get(source + at.line as u64 * layout.input_pitch + at.place as u64);
            }
            at.step();
        }
        for k in 0..AT_ONCE {
            if places[k] != NOWHERE {
                shared.set(places[k], values[k]);
            }
        }
    }
}

/// Writes the tile, transposed.
#[inline(always)]
pub(super) fn store<U: Value>(shared: &Shared<U>, layout: &Layout, tile: &Tile, set: impl Fn(u64, U)) {
    let (target, units) = (tile.target(layout, 1, layout.units), layout.units);
    let mut at = Walk::new(tile.rows * units);
    while at.line < tile.columns {
        let (row, unit) = element_of(at.place, units);
        let value = shared.get(row * layout.tile_pitch + at.line * units + unit);
        set(target + at.line as u64 * layout.output_pitch + at.place as u64, value);
        at.step();
    }
}
