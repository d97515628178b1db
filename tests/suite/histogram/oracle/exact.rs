//! Borders of bins by their definition, and errors of sums, in exact long integers.

use std::cmp::Ordering;

/// The number of 32-bit limbs: enough for `2^1024 · 2^100` in units of `2^-1074`. Every float is a multiple of that unit.
const LIMBS: usize = 70;

/// Error of a sum of weights, relative to the sum of their magnitudes: `2^-50`, by the documentation.
const ERROR_LOG2: u64 = 50;

/// A sum of floats times integers, with separate sums of the positive and the negative terms.
struct Sum([[u32; LIMBS]; 2]);

impl Sum {
    fn new(terms: &[(f64, u32)]) -> Self {
        let mut sum = Sum([[0; LIMBS]; 2]);
        terms.iter().for_each(|&(number, factor)| sum.add(number, factor, 0));
        sum
    }

    /// Adds a finite number times a factor times `2^log2`.
    fn add(&mut self, number: f64, factor: u32, log2: u64) {
        let bits = number.to_bits();
        let field = bits >> 52 & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (significand, shift) = if field == 0 { (fraction, 0) } else { (fraction | 1 << 52, field - 1) };
        let shift = shift + log2;
        let limbs = &mut self.0[usize::from(number.is_sign_negative())][shift as usize / 32..];
        let mut rest = (u128::from(significand) * u128::from(factor)) << (shift % 32);
        for limb in limbs {
            if rest == 0 {
                break;
            }
            rest += u128::from(*limb);
            *limb = rest as u32;
            rest >>= 32;
        }
    }

    /// Compares the sum with zero.
    fn sign(&self) -> Ordering {
        let [positive, negative] = &self.0;
        positive.iter().rev().cmp(negative.iter().rev())
    }
}

/// Returns whether border `k` of `bins` bins between `lower` and `upper`, rounded to the nearest float, ties to even, is at
/// most `x`. `next` is the float after `x`, and `is_even` says whether the last bit of `x` is 0.
pub(super) fn reaches_border(
    [x, next]: [f64; 2],
    is_even: bool,
    k: usize,
    bins: usize,
    [lower, upper]: [f64; 2],
) -> bool {
    // Twice the border minus twice the middle between the two floats, times the bins.
    let (k, bins) = (k as u32, bins as u32);
    let difference = Sum::new(&[(lower, 2 * (bins - k)), (upper, 2 * k), (-x, bins), (-next, bins)]);
    match difference.sign() {
        Ordering::Less => true,
        Ordering::Equal => is_even,
        Ordering::Greater => false,
    }
}

/// Returns whether a sum of weights differs from the exact sum by at most `2^-50` times the sum of their magnitudes. An
/// infinite sum is accurate if the exact one is at least the largest `f64`.
pub(super) fn is_accurate(sum: f64, weights: &[f64]) -> bool {
    if sum.is_infinite() {
        let mut beyond = Sum::new(&[(-f64::MAX, 1)]);
        weights.iter().for_each(|weight| beyond.add(weight * sum.signum(), 1, 0));
        return beyond.sign() != Ordering::Less;
    }
    // The exact sum may be above and below.
    [1.0, -1.0].iter().all(|sign| {
        let mut excess = Sum::new(&[]);
        excess.add(-sign * sum, 1, ERROR_LOG2);
        for weight in weights {
            excess.add(sign * weight, 1, ERROR_LOG2);
            excess.add(-weight.abs(), 1, 0);
        }
        excess.sign() != Ordering::Greater
    })
}
