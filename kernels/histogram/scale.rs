//! The bin of a number among bins of equal width, by one multiplication.

use cuda_std::math::floor_product;
use cuda_std::{Argument, Value, arguments};

/// Computes the bin of a number among bins of equal width.
pub trait Scale<T: Value>: Argument {
    /// Whether the computation is always exact. If not, [`Even::agrees`](super::Even::agrees) must check it.
    #[cfg(not(target_os = "cuda"))]
    const EXACT: bool;

    /// Returns the scale of `bins` bins from `lower` to `upper`, or `None` if this type does not suit them. `upper` must be
    /// larger than `lower`.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn new(bins: u32, lower: T, upper: T) -> Option<Self>;

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
    /// Returns the ratio of a number of bins to a range of this width, at most 2^32.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn new(bins: u32, width: u64) -> Self {
        Ratio { width, reciprocal: u64::MAX / width, bins }
    }

    /// Returns `floor(distance · bins / width)`.
    #[inline(always)]
    fn of(&self, distance: u32) -> u32 {
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
            #[cfg(not(target_os = "cuda"))]
            const EXACT: bool = true;

            #[cfg(not(target_os = "cuda"))]
            fn new(bins: u32, lower: $t, upper: $t) -> Option<Self> {
                Some(Ratio::new(bins, (i64::from(upper) - i64::from(lower)) as u64))
            }

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
    ($($t:ty, $most:expr;)*) => {$(
        impl Scale<$t> for Lattice<$t> {
            #[cfg(not(target_os = "cuda"))]
            const EXACT: bool = true;

            #[cfg(not(target_os = "cuda"))]
            fn new(bins: u32, lower: $t, upper: $t) -> Option<Self> {
                /// Maximum magnitude of the product in `floor_product`.
                const MOST: f64 = $most as f64;
                let ends = [f64::from(lower), f64::from(upper)];
                let bins_per_unit = f64::from(bins) / (ends[1] - ends[0]);
                let is_power_of_two = |x: f64| x.is_normal() && x.to_bits() << 12 == 0;
                if !(is_power_of_two(bins_per_unit) && (bins_per_unit as $t).is_normal()) {
                    return None;
                }
                let multiples = ends.map(|end| end * bins_per_unit);
                // Multiplication by a power of two is exact, unless the product underflows: then it is no multiple, or is zero.
                let is_multiple = |(multiple, end): (f64, f64)| {
                    multiple.abs() <= MOST && multiple as i64 as f64 == multiple && multiple / bins_per_unit == end
                };
                let fits = [0, 1].into_iter().all(|i| is_multiple((multiples[i], ends[i])));
                (fits && multiples[1] - multiples[0] == f64::from(bins))
                    .then_some(Lattice { bins_per_unit: bins_per_unit as $t, first: multiples[0] as i64 as u32 })
            }

            #[inline(always)]
            fn bin(&self, sample: $t, _: $t) -> u32 {
                floor_product(sample, self.bins_per_unit).wrapping_sub(self.first)
            }
        }
    )*};
}
floats! {
    f32, 1u64 << 22;
    f64, 1u64 << 51;
}
