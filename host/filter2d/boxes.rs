//! Filters whose weights are all equal.

use super::accumulator::Accumulator;
use super::sums::{Sums, with_sums};
use super::weights::{Values, Weights};
use super::window::Window;

/// Minimum number of rows plus columns of a box that the CPU sums by segments. Smaller ones take less time as other separable
/// filters.
const LEAST_ON_CPU: usize = 16;

/// Returns whether the CPU should sum windows by segments.
pub(super) fn pays_on_cpu(sums: &Sums, window: &Window) -> bool {
    let [rows, columns] = with_sums!(sums, weights => weights.shape);
    rows + columns >= LEAST_ON_CPU && window.has_unit_steps() && is_uniform(sums)
}

/// Returns whether all weights are equal, and finite.
pub(super) fn is_uniform(sums: &Sums) -> bool {
    with_sums!(sums, weights => weights.common().is_some())
}

impl<A: Accumulator> Weights<A> {
    /// Returns the weight of all samples, if it is the same for all, and finite.
    pub(super) fn common(&self) -> Option<A> {
        let common = |values: &[A]| values.iter().all(|value| *value == values[0]).then(|| values[0]);
        let weight = match &self.values {
            Values::Dense(weights) => common(weights)?,
            Values::Separable { column, row } => A::multiply_add(A::ZERO, common(column)?, common(row)?),
        };
        // Zero times an infinity or a NaN is NaN.
        let is_finite = !A::multiply_add(A::ZERO, weight, A::ZERO).is_nan();
        is_finite.then_some(weight)
    }
}
