//! Weights of a filter: dense, or the outer product of two vectors.

use super::accumulator::Accumulator;
use super::{Filter2dError, FilterWeight};
use crate::{Result, allocation};
use std::sync::Arc;

/// Weights in the order in which they meet the samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Weights<W> {
    /// Rows and columns.
    pub(super) shape: [usize; 2],
    pub(super) values: Values<W>,
    /// Rows before row `r` and columns before column `c` of the samples that output `(r, c)` depends on.
    pub(super) left: [usize; 2],
}

/// Vectors, because memory for them can be requested without ending the program if there is none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values<W> {
    /// Row after row.
    Dense(Arc<Vec<W>>),
    /// The outer product of a column and a row.
    Separable { column: Arc<Vec<W>>, row: Arc<Vec<W>> },
}

impl<W: Copy> Weights<W> {
    /// Returns the weights of a correlation.
    pub(super) fn dense(shape: [usize; 2], values: Vec<W>) -> Self {
        Weights { shape, values: Values::Dense(values.into()), left: shape.map(|taps| taps / 2) }
    }

    pub(super) fn separable(column: Arc<Vec<W>>, row: Arc<Vec<W>>) -> Self {
        let shape = [column.len(), row.len()];
        Weights { shape, values: Values::Separable { column, row }, left: shape.map(|taps| taps / 2) }
    }

    pub(super) fn check(&self) -> Result<()> {
        let [rows, columns] = self.shape;
        if rows == 0 || columns == 0 { Err(Filter2dError::NoWeights { rows, columns }.into()) } else { Ok(()) }
    }

    /// Returns the outer product of a vector with itself.
    pub(super) fn square(vector: Vec<W>) -> Self {
        let vector = Arc::new(vector);
        Self::separable(vector.clone(), vector)
    }

    /// Returns the row and the column of an outer product, each as weights of its own, or `None` for other weights.
    pub(super) fn passes(&self) -> Option<[Self; 2]> {
        let Values::Separable { column, row } = &self.values else { return None };
        let ([rows, columns], [above, before]) = (self.shape, self.left);
        let along = Weights { shape: [1, columns], values: Values::Dense(row.clone()), left: [0, before] };
        let down = Weights { shape: [rows, 1], values: Values::Dense(column.clone()), left: [above, 0] };
        Some([along, down])
    }

    /// Returns the weights that correlate as these convolve.
    pub(super) fn flipped(self) -> Result<Self> {
        let reversed = |values: &[W]| allocation::collected(values.iter().rev().copied()).map(Arc::new);
        let values = match self.values {
            Values::Dense(values) => Values::Dense(reversed(&values)?),
            Values::Separable { column, row } => Values::Separable { column: reversed(&column)?, row: reversed(&row)? },
        };
        Ok(Weights { values, left: self.shape.map(|taps| taps.saturating_sub(1 + taps / 2)), ..self })
    }
}

impl<W: FilterWeight> Weights<W> {
    /// Returns the weights converted to another type.
    pub(super) fn converted<A: Copy>(&self, convert: impl Fn(W) -> A) -> Result<Weights<A>> {
        let all = |values: &[W]| allocation::collected(values.iter().map(|&value| convert(value))).map(Arc::new);
        let values = match &self.values {
            Values::Dense(values) => Values::Dense(all(values)?),
            Values::Separable { column, row } => Values::Separable { column: all(column)?, row: all(row)? },
        };
        Ok(Weights { shape: self.shape, values, left: self.left })
    }

    /// Returns the sum of the magnitudes of integer weights.
    pub(super) fn magnitudes(&self, magnitude: impl Fn(W) -> u128) -> u128 {
        let sum = |values: &[W]| values.iter().map(|&value| magnitude(value)).sum::<u128>();
        match &self.values {
            Values::Dense(values) => sum(values),
            Values::Separable { column, row } => sum(column).saturating_mul(sum(row)),
        }
    }
}

impl<A: Accumulator> Weights<A> {
    /// Returns the sum of dense weights, rounded as sums of outputs whose samples are all 1. Only dense weights are renormalised;
    /// the result for others is 0.
    pub(super) fn total(&self) -> A {
        let Values::Dense(weights) = &self.values else { return A::ZERO };
        weights.iter().fold(A::ZERO, |sum, &weight| A::multiply_add(sum, A::ONE, weight))
    }

    /// Returns all weights, row after row.
    pub(super) fn row_after_row(&self) -> Result<Vec<A>> {
        match &self.values {
            Values::Dense(values) => allocation::copied(values),
            Values::Separable { column, row } => {
                let mut values = allocation::reserved(column.len().saturating_mul(row.len()))?;
                let pairs = column.iter().flat_map(|&c| row.iter().map(move |&r| (c, r)));
                values.extend(pairs.map(|(c, r)| A::multiply_add(A::ZERO, c, r)));
                Ok(values)
            }
        }
    }

    /// Returns dense weights.
    pub(super) fn densified(&self) -> Result<Self> {
        Ok(Weights { shape: self.shape, values: Values::Dense(self.row_after_row()?.into()), left: self.left })
    }
}
