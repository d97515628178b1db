//! Kernels with a tile in shared memory for matrices whose rows have any alignment.
//!
//! `README.md` describes the method: the halo, the layout in shared memory with a drawing, the work of each thread, and why
//! there are few bank conflicts.
//!
//! | file | contents |
//! |---|---|
//! | `unit.rs` | units, and the words that they make |
//! | `rows.rs` | the rows that a block needs, and their positions in shared memory |
//! | `load.rs` | loads the rows into shared memory |
//! | `columns.rs` | gathers columns from shared memory, and writes them |

mod columns;
mod load;
mod rows;
mod unit;

pub use unit::Unit;
pub(super) use unit::{SECTOR, Skew};

use super::SkewedArgs;
use super::tile::Tile;
use columns::Columns;
use cuda_std::{Arena, thread};
use load::load;
use rows::Rows;

/// Transposes a tile of elements with `UNITS` units.
#[inline(always)]
pub(super) fn transpose<U: Unit, const UNITS: u32>(arena: Arena, args: &SkewedArgs<U>) {
    let skew = Skew { units: UNITS, per_word: U::PER_WORD, bytes: size_of::<U::Joined>() as u32 };
    let layout = &args.layout;
    let (shared, arena) = arena.split::<U::Joined>(args.places.words);
    let (table, _) = arena.split::<u32>(skew.table_len());
    let tile = Tile::of_block(layout);
    // The same for all threads of the block.
    if tile.columns == 0 {
        return;
    }
    let rows = Rows::new(layout, &tile, skew);
    load(&shared, args, &tile, &rows, skew);
    if thread::thread_idx_x() < skew.table_len() {
        table.set(thread::thread_idx_x(), rows.place(args, skew, thread::thread_idx_x()));
    }
    thread::sync_threads();
    let shared = shared.cast::<U>();
    Columns::new(&shared, &table, args, &tile, &rows, skew).store();
}
