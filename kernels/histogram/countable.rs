//! The element types of histograms.

#[cfg(not(target_os = "cuda"))]
use super::borders::Wide;
use super::grid::Grid;
use super::halfway::Halfway;
use super::scale::{Lattice, Ratio, Scale};
use cuda_std::Value;

/// A number that can be counted.
pub trait Countable: Value + PartialOrd {
    /// The scale with the fewest instructions. For floats, it does not suit all ranges.
    type Scale: Scale<Self>;

    /// The scale for nearly all ranges.
    type RoundedScale: Scale<Self>;

    /// Returns the next smaller number, which must exist.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn before(self) -> Self;

    /// Returns border `k` of `bins` bins from `lower` to `upper`: the smallest number in bin `k` or a later one.
    ///
    /// With the exact number `e = lower + k · (upper - lower) / bins`, this is `e` rounded up for integers, and `e` rounded
    /// to nearest, ties to even, for floats.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self;

    /// Calls `each` with the samples in these 16 bytes, in memory order.
    fn unpack(words: [u32; 4], each: impl FnMut(Self));
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Countable for $t {
            type Scale = Ratio;
            type RoundedScale = Ratio;

            #[cfg(not(target_os = "cuda"))]
            fn before(self) -> Self {
                self - 1
            }

            #[cfg(not(target_os = "cuda"))]
            fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self {
                let [lower, upper] = [i64::from(lower), i64::from(upper)];
                // No overflow: the product is less than 2^24 times 2^32.
                let distance = (i64::from(k) * (upper - lower) + i64::from(bins) - 1) / i64::from(bins);
                (lower + distance) as Self
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
    ($($t:ty, $rounded:ty, $words:literal, |$word:ident| $from_words:expr;)*) => {$(
        impl Countable for $t {
            type Scale = Lattice<$t>;
            type RoundedScale = $rounded;

            #[cfg(not(target_os = "cuda"))]
            fn before(self) -> Self {
                self.next_down()
            }

            #[cfg(not(target_os = "cuda"))]
            fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self {
                let border = Wide::border(k, bins, [lower.into(), upper.into()]);
                // The cast is exact, because `nearest` rounds to this type.
                border.nearest(<$t>::MANTISSA_DIGITS, <$t>::MIN_EXP - <$t>::MANTISSA_DIGITS as i32) as Self
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
    f32, Halfway, 1, |word| f32::from_bits(word[0]);
    f64, Grid, 2, |words| f64::from_bits(words[0] as u64 | (words[1] as u64) << 32);
}
