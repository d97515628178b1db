//! Types of weights, and their rounding to multiples of a quantum.

use super::HistogramError;
use crate::parallel::{combined, for_elements};
use crate::{Buffer, Element, Result, allocation};
use slm_kernels::histogram::Quantum;

/// Minimum number of weights per thread.
const SHARE: usize = 1 << 14;

/// A type of weights: `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Weigh` in their generic code")]
pub trait HistogramWeight: Element + Weigh {}

/// Operations per type of weights.
pub(crate) trait Weigh: Element {
    fn of_slice(weights: &[Self]) -> WeightSlice<'_>;

    fn of_buffer(weights: &Buffer<Self>) -> WeightBuffer<'_>;
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
    F32(&'a Buffer<f32>),
    F64(&'a Buffer<f64>),
}

impl<'a> WeightBuffer<'a> {
    /// Returns the first `len` weights, which are on the CPU.
    pub(super) fn on_cpu(self, len: usize) -> WeightSlice<'a> {
        match self {
            WeightBuffer::F32(weights) => WeightSlice::F32(&weights.storage().cpu()[..len]),
            WeightBuffer::F64(weights) => WeightSlice::F64(&weights.storage().cpu()[..len]),
        }
    }
}

macro_rules! weights {
    ($($t:ty: $name:ident;)*) => {$(
        impl HistogramWeight for $t {}
        impl Weigh for $t {
            fn of_slice(weights: &[$t]) -> WeightSlice<'_> {
                WeightSlice::$name(weights)
            }

            fn of_buffer(weights: &Buffer<$t>) -> WeightBuffer<'_> {
                WeightBuffer::$name(weights)
            }
        }
    )*};
}
weights! {
    f32: F32;
    f64: F64;
}

/// Sums of weights, in multiples of their quantum.
pub(crate) struct Sums {
    pub(super) multiples: Vec<i64>,
    pub(super) quantum: Quantum,
}

impl Sums {
    /// Returns the quantum as a number.
    pub(super) fn unit(&self) -> f64 {
        power_of_two(self.quantum.exponent)
    }

    /// Returns the sums as numbers, each rounded once.
    pub(super) fn values(&self) -> Result<Vec<f64>> {
        let (mut values, unit) = (allocation::reserved(self.multiples.len())?, self.unit());
        values.extend(self.multiples.iter().map(|&multiple| multiple as f64 * unit));
        Ok(values)
    }
}

/// Arithmetic of a type of weights.
pub(super) trait Real: Element + Into<f64> {
    /// Returns the quantum of `count` weights with this largest magnitude, a finite number.
    fn quantum(largest: Self, count: usize) -> Quantum;

    /// Returns the multiple of the quantum that is nearest to a finite weight, ties to even.
    fn multiple(self, quantum: Quantum) -> i64;

    /// Returns the larger of two magnitudes.
    fn larger(self, other: Self) -> Self;
}

impl Real for f32 {
    fn quantum(largest: f32, count: usize) -> Quantum {
        Quantum::new(largest, count as u64)
    }

    fn multiple(self, quantum: Quantum) -> i64 {
        quantum.multiple(self)
    }

    fn larger(self, other: f32) -> f32 {
        self.abs().max(other.abs())
    }
}

impl Real for f64 {
    /// Returns the same quantum as [`Quantum::new`], but at least the smallest positive `f64`, because every `f64` is a
    /// multiple of it.
    fn quantum(largest: f64, count: usize) -> Quantum {
        let log2_of_count = usize::BITS - count.saturating_sub(1).leading_zeros();
        Quantum { exponent: (exponent(largest) + 1 + log2_of_count as i32 - 62).max(LEAST) }
    }

    /// Multiplies in two steps, because `f64` cannot represent every such power. Both steps are exact, unless the result is
    /// rounded to 0 in any case.
    fn multiple(self, quantum: Quantum) -> i64 {
        let first = (-quantum.exponent).clamp(-1000, 1000);
        let scaled = self * power_of_two(first) * power_of_two(-quantum.exponent - first);
        scaled.round_ties_even() as i64
    }

    fn larger(self, other: f64) -> f64 {
        self.abs().max(other.abs())
    }
}

/// Exponent of the smallest positive `f64`.
const LEAST: i32 = -1074;

/// Returns the exponent of the largest power of two that does not exceed a positive `f64`. For 0, returns the exponent of the
/// smallest positive one.
fn exponent(number: f64) -> i32 {
    let bits = number.to_bits();
    match (bits >> 52) as i32 {
        0 => LEAST + bits.max(1).ilog2() as i32,
        field => field - 1023,
    }
}

/// Returns `2^exponent`, which must be at least the smallest positive `f64`.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(if exponent < -1022 { 1 << (exponent - LEAST) } else { ((exponent + 1023) as u64) << 52 })
}

/// Returns the quantum of weights, or an error if a weight is not finite.
pub(super) fn quantum<W: Real>(weights: &[W]) -> Result<Quantum> {
    check_weights(weights)?;
    let largest_of = |_, weights: &[W]| weights.iter().copied().fold(W::default(), W::larger);
    let largest = combined(weights, SHARE, &largest_of, W::larger).unwrap_or_default();
    Ok(W::quantum(largest, weights.len()))
}

