//! The element types of histograms.

use cuda_std::math::truncate;
use cuda_std::{Argument, Value, arguments};

/// A number that can be counted.
pub trait Countable: Value + PartialOrd {
    /// What turns the distance of a number from the range's lower end into its bin.
    type Scale: Argument;

    /// The scale of `bins` bins from `lower` to `upper`, which is larger.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn scale(bins: u32, lower: Self, upper: Self) -> Self::Scale;

    /// The next smaller number; there is one.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn before(self) -> Self;

    /// The bin, counted from `lower` on, of a number that is in the range; of others some number.
    ///
    /// Integers: `floor((x - lower) · bins / (upper - lower))`, exactly. Floats:
    /// `floor((x - lower) * (bins / (upper - lower)))` in `f64`, every operation rounded to nearest. Neither is ever
    /// larger for a smaller number.
    #[must_use]
    fn step(self, lower: Self, scale: Self::Scale) -> u32;

    /// Calls `each` with the samples that these 16 bytes are, in their order.
    fn unpack(words: [u32; 4], each: impl FnMut(Self));
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
    /// The ratio of so many bins to a range of this width, at most 2^32.
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
        impl Countable for $t {
            type Scale = Ratio;

            #[cfg(not(target_os = "cuda"))]
            fn scale(bins: u32, lower: Self, upper: Self) -> Ratio {
                Ratio::new(bins, (i64::from(upper) - i64::from(lower)) as u64)
            }

            #[cfg(not(target_os = "cuda"))]
            fn before(self) -> Self {
                self - 1
            }

            #[inline(always)]
            fn step(self, lower: Self, scale: Ratio) -> u32 {
                // Modulo 2^32, in which every distance has room.
                scale.of((self as u32).wrapping_sub(lower as u32))
            }

            #[inline(always)]
            fn unpack(words: [u32; 4], mut each: impl FnMut(Self)) {
                const PER_WORD: u32 = 4 / size_of::<$t>() as u32;
                for word in words {
                    let mut k = 0;
                    while k < PER_WORD {
                        each((word >> (k * <$t>::BITS)) as $t);
                        k += 1;
                    }
                }
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

macro_rules! floats {
    ($($t:ty, $words:literal, |$word:ident| $from_words:expr;)*) => {$(
        impl Countable for $t {
            type Scale = f64;

            #[cfg(not(target_os = "cuda"))]
            fn scale(bins: u32, lower: Self, upper: Self) -> f64 {
                f64::from(bins) / (f64::from(upper) - f64::from(lower))
            }

            #[cfg(not(target_os = "cuda"))]
            fn before(self) -> Self {
                self.next_down()
            }

            #[inline(always)]
            fn step(self, lower: Self, scale: f64) -> u32 {
                truncate((self as f64 - lower as f64) * scale)
            }

            #[inline(always)]
            fn unpack(words: [u32; 4], mut each: impl FnMut(Self)) {
                for $word in words.as_chunks::<$words>().0 {
                    each($from_words);
                }
            }
        }
    )*};
}
floats! {
    f32, 1, |word| f32::from_bits(word[0]);
    f64, 2, |words| f64::from_bits(words[0] as u64 | (words[1] as u64) << 32);
}
