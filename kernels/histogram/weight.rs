//! Weights as multiples of a quantum, so that their sums are exact and do not depend on the order.

use cuda_std::arguments;

/// Number of stored bits of an `f32`'s significand.
const STORED: u32 = 23;

/// Bias of an `f32`'s exponent field for the significand as a whole number: a normal number is
/// `significand · 2^(field - BIAS)`.
const BIAS: i32 = 150;

arguments! {
    /// A power of two. Weights are rounded to the nearest multiples, ties to even, and the multiples are added.
    ///
    /// The quantum is chosen such that no sum can overflow. With `2^e <= max|w| < 2^(e + 1)` and `n <= 2^l` weights, for the
    /// smallest such `l`, it is `2^s` with `s = e + 1 + l - 62`. Every `|w| / 2^s` is less than `2^(62 - l)`, a whole number
    /// because `l` is at most 62. So the nearest multiple is at most `2^(62 - l)`, and a sum of `n` multiples at most `2^62`.
    pub struct Quantum {
        /// Exponent of the power of two, between -210 and 128.
        pub exponent: i32,
    }
}

impl Quantum {
    /// Returns the quantum of `count` weights, at most 2^62, with `largest` as their largest magnitude, which must be finite.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn new(largest: f32, count: u64) -> Self {
        // Every positive `f32` is a normal `f64`. For zero, the exponent is that of the smallest positive `f32`.
        let exponent = (f64::from(largest).to_bits() >> 52) as i32 - 1023;
        let log2_of_count = u64::BITS - count.saturating_sub(1).leading_zeros();
        Quantum { exponent: exponent.max(1 - BIAS) + 1 + log2_of_count as i32 - 62 }
    }

    /// Returns the multiple of the quantum that is nearest to a finite weight, ties to even. Its magnitude is at most `2^62`
    /// divided by the number of weights.
    ///
    /// Integer arithmetic on the bits makes the result the same on every device.
    #[inline(always)]
    #[must_use]
    pub fn multiple(&self, weight: f32) -> i64 {
        let bits = weight.to_bits();
        let (field, stored) = ((bits >> STORED & 0xff) as i32, bits & ((1 << STORED) - 1));
        let significand = if field == 0 { stored } else { stored | 1 << STORED };
        let shift = field.max(1) - BIAS - self.exponent;
        let magnitude = if shift >= 0 {
            // The shift is less than 64, because the multiple of `largest` fits.
            (significand as i64) << (shift & 63)
        } else {
            rounded_shift(significand, shift.unsigned_abs()) as i64
        };
        if bits >> 31 == 0 { magnitude } else { -magnitude }
    }

    /// Returns the quantum.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn value(&self) -> f64 {
        f64::from_bits(((self.exponent + 1023) as u64) << 52)
    }

    /// Returns the sum of weights for a sum of multiples. It is rounded once: the multiplication is exact, because the quantum
    /// is a power of two and the exponents are moderate.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn sum(&self, multiples: i64) -> f64 {
        multiples as f64 * self.value()
    }
}

/// Returns `number / 2^shift`, rounded to nearest, ties to even. `number` has at most 24 bits; `shift` is at least 1.
#[inline(always)]
fn rounded_shift(number: u32, shift: u32) -> u32 {
    // With a shift of 25 bits or more, the quotient is less than a half.
    let shift = shift.min(25);
    let odd = number >> shift & 1;
    (number + (1 << (shift - 1)) - 1 + odd) >> shift
}

#[cfg(all(test, not(target_os = "cuda")))]
mod tests {
    use super::*;

    const LEAST: f32 = f32::from_bits(1);

    /// Returns weights next to powers of two, to halves and to the ends of the binades.
    fn weights() -> impl Iterator<Item = f32> {
        let significands = [0, 1, 2, 3, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffd, 0x7f_fffe, 0x7f_ffff];
        let positive = (0..255u32).flat_map(move |field| significands.map(|s| f32::from_bits(field << STORED | s)));
        positive.flat_map(|weight| [weight, -weight])
    }

    /// Compares with `f64`, where the division by a power of two and the rounding are exact.
    #[test]
    fn multiples_are_the_nearest() {
        for largest in [LEAST, f32::MIN_POSITIVE, 0.1, 1.0, 1.999_999_9, 3e10, f32::MAX] {
            for count in [1, 2, 3, 1 << 20, (1 << 26) + 1, 1 << 40, 1 << 62] {
                let quantum = Quantum::new(largest, count);
                for weight in weights().filter(|weight| weight.abs() <= largest) {
                    let expected = (f64::from(weight) / quantum.value()).round_ties_even();
                    assert_eq!(quantum.multiple(weight) as f64, expected, "{weight:e} of {largest:e}, {count}");
                }
            }
        }
    }

    #[test]
    fn no_sum_overflows() {
        for largest in weights().filter(|weight| weight.is_sign_positive()) {
            for log2 in 0..=62 {
                for count in [(1u64 << log2) - 1, 1 << log2, (1 << log2) + 1].map(|count| count.clamp(1, 1 << 62)) {
                    let quantum = Quantum::new(largest, count);
                    let sum = i128::from(quantum.multiple(largest)) * i128::from(count);
                    assert!(sum <= 1 << 62, "{count} times {largest:e}");
                    // The quantum is as small as possible.
                    let tight = largest == 0.0 || f64::from(largest) * count as f64 >= quantum.value() * 2f64.powi(60);
                    assert!(tight, "{count} times {largest:e}");
                    assert!((-210..=128).contains(&quantum.exponent));
                }
            }
        }
    }

    #[test]
    fn extremes() {
        assert_eq!(Quantum::new(LEAST, 1).exponent, -149 + 1 - 62);
        assert_eq!(Quantum::new(LEAST, 1).multiple(LEAST), 1 << 61);
        assert_eq!(Quantum::new(f32::MAX, 1).exponent, 127 + 1 - 62);
        assert_eq!(Quantum::new(f32::MAX, 1 << 62).exponent, 128);
        assert_eq!(Quantum::new(f32::MAX, 1 << 62).multiple(-f32::MAX), -1);
        assert_eq!(Quantum::new(1.0, 1 << 40).multiple(1.0), 1 << 21);
        assert_eq!(Quantum::new(0.0, 0).multiple(-0.0), 0);
        let most = Quantum::new(f32::MAX, 1);
        assert_eq!(most.sum(most.multiple(f32::MAX)), f64::from(f32::MAX));
        let least = Quantum::new(LEAST, 1);
        assert_eq!(least.sum(least.multiple(-LEAST)), f64::from(-LEAST));
    }

    #[test]
    fn shifts_round_to_even() {
        assert_eq!([1, 2, 3, 4].map(|shift| rounded_shift(6, shift)), [3, 2, 1, 0]);
        assert_eq!([1, 2, 3, 4].map(|shift| rounded_shift(5, shift)), [2, 1, 1, 0]);
        assert_eq!([24, 25, 26, 200].map(|shift| rounded_shift(0xff_ffff, shift)), [1, 0, 0, 0]);
        assert_eq!([23, 24, 25].map(|shift| rounded_shift(1 << 23, shift)), [1, 0, 0]);
    }
}