/// Returns an error if a weight is not finite.
pub(super) fn check_weights<W: Real>(weights: &[W]) -> Result<()> {
    let is_finite = |weight: &W| -> bool { (*weight).into().is_finite() };
    let first_of = |first, weights: &[W]| Some(first + weights.iter().position(|weight| !is_finite(weight))?);
    match combined(weights, SHARE, &first_of, Option::or).flatten() {
        None => Ok(()),
        Some(index) => Err(HistogramError::Weight { index, weight: weights[index].into() }.into()),
    }
}

/// Quantum of weights that are integers.
pub(super) const ONE: Quantum = Quantum { exponent: 0 };

/// Significand bits of `f32`.
const DIGITS: u32 = f32::MANTISSA_DIGITS;

/// Maximum number of parts of a multiple, which has 62 bits.
pub(super) const PARTS: u32 = 3;

/// Returns one part of each multiple of a quantum, as numbers that kernels can add. The sum of all `PARTS` parts is the
/// multiple, and each part is an integer that `f32` represents exactly. Returns `None` if this part is zero for all multiples.
pub(super) fn part(weights: &[f64], quantum: Quantum, part: u32) -> Result<Option<Vec<f32>>> {
    let of = |weight: &f64| {
        let multiple = weight.multiple(quantum);
        let digits = multiple.unsigned_abs() >> (DIGITS * part) & ((1 << DIGITS) - 1);
        let magnitude = (digits << (DIGITS * part)) as f32;
        if multiple < 0 { -magnitude } else { magnitude }
    };
    let mut parts = allocation::filled(0.0, weights.len())?;
    for_elements(&mut parts, SHARE, |k, part| *part = of(&weights[k]));
    let is_zero = combined(&parts, SHARE, &|_, parts| parts.iter().all(|part| *part == 0.0), |a, b| a && b);
    Ok((is_zero == Some(false)).then_some(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers near powers of two and halves, and near the ends of the binades.
    fn numbers() -> impl Iterator<Item = f64> {
        let significands = [0, 1, 2, 3, 1 << 51, (1 << 51) + 1, (1 << 52) - 1];
        let positive = (0..2047u64).step_by(31).chain([2046]);
        let positive = positive.flat_map(move |field| significands.map(|s| f64::from_bits(field << 52 | s)));
        positive.flat_map(|number| [number, -number])
    }

    /// Returns the multiple of `2^exponent` that is nearest to a number, by integer arithmetic on the significand.
    fn nearest(number: f64, exponent: i32) -> i128 {
        let field = (number.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = (number.to_bits() & ((1 << 52) - 1)) as i128;
        let (significand, power) = if field == 0 { (fraction, LEAST) } else { (fraction | 1 << 52, field - 1075) };
        let magnitude = match power - exponent {
            shift @ 0.. => significand << shift,
            shift if shift < -100 => 0,
            shift => {
                let (whole, rest, half) =
                    (significand >> -shift, significand & ((1 << -shift) - 1), 1i128 << (-shift - 1));
                whole + i128::from(rest > half || (rest == half && whole % 2 == 1))
            }
        };
        if number.is_sign_negative() { -magnitude } else { magnitude }
    }

    #[test]
    fn multiples_of_f64_are_the_nearest() {
        for largest in [5e-324, f64::MIN_POSITIVE, 1e-300, 0.1, 1.0, 3e10, 1e300, f64::MAX] {
            for count in [1, 3, 1 << 20, (1 << 40) + 1] {
                let quantum = f64::quantum(largest, count);
                assert!(quantum.exponent >= LEAST && power_of_two(quantum.exponent) > 0.0);
                let most = i128::from(largest.multiple(quantum)) * count as i128;
                assert!(most <= 1 << 62, "{count} times {largest:e}");
                assert!(most >= 1 << 60 || quantum.exponent == LEAST, "{count} times {largest:e}");
                for weight in numbers().filter(|number| number.abs() <= largest) {
                    let expected = nearest(weight, quantum.exponent);
                    assert_eq!(i128::from(weight.multiple(quantum)), expected, "{weight:e} of {largest:e}, {count}");
                }
            }
        }
    }

    #[test]
    fn parts_add_up_to_multiples() {
        let weights: Vec<f64> = numbers().filter(|number| number.abs() <= 1e10).chain([1.0 / 3.0, -1e10]).collect();
        let quantum = quantum(&weights).unwrap();
        let parts = [0, 1, 2].map(|k| part(&weights, quantum, k).unwrap().unwrap());
        for (i, weight) in weights.iter().enumerate() {
            let sum: i64 = parts.iter().map(|part| ONE.multiple(part[i])).sum();
            assert_eq!(sum, weight.multiple(quantum), "{weight:e}");
        }
        assert_eq!(part(&[0.0; 3], quantum, 0), Ok(None));
    }

    #[test]
    fn exponents() {
        assert_eq!(
            [0.0, 5e-324, 1e-323, f64::MIN_POSITIVE, 0.75, 1.0].map(exponent),
            [-1074, -1074, -1073, -1022, -1, 0]
        );
        assert_eq!(
            [-1074, -1023, -1022, 0, 3].map(power_of_two),
            [5e-324, f64::MIN_POSITIVE / 2.0, f64::MIN_POSITIVE, 1.0, 8.0]
        );
    }

    #[test]
    fn the_first_weight_that_is_not_finite() {
        let error = |index, weight| Err(HistogramError::Weight { index, weight }.into());
        assert_eq!(check_weights(&[0.0, f64::MAX, f64::INFINITY, f64::NAN]), error(2, f64::INFINITY));
        assert_eq!(quantum(&[f32::NEG_INFINITY]).map(drop), error(0, f64::NEG_INFINITY));
    }
}
