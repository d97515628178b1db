//! Structuring elements: the samples around a pixel, and their heights.

use crate::cpu::allocation;
use crate::{RankWindow, Result};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

/// The samples around a pixel that morphology compares: as they are, which is flat, or each with a height.
///
/// Functions that take a structuring element also take anything that is a [`RankWindow`]: `5` for 5 x 5 samples, `[3, 5]` for 3 rows of 5
/// columns, and a mask.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Boundary, Device, Morphology2d, StructuringElement};
///
/// # fn main() -> slm::Result<()> {
/// let hill = StructuringElement::with_heights(&array![[0i16, 2, 0]]);
/// let dilation = Morphology2d::dilation(hill).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
/// assert_eq!(dilation.apply(&array![[1i16, 1, 9, 1, 1]])?, array![[3, 9, 11, 9, 3]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StructuringElement<S> {
    pub(super) window: RankWindow,
    /// `None` for flat elements. Row after row.
    heights: Option<Result<Arc<Vec<S>>>>,
}

impl<S: Copy> StructuringElement<S> {
    /// Returns the flat element with the samples of a window. SciPy's `footprint` or `size`.
    #[must_use]
    pub fn flat(window: impl Into<RankWindow>) -> Self {
        StructuringElement { window: window.into(), heights: None }
    }

    /// Returns the rectangle with these heights. SciPy's `structure`.
    #[must_use]
    pub fn with_heights<'a>(heights: impl Into<ArrayView2<'a, S>>) -> Self
    where
        S: 'a,
    {
        let heights = heights.into();
        let window = RankWindow::rectangle(heights.nrows(), heights.ncols());
        StructuringElement { window, heights: Some(allocation::collected(heights.iter().copied()).map(Arc::new)) }
    }

    /// Returns the number of rows and of columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.window.shape()
    }

    /// Returns the heights, if there are any.
    pub(super) fn heights(&self) -> Result<Option<Arc<Vec<S>>>> {
        self.heights.clone().transpose()
    }

    /// Returns the element with its rows and columns in reverse order.
    pub(super) fn reflected(&self) -> Self {
        let reversed = |heights: &Arc<Vec<S>>| allocation::collected(heights.iter().rev().copied()).map(Arc::new);
        let heights = self.heights.as_ref().map(|heights| heights.as_ref().map_err(Clone::clone).and_then(reversed));
        StructuringElement { window: self.window.reflected(), heights }
    }
}

impl<S: Copy> From<RankWindow> for StructuringElement<S> {
    fn from(window: RankWindow) -> Self {
        Self::flat(window)
    }
}

/// A square.
impl<S: Copy> From<usize> for StructuringElement<S> {
    fn from(side: usize) -> Self {
        Self::flat(side)
    }
}

/// Rows and columns of a rectangle.
impl<S: Copy> From<[usize; 2]> for StructuringElement<S> {
    fn from(sides: [usize; 2]) -> Self {
        Self::flat(sides)
    }
}

impl<S: Copy> From<ArrayView2<'_, bool>> for StructuringElement<S> {
    fn from(mask: ArrayView2<'_, bool>) -> Self {
        Self::flat(mask)
    }
}

impl<S: Copy> From<&Array2<bool>> for StructuringElement<S> {
    fn from(mask: &Array2<bool>) -> Self {
        Self::flat(mask)
    }
}
