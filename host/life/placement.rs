//! The places of a pattern's cells on a board.
//!
//! A pattern is not larger than the board, so it crosses each end once at most. If it crosses the lower one, it is divided into
//! two bands of rows. Its columns are not divided: for a band that wraps at the
//! right edge, complete rows are loaded.

use super::words::{Area, Size, fill};
use super::{LifeError, Pattern, Topology};
use slm_kernels::life::Ends;
use std::ops::Range;

/// Rows of a pattern that follow each other on the board.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// Rows of the pattern. May be empty.
    rows: Range<usize>,
    /// Row of the board that the first of them is placed in.
    row: usize,
    /// Column of the board that the first column is placed in, or the last one if the band is mirrored.
    column: usize,
    is_mirrored: bool,
}

/// Returns the bands of a pattern whose first cell is placed at `position`.
///
/// # Errors
///
/// [`LifeError::Placement`].
pub(super) fn bands(
    pattern: &Pattern,
    position: [isize; 2],
    size: Size,
    topology: Topology,
) -> Result<[Band; 2], LifeError> {
    let ends = topology.ends();
    let of_rows = Side { len: size.rows, wraps: ends != Ends::Dead }.place(position[0], pattern.rows());
    let of_columns = Side { len: size.columns, wraps: topology.wraps() }.place(position[1], pattern.columns());
    let (Some((row, is_turned)), Some((column, _))) = (of_rows, of_columns) else {
        let (pattern, board) = ([pattern.rows(), pattern.columns()], [size.rows, size.columns]);
        return Err(LifeError::Placement { pattern, position, board });
    };
    let above_end = pattern.rows().min(size.rows - row);
    let band = |rows, row, is_turned| {
        let is_mirrored = ends == Ends::Mirrored && is_turned;
        // The mirrored pattern begins where the pattern ends, counted from the other end.
        let mirrored = (2 * size.columns - column - pattern.columns()) % size.columns;
        Band { rows, row, column: if is_mirrored { mirrored } else { column }, is_mirrored }
    };
    Ok([band(0..above_end, row, is_turned), band(above_end..pattern.rows(), 0, !is_turned)])
}

/// A side of a board.
struct Side {
    len: usize,
    wraps: bool,
}

impl Side {
    /// Returns the place on the board for a position, and whether it passes the end an odd number of times. `None` if `len` cells
    /// from there on do not fit.
    fn place(&self, position: isize, len: usize) -> Option<(usize, bool)> {
        // Sides have at most `isize::MAX` cells.
        let (last, side) = (self.len.checked_sub(len)?, self.len as isize);
        let is_inside = usize::try_from(position).is_ok_and(|position| position <= last);
        let place = (position.rem_euclid(side) as usize, position.div_euclid(side) % 2 != 0);
        Some(place).filter(|_| self.wraps || is_inside)
    }
}

impl Band {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the area of the board that has the band, for a pattern with this number of columns.
    pub(super) fn area(&self, size: Size, columns: usize) -> Area {
        let end = self.column + columns;
        let words = if end > size.columns { 0..size.width() } else { self.column / 64..end.div_ceil(64) };
        Area { rows: self.row..self.row + self.rows.len(), words }
    }

    /// Sets the cells of the pattern in the words of [`area`](Self::area).
    pub(super) fn draw(&self, pattern: &Pattern, size: Size, area: &Area, words: &mut [u64]) {
        for run in pattern.runs().filter(|run| self.rows.contains(&run.row)) {
            let row = &mut words[(run.row - self.rows.start) * area.words.len()..][..area.words.len()];
            let first = if self.is_mirrored { pattern.columns() - run.column - run.len } else { run.column };
            let (first, end) = (self.column + first, self.column + first + run.len);
            for part in [first.min(size.columns)..end.min(size.columns), first.max(size.columns)..end.max(size.columns)]
            {
                if !part.is_empty() {
                    fill(row, part.start % size.columns - area.words.start * 64, part.len());
                }
            }
        }
    }
}
