//! Weights as multiples of a quantum, so that their sums are exact and do not depend on the order.
//!
//! Both types of weights are `f64` in a [`Quantum`]: the conversion of an `f32` is exact. Integer arithmetic on the bits makes the
//! results the same on every device.
//!
//! A [`Span`] is for weights of which most have similar magnitudes: all of its weights are multiples of one quantum, without
//! rounding, and have few words.

use cuda_std::Value;
use cuda_std::math::opaque;

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

/// A type of weights, by the fields of its numbers.
pub trait Weight: Value {
    /// Number of stored bits of the significand.
    const STORED: u32;
    /// The exponent field of infinity and NaN.
    const NOT_FINITE: u32;
    /// Words of the multiples of a span.
    const WORDS: u32;
    /// Exponent of the smallest positive number.
    const LEAST: i32;

    /// Returns the bits.
    fn bits(self) -> u64;

    /// Returns the bits without the sign, doubled.
    fn magnitude_twice(self) -> u64;

    /// Returns `significand * 2^shift` as three words, the lowest one first.
    fn shifted(significand: u64, shift: u32) -> [u32; 3];
}

impl Weight for f32 {
    const STORED: u32 = 23;
    const NOT_FINITE: u32 = 0xff;
    const WORDS: u32 = 2;
    const LEAST: i32 = -149;

    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits().into()
    }

    #[inline(always)]
    fn magnitude_twice(self) -> u64 {
        // Two instructions for the field, of which only one takes the unit for logic, which limits `weigh_once.rs`. The compiler
        // would make others.
        opaque(self.to_bits().wrapping_add(self.to_bits())).into()
    }

    #[inline(always)]
    fn shifted(significand: u64, shift: u32) -> [u32; 3] {
        let number = significand << shift;
        [number as u32, (number >> 32) as u32, 0]
    }
}

impl Weight for f64 {
    const STORED: u32 = STORED;
    const NOT_FINITE: u32 = NOT_FINITE;
    const WORDS: u32 = 3;
    const LEAST: i32 = LEAST;

    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn magnitude_twice(self) -> u64 {
        self.to_bits() << 1
    }

    #[inline(always)]
    fn shifted(significand: u64, shift: u32) -> [u32; 3] {
        let number = (significand as u128) << shift;
        [number as u32, (number >> 32) as u32, (number >> 64) as u32]
    }
}

/// The normal weights of a type whose exponent fields are in a range, which begins with `least`, and 0. They are multiples of one
/// quantum: the value of the last bit of a significand with field `least`.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The least exponent field, at least 1.
    pub least: u32,
}

/// A multiple of the quantum of a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Multiple {
    pub(super) is_negative: bool,
    /// The magnitude, lowest word first.
    pub(super) words: [u32; 3],
}

impl Multiple {
    pub(super) const ZERO: Self = Multiple { is_negative: false, words: [0; 3] };

    #[inline(always)]
    pub(super) fn signed(self) -> i128 {
        let magnitude = self.words.into_iter().rev().fold(0, |high, word| high << u32::BITS | word as i128);
        if self.is_negative { -magnitude } else { magnitude }
    }
}

/// Exponent fields of a span above the largest known one.
const ABOVE: u32 = 4;

impl Span {
    /// Returns the fields of a span: as many as its multiples have bits beyond those of a significand.
    #[inline(always)]
    const fn fields<W: Weight>() -> u32 {
        u32::BITS * W::WORDS - W::STORED
    }

    /// Returns a span that contains weights with exponent field `most`, and a few larger ones.
    #[inline(always)]
    #[must_use]
    pub fn around<W: Weight>(most: u32) -> Self {
        let fields = Self::fields::<W>();
        // The last field is at most that of the largest finite number.
        Span { least: (most + ABOVE + 1).saturating_sub(fields).max(1).min(W::NOT_FINITE - fields) }
    }

    /// Returns a weight as a multiple of the quantum, and 0; or 0 and another number if it is not in the span.
    #[inline(always)]
    pub(super) fn multiple<W: Weight>(self, weight: W) -> (Multiple, u64) {
        let (bits, magnitude) = (weight.bits(), weight.magnitude_twice());
        let shift = ((magnitude >> (W::STORED + 1)) as u32).wrapping_sub(self.least);
        let significand = bits & ((1 << W::STORED) - 1) | 1 << W::STORED;
        match shift < Self::fields::<W>() {
            true => {
                let is_negative = bits >> (8 * size_of::<W>() - 1) != 0;
                (Multiple { is_negative, words: W::shifted(significand, shift) }, 0)
            }
            false => (Multiple::ZERO, magnitude),
        }
    }
}

/// Returns the exponent field of a weight.
#[inline(always)]
pub(super) fn field_of<W: Weight>(weight: W) -> u32 {
    (weight.bits() >> W::STORED) as u32 & W::NOT_FINITE
}
