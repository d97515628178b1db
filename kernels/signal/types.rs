//! Types of samples, weights, sums and outputs.

use core::fmt::Debug;
use cuda_std::Value;
use cuda_std::math::{fma, round_ties_even};

/// An element of a signal.
pub trait Sample: Value {
    /// Zero.
    const ZERO: Self;
}

/// A factor of samples, such as a tap.
pub trait Weight: Value {}

/// A sum of products of samples `X` and weights `W`. Its default is zero.
pub trait Sum<X: Sample, W: Weight>: Copy + Default {
    /// Returns `self + x * w`: rounded once for floats, wrapping for integers.
    #[must_use]
    fn add_product(self, x: X, w: W) -> Self;
}

/// The stored form of sums `A`.
pub trait Output<A>: Value {
    /// Returns the number that is stored for `sum`. Integers saturate; sums of floats are first rounded to the nearest integer,
    /// ties to even, and NaN becomes 0. Floats are rounded to the nearest number.
    #[must_use]
    fn of_sum(sum: A) -> Self;

    /// Returns the number as a sum: samples are converted by this, and sums that continue stored ones.
    #[must_use]
    fn to_sum(self) -> A;
}

/// The types of an operation: tuples of sample, weight, sum and output.
pub trait Types: Copy + Debug + Send + Sync + 'static {
    /// Type of the input.
    type Sample: Sample;
    /// Type of the weights.
    type Weight: Weight;
    /// Type of the sums of products.
    type Sum: Sum<Self::Sample, Self::Weight>;
    /// Type of the output.
    type Output: Output<Self::Sum>;

    /// Whether an output is larger than a sample.
    const WIDENS: bool = size_of::<Self::Output>() > size_of::<Self::Sample>();

    /// Elements per pack, the same for samples, weights and outputs: 16 bytes of the largest type.
    const PACK: usize = 16 / largest([size_of::<Self::Sample>(), size_of::<Self::Weight>(), size_of::<Self::Output>()]);
}

impl<X: Sample, W: Weight, A: Sum<X, W> + Debug + Send + Sync + 'static, O: Output<A>> Types for (X, W, A, O) {
    type Sample = X;
    type Weight = W;
    type Sum = A;
    type Output = O;
}

/// The same type for samples, weights, sums and outputs.
pub type Same<T> = (T, T, T, T);

const fn largest([a, b, c]: [usize; 3]) -> usize {
    let d = if a > b { a } else { b };
    if c > d { c } else { d }
}

macro_rules! sums {
    ($($t:ty: |$sum:ident, $x:ident, $w:ident| $add_product:expr;)*) => {$(
        impl Weight for $t {}

        impl Sum<$t, $t> for $t {
            #[inline(always)]
            fn add_product(self, $x: $t, $w: $t) -> Self {
                let $sum = self;
                $add_product
            }
        }
    )*};
}
sums! {
    f32: |sum, x, w| fma(x, w, sum);
    f64: |sum, x, w| fma(x, w, sum);
    i32: |sum, x, w| sum.wrapping_add(x.wrapping_mul(w));
    i64: |sum, x, w| sum.wrapping_add(x.wrapping_mul(w));
}

/// Bytes are converted first, which is exact.
impl Sum<u8, f32> for f32 {
    #[inline(always)]
    fn add_product(self, x: u8, w: f32) -> Self {
        fma(x as f32, w, self)
    }
}

macro_rules! samples {
    ($($t:ident)*) => {$(
        impl Sample for $t {
            const ZERO: Self = 0 as $t;
        }
    )*};
}
samples!(u8 u16 i16 i32 i64 f32 f64);

/// Implements [`Output`] for an output type and several sum types: `|sum| stored`, and a conversion back.
macro_rules! outputs {
    ($($output:ident: $($sum:ident)*, $convert:ident;)*) => {$($(
        impl Output<$sum> for $output {
            #[inline(always)]
            fn of_sum(sum: $sum) -> Self {
                $convert!(sum: $sum => $output)
            }

            #[inline(always)]
            fn to_sum(self) -> $sum {
                self as $sum
            }
        }
    )*)*};
}

macro_rules! cast {
    ($sum:ident: $from:ident => $to:ident) => {
        $sum as $to
    };
}

/// `as` saturates, and converts NaN to 0.
macro_rules! round {
    ($sum:ident: $from:ident => $to:ident) => {
        round_ties_even($sum) as $to
    };
}

/// 2^23: between it and twice as much, single precision has the integers alone.
const INTEGERS: f32 = (1u32 << 23) as f32;

/// Rounds by an addition, which leaves the integer in the lowest bits. GPUs add much faster than they convert. `max` returns 0 for
/// NaN.
macro_rules! round_unsigned {
    ($sum:ident: $from:ident => $to:ident) => {
        ($sum.max(0.0).min($to::MAX as $from) + INTEGERS).to_bits() as $to
    };
}

macro_rules! saturate {
    ($sum:ident: $from:ident => $to:ident) => {
        $sum.clamp($to::MIN as $from, $to::MAX as $from) as $to
    };
}
outputs! {
    f32: f32 f64 i32 i64, cast;
    f64: f32 f64 i32 i64, cast;
    u8: f32, round_unsigned;
    u8: f64, round;
    u8: i32 i64, saturate;
    u16: f32, round_unsigned;
    u16: f64, round;
    u16: i32 i64, saturate;
    i16: f32 f64, round;
    i16: i32 i64, saturate;
    i32: f32 f64, round;
    i32: i32 i64, saturate;
}
