//! Access to some of the rows of a board.

use super::words::{Area, AreaWords};
use super::{Board, LifeError};
use crate::Result;
use crate::cpu::allocation;
use crate::device::buffer::check_shape;
use ndarray::{Array2, ArrayView2};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of words that are copied at a time, unless a row has more: 1 MiB.
const BAND: usize = 1 << 17;

/// Some rows.
///
/// A board can be larger than what memory has room for besides. With these functions a program reads and writes it in parts. On a
/// GPU they wait for all work that was enqueued before. They return [`Error::OutOfHostMemory`] and
/// [failures of the device](Error#failures-of-the-device), besides the errors that they name.
impl Board {
    /// Returns the cells of rows, as [`words`](Self::words) returns those of all rows.
    ///
    /// ```
    /// use slm::{Device, Life, ndarray::array};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let mut board = Life::new(5, 70).prepare(&Device::open()?)?;
    /// board.set_words_of_rows(2, array![[1, 0], [8, 2]].view())?;
    /// assert_eq!(board.words_of_rows(3..5)?, array![[8, 2], [0, 0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LifeError::NoSuchRows`] if the board does not have these rows.
    pub fn words_of_rows(&self, rows: Range<usize>) -> Result<Array2<u64>> {
        let size = self.life.size;
        if rows.start > rows.end || rows.end > size.rows {
            return Err(LifeError::NoSuchRows { rows, board: [size.rows, size.columns] }.into());
        }
        let shape = (rows.len(), size.width());
        let words = if rows.is_empty() { Vec::new() } else { self.cells.load(&Area::of_rows(rows, size))? };
        Ok(Array2::from_shape_vec(shape, words).expect("a word for each element"))
    }

    /// Sets the cells of rows from `first` on, as [`set_words`](Self::set_words) sets those of all rows.
    ///
    /// # Errors
    ///
    /// * [`LifeError::NoSuchRows`] if the board does not have as many rows.
    /// * [`Error::Shape`] if `words` has more or fewer columns than the result of [`words`](Self::words).
    pub fn set_words_of_rows(&mut self, first: usize, words: ArrayView2<'_, u64>) -> Result<()> {
        let (size, (count, width)) = (self.life.size, words.dim());
        let rows = first..first.saturating_add(count);
        if rows.end > size.rows {
            return Err(LifeError::NoSuchRows { rows, board: [size.rows, size.columns] }.into());
        }
        check_shape("the array of words", [count, size.width()], [count, width])?;
        if rows.is_empty() {
            return Ok(());
        }
        let words = masked(allocation::row_after_row(words)?, width, size.last_mask())?;
        self.cells.store(&[AreaWords { area: Area::of_rows(rows, size), words }])
    }

    /// Calls `work` with the number and the words of each row.
    pub(super) fn for_each_row(&self, mut work: impl FnMut(usize, &[u64]) -> Result<()>) -> Result<()> {
        let size = self.life.size;
        let count = (BAND / size.width()).max(1);
        for first in (0..size.rows).step_by(count) {
            let rows = first..size.rows.min(first + count);
            let words = self.cells.load(&Area::of_rows(rows.clone(), size))?;
            rows.zip(words.chunks_exact(size.width())).try_for_each(|(row, words)| work(row, words))?;
        }
        Ok(())
    }
}

/// Returns rows of `width` words without the bits of the last word that `mask` does not have. Copies only if there are any.
fn masked(words: Cow<'_, [u64]>, width: usize, mask: u64) -> Result<Cow<'_, [u64]>> {
    if words.chunks_exact(width).all(|row| row[width - 1] & !mask == 0) {
        return Ok(words);
    }
    let mut words = match words {
        Cow::Borrowed(words) => allocation::copied(words)?,
        Cow::Owned(words) => words,
    };
    words.chunks_exact_mut(width).for_each(|row| row[width - 1] &= mask);
    Ok(Cow::Owned(words))
}

#[cfg(doc)]
use crate::Error;
