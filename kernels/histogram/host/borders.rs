//! The exact borders of bins of equal width.
//!
//! Border `k` of floats is `(lower · (bins - k) + upper · k) / bins`, computed with 128-bit integers and rounded once.

use crate::histogram::Countable;

/// A number between whose values there are borders.
pub trait Bordered: Countable {
    /// Returns border `k` of `bins` bins from `lower` to `upper`: the smallest number in bin `k` or a later one.
    ///
    /// With the exact number `e = lower + k · (upper - lower) / bins`, this is `e` rounded up for integers, and `e` rounded
    /// to nearest, ties to even, for floats.
    #[must_use]
    fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Bordered for $t {
            fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self {
                let [lower, upper] = [i64::from(lower), i64::from(upper)];
                // No overflow: the product is less than 2^24 times 2^32.
                let distance = (i64::from(k) * (upper - lower) + i64::from(bins) - 1) / i64::from(bins);
                (lower + distance) as Self
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Bordered for $t {
            fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self {
                let border = Wide::border(k, bins, [lower.into(), upper.into()]);
                // The cast is exact, because `nearest` rounds to this type.
                border.nearest(<$t>::MANTISSA_DIGITS, <$t>::MIN_EXP - <$t>::MANTISSA_DIGITS as i32) as Self
            }
        }
    )*};
}
floats!(f32 f64);

/// Bits of a significand, including the leading one.
const DIGITS: u32 = f64::MANTISSA_DIGITS;

/// Number of bits by which the product with the larger exponent is shifted up. Significands have 53 bits and factors 25,
/// so the sum of two products fits into 126 bits.
const HEADROOM: i32 = 47;

/// A product of a float and a whole number: `significand · 2^exponent`, with 53 bits before the multiplication.
#[derive(Clone, Copy)]
struct Product {
    significand: i128,
    exponent: i32,
}

impl Product {
    /// Returns the product of `number` and `factor`, which is at most 2^24 in magnitude.
    fn new(number: f64, factor: i64) -> Self {
        let field = (number.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = number.to_bits() & ((1 << 52) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        // Zero has no leading bit; its exponent does not matter.
        let shift = significand.leading_zeros().min(63) - (u64::BITS - DIGITS);
        let magnitude = i128::from(significand << shift) * i128::from(factor);
        let significand = if number.is_sign_negative() { -magnitude } else { magnitude };
        Product { significand, exponent: field.max(1) - 1075 - shift as i32 }
    }

    /// Returns the product in units of `2^exponent`, rounded down, and whether the rounding changed it.
    fn aligned(self, exponent: i32) -> (i128, bool) {
        match self.exponent - exponent {
            // Only a zero can have an exponent that exceeds `exponent` by more than `HEADROOM`.
            shift @ 0.. => (self.significand << shift.min(HEADROOM), false),
            shift => {
                let shift = shift.unsigned_abs().min(127);
                (self.significand >> shift, self.significand != 0 && self.significand.trailing_zeros() < shift)
            }
        }
    }
}

/// A number with more bits than a float has: `(units + rest) · 2^exponent` with `0 <= rest < 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wide {
    /// At least 74 bits, unless the number is zero.
    units: i128,
    exponent: i32,
    /// Whether `rest` is not zero.
    inexact: bool,
}

impl Wide {
    /// Returns border `k` of this number of bins.
    pub(super) fn border(k: u32, bins: u32, ends: [f64; 2]) -> Self {
        Self::quotient([i64::from(bins) - i64::from(k), k.into()], ends, bins)
    }

    /// Returns the width of a bin.
    pub(super) fn width(bins: u32, ends: [f64; 2]) -> Self {
        Self::quotient([-1, 1], ends, bins)
    }

    /// Returns `(factors[0] · numbers[0] + factors[1] · numbers[1]) / divisor`. Factors are at most 2^24 in magnitude.
    fn quotient(factors: [i64; 2], numbers: [f64; 2], divisor: u32) -> Self {
        let products = [0, 1].map(|i| Product::new(numbers[i], factors[i]));
        let exponents = products.iter().filter(|product| product.significand != 0).map(|product| product.exponent);
        let Some(largest) = exponents.max() else {
            return Wide { units: 0, exponent: 0, inexact: false };
        };
        let exponent = largest - HEADROOM;
        let [(a, a_inexact), (b, b_inexact)] = products.map(|product| product.aligned(exponent));
        let (sum, inexact) = (a + b, a_inexact | b_inexact);
        // If a product lost bits, it is so much smaller than the other one that the sum has at least 98 bits.
        let shift = if inexact { 0 } else { sum.unsigned_abs().leading_zeros().saturating_sub(2) };
        let (sum, divisor) = (sum << shift.min(126), i128::from(divisor));
        Wide {
            units: sum.div_euclid(divisor),
            exponent: exponent - shift as i32,
            inexact: inexact | (sum.rem_euclid(divisor) != 0),
        }
    }

