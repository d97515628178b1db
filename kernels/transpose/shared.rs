//! The kernel with a tile in shared memory, for all matrices.
//!
//! A block of 256 threads transposes a tile, which is longer for narrow matrices. The threads load it into shared memory row
//! by row, wait at a barrier, and write it column by column. In both cases, neighbouring threads access neighbouring units
//! of global memory.
//!
//! Shared memory: row `r` of the tile begins at unit `r * tile_pitch`. A warp's accesses, for elements of one unit:
//!
//! ```text
//!  store, row by row:       lanes -> 0 1 2 3 ...      consecutive addresses
//!  load, column by column:  lane 0 at 0, lane 1 at tile_pitch, lane 2 at 2 * tile_pitch, ...
//! ```
//!
//! Stores have no bank conflicts while a warp stays in a row. The conflicts of loads depend on `tile_pitch`: all lanes use
//! one bank if it is a multiple of the number of banks. So the host can choose a pitch longer than a row, with the fewest
//! conflicts (`host/tile.rs`).

use super::tile::{Tile, Walk, element_of};
use super::{Args, Layout};
use cuda_std::{Arena, Shared, Value, thread};

/// Number of loads that a thread has in flight.
const AT_ONCE: usize = 4;

/// Marks a load without a position in the tile.
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

/// Loads the tile into shared memory.
#[inline(always)]
pub(super) fn load<U: Value>(shared: &Shared<U>, layout: &Layout, tile: &Tile, get: impl Fn(u64) -> U) {
    let source = tile.source(layout, 1, layout.units);
    let mut at = Walk::new(tile.columns * layout.units);
    while at.line < tile.rows {
        // Indices, because with iterators the arrays would be in local memory instead of registers.
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

/// Writes the transposed tile.
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
