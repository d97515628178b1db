//! Weights of a filter: dense, or the outer product of two vectors.

use super::accumulator::Accumulator;
use super::{Filter2dError, FilterWeight};
use crate::Result;
use crate::cpu::allocation;
use crate::filter::origin;
use ndarray::Array2;
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

    /// Returns whether the weights are stored as an outer product.
    pub(super) fn is_product(&self) -> bool {
        matches!(self.values, Values::Separable { .. })
    }

    pub(super) fn check(&self) -> Result<()> {
        let [rows, columns] = self.shape;
        if rows == 0 || columns == 0 { Err(Filter2dError::NoWeights { rows, columns }.into()) } else { Ok(()) }
    }

    /// Returns the row and the column of an outer product, each as weights of its own, or `None` for other weights.
    pub(super) fn passes(&self) -> Option<[Self; 2]> {
        let Values::Separable { column, row } = &self.values else { return None };
        let ([rows, columns], [above, before]) = (self.shape, self.left);
        let along = Weights { shape: [1, columns], values: Values::Dense(row.clone()), left: [0, before] };
        let down = Weights { shape: [rows, 1], values: Values::Dense(column.clone()), left: [above, 0] };
        Some([along, down])
    }

    /// Returns the column and the row of an outer product, or `None` for dense weights.
    pub(super) fn factors(&self) -> Option<[Arc<Vec<W>>; 2]> {
        match &self.values {
            Values::Separable { column, row } => Some([column.clone(), row.clone()]),
            Values::Dense(_) => None,
        }
    }

    /// Returns the weights flipped along both axes.
    pub(super) fn flipped(self) -> Result<Self> {
        let reversed = |values: &[W]| allocation::collected(values.iter().rev().copied()).map(Arc::new);
        let values = match self.values {
            Values::Dense(values) => Values::Dense(reversed(&values)?),
            Values::Separable { column, row } => Values::Separable { column: reversed(&column)?, row: reversed(&row)? },
        };
        Ok(Weights { values, ..self })
    }

    /// Returns the weights at their places, for the origins of rows and columns. Flipped weights are those of a convolution.
    pub(super) fn placed(self, origins: [isize; 2], is_flipped: bool) -> Result<Self> {
        const NAMES: [&str; 2] = ["the row origin of a filter", "the column origin of a filter"];
        self.check()?;
        let place = |axis: usize| {
            let (weights, origin) = (self.shape[axis], origins[axis]);
            let error = Filter2dError::Origin { what: NAMES[axis], origin, weights };
            origin::left(weights, origin, is_flipped).ok_or(error)
        };
        Ok(Weights { left: [place(0)?, place(1)?], ..self })
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

    /// Returns all weights, or an error if there are none, or if a product of integers exceeds their type.
    pub(super) fn array(&self) -> Result<Array2<W>> {
        self.check()?;
        let values = match &self.values {
            Values::Dense(values) => allocation::copied(values)?,
            Values::Separable { column, row } => products(column, row)?,
        };
        Ok(Array2::from_shape_vec(self.shape, values).expect("there is a value for each place"))
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
    /// Returns the sum of the products of dense weights and equal samples, rounded as sums of outputs. The result for an outer product
    /// is 0: neither is it renormalised, nor is it one of its own passes.
    pub(super) fn sum_of(&self, sample: A) -> A {
        let Values::Dense(weights) = &self.values else { return A::ZERO };
        weights.iter().fold(A::ZERO, |sum, &weight| A::multiply_add(sum, sample, weight))
    }

    /// Returns the first weight, in row-major order.
    pub(super) fn first(&self) -> A {
        let first = |values: &[A]| values.first().copied().unwrap_or(A::ZERO);
        match &self.values {
            Values::Dense(values) => first(values),
            Values::Separable { column, row } => A::multiply_add(A::ZERO, first(column), first(row)),
        }
    }

    /// Returns whether all weights are equal, and finite. An outer product answers as its dense form.
    pub(super) fn are_equal(&self) -> bool {
        let (weight, others) = match &self.values {
            Values::Dense(weights) => match extremes(weights) {
                Some([least, most]) => (least, [most; 3]),
                None => return false,
            },
            Values::Separable { column, row } => match extremes(column).zip(extremes(row)) {
                // All other products are between these.
                Some(([c, d], [r, s])) => {
                    let product = |c, r| A::multiply_add(A::ZERO, c, r);
                    (product(c, r), [product(c, s), product(d, r), product(d, s)])
                }
                None => return false,
            },
        };
        // Zero times an infinity or a NaN is NaN.
        let is_finite = !A::multiply_add(A::ZERO, weight, A::ZERO).is_nan();
        is_finite && others == [weight; 3]
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

    /// Returns the same weights, dense.
    pub(super) fn densified(&self) -> Result<Self> {
        Ok(Weights { shape: self.shape, values: Values::Dense(self.row_after_row()?.into()), left: self.left })
    }
}

/// Returns the outer product of a column and a row, row after row.
fn products<W: FilterWeight>(column: &[W], row: &[W]) -> Result<Vec<W>> {
    let mut values = allocation::reserved(column.len().saturating_mul(row.len()))?;
    for &c in column {
        for &r in row {
            values.push(product(c, r)?);
        }
    }
    Ok(values)
}

/// Returns the product of two weights, rounded once.
fn product<W: FilterWeight>(column: W, row: W) -> Result<W> {
    // Exact for products of integers that their type can represent, and for those of `f32`.
    let exact = column.to_f64() * row.to_f64();
    let product = W::of_f64(exact);
    if W::IS_INTEGER && product.to_f64() != exact {
        let [column, row] = [column, row].map(W::to_f64);
        return Err(Filter2dError::ProductTooLarge { column, row, weights: W::NAME }.into());
    }
    Ok(product)
}

/// Returns the smallest and the largest one of some numbers, or `None` if one is NaN.
fn extremes<A: Accumulator>(numbers: &[A]) -> Option<[A; 2]> {
    let first = numbers.first().copied()?;
    numbers.iter().try_fold([first; 2], |[least, most], &number| {
        let is_nan = number.is_nan();
        (!is_nan).then(|| [if number < least { number } else { least }, if number > most { number } else { most }])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_equal(column: Vec<f32>, row: Vec<f32>) -> bool {
        Weights::separable(Arc::new(column), Arc::new(row)).are_equal()
    }

    #[test]
    fn products_that_are_all_equal() {
        assert!(are_equal(vec![2.0; 3], vec![-0.5; 4]) && are_equal(vec![0.0, 0.0], vec![3.0, -7.0, 2.0]));
        assert!(!are_equal(vec![1.0, 2.0, 1.0], vec![1.0; 3]) && !are_equal(vec![1.0, -1.0], vec![1.0, -1.0]));
        for not_finite in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(!are_equal(vec![not_finite; 2], vec![1.0; 2]));
            assert!(!are_equal(vec![0.0; 2], vec![1.0, not_finite, 2.0]));
        }
        // The products of all underflow, or overflow. Each with each would be 10^12 of them.
        let numbers = |unit: f32| (0..1_000_000).map(move |i| (1.0 + i as f32 / 1e6) * unit).collect();
        assert!(are_equal(numbers(1e-30), numbers(1e-30)) && !are_equal(numbers(1e30), numbers(1e30)));
    }

    #[test]
    fn dense_weights_that_are_all_equal() {
        let are_equal = |weights: Vec<f64>| Weights::dense([1, weights.len()], weights).are_equal();
        assert!(are_equal(vec![0.25; 5]) && are_equal(vec![0.0, -0.0]));
        assert!(!are_equal(vec![1.0, 1.0, 2.0]) && !are_equal(vec![1.0, f64::NAN]));
    }

    #[test]
    fn first_weights() {
        assert_eq!(Weights::dense([1, 2], vec![3, 4]).first(), 3);
        assert_eq!(Weights::separable(Arc::new(vec![2.0, 1.0]), Arc::new(vec![-0.5, 8.0])).first(), -1.0);
    }
}
