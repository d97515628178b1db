//! The hardware's approximations, for `f32` only.
//!
//! On the device each is one instruction of the special function units, which costs a fraction of an exact function. On the
//! host it is the exact result, rounded. So the two sides differ, within the error that each function states.

use crate::machine;

macro_rules! approximations {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name(x: f32) -> f32 {
            machine::math::$name(x)
        }
    )*};
}
approximations! {
    /// Returns an approximation of `1 / sqrt(x)` (`rsqrt.approx.f32`).
    ///
    /// Error: at most 2 ulp. ±∞ for ±0, +0 for +∞, NaN for `x < 0`. Use `1.0 / sqrt(x)` to get the same bits on both sides.
    rsqrt_approx;
    /// Returns an approximation of 2 to the power of `x` (`ex2.approx.f32`).
    ///
    /// Error: at most 2 ulp, subnormal results included. +∞ if the power is too large, +0 for -∞.
    exp2_approx;
    /// Returns an approximation of the logarithm to base 2 (`lg2.approx.f32`).
    ///
    /// Error: at most 2^-22 for `x` between 0.5 and 2, where the logarithm is near zero; elsewhere at most 2 ulp. -∞ for ±0,
    /// +∞ for +∞, NaN for `x < 0`.
    log2_approx;
    /// Returns an approximation of the sine of `x` radians (`sin.approx.f32`).
    ///
    /// Error: at most 2^-20 (absolute, not relative) for `x` between -π and π; beyond, it grows with `|x|`. The host's
    /// result is exact even there, so reduce large angles first. NaN for infinities.
    sin_approx;
    /// Returns an approximation of the cosine of `x` radians (`cos.approx.f32`).
    ///
    /// Error: the same as for [`sin_approx`].
    cos_approx;
}
