//! The element types of filters.

use cuda_std::math::fma;
use cuda_std::Value;

/// A number that can be filtered: `f32`, `f64` or `i32`.
pub trait Sample: Value {
    /// Zero.
    const ZERO: Self;

    /// `sum + x * w`: rounded once for floats, wrapping for integers.
    #[must_use]
    fn add_product(sum: Self, x: Self, w: Self) -> Self;
}

macro_rules! float_samples {
    ($($t:ty),*) => {$(
        impl Sample for $t {
            const ZERO: Self = 0.0;

            #[inline(always)]
            fn add_product(sum: Self, x: Self, w: Self) -> Self {
                fma(x, w, sum)
            }
        }
    )*};
}
float_samples!(f32, f64);

impl Sample for i32 {
    const ZERO: Self = 0;

    #[inline(always)]
    fn add_product(sum: Self, x: Self, w: Self) -> Self {
        sum.wrapping_add(x.wrapping_mul(w))
    }
}
