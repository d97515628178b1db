//! The kernel with a byte for each cell and nine reads, which hit the caches. A thread computes one cell, and neighbouring
//! threads neighbouring cells of a row. The naive way, for comparison.

use super::ByteArgs;
use super::place::Place;

#[inline(always)]
pub(super) fn step(args: &ByteArgs) {
    let board = &args.board;
    let Place { column, row } = Place::of_thread(board.columns, 1);
    if row >= board.rows || column >= board.columns {
        return;
    }
    let (mut sum, mut cell, mut down) = (0, 0, 0);
    while down < 3 {
        let line = board.row_above(row + down);
        let mut across = 0;
        while across < 3 {
            let (column, is_outside) = column_before(column + across, board.columns);
            let column = if line.is_mirrored { board.columns - 1 - column } else { column };
            let is_alive = !line.is_dead && (!is_outside || board.wraps != 0);
            let value = args.input.get_if(is_alive, line.first + column as u64, 0) as u32;
            sum += value;
            cell = if (down, across) == (1, 1) { value } else { cell };
            across += 1;
        }
        down += 1;
    }
    let next = args.table >> (cell * 16 + sum) & 1;
    args.output.set(row as u64 * board.pitch + column as u64, next as u8);
}

/// Returns the column before column `after`, and whether it is beyond an end of the row. Columns wrap.
#[inline(always)]
fn column_before(after: u32, columns: u32) -> (u32, bool) {
    let before = if after == 0 { columns } else { after } - 1;
    if after > columns { (0, true) } else { (before, after == 0) }
}
