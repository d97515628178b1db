//! The bin of a number among bins of equal width, by one multiplication.

use cuda_std::math::floor_product;
use cuda_std::{Argument, Value, arguments};

/// Computes the bin of a number among bins of equal width.
pub trait Scale<T: Value>: Argument {
    /// Returns the bin of a number in the range; it may exceed the last bin. Returns an arbitrary value for other numbers. It
    /// is monotonic: of two numbers in the range, the larger one does not have a smaller bin.
    #[must_use]
    fn bin(&self, sample: T, lower: T) -> u32;
}

arguments! {
    /// Computes `distance · bins / width` for integers, without a 64-bit division, which GPUs do not have.
    pub struct Ratio {
        /// Width of the range.
        pub width: u64,
        /// `floor((2^64 - 1) / width)`.
        pub reciprocal: u64,
        /// Number of bins, at most 2^24.
        pub bins: u32,
    }
}

impl Ratio {
    /// Returns `floor(distance · bins / width)`.
    #[inline(always)]
    pub(super) fn of(&self, distance: u32) -> u32 {
        let product = distance as u64 * self.bins as u64;
        // The reciprocal is less than 2^64 / width by at most 1, and the product is less than 2^64. So the quotient is right
        // or one too small.
        let quotient = ((product as u128 * self.reciprocal as u128) >> 64) as u64;
        let remainder = product - quotient * self.width;
        (quotient + (remainder >= self.width) as u64) as u32
    }
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Scale<$t> for Ratio {
            #[inline(always)]
            fn bin(&self, sample: $t, lower: $t) -> u32 {
                // Modulo 2^32: every distance inside the range is less than that.
                self.of((sample as u32).wrapping_sub(lower as u32))
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

arguments! {
    /// Bins between multiples of their width, which is a power of two: `x` is in bin `floor(x / width) - lower / width`.
    ///
    /// The multiples and the division by the width are exact, so the result needs no comparison with a border.
    pub struct Lattice<T: Value> {
        /// `1 / width`.
        pub bins_per_unit: T,
        /// `lower / width`, modulo 2^32.
        pub first: u32,
    }
}

macro_rules! floats {
    ($($t:ty)*) => {$(
        impl Scale<$t> for Lattice<$t> {
            #[inline(always)]
            fn bin(&self, sample: $t, _: $t) -> u32 {
                floor_product(sample, self.bins_per_unit).wrapping_sub(self.first)
            }
        }
    )*};
}
floats!(f32 f64);
