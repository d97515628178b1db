//! Borders of bins as their definition says, in whole numbers that are as long as it takes.

use std::cmp::Ordering;

/// 32 bits each: room for `2^1024 · 2^26` in units of `2^-1074`, which every float is a multiple of.
const LIMBS: usize = 68;

/// A sum of floats times whole numbers, its positive and its negative terms apart.
struct Sum([[u32; LIMBS]; 2]);

impl Sum {
    fn new(terms: &[(f64, u32)]) -> Self {
        let mut sum = Sum([[0; LIMBS]; 2]);
        terms.iter().for_each(|&(number, factor)| sum.add(number, factor));
        sum
    }

    fn add(&mut self, number: f64, factor: u32) {
        let bits = number.to_bits();
        let field = bits >> 52 & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (significand, shift) = if field == 0 { (fraction, 0) } else { (fraction | 1 << 52, field - 1) };
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

    /// How it compares with zero.
    fn sign(&self) -> Ordering {
        let [positive, negative] = &self.0;
        positive.iter().rev().cmp(negative.iter().rev())
    }
}

/// Whether border `k` of `bins` bins between these ends, rounded to the nearest float, ties to even, is at most `x`, which
/// `next` follows; `is_even` tells whether the last bit of `x` is 0.
pub fn is_behind([x, next]: [f64; 2], is_even: bool, k: usize, bins: usize, [lower, upper]: [f64; 2]) -> bool {
    // Twice the border, and twice the middle between the two floats, times the bins.
    let (k, bins) = (k as u32, bins as u32);
    let difference = Sum::new(&[(lower, 2 * (bins - k)), (upper, 2 * k), (-x, bins), (-next, bins)]);
    match difference.sign() {
        Ordering::Less => true,
        Ordering::Equal => is_even,
        Ordering::Greater => false,
    }
}
