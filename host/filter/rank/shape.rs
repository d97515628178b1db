//! Windows: which samples around a pixel are compared.

use super::RankError;
use crate::cpu::allocation;
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// Maximum number of rows and of columns of a window.
const MOST_SIDE: usize = 1 << 12;

/// The samples around a pixel that a rank filter compares: a rectangle, a disc, or those of any mask.
///
/// Functions that take a window also take `5` for 5 x 5 samples, `[3, 5]` for 3 rows of 5 columns, and a mask.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Boundary, Device, Rank2d, RankWindow};
///
/// # fn main() -> slm::Result<()> {
/// let cross = array![[false, true, false], [true, true, true], [false, true, false]];
/// assert_eq!(RankWindow::from(&cross), RankWindow::disc(1));
/// let median = Rank2d::<u8>::median(&cross).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
/// assert_eq!(median.apply(&array![[1, 2, 3], [4, 99, 6], [7, 8, 9]])?[[1, 1]], 6);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RankWindow {
    shape: [usize; 2],
    /// `None` for a rectangle. Row after row.
    mask: Option<Result<Arc<Vec<bool>>>>,
}

impl RankWindow {
    /// Returns all samples of a rectangle.
    #[must_use]
    pub fn rectangle(rows: usize, columns: usize) -> Self {
        RankWindow { shape: [rows, columns], mask: None }
    }

    /// Returns the samples whose distance from the centre is at most `radius`, of `2 · radius + 1` rows and columns.
    #[must_use]
    pub fn disc(radius: usize) -> Self {
        let side = radius.saturating_mul(2).saturating_add(1);
        if side > MOST_SIDE {
            // `prepare` refuses it.
            return Self::rectangle(side, side);
        }
        let square = |place: usize| radius.abs_diff(place).pow(2);
        let inside = |row| (0..side).map(move |column| square(row) + square(column) <= radius * radius);
        Self::masked([side; 2], side * side, (0..side).flat_map(inside))
    }

    /// Returns the samples where a mask is `true`.
    #[must_use]
    pub fn footprint<'a>(mask: impl Into<ArrayView2<'a, bool>>) -> Self {
        let mask = mask.into();
        let shape = [mask.nrows(), mask.ncols()];
        if shape.iter().any(|&side| side > MOST_SIDE) {
            return Self::rectangle(shape[0], shape[1]);
        }
        Self::masked(shape, mask.len(), mask.iter().copied())
    }

    fn masked(shape: [usize; 2], len: usize, mask: impl Iterator<Item = bool>) -> Self {
        let all = allocation::reserved(len).map(|mut all: Vec<bool>| {
            all.extend(mask);
            Arc::new(all)
        });
        RankWindow { shape, mask: Some(all) }
    }

    /// Returns the number of rows and of columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// Returns the window with its rows and columns in reverse order.
    pub(in crate::filter) fn reflected(&self) -> Self {
        let reversed = |mask: &Arc<Vec<bool>>| allocation::collected(mask.iter().rev().copied()).map(Arc::new);
        let mask = self.mask.as_ref().map(|mask| mask.as_ref().map_err(Clone::clone).and_then(reversed));
        RankWindow { shape: self.shape, mask }
    }

    /// Returns the runs of neighbouring samples, row after row, or an error for an invalid window.
    pub(super) fn runs(&self) -> Result<Runs> {
        let [rows, columns] = self.shape;
        if rows == 0 || columns == 0 {
            return Err(RankError::NoSamples { rows, columns }.into());
        }
        for (what, side) in [("the rows of a window", rows), ("the columns of a window", columns)] {
            if side > MOST_SIDE {
                return Err(Error::TooLarge { what, factors: [side as u64, 1], limit: MOST_SIDE as u64 });
            }
        }
        let mask = self.mask.clone().transpose()?;
        let mut runs: Vec<[u32; 3]> = allocation::reserved(rows)?;
        for row in 0..rows {
            let Some(mask) = &mask else {
                runs.push([row as u32, 0, columns as u32]);
                continue;
            };
            for (column, _) in mask[row * columns..][..columns].iter().enumerate().filter(|(_, inside)| **inside) {
                let column = column as u32;
                match runs.last_mut() {
                    Some([last, _, end]) if (*last, *end) == (row as u32, column) => *end += 1,
                    _ => runs.push([row as u32, column, column + 1]),
                }
            }
        }
        let count = runs.iter().map(|[_, begin, end]| end - begin).sum::<u32>();
        if count == 0 {
            return Err(RankError::NoSamples { rows, columns }.into());
        }
        Ok(Runs { shape: self.shape, is_rectangle: count as usize == rows * columns, runs, count })
    }
}

/// A square.
impl From<usize> for RankWindow {
    fn from(side: usize) -> Self {
        Self::rectangle(side, side)
    }
}

/// Rows and columns of a rectangle.
impl From<[usize; 2]> for RankWindow {
    fn from([rows, columns]: [usize; 2]) -> Self {
        Self::rectangle(rows, columns)
    }
}

impl From<ArrayView2<'_, bool>> for RankWindow {
    fn from(mask: ArrayView2<'_, bool>) -> Self {
        Self::footprint(mask)
    }
}

impl From<&Array2<bool>> for RankWindow {
    fn from(mask: &Array2<bool>) -> Self {
        Self::footprint(mask)
    }
}

/// The samples of a valid window.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Runs {
    pub(super) shape: [usize; 2],
    /// The row, the first column and the end of each run.
    pub(super) runs: Vec<[u32; 3]>,
    pub(super) count: u32,
    pub(super) is_rectangle: bool,
}

impl Runs {
    /// Returns the number of runs, which is at most `count`.
    pub(super) fn len(&self) -> u32 {
        self.runs.len() as u32
    }

    /// Returns the runs in a row of the window.
    pub(super) fn of_row(&self, row: usize) -> &[[u32; 3]] {
        let before = |end: usize| self.runs.partition_point(|&[row, ..]| (row as usize) < end);
        &self.runs[before(row)..before(row + 1)]
    }
}
