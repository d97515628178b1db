//! Packed rows on the host: 64 cells to a word, the lowest bit first. Bits after the end of a row are zero.

use crate::{Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Sizes of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Size {
    /// Returns the number of words of a row.
    pub(super) fn width(self) -> usize {
        self.columns.div_ceil(64)
    }

    /// Returns the number of words.
    pub(super) fn words(self) -> usize {
        self.rows * self.width()
    }

    /// Returns the bits of cells in the last word of a row.
    pub(super) fn last_mask(self) -> u64 {
        u64::MAX >> (self.width() * 64 - self.columns)
    }

    /// Returns an error if no memory can have as many bytes as cells.
    pub(super) fn check(self) -> Result<()> {
        let limit = isize::MAX as usize;
        let cells = self.columns.checked_next_multiple_of(64).and_then(|columns| columns.checked_mul(self.rows));
        match cells.filter(|&cells| cells <= limit) {
            Some(_) => Ok(()),
            None => {
                let factors = [self.rows as u64, self.columns as u64];
                Err(Error::TooLarge { what: "a board", factors, limit: limit as u64 })
            }
        }
    }
}

/// A rectangle of words.
#[derive(Clone, Debug)]
pub(super) struct Area {
    pub(super) rows: Range<usize>,
    /// Words of each row.
    pub(super) words: Range<usize>,
}

impl Area {
    /// Returns the area of all words.
    pub(super) fn all(size: Size) -> Self {
        Area::of_rows(0..size.rows, size)
    }

    /// Returns the area of all words of rows.
    pub(super) fn of_rows(rows: Range<usize>, size: Size) -> Self {
        Area { rows, words: 0..size.width() }
    }

    /// Returns the area of the word with this cell.
    pub(super) fn of_cell(row: usize, column: usize) -> Self {
        Area { rows: row..row + 1, words: column / 64..column / 64 + 1 }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len() * self.words.len()
    }
}

/// A rectangle of words with its contents.
#[derive(Debug)]
pub(super) struct AreaWords<'a> {
    pub(super) area: Area,
    pub(super) words: Cow<'a, [u64]>,
}

/// Sets the bits of `len` cells of a row from `first` on.
pub(super) fn fill(row: &mut [u64], first: usize, len: usize) {
    let end = first + len;
    for (k, word) in row[..end.div_ceil(64)].iter_mut().enumerate().skip(first / 64) {
        let (from, to) = (first.max(k * 64) - k * 64, end.min(k * 64 + 64) - k * 64);
        *word |= (u64::MAX >> (64 - (to - from))) << from;
    }
}

/// Returns the first cell of a row from `first` on that is in this state, or `columns`.
pub(super) fn find(row: &[u64], is_alive: bool, first: usize, columns: usize) -> usize {
    let mut at = first;
    while at < columns {
        let word = if is_alive { row[at / 64] } else { !row[at / 64] } >> (at % 64);
        if word != 0 {
            return columns.min(at + word.trailing_zeros() as usize);
        }
        at = at / 64 * 64 + 64;
    }
    columns
}

/// Returns the words of a row of cells.
pub(super) fn packed(cells: impl Iterator<Item = bool>, words: &mut [u64]) {
    words.fill(0);
    for (column, _) in cells.enumerate().filter(|(_, is_alive)| *is_alive) {
        words[column / 64] |= 1 << (column % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_filled_and_found() {
        for (first, len) in [(0, 0), (0, 1), (3, 61), (63, 2), (64, 64), (5, 180), (191, 1), (192, 0)] {
            let mut row = [0; 3];
            fill(&mut row, first, len);
            let bit = |column: usize| row[column / 64] >> (column % 64) & 1 == 1;
            assert!((0..192).all(|column| bit(column) == (first..first + len).contains(&column)), "{first} {len}");
            let expected = if len == 0 { 192 } else { first };
            assert_eq!(find(&row, true, 0, 192), expected);
            assert_eq!(find(&row, false, first, 192), first + len);
        }
        assert_eq!(find(&[0], true, 3, 40), 40);
        assert_eq!(find(&[u64::MAX], false, 3, 40), 40);
    }
}
