//! Types of samples, weights, sums and outputs.

use core::fmt::Debug;
use cuda_std::Value;
use cuda_std::math::fma;

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
    /// Returns the stored form of `sum`.
    #[must_use]
    fn of_sum(sum: A) -> Self;

    /// Returns the stored sum, to which a later launch adds.
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

macro_rules! numbers {
    ($($t:ty: |$sum:ident, $x:ident, $w:ident| $add_product:expr;)*) => {$(
        impl Sample for $t {
            const ZERO: Self = 0 as $t;
        }

        impl Weight for $t {}

        impl Sum<$t, $t> for $t {
            #[inline(always)]
            fn add_product(self, $x: $t, $w: $t) -> Self {
                let $sum = self;
                $add_product
            }
        }

        impl Output<$t> for $t {
            #[inline(always)]
            fn of_sum(sum: $t) -> Self {
                sum
            }

            #[inline(always)]
            fn to_sum(self) -> $t {
                self
            }
        }
    )*};
}
numbers! {
    f32: |sum, x, w| fma(x, w, sum);
    f64: |sum, x, w| fma(x, w, sum);
    i32: |sum, x, w| sum.wrapping_add(x.wrapping_mul(w));
}
