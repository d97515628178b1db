//! Operations that IEEE 754 defines to the last bit, so their results are the same on the host and on the device.

// SAFETY: the declarations match LLVM's intrinsics of these names ("Standard C/C++ Library Intrinsics" of its language
// reference).
#[cfg(target_os = "cuda")]
unsafe extern "C" {
    #[link_name = "llvm.sqrt.f32"]
    fn sqrt_f32(x: f32) -> f32;
    #[link_name = "llvm.sqrt.f64"]
    fn sqrt_f64(x: f64) -> f64;
    #[link_name = "llvm.floor.f32"]
    fn floor_f32(x: f32) -> f32;
    #[link_name = "llvm.floor.f64"]
    fn floor_f64(x: f64) -> f64;
    #[link_name = "llvm.ceil.f32"]
    fn ceil_f32(x: f32) -> f32;
    #[link_name = "llvm.ceil.f64"]
    fn ceil_f64(x: f64) -> f64;
    #[link_name = "llvm.trunc.f32"]
    fn trunc_f32(x: f32) -> f32;
    #[link_name = "llvm.trunc.f64"]
    fn trunc_f64(x: f64) -> f64;
    #[link_name = "llvm.roundeven.f32"]
    fn round_f32(x: f32) -> f32;
    #[link_name = "llvm.roundeven.f64"]
    fn round_f64(x: f64) -> f64;
}

/// A float with the operations of this module: `f32` and `f64`.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of the supertrait in their generic code")]
pub trait Float: crate::Value + sealed::Float {}

mod sealed {
    pub(super) trait Float: Copy {
        fn sqrt(self) -> Self;
        fn floor(self) -> Self;
        fn ceil(self) -> Self;
        fn trunc(self) -> Self;
        fn round_ties_even(self) -> Self;
        fn abs(self) -> Self;
        fn copysign(self, sign: Self) -> Self;
        fn min(self, other: Self) -> Self;
        fn max(self, other: Self) -> Self;
    }
}

/// One instruction with two operands. Inline, because LLVM folds its own `minnum` of two zeros to either of them.
#[cfg(target_os = "cuda")]
macro_rules! instruction {
    ($name:literal, $t:ty, $class:ident, $a:ident, $b:ident) => {{
        let result: $t;
        // SAFETY: arithmetic without preconditions.
        unsafe {
            core::arch::asm!(concat!($name, " {result}, {a}, {b};"), result = out($class) result, a = in($class) $a,
                b = in($class) $b, options(pure, nomem, nostack))
        }
        result
    }};
}

macro_rules! floats {
    ($($t:ty, $class:ident, $min:literal, $max:literal, $sqrt:ident $floor:ident $ceil:ident $trunc:ident $round:ident;)*) => {$(
        impl Float for $t {}
        impl sealed::Float for $t {
            floats! { @one
                $t, sqrt, $sqrt;
                $t, floor, $floor;
                $t, ceil, $ceil;
                $t, trunc, $trunc;
                $t, round_ties_even, $round;
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$t>::copysign(self, sign)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                #[cfg(target_os = "cuda")]
                return instruction!($min, $t, $class, self, other);
                #[cfg(not(target_os = "cuda"))]
                match self.partial_cmp(&other) {
                    Some(core::cmp::Ordering::Less) => self,
                    Some(core::cmp::Ordering::Greater) => other,
                    // Equal numbers have equal bits, except for zeros.
                    Some(core::cmp::Ordering::Equal) => <$t>::from_bits(self.to_bits() | other.to_bits()),
                    None => if self.is_nan() { other } else { self },
                }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                #[cfg(target_os = "cuda")]
                return instruction!($max, $t, $class, self, other);
                #[cfg(not(target_os = "cuda"))]
                match self.partial_cmp(&other) {
                    Some(core::cmp::Ordering::Less) => other,
                    Some(core::cmp::Ordering::Greater) => self,
                    Some(core::cmp::Ordering::Equal) => <$t>::from_bits(self.to_bits() & other.to_bits()),
                    None => if self.is_nan() { other } else { self },
                }
            }
        }
    )*};
    (@one $($t:ty, $name:ident, $intrinsic:ident;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            #[cfg(target_os = "cuda")]
            // SAFETY: arithmetic without preconditions.
            return unsafe { $intrinsic(self) };
            #[cfg(not(target_os = "cuda"))]
            return <$t>::$name(self);
        }
    )*};
}
floats! {
    f32, reg32, "min.f32", "max.f32", sqrt_f32 floor_f32 ceil_f32 trunc_f32 round_f32;
    f64, reg64, "min.f64", "max.f64", sqrt_f64 floor_f64 ceil_f64 trunc_f64 round_f64;
}

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name<T: Float>(x: T) -> T {
            sealed::Float::$name(x)
        }
    )*};
}
unary! {
    /// Returns the square root, rounded to nearest even (IEEE 754 `squareRoot`): -0 for -0, NaN for `x < 0`.
    sqrt;
    /// Returns the largest integer that is not larger than `x`. Keeps -0, infinities and NaN.
    floor;
    /// Returns the smallest integer that is not smaller than `x`: -0 if `x` is negative and above -1. Keeps -0, infinities
    /// and NaN.
    ceil;
    /// Returns `x` without its fraction and with its sign.
    trunc;
    /// Returns the integer nearest to `x`, with ties to even and the sign of `x`.
    round_ties_even;
    /// Returns `x` without its sign.
    abs;
}

/// Returns `x` with the sign of `sign`. Zeros and NaNs have signs too.
#[inline(always)]
#[must_use]
pub fn copysign<T: Float>(x: T, sign: T) -> T {
    sealed::Float::copysign(x, sign)
}

/// Returns the smaller number (IEEE 754-2019 `minimumNumber`). -0 is smaller than +0. If one operand is a NaN, returns the
/// other; the result is a NaN only if both are.
#[inline(always)]
#[must_use]
pub fn min<T: Float>(a: T, b: T) -> T {
    sealed::Float::min(a, b)
}

/// Returns the larger number (IEEE 754-2019 `maximumNumber`). +0 is larger than -0. If one operand is a NaN, returns the
/// other; the result is a NaN only if both are.
#[inline(always)]
#[must_use]
pub fn max<T: Float>(a: T, b: T) -> T {
    sealed::Float::max(a, b)
}
