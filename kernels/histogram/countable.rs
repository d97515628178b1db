//! The element types of histograms.

#[cfg(not(target_os = "cuda"))]
use super::borders::{Wide, grid};
use cuda_std::math::fma;
use cuda_std::{Argument, Value, arguments};

/// A number that can be counted.
pub trait Countable: Value + PartialOrd {
    /// What turns a number into its bin.
    type Scale: Argument;

    /// Whether borders are rounded, so that [`step`](Self::step) has to be compared with them.
    #[cfg(not(target_os = "cuda"))]
    const ROUNDS: bool;

    /// The scale of `bins` bins from `lower` to `upper`, which is larger.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn scale(bins: u32, lower: Self, upper: Self) -> Self::Scale;

    /// The next smaller number; there is one.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn before(self) -> Self;

    /// Border `k` of `bins` bins from `lower` to `upper`: the smallest number in or behind bin `k`.
    ///
    /// With `e = lower + k · (upper - lower) / bins`, exactly: for integers `e` rounded up, for floats `e` rounded to nearest,
    /// ties to even.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self;

    /// The bin of a number that is in the range, were there no last one; of others some number.
    ///
    /// Of integers it is exact. Of floats it is an estimate, rounded to a whole number `k`, or the bin before, if border `k`
    /// is larger. The border is computed in two parts, with about 80 bits, before it is rounded. That is not enough for all
    /// ranges: [`Even::agrees`](super::Even::agrees) tells.
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
            const ROUNDS: bool = false;

            #[cfg(not(target_os = "cuda"))]
            fn scale(bins: u32, lower: Self, upper: Self) -> Ratio {
                Ratio::new(bins, (i64::from(upper) - i64::from(lower)) as u64)
            }

            #[cfg(not(target_os = "cuda"))]
            fn before(self) -> Self {
                self - 1
            }

            #[cfg(not(target_os = "cuda"))]
            fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self {
                let [lower, upper] = [i64::from(lower), i64::from(upper)];
                // Less than 2^24 times 2^32.
                let distance = (i64::from(k) * (upper - lower) + i64::from(bins) - 1) / i64::from(bins);
                (lower + distance) as Self
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

arguments! {
    /// Where the borders between floats are, in double precision.
    ///
    /// Borders are counted from the one that is nearest to zero, the *anchor*, so that no digits cancel: border `k` is the anchor
    /// and `k - origin` steps, each as wide as a bin. Anchor and step consist of a multiple of a power of two, so coarse that
    /// the sum of these parts is exact, and of what is left.
    pub struct Grid {
        /// The number of bins over the width of the range.
        pub bins_per_unit: f64,
        /// The multiple.
        pub anchor: f64,
        /// What is left of the anchor.
        pub anchor_rest: f64,
        /// The multiple.
        pub step: f64,
        /// What is left of the width of a bin.
        pub step_rest: f64,
        /// The number of the anchor.
        pub origin: u32,
    }
}

/// Added to a number between -2^31 and 2^31, it leaves no place for fractions: the sum's low 32 bits are the nearest whole
/// number.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

impl Grid {
    /// That of so many bins.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    fn new(bins: u32, ends: [f64; 2]) -> Self {
        let bins_per_unit = f64::from(bins) / (ends[1] - ends[0]);
        // Where that cannot be computed it is 0.
        let origin = ((-ends[0] * bins_per_unit).round() as u32).min(bins);
        let grid = grid(ends);
        let [anchor, anchor_rest] = Wide::border(origin, bins, ends).split(grid);
        let [step, step_rest] = Wide::width(bins, ends).split(grid);
        Grid { bins_per_unit, anchor, anchor_rest, step, step_rest, origin }
    }

    /// The border that is nearest to where a number is, and its own number.
    #[inline(always)]
    fn nearest(&self, number: f64) -> (f64, u32) {
        let rounded = fma(number - self.anchor, self.bins_per_unit, ROUNDER);
        let steps = rounded - ROUNDER;
        let rest = fma(steps, self.step_rest, self.anchor_rest);
        let border = rest + fma(steps, self.step, self.anchor);
        (border, self.origin.wrapping_add(rounded.to_bits() as u32))
    }
}

macro_rules! floats {
    ($($t:ty, $words:literal, |$word:ident| $from_words:expr;)*) => {$(
        impl Countable for $t {
            type Scale = Grid;

            #[cfg(not(target_os = "cuda"))]
            const ROUNDS: bool = true;

            #[cfg(not(target_os = "cuda"))]
            fn scale(bins: u32, lower: Self, upper: Self) -> Grid {
                Grid::new(bins, [lower.into(), upper.into()])
            }

            #[cfg(not(target_os = "cuda"))]
            fn before(self) -> Self {
                self.next_down()
            }

            #[cfg(not(target_os = "cuda"))]
            fn border(k: u32, bins: u32, lower: Self, upper: Self) -> Self {
                let border = Wide::border(k, bins, [lower.into(), upper.into()]);
                // Exact: it is rounded to this type.
                border.nearest(<$t>::MANTISSA_DIGITS, <$t>::MIN_EXP - <$t>::MANTISSA_DIGITS as i32) as Self
            }

            #[inline(always)]
            fn step(self, _: Self, scale: Grid) -> u32 {
                let (border, k) = scale.nearest(self as f64);
                k.wrapping_sub((border as Self > self) as u32)
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
