//! The kernel that copies a panel of columns into other memory, and rotates its columns.
//!
//! Column `j` is rotated upwards by `j / alike`, so neighbouring columns differ by at most one row. A block makes a tile of the result.
//! A thread stays in one column: it loads its elements from the rows of a parallelogram, row by row together with the other
//! threads, and stores each to its row in shared memory. After a barrier, the block writes the tile row by row:
//!
//! ```text
//!  matrix        tile           lane = column
//!  a . . .       a b c d
//!  e b . .       e f g h
//!  i f c .  -->  i j k l
//!  m j g d       m n o p
//!  . n k h
//!  . . o l
//!  . . . p
//! ```
//!
//! Shared memory: `ROWS` rows of `columns` units, each followed by a gap of 32 units if units are shorter than words. Without conflicts
//! if neighbouring columns are rotated by different numbers of rows: lanes that share a column of words store to different rows of
//! them, whose banks differ by the gap, 8 or 16 words. The whole rows that are read have no conflicts.

use super::{PanelArgs, THREADS};
use cuda_std::{Arena, Value, thread};

/// Rows of a tile.
pub(super) const ROWS: u32 = 128;

/// Bytes of a tile's row.
const ROW_BYTES: u32 = 128;

/// Number of loads that a thread has in flight.
const AT_ONCE: u32 = 4;

/// Returns the number of columns of a tile, in units with this number of bytes.
#[inline(always)]
pub(super) const fn columns(unit: u32) -> u32 {
    ROW_BYTES / unit
}

/// Returns the row pitch of a tile in shared memory, in units with this number of bytes.
#[inline(always)]
pub(super) const fn pitch(unit: u32) -> u32 {
    columns(unit) + if unit < 4 { 32 } else { 0 }
}

#[inline(always)]
pub(super) fn rotate<U: Value>(arena: Arena, args: &PanelArgs<U>) {
    let (panel, unit) = (&args.panel, size_of::<U>() as u32);
    let (columns, pitch) = (columns(unit), pitch(unit));
    let (shared, _) = arena.split::<U>(ROWS * pitch);
    let (block, across) = (thread::block_idx_x(), panel.tiles_across.max(1));
    let (first_row, first) = ((block / across) as u64 * ROWS as u64, (block % across) as u64 * columns as u64);
    let (x, y, rows_at_once) = (thread::thread_idx_x() % columns, thread::thread_idx_x() / columns, THREADS / columns);
    let (inside, height) = (first + (x as u64) < panel.width, (panel.rows - first_row).min(ROWS as u64) as u32);

    // Rotations, relative to that of the tile's first column.
    let turned = |x: u32| (panel.first_unit + first + x as u64) / panel.units.max(1) as u64 / panel.alike.max(1);
    let (lower, most) = ((turned(x) - turned(0)) as u32, (turned(columns - 1) - turned(0)) as u32);
    let rows = panel.rows.max(1);
    let (mut row, step) = ((first_row + turned(0) + y as u64) % rows, rows_at_once as u64 % rows);
    let source = panel.first + panel.first_unit + first + x as u64;
    let mut line = y;
    while line < height + most {
        // Indices, because with iterators the array would be in local memory instead of registers.
        let mut values = [U::default(); AT_ONCE as usize];
        for k in 0..AT_ONCE {
            // Lines above the column's first one wrap around to large numbers.
            let at = (line + k * rows_at_once).wrapping_sub(lower);
            values[k as usize] = args.matrices.get_if(inside && at < height, source + row * panel.pitch, U::default());
            row += step;
            row -= if row >= rows { rows } else { 0 };
        }
        for k in 0..AT_ONCE {
            let at = (line + k * rows_at_once).wrapping_sub(lower);
            if inside && at < height {
                shared.set(at * pitch + x, values[k as usize]);
            }
        }
        line += AT_ONCE * rows_at_once;
    }
    thread::sync_threads();
    let target = first_row * panel.width + first + x as u64;
    let mut line = y;
    while inside && line < height {
        args.part.set(target + line as u64 * panel.width, shared.get(line * pitch + x));
        line += rows_at_once;
    }
}
