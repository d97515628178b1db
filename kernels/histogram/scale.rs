//! From a number to its bin, among bins of equal width, by one multiplication.

use cuda_std::math::floor_product;
use cuda_std::{Argument, Value, arguments};

/// What turns numbers into their bins, which are of equal width.
pub trait Scale<T: Value>: Argument {
    /// Whether all bins are right because of how they are computed. Otherwise the borders tell:
    /// [`Even::agrees`](super::Even::agrees).
    #[cfg(not(target_os = "cuda"))]
    const EXACT: bool;

    /// That of `bins` bins from `lower` to `upper`, which is larger; `None` if this is not the scale for them.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn new(bins: u32, lower: T, upper: T) -> Option<Self>;

    /// The bin of a number that is in the range, were there no last one; of others some number. It ascends: of two numbers in
    /// the range, the larger one has no smaller bin.
    #[must_use]
    fn bin(&self, sample: T, lower: T) -> u32;
}

arguments! {
    /// Division of a distance times `bins` by `width`, without the 64-bit division that GPUs do not have.
    pub struct Ratio {
        /// The width of the range.
        pub width: u64,
        /// `floor((2^64 - 1) / width)`.
        pub reciprocal: u64,
        /// The number of bins, at most 2^24.
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

    /// `floor(distance · bins / width)`.
    #[inline(always)]
    fn of(&self, distance: u32) -> u32 {
        let product = distance as u64 * self.bins as u64;
        // The reciprocal is short of 2^64 / width by at most 1, and the product is less than 2^64: so the quotient is
        // right or one too small.
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
                // Modulo 2^32, in which every distance has room.
                self.of((sample as u32).wrapping_sub(lower as u32))
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

arguments! {
    /// Bins between multiples of their width, which is a power of two: `x` is in bin `floor(x / width) - lower / width`.
    ///
    /// The multiples are exact, and dividing by the width is, so there is no border to compare with.
    pub struct Lattice<T: Value> {
        /// One over the width.
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
                /// The largest multiples that `floor_product` can tell.
                const MOST: f64 = $most as f64;
                let ends = [f64::from(lower), f64::from(upper)];
                let bins_per_unit = f64::from(bins) / (ends[1] - ends[0]);
                let is_power_of_two = |x: f64| x.is_normal() && x.to_bits() << 12 == 0;
                if !(is_power_of_two(bins_per_unit) && (bins_per_unit as $t).is_normal()) {
                    return None;
                }
                let multiples = ends.map(|end| end * bins_per_unit);
                // A product that is not exact is too small to be a multiple, or zero.
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
