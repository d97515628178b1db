//! Powers, by logarithms in double precision. Every step is an operation of IEEE 754, so the bits are the same on host and
//! device.

use super::Number;
use cuda_std::math::round_ties_even;

/// Bits of the double that is nearest to `√(1/2)`.
const ROOT_OF_HALF: u64 = 0x3fe6_a09e_667f_3bcd;

/// Bits of the fraction of a double.
const FRACTION: u32 = 52;

/// Exponent of the doubles from 1 to 2.
const BIAS: i64 = 1023;

/// Coefficients of `atanh(s) / s` in powers of `s²`. For |s| < 0.172, the first term that is left out is less than 2^-60.
const ATANH: [f64; 11] = {
    let (mut coefficients, mut k) = ([1.0; 11], 0);
    while k < 11 {
        coefficients[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    coefficients
};

/// Coefficients of `exp(t)`. For |t| < 0.347, the first term that is left out is less than 2^-57.
const EXP: [f64; 14] = {
    let (mut coefficients, mut factorial, mut k) = ([1.0; 14], 1, 1);
    while k < 14 {
        factorial *= k as u64;
        coefficients[k] = 1.0 / factorial as f64;
        k += 1;
    }
    coefficients
};

/// Returns `x` to the power of `exponent`, which is finite and larger than 0: NaN for `x < 0`, 0 for ±0.
///
/// The relative error is at most 2^-40, plus one rounding to the type.
#[inline(always)]
#[must_use]
pub fn power<A: Number>(x: A, exponent: A) -> A {
    A::of(power_f64(x.into(), exponent.into()))
}

#[inline(always)]
fn power_f64(x: f64, exponent: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return 0.0;
    }
    if x == f64::INFINITY {
        return x;
    }
    exp2(exponent * log2(x))
}

/// Returns the logarithm to base 2 of a positive, finite number, from the logarithm of a number `m` between `√(1/2)` and `√2`:
/// `ln m = 2 atanh(s)` for `s = (m - 1) / (m + 1)`, by its series.
#[inline(always)]
fn log2(x: f64) -> f64 {
    const SUBNORMAL: f64 = (1u64 << 54) as f64;
    let is_subnormal = x < f64::MIN_POSITIVE;
    let (bits, below) = if is_subnormal { ((x * SUBNORMAL).to_bits(), 54) } else { (x.to_bits(), 0) };
    let exponent = bits.wrapping_sub(ROOT_OF_HALF) as i64 >> FRACTION;
    let m = f64::from_bits(bits.wrapping_sub((exponent << FRACTION) as u64));
    let s = (m - 1.0) / (m + 1.0);
    let sum = polynomial(&ATANH, s * s);
    (exponent - below) as f64 + s * sum * (2.0 * core::f64::consts::LOG2_E)
}

/// Returns 2 to the power of `x`, from the series of `exp` for `|x - n| ≤ 1/2`.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond this, the result is 0 or infinity.
    const MOST: f64 = 1100.0;
    let x = if x > MOST { MOST } else { x };
    let x = if x < -MOST { -MOST } else { x };
    let n = round_ties_even(x);
    let t = (x - n) * core::f64::consts::LN_2;
    let power = polynomial(&EXP, t);
    // In two steps, because 2^n may be subnormal or too large where the result is neither.
    let n = n as i64;
    power * two_to(n >> 1) * two_to(n - (n >> 1))
}

/// Returns `2^n` for a normal result.
#[inline(always)]
fn two_to(n: i64) -> f64 {
    f64::from_bits(((n + BIAS) as u64) << FRACTION)
}

/// Returns the value of a polynomial, whose coefficients begin with the constant.
#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}