    /// Returns the nearest number with `digits` significant bits and no bit below `2^least`, ties to even.
    pub(super) fn nearest(self, digits: u32, least: i32) -> f64 {
        let below_zero = self.units < 0;
        let magnitude = self.units.unsigned_abs() - u128::from(below_zero && self.inexact);
        let length = (u128::BITS - magnitude.leading_zeros()) as i32;
        let unit = (self.exponent + length - digits as i32).max(least);
        let shift = (unit - self.exponent).clamp(1, 127) as u32;
        let (whole, part, half) = (magnitude >> shift, magnitude & ((1 << shift) - 1), 1 << (shift - 1));
        let up = part > half || (part == half && (self.inexact || whole % 2 == 1));
        let nearest = times_power_of_two((whole + u128::from(up)) as f64, unit);
        if below_zero { -nearest } else { nearest }
    }

    /// Returns the nearest multiple of `2^grid`, and the rounded rest.
    pub(super) fn split(self, grid: i32) -> [f64; 2] {
        let (high, low) = match grid - self.exponent {
            shift @ 1..=126 => {
                let high = (self.units + (1 << (shift - 1))) >> shift;
                (high, self.units - (high << shift))
            }
            _ => (0, self.units),
        };
        [times_power_of_two(high as f64, grid), times_power_of_two(low as f64, self.exponent)]
    }
}

/// Returns `number · 2^exponent`, exactly if the result is a float.
fn times_power_of_two(number: f64, exponent: i32) -> f64 {
    // Three factors, because a float cannot hold every such power.
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    let first = exponent.clamp(-1000, 1000);
    let second = (exponent - first).clamp(-1000, 1000);
    number * power(second) * power(first)
}

/// Returns the exponent of a unit such that a float can represent its multiples up to 1.5 times the larger end.
pub(super) fn grid([lower, upper]: [f64; 2]) -> i32 {
    let largest = lower.abs().max(upper.abs());
    (largest.to_bits() >> 52) as i32 - 1023 - (DIGITS as i32 - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: f64 = f64::from_bits(1);

    fn border(k: u32, bins: u32, ends: [f64; 2]) -> f64 {
        Wide::border(k, bins, ends).nearest(53, -1074)
    }

    #[test]
    fn borders_are_rounded_once() {
        assert_eq!(border(1, 3, [0.0, 1.0]), 1.0 / 3.0);
        assert_eq!(border(2, 3, [0.0, -1.0]), -2.0 / 3.0);
        assert_eq!(border(3, 10, [-1.0, 1.0]), -0.4);
        assert_eq!(border(5, 10, [-1.0, 1.0]), 0.0);
        assert_eq!(border(1, 2, [f64::MIN, f64::MAX]), 0.0);
        assert_eq!(border(1, 3, [f64::MIN, f64::MAX]), -f64::MAX / 3.0);
        assert_eq!([0, 7].map(|k| border(k, 7, [-LEAST, f64::MAX])), [-LEAST, f64::MAX]);
        assert_eq!(Wide::border(1, 3, [0.0, 1.0]).nearest(24, -149), f64::from(1.0f32 / 3.0));
    }

    #[test]
    fn ties_go_to_the_even_one() {
        let [one, two, three] = [1.0, 2.0, 3.0].map(|ulps| 1.0 + ulps * f64::EPSILON);
        assert_eq!(border(1, 2, [1.0, one]), 1.0);
        assert_eq!(border(1, 2, [one, two]), two);
        assert_eq!(border(1, 2, [1.0, three]), two);
        assert_eq!(border(1, 2, [-three, -two]), -two);
        // The smallest amount above or below a tie decides.
        assert_eq!(border(3, 4, [0.0, one]), 0.75 + f64::EPSILON);
        assert_eq!(border(3, 4, [-LEAST, one]), 0.75 + f64::EPSILON / 2.0);
        assert_eq!([1, 2].map(|k| border(k, 3, [0.0, LEAST])), [0.0, LEAST]);
        assert_eq!(border(1, 2, [0.0, LEAST]), 0.0);
    }

    #[test]
    fn parts_add_up() {
        for ends in [[0.1, 0.7], [-1.0, 1e-20], [3.0, 1e6], [-0.1, 0.2]] {
            for k in 0..=3 {
                let [multiple, rest] = Wide::border(k, 3, ends).split(grid(ends));
                assert_eq!(multiple + rest, border(k, 3, ends), "border {k} from {} to {}", ends[0], ends[1]);
                let units = times_power_of_two(multiple, -grid(ends));
                assert!(units.fract() == 0.0 && rest.abs() <= times_power_of_two(0.5, grid(ends)));
            }
        }
    }
}
