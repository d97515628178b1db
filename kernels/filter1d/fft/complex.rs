//! Complex numbers.

use crate::signal::Sample;
use core::ops::{Add, Mul, Neg, Sub};
use cuda_std::math::{Fma, fma};

/// A float.
pub trait Real:
    Sample + Fma + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// Returns the nearest number of this type.
    #[must_use]
    fn of(number: f64) -> Self;
}

macro_rules! reals {
    ($($t:ident)*) => {$(
        impl Real for $t {
            #[inline(always)]
            fn of(number: f64) -> Self {
                number as $t
            }
        }
    )*};
}
reals!(f32 f64);

/// A complex number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Complex<T> {
    pub(super) re: T,
    pub(super) im: T,
}

impl<T: Real> Complex<T> {
    /// Returns the number with the other sign of the imaginary part.
    #[inline(always)]
    pub(super) fn conjugate(self) -> Self {
        Complex { re: self.re, im: -self.im }
    }

    /// Returns the number times `-i`; times `i` if `INVERSE`.
    #[inline(always)]
    pub(super) fn quarter_turn<const INVERSE: bool>(self) -> Self {
        match INVERSE {
            false => Complex { re: self.im, im: -self.re },
            true => Complex { re: -self.im, im: self.re },
        }
    }

    /// Returns the number times a constant `e^(-i·angle)`, for the cosine and sine of the angle; `e^(i·angle)` if `INVERSE`.
    #[inline(always)]
    pub(super) fn turn<const INVERSE: bool>(self, cosine: f64, sine: f64) -> Self {
        let sine = if INVERSE { sine } else { -sine };
        self * Complex { re: T::of(cosine), im: T::of(sine) }
    }

    /// Returns `self + a * b`.
    #[inline(always)]
    pub(super) fn add_product(self, a: Self, b: Self) -> Self {
        Complex { re: fma(-a.im, b.im, fma(a.re, b.re, self.re)), im: fma(a.im, b.re, fma(a.re, b.im, self.im)) }
    }
}

impl<T: Real> Add for Complex<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<T: Real> Sub for Complex<T> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<T: Real> Mul for Complex<T> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Complex { re: fma(self.re, other.re, -(self.im * other.im)), im: fma(self.re, other.im, self.im * other.re) }
    }
}
