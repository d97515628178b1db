//! The hardware's approximations, for `f32` only.
//!
//! On the device each is one instruction of the special function units, which costs a fraction of an exact function. On the
//! host it is the exact result, rounded. So the two sides differ, within the error that each function states.

/// Defines functions: name, instruction, and the exact function of an `f64`.
macro_rules! approximations {
    ($($(#[$doc:meta])* $name:ident, $instruction:literal, $exact:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name(x: f32) -> f32 {
            #[cfg(target_os = "cuda")]
            {
                let result: f32;
                // SAFETY: arithmetic without preconditions.
                unsafe {
                    core::arch::asm!(concat!($instruction, " {result}, {x};"), result = out(reg32) result,
                        x = in(reg32) x, options(pure, nomem, nostack))
                }
                result
            }
            #[cfg(not(target_os = "cuda"))]
            {
                let exact: fn(f64) -> f64 = $exact;
                exact(f64::from(x)) as f32
            }
        }
    )*};
}
approximations! {
    /// Returns an approximation of `1 / sqrt(x)` (`rsqrt.approx.f32`).
    ///
    /// Error: at most 2 ulp. ±∞ for ±0, +0 for +∞, NaN for `x < 0`. Use `1.0 / sqrt(x)` to get the same bits on both sides.
    rsqrt_approx, "rsqrt.approx.f32", |x| if x == 0.0 { f64::INFINITY.copysign(x) } else { 1.0 / x.sqrt() };
    /// Returns an approximation of 2 to the power of `x` (`ex2.approx.f32`).
    ///
    /// Error: at most 2 ulp, subnormal results included. +∞ if the power is too large, +0 for -∞.
    exp2_approx, "ex2.approx.f32", f64::exp2;
    /// Returns an approximation of the logarithm to base 2 (`lg2.approx.f32`).
    ///
    /// Error: at most 2^-22 for `x` between 0.5 and 2, where the logarithm is near zero; elsewhere at most 2 ulp. -∞ for ±0,
    /// +∞ for +∞, NaN for `x < 0`.
    log2_approx, "lg2.approx.f32", f64::log2;
    /// Returns an approximation of the sine of `x` radians (`sin.approx.f32`).
    ///
    /// Error: at most 2^-20 (absolute, not relative) for `x` between -π and π; beyond, it grows with `|x|`. The host's
    /// result is exact even there, so reduce large angles first. NaN for infinities.
    sin_approx, "sin.approx.f32", f64::sin;
    /// Returns an approximation of the cosine of `x` radians (`cos.approx.f32`).
    ///
    /// Error: the same as for [`sin_approx`].
    cos_approx, "cos.approx.f32", f64::cos;
}
