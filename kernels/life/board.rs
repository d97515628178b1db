//! Sizes and topology of a board, and the words of its rows.
//!
//! A word has several cells of `BITS` bits, the lowest first. Rows are extended beyond both ends, with the cells that the
//! topology has there:
//!
//! ```text
//!  columns      -1 | 0 1 2 … n-1 | n
//!  cells         x |  …          | y      x = cell n-1 and y = cell 0 if columns wrap, otherwise dead
//!  words     [. . . x][0 1 2 3] … [n-1 y . .]
//! ```
//!
//! So in a word, the bits next to a cell are those of its neighbours, also in the last word, which may have fewer cells. The
//! bits marked with a point are unspecified there, and cells of neighbours only.

use cuda_std::{GlobalIn, arguments};

/// What is above the first row and below the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Ends {
    /// Dead cells.
    Dead = 0,
    /// The row at the other end.
    Joined = 1,
    /// The row at the other end, mirrored.
    Mirrored = 2,
}

arguments! {
    /// Sizes and topology of a board.
    pub struct Board {
        /// Number of rows, from 1 to 2^31.
        pub rows: u32,
        /// Number of columns, from 1 to 2^31.
        pub columns: u32,
        /// Row pitch, in elements of the windows.
        pub pitch: u64,
        /// Not 0 if columns wrap; otherwise the cells beyond both ends of a row are dead.
        pub wraps: u32,
        /// An [`Ends`].
        pub ends: u32,
    }
}

/// A row of a board, or a row next to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Index of the first element.
    pub(super) first: u64,
    /// Whether all cells are dead, whatever is in memory.
    pub(super) is_dead: bool,
    /// Whether columns are in the opposite order.
    pub(super) is_mirrored: bool,
}

impl Board {
    /// Returns the row above row `below`. For 0, this is the row above the board, and for `rows + 1` the one below it.
    #[inline(always)]
    pub(super) fn row_above(&self, below: u32) -> Row {
        let is_outside = below == 0 || below > self.rows;
        let row = if below == 0 { self.rows } else { below } - 1;
        let row = if below > self.rows { 0 } else { row };
        Row {
            first: row as u64 * self.pitch,
            is_dead: is_outside && self.ends == Ends::Dead as u32,
            is_mirrored: is_outside && self.ends == Ends::Mirrored as u32,
        }
    }

    /// Returns the index of the last word of a row.
    #[inline(always)]
    pub(super) fn last_word<const BITS: u32>(&self) -> u32 {
        (self.columns - 1) / (32 / BITS)
    }

    /// Returns the number of bits of cells in the last word of a row.
    #[inline(always)]
    fn last_bits<const BITS: u32>(&self) -> u32 {
        ((self.columns - 1) % (32 / BITS) + 1) * BITS
    }

    /// Returns the bits of cells in word `k`.
    #[inline(always)]
    pub(super) fn valid<const BITS: u32>(&self, k: u32) -> u32 {
        u32::MAX >> if k == self.last_word::<BITS>() { 32 - self.last_bits::<BITS>() } else { 0 }
    }

    /// Returns words `k - 1`, `k` and `k + 1` of an extended row. Of the first one only the highest cell is specified, and of the
    /// last one only the lowest.
    #[inline(always)]
    pub(super) fn words<const BITS: u32>(&self, cells: &GlobalIn<u32>, row: &Row, k: u32) -> [u32; 3] {
        if row.is_mirrored {
            let word = |before| self.mirrored::<BITS>(cells, row, before);
            return [word(k), word(k + 1), word(k + 2)];
        }
        let (last, last_bits) = (self.last_word::<BITS>(), self.last_bits::<BITS>());
        let (is_alive, wraps) = (!row.is_dead, self.wraps != 0);
        let row = cells.at(row.first);
        let left = row.get_if(is_alive && (k > 0 || wraps), if k > 0 { k - 1 } else { last }, 0);
        let here = row.get_if(is_alive, k, 0);
        let right = row.get_if(is_alive && (k < last || wraps), if k < last { k + 1 } else { 0 }, 0);
        let left = left << if k > 0 { 0 } else { 32 - last_bits };
        let beyond = if k == last && last_bits < 32 { first_cell::<BITS>(right) << last_bits } else { 0 };
        [left, here | beyond, right]
    }

    /// Returns the word of an extended row behind word `k - 1`: word `k`. For 0, this is the word in front of the row. Words
    /// beyond the extended row are zero.
    #[inline(always)]
    pub(super) fn word_behind<const BITS: u32>(&self, cells: &GlobalIn<u32>, row: &Row, k: u32) -> u32 {
        let (end, last_bits) = (self.last_word::<BITS>() + 1, self.last_bits::<BITS>());
        if row.is_mirrored && k <= end + 1 {
            return self.mirrored::<BITS>(cells, row, k);
        }
        let (is_alive, is_whole) = (!row.is_dead, last_bits == 32);
        let row = cells.at(row.first);
        let here = row.get_if(is_alive && k > 0 && k <= end, k.wrapping_sub(1), 0);
        // The cell beyond an end.
        let is_after_end = if is_whole { k == end + 1 } else { k == end };
        let is_beyond = is_alive && self.wraps != 0 && (k == 0 || is_after_end);
        let beyond = row.get_if(is_beyond, if k == 0 { end - 1 } else { 0 }, 0);
        let beyond = match k {
            0 => beyond << (32 - last_bits),
            _ => first_cell::<BITS>(beyond) << (last_bits & 31),
        };
        here | beyond
    }

    /// Returns the word of a mirrored row behind word `k - 1`, cell by cell. Columns wrap. `k` is at most two more than the index
    /// of the last word.
    #[inline(always)]
    fn mirrored<const BITS: u32>(&self, cells: &GlobalIn<u32>, row: &Row, k: u32) -> u32 {
        let per_word = 32 / BITS;
        let (columns, row) = (self.columns, cells.at(row.first));
        // The column of the lowest cell, `columns - 1 - (k - 1) * per_word`. Enough columns are added that it is not negative.
        let turns = columns as u64 * (per_word as u64 + 1);
        let lowest = turns + per_word as u64 - 1 - k as u64 * per_word as u64;
        let mut column = (lowest % columns as u64) as u32;
        let (mut word, mut at) = (0, 0);
        while at < 32 {
            word |= first_cell::<BITS>(row.get(column / per_word) >> (column % per_word * BITS)) << at;
            column = if column == 0 { columns } else { column } - 1;
            at += BITS;
        }
        word
    }
}

/// Returns the lowest cell of a word.
#[inline(always)]
fn first_cell<const BITS: u32>(word: u32) -> u32 {
    word & (u32::MAX >> (32 - BITS))
}
