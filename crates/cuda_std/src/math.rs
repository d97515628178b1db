//! Arithmetic with one rounding.

/// A float that has a fused multiply-add.
pub trait Fma: crate::Value {
    /// `a * b + c`, rounded once.
    #[must_use]
    fn fma(a: Self, b: Self, c: Self) -> Self;
}

macro_rules! fma {
    ($($t:ty, $intrinsic:ident;)*) => {$(
        impl Fma for $t {
            #[inline(always)]
            fn fma(a: Self, b: Self, c: Self) -> Self {
                #[cfg(target_os = "cuda")]
                return core::intrinsics::$intrinsic(a, b, c);
                #[cfg(not(target_os = "cuda"))]
                return a.mul_add(b, c);
            }
        }
    )*};
}
fma! {
    f32, fmaf32;
    f64, fmaf64;
}

/// `a * b + c`, rounded once (IEEE 754 `fusedMultiplyAdd`).
#[inline(always)]
#[must_use]
pub fn fma<T: Fma>(a: T, b: T, c: T) -> T {
    T::fma(a, b, c)
}
