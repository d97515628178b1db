//! Operations that IEEE 754 defines to the last bit, so their results are the same on the host and on the device.

use crate::machine::Ieee;

/// A float with the operations of this module: `f32` and `f64`.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of the supertraits in their generic code")]
pub trait Float: crate::Value + Ieee + Signed {}

/// Operations that are the same on both sides.
trait Signed: Copy {
    fn abs(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Float for $t {}
        impl Signed for $t {
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$t>::copysign(self, sign)
            }
        }
    )*};
}
floats!(f32 f64);

macro_rules! unary {
    ($($(#[$doc:meta])* $trait:ident::$name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name<T: Float>(x: T) -> T {
            $trait::$name(x)
        }
    )*};
}
unary! {
    /// Returns the square root, rounded to nearest even (IEEE 754 `squareRoot`): -0 for -0, NaN for `x < 0`.
    Ieee::sqrt;
    /// Returns the largest integer that is not larger than `x`. Keeps -0, infinities and NaN.
    Ieee::floor;
    /// Returns the smallest integer that is not smaller than `x`: -0 if `x` is negative and above -1. Keeps -0, infinities
    /// and NaN.
    Ieee::ceil;
    /// Returns `x` without its fraction and with its sign.
    Ieee::trunc;
    /// Returns the integer nearest to `x`, with ties to even and the sign of `x`.
    Ieee::round_ties_even;
    /// Returns `x` without its sign.
    Signed::abs;
}

/// Returns `x` with the sign of `sign`. Zeros and NaNs have signs too.
#[inline(always)]
#[must_use]
pub fn copysign<T: Float>(x: T, sign: T) -> T {
    Signed::copysign(x, sign)
}

/// Returns the smaller number (IEEE 754-2019 `minimumNumber`). -0 is smaller than +0. If one operand is a NaN, returns the
/// other; the result is a NaN only if both are.
#[inline(always)]
#[must_use]
pub fn min<T: Float>(a: T, b: T) -> T {
    Ieee::min(a, b)
}

/// Returns the larger number (IEEE 754-2019 `maximumNumber`). +0 is larger than -0. If one operand is a NaN, returns the
/// other; the result is a NaN only if both are.
#[inline(always)]
#[must_use]
pub fn max<T: Float>(a: T, b: T) -> T {
    Ieee::max(a, b)
}
