//! Types of weights, and their sums.

use super::HistogramError;
use crate::cpu::allocation;
use crate::cpu::parallel::{combined, for_elements};
use crate::cpu::vector::vectorised;
use crate::element::raw::Raw;
use crate::{BufferSlice, Element, Result, Windows};
use cuda_std::GlobalIn;
use slm_kernels::histogram::{NOT_FINITE, Quantum, magnitude};

/// Minimum number of weights per thread.
const SHARE: usize = 1 << 14;

/// A type of weights: `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Weigh` in their generic code")]
pub trait HistogramWeight: Element + Weigh {}

/// Operations per type of weights.
pub(crate) trait Weigh: Raw + Into<f64> {
    /// Number of last bits that are 0 in weights converted to `f64`.
    const ZEROS: u32;

    fn of_slice(weights: &[Self]) -> WeightSlice<'_>;

    fn of_buffer(weights: BufferSlice<'_, Self>) -> WeightBuffer<'_>;
}

/// Weights in host memory.
#[derive(Clone, Copy)]
pub(crate) enum WeightSlice<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
}

/// Weights on a device, at the beginning of a buffer.
#[derive(Clone, Copy)]
pub(crate) enum WeightBuffer<'a> {
    F32(BufferSlice<'a, f32>),
    F64(BufferSlice<'a, f64>),
}

/// Weights of `f32` and weights of `f64`. One of the windows is empty.
pub(super) type WeightWindows<'l> = (GlobalIn<'l, f32>, GlobalIn<'l, f64>);

impl<'a> WeightBuffer<'a> {
    pub(super) fn are_doubles(self) -> bool {
        matches!(self, WeightBuffer::F64(_))
    }

    /// Returns windows on all weights.
    pub(super) fn windows<'l>(self, windows: &mut Windows<'l, 'a>) -> WeightWindows<'l> {
        match self {
            WeightBuffer::F32(weights) => (windows.input_slice(weights), GlobalIn::empty()),
            WeightBuffer::F64(weights) => (GlobalIn::empty(), windows.input_slice(weights)),
        }
    }

    /// Returns an error if one of the first `len` weights is not finite.
    pub(super) fn check(self, len: usize) -> Result<()> {
        match self {
            WeightBuffer::F32(weights) => check_weights(&weights.download()?[..len], 0),
            WeightBuffer::F64(weights) => check_weights(&weights.download()?[..len], 0),
        }
    }
}

macro_rules! weights {
    ($($t:ty: $name:ident, $zeros:expr;)*) => {$(
        impl HistogramWeight for $t {}
        impl Weigh for $t {
            const ZEROS: u32 = $zeros;

            fn of_slice(weights: &[$t]) -> WeightSlice<'_> {
                WeightSlice::$name(weights)
            }

            fn of_buffer(weights: BufferSlice<'_, $t>) -> WeightBuffer<'_> {
                WeightBuffer::$name(weights)
            }
        }
    )*};
}
weights! {
    f32: F32, f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS;
    f64: F64, 0;
}

/// Minimum number of sums per thread.
const SUMS: usize = 1 << 12;

/// Returns the sums of weights as numbers, each rounded once, for the sum of multiples of each cell and the quantum of its weights.
pub(super) fn values(
    cells: usize,
    sum: impl Fn(usize) -> i128 + Sync,
    quantum: impl Fn(usize) -> Quantum + Sync,
) -> Result<Vec<f64>> {
    let mut values = allocation::filled(0.0, cells)?;
    for_elements(&mut values, SUMS, |cell, value| *value = quantum(cell).sum(sum(cell)));
    Ok(values)
}

/// Returns the least [`magnitude`] of the weights that are not 0, and the largest one of all; 0 if there is none. Returns an error if a
/// weight is not finite.
pub(super) fn magnitudes<W: Weigh>(weights: &[W]) -> Result<[u32; 2]> {
    let update = |[least, most]: [u32; 2], weight: f64| {
        let of = magnitude(weight);
        [least.min(if weight == 0.0 { NOT_FINITE } else { of }), most.max(of)]
    };
    let of = |_, weights: &[W]| {
        vectorised!(weights.iter().fold([NOT_FINITE, 0], |extremes, &weight| update(extremes, weight.into())))
    };
    let combine = |[a, b]: [u32; 2], [c, d]: [u32; 2]| [a.min(c), b.max(d)];
    let [least, most] = combined(weights, SHARE, &of, combine).unwrap_or([0; 2]);
    if most == NOT_FINITE {
        check_weights(weights, 0)?;
    }
    Ok([least.min(most), most])
}

/// Returns an error if a weight is not finite. `first` is the index of the first one.
pub(super) fn check_weights<W: Weigh>(weights: &[W], first: usize) -> Result<()> {
    let is_finite = |weight: &W| -> bool { (*weight).into().is_finite() };
    let first_of = |first, weights: &[W]| Some(first + weights.iter().position(|weight| !is_finite(weight))?);
    match combined(weights, SHARE, &first_of, Option::or).flatten() {
        None => Ok(()),
        Some(index) => Err(HistogramError::Weight { index: first + index, weight: weights[index].into() }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitudes_of_weights() {
        let of = |weight: f64| magnitude(weight);
        assert_eq!(magnitudes(&[3.0, -0.0, 1e-300, 0.0, -7e9]), Ok([of(1e-300), of(7e9)]));
        assert_eq!(magnitudes(&[0.0f32, 2.5]), Ok([of(2.5); 2]));
        assert_eq!(magnitudes::<f64>(&[]), Ok([0; 2]));
        assert_eq!(magnitudes(&[0.0, -0.0]), Ok([0; 2]));
        // Subnormal numbers count as 0 does.
        assert_eq!(magnitudes(&[1.0, f64::from_bits(1)]), Ok([0, of(1.0)]));
        let infinite = HistogramError::Weight { index: 1, weight: f64::INFINITY };
        assert_eq!(magnitudes(&[1.0, f32::INFINITY]), Err(infinite.into()));
    }

    #[test]
    fn the_first_weight_that_is_not_finite() {
        let error = |index, weight| Err(HistogramError::Weight { index, weight }.into());
        assert_eq!(check_weights(&[0.0, f64::MAX, f64::INFINITY, f64::NAN], 0), error(2, f64::INFINITY));
        assert_eq!(check_weights(&[f32::NEG_INFINITY], 7), error(7, f64::NEG_INFINITY));
    }
}
