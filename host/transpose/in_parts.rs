//! Transpositions of matrices on the host in parts.
//!
//! ```text
//! columns of a wide matrix            rows of a tall matrix        some of several matrices
//!
//! [ a | b | c ]       [ aᵀ ]          [ a ]                        [ a ]       [ aᵀ ]
//! [   |   |   ] --->  [----]          [---]      [ aᵀ | bᵀ ]       [---] --->  [----]
//!                     [ bᵀ ]          [ b ] ---> [    |    ]       [ b ]       [ bᵀ ]
//!                     [----]                     [    |    ]
//!                     [ cᵀ ]
//! ```
//!
//! The longer side of a single matrix is divided, so a part can be as small as a row or a column of a square. Several matrices are not
//! divided themselves.

use super::{Matrices, PreparedTranspose, TransposeElement};
use crate::device::data::{Elements, Target};
use crate::device::kernel::Recent;
use crate::filter::part::{Divided, Part};
use crate::stream::in_memory::Layout;
use crate::{Device, Result};
use std::sync::Arc;

/// What is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Rows,
    Columns,
    Matrices,
}

/// The transposition as an operation on rows, columns or matrices.
pub(crate) struct Parts<'a, T: TransposeElement> {
    transpose: &'a PreparedTranspose<T>,
    side: Side,
    /// By the number of rows, columns or matrices.
    prepared: Recent<usize, Arc<PreparedTranspose<T>>>,
}

impl<'a, T: TransposeElement> Parts<'a, T> {
    pub(crate) fn new(transpose: &'a PreparedTranspose<T>) -> Self {
        let Matrices { rows, columns, count, .. } = transpose.matrices;
        let side = match count {
            1 if columns >= rows => Side::Columns,
            1 => Side::Rows,
            _ => Side::Matrices,
        };
        Parts { transpose, side, prepared: Recent::default() }
    }

    /// Returns where the elements of a row, column or matrix are: of the input, and of the output.
    pub(crate) fn layouts(&self) -> [Layout; 2] {
        let column = Layout::Column { cell: self.transpose.matrices.components };
        match self.side {
            Side::Rows => [Layout::Row, column],
            Side::Columns => [column, Layout::Row],
            Side::Matrices => [Layout::Row; 2],
        }
    }

    /// Returns this many rows, columns or matrices of all.
    fn some(&self, number: usize) -> Matrices {
        let all = self.transpose.matrices;
        match self.side {
            Side::Rows => Matrices { rows: number, ..all },
            Side::Columns => Matrices { columns: number, ..all },
            Side::Matrices => Matrices { count: number, ..all },
        }
    }
}

impl<T: TransposeElement> Divided<T, T> for Parts<'_, T> {
    fn device(&self) -> &Device {
        self.transpose.device()
    }

    fn widths(&self) -> [usize; 2] {
        [self.some(1).len(); 2]
    }

    fn run(&self, part: &Part, input: &Elements<'_, T>, output: Target<'_, T>) -> Result<()> {
        let number = part.outputs.len();
        let prepare = || {
            let algorithm = self.transpose.algorithm;
            PreparedTranspose::new(self.device(), self.some(number), algorithm).map(Arc::new)
        };
        self.prepared.get(number, prepare)?.run(input, output)
    }
}
