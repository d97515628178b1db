//! The problem in the form that CPU and GPU code use: matrices of one shape.

use super::TransposeError;
use crate::{Element, Error, Result};
use slm_kernels::transpose::TransposeProblem;

/// Matrices of one shape, stored one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrices {
    /// Number of rows.
    pub(crate) rows: usize,
    /// Number of columns, in elements.
    pub(crate) columns: usize,
    /// Number of matrices.
    pub(crate) count: usize,
    /// Numbers per element.
    pub(crate) components: usize,
}

impl Matrices {
    /// Returns an error if the matrices do not fit into memory, counting empty dimensions as 1.
    pub(crate) fn check<T: Element>(&self) -> Result<()> {
        if self.components == 0 {
            return Err(TransposeError::NoComponents.into());
        }
        let limit = (isize::MAX as usize / size_of::<T>()) as u64;
        let factors = [self.rows, self.columns, self.count, self.components].map(|factor| factor.max(1) as u64);
        factors.into_iter().try_fold(1u64, |product, factor| {
            let next = product.checked_mul(factor).filter(|next| *next <= limit);
            next.ok_or(Error::TooLarge { what: "the number of elements", factors: [product, factor], limit })
        })?;
        Ok(())
    }

    /// Returns the number of numbers of all matrices.
    pub(crate) fn len(&self) -> usize {
        self.count * self.rows * self.columns * self.components
    }

    /// Returns the bytes that are moved if all matrices are read once and written once.
    pub(crate) fn moved_bytes<T>(&self) -> u64 {
        (self.len() as u64).saturating_mul(2 * size_of::<T>() as u64)
    }

    /// Returns whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the problem for kernels, with the given row pitches in numbers of type `T`. Returns an error if elements are too
    /// large for kernels.
    pub(crate) fn problem<T: Element>(&self, pitches: [usize; 2]) -> Result<TransposeProblem> {
        let number = size_of::<T>() as u64;
        // Single rows may have any pitch.
        let [input_pitch, output_pitch] = pitches.map(|pitch| (pitch as u64).saturating_mul(number));
        let [rows, columns, matrices] = [self.rows, self.columns, self.count].map(|count| count as u64);
        // No overflow: `check` has compared the product with `isize::MAX`.
        let element = self.components as u64 * number;
        let problem = TransposeProblem { rows, columns, element, matrices, input_pitch, output_pitch };
        let (limit, unit) = problem.largest_element();
        if element <= limit {
            Ok(problem)
        } else {
            Err(TransposeError::ElementSize { bytes: element, unit, limit }.into())
        }
    }

    /// Returns the row pitches of input and output without gaps, in numbers.
    pub(crate) fn pitches(&self) -> [usize; 2] {
        [self.shape()[1], self.transposed_shape()[1]]
    }

    /// Returns the number of rows of all matrices, and of numbers per row.
    pub(crate) fn shape(&self) -> [usize; 2] {
        [self.count * self.rows, self.columns * self.components]
    }

    /// Returns the number of rows of all transposed matrices, and of numbers per row.
    pub(crate) fn transposed_shape(&self) -> [usize; 2] {
        [self.count * self.columns, self.rows * self.components]
    }
}
