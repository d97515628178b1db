//! Weights as multiples of a quantum, so that their sums are exact and do not depend on the order.
//!
//! Both types of weights are `f64` here: the conversion of an `f32` is exact. Integer arithmetic on the bits makes the results
//! the same on every device.

/// Number of stored bits of an `f64`'s significand.
pub(super) const STORED: u32 = 52;

/// Exponent of the smallest positive `f64`. Every `f64` is a multiple of this power of two.
pub(super) const LEAST: i32 = -1074;

/// The [`magnitude`] of infinity and NaN.
pub const NOT_FINITE: u32 = 0x7ff;

/// Bits of a sum of multiples, without its sign and one more.
pub(super) const SUM_BITS: i32 = 126;

/// Returns the exponent field of a weight. It is 0 for 0 and subnormal numbers; for a normal one, `2^(field - 1023)` is the
/// largest power of two that does not exceed its magnitude.
#[inline(always)]
#[must_use]
pub fn magnitude(weight: f64) -> u32 {
    (weight.to_bits() >> STORED) as u32 & NOT_FINITE
}

/// A power of two. The weights of a cell are rounded to the nearest multiples, ties to even, and the multiples are added.
///
/// The quantum is chosen such that no sum can overflow. With `2^e <= max|w| < 2^(e + 1)` for the weights of the cell, and `n <=
/// 2^l` weights in all, it is `2^(e + l - 125)`. Every `|w|` is less than `2^(126 - l)` multiples of it, a whole number because
/// `l` is at most 64. So a sum of `n` multiples is at most `2^126`.
///
/// If that is less than the smallest positive `f64`, the latter is the quantum, and no weight is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantum {
    /// Exponent of the power of two.
    pub(super) exponent: i32,
}

impl Quantum {
    /// Returns the quantum of a cell whose largest weight has this [`magnitude`], of at most `2^count_log2` weights in all.
    #[inline(always)]
    #[must_use]
    pub fn new(peak: u32, count_log2: u32) -> Self {
        let exponent = peak as i32 - 1023;
        Quantum { exponent: (exponent + 1 + count_log2 as i32 - SUM_BITS).max(LEAST) }
    }

    /// Returns the multiple of the quantum that is nearest to a weight of the cell, ties to even.
    #[inline(always)]
    #[must_use]
    pub fn multiple(&self, weight: f64) -> i128 {
        let (field, stored) = (magnitude(weight), weight.to_bits() & ((1 << STORED) - 1));
        let significand = if field == 0 { stored } else { stored | 1 << STORED };
        let shift = field.max(1) as i32 - 1 + LEAST - self.exponent;
        let multiple = if shift >= 0 {
            // The shift is less than 64, because the multiple of the largest weight fits.
            (significand as i128) << (shift & 63)
        } else {
            rounded_shift(significand, shift.unsigned_abs()) as i128
        };
        if weight.is_sign_negative() { -multiple } else { multiple }
    }
}

/// Returns `number / 2^shift`, rounded to nearest, ties to even. `number` has at most 53 bits; `shift` is at least 1.
#[inline(always)]
pub(super) fn rounded_shift(number: u64, shift: u32) -> u64 {
    // With a shift of 54 bits or more, the quotient is less than a half.
    let shift = shift.min(54);
    let odd = number >> shift & 1;
    (number + (1 << (shift - 1)) - 1 + odd) >> shift
}
