//! Sums on the CPU.

use super::element::{Scalar, Slice, with_type};
use crate::cpu::allocation;
use crate::cpu::multiply_add::MultiplyAdd;
use crate::cpu::vector::vectorised;
use crate::element::stored::Stored;
use crate::{Element, Result};
use slm_kernels::signal::{self, Output};

/// A type of sums, and of the samples and weights that it is computed from.
pub(super) trait Accumulator: Element + PartialOrd + signal::Accumulator + MultiplyAdd {
    fn of_scalar(sample: Scalar) -> Self;

    /// Appends converted samples: groups that begin at `first`, `first + step`, …. `groups` is their length, number and step.
    fn extend(to: &mut Vec<Self>, samples: Slice<'_>, first: usize, groups: [usize; 3]);
}

macro_rules! accumulators {
    ($($t:ty)*) => {$(
        impl Accumulator for $t {
            fn of_scalar(sample: Scalar) -> Self {
                with_type!(Scalar, sample, sample => Output::<$t>::to_sum(sample))
            }

            fn extend(to: &mut Vec<Self>, samples: Slice<'_>, first: usize, [len, count, step]: [usize; 3]) {
                with_type!(Slice, samples, samples => vectorised!({
                    for group in (0..count).map(|number| &samples[first + number * step..][..len]) {
                        to.extend(group.iter().map(|&sample| Output::<$t>::to_sum(sample)));
                    }
                }))
            }
        }
    )*};
}
accumulators!(i32 i64 f32 f64);

/// Returns zeros. Pieces of outputs are too small to fill them on all cores.
pub(super) fn zeros<A: Accumulator>(len: usize) -> Result<Vec<A>> {
    let mut zeros = allocation::reserved(len)?;
    zeros.resize(len, A::ZERO);
    Ok(zeros)
}

/// Stores as many sums as there are outputs, divided first if there is a divisor.
pub(super) fn store<A: Accumulator, O: Stored<A>>(sums: &[A], divisor: Option<A>, outputs: &mut [O]) {
    match divisor {
        None => store_each(sums, outputs, |sum| sum),
        Some(divisor) => store_each(sums, outputs, |sum| sum.quotient(divisor)),
    }
}

fn store_each<A: Accumulator, O: Stored<A>>(sums: &[A], outputs: &mut [O], of_sum: impl Fn(A) -> A) {
    vectorised!({
        for (output, &sum) in outputs.iter_mut().zip(sums) {
            *output = O::stored(of_sum(sum));
        }
    });
}
