//! Kernels with a tile in shared memory for matrices whose rows begin anywhere.
//!
//! Memory is written in sectors of 32 bytes, and what two blocks write of one is slow. Where rows of the output begin
//! at other places of sectors than others, so do their elements. So a block writes, of each of its rows, the sectors
//! from a certain one on to a certain other one, and needs some of the input's rows before its tile's first one, the
//! *halo*: enough for a sector but for one unit.
//!
//! All that is moved are whole words, also of elements of 1, 2, 3 or 6 bytes. The threads bring the rows to shared
//! memory as they lie in global memory, from the word on in which the tile begins: so each row is shifted by what its
//! first word has before the tile. They wait, and then gather words of the columns, unit by unit, and write them
//! (`columns.rs`). From one row to the next that a thread brings, shifts stay the same, so next to nothing is left to
//! compute for a word. If nothing lies between the rows of a tile, but words belong to two of them, the tile is brought
//! as the one run of words that it is: no word is brought twice, and all threads have the same to do.
//!
//! Shared memory: neighbouring lanes write neighbouring words of a row, and meet only where it is so short that a warp
//! writes several. They read what is one word further in the column: from rows that are as many apart as a word has
//! units, which therefore follow each other in shared memory. These are an odd number of words apart, or, if elements
//! have several words, a number that makes elements below each other neighbours among the banks; so the lanes do not
//! meet. Of elements of 3 bytes, lanes read from three rows out of four, of 6 bytes from all, and in wide tiles half a
//! warp from the next column, which begins elsewhere: with the distances in `geometry/skewed.rs`, that makes two wavefronts. In a
//! run, rows are as far apart as in the matrix. What the lanes read is as many words apart as a row has units, an odd number
//! or twice one, which makes one or two wavefronts; of elements of 3 and 6 bytes mostly two or three.

//!
//! README.md has a drawing of a tile in shared memory.
//!
//! | file | what |
//! |---|---|
//! | `unit.rs` | units, the words that they make, and how rows of elements lie in these |
//! | `rows.rs` | the rows that a block needs, and where they are in shared memory |
//! | `load.rs` | how the threads bring them there |
//! | `columns.rs` | how they gather columns from there, and write them |

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

/// Elements of `UNITS` units.
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
