//! Sums on the CPU.

use super::element::{Scalar, Slice, with_type};
use super::weights::{Values, Weights};
use crate::Element;
use crate::multiply_add::MultiplyAdd;
use slm_kernels::signal::{self, Output};
use std::ops::Range;

/// A type of sums, and of the samples and weights that it is computed from.
pub(super) trait Accumulator: Element + signal::Accumulator + MultiplyAdd {
    fn of_scalar(sample: Scalar) -> Self;

    /// Appends converted samples.
    fn extend(to: &mut Vec<Self>, samples: Slice<'_>, range: Range<usize>);
}

macro_rules! accumulators {
    ($($t:ty)*) => {$(
        impl Accumulator for $t {
            fn of_scalar(sample: Scalar) -> Self {
                with_type!(Scalar, sample, sample => Output::<$t>::to_sum(sample))
            }

            fn extend(to: &mut Vec<Self>, samples: Slice<'_>, range: Range<usize>) {
                with_type!(Slice, samples, samples => {
                    to.extend(samples[range].iter().map(|&sample| Output::<$t>::to_sum(sample)));
                })
            }
        }
    )*};
}
accumulators!(i32 i64 f32 f64);

impl<A: Accumulator> Weights<A> {
    /// Returns the sum of dense weights, rounded as sums of outputs whose samples are all 1.
    pub(super) fn total(&self) -> A {
        let Values::Dense(weights) = &self.values else { return A::ZERO };
        weights.iter().fold(A::ZERO, |sum, &weight| A::multiply_add(sum, A::ONE, weight))
    }
}
