//! Sums of weights by the documented rule, in integers, and their errors.

use super::{Counted, exact};
use crate::random::Random;

/// The number of weights up to which a sum depends on nothing but the weights in its bin.
const COUNT_LOG2: i32 = 30;

/// Exponent of the smallest positive `f64`.
const LEAST: i32 = -1074;

/// A type of weights. Every weight is exact in `f64`.
pub trait Weight: Copy + Into<f64> {}

impl Weight for f32 {}
impl Weight for f64 {}

impl Counted {
    /// Returns the sums of weights in the order of the counters, bit for bit.
    ///
    /// # Panics
    ///
    /// If a sum by the rule does not have the accuracy that it promises.
    pub fn sums<W: Weight>(&self, weights: &[W]) -> Vec<f64> {
        self.sums_of_doubles(&weights.iter().map(|&weight| weight.into()).collect::<Vec<_>>())
    }

    fn sums_of_doubles(&self, weights: &[f64]) -> Vec<f64> {
        let counted = self.places.iter().zip(weights).filter_map(|(place, weight)| Some(((*place)?, *weight)));
        let mut counted: Vec<(usize, f64)> = counted.collect();
        counted.sort_by_key(|(place, _)| *place);
        let mut sums = vec![0.0; self.counters];
        for group in counted.chunk_by(|a, b| a.0 == b.0) {
            let of_one: Vec<f64> = group.iter().map(|(_, weight)| *weight).collect();
            let sum = sum(&of_one, weights.len());
            assert!(exact::is_accurate(sum, &of_one), "{sum:e} is not the sum of {of_one:?}");
            sums[group[0].0] = sum;
        }
        sums
    }
}

/// Returns the sum of the weights of one bin, of `count` weights in all.
fn sum(weights: &[f64], count: usize) -> f64 {
    let exponent = quantum(weights, count);
    let multiples: i128 = weights.iter().map(|weight| multiple(*weight, exponent)).sum();
    let unit =
        f64::from_bits(if exponent < -1022 { 1 << (exponent - LEAST) } else { ((exponent + 1023) as u64) << 52 });
    multiples as f64 * unit
}

/// Returns the exponent of the quantum: `max(e + l - 125, -1074)`, with `2^e <= max|w| < 2^(e + 1)` and the smallest `l`, at
/// least 30, with `count <= 2^l`.
fn quantum(weights: &[f64], count: usize) -> i32 {
    let largest = weights.iter().fold(0.0f64, |largest, weight| largest.max(weight.abs()));
    let (significand, power) = significand(largest);
    let e = power + significand.max(1).ilog2() as i32;
    let l = (COUNT_LOG2..64).find(|l| count as u128 <= 1 << l).expect("memory cannot hold more");
    (e + l - 125).max(LEAST)
}

/// Returns the whole number and the exponent of the power of two whose product is the magnitude of a number.
fn significand(number: f64) -> (i128, i32) {
    let (field, fraction) = ((number.to_bits() >> 52 & 0x7ff) as i32, (number.to_bits() & ((1 << 52) - 1)).into());
    if field == 0 { (fraction, LEAST) } else { (fraction | 1 << 52, field - 1075) }
}

/// Returns the multiple of `2^exponent` that is nearest to a number, ties to even.
fn multiple(number: f64, exponent: i32) -> i128 {
    let (significand, power) = significand(number);
    let magnitude = match power - exponent {
        shift @ 0.. => significand << shift,
        shift if shift < -100 => 0,
        shift => {
            let (whole, rest, half) = (significand >> -shift, significand & ((1 << -shift) - 1), 1i128 << (-shift - 1));
            whole + i128::from(rest > half || (rest == half && whole % 2 == 1))
        }
    };
    if number.is_sign_negative() { -magnitude } else { magnitude }
}

/// Returns weights of all magnitudes, with both signs and zeros.
pub fn weights(count: usize, random: &mut Random) -> Vec<f32> {
    let weight = |random: &mut Random| match random.below(16) {
        0 => 0.0,
        1 => f32::from_bits(random.below(1 << 23) as u32),
        _ => ((random.unit() - 0.3) * 2f64.powi(random.below(60) as i32 - 30)) as f32,
    };
    (0..count).map(|_| weight(random)).collect()
}
