//! From a float to its bin, among bins of equal width whose borders are rounded: an estimate, and the border there.

#[cfg(not(target_os = "cuda"))]
use super::borders::{Wide, grid};
use super::scale::Scale;
use cuda_std::math::fma;
use cuda_std::{Value, arguments};

arguments! {
    /// Where the borders between floats are, in single or double precision.
    ///
    /// Borders are counted from the one that is nearest to zero, the *anchor*, so that no digits cancel: border `k` is the anchor
    /// and `k - origin` steps, each as wide as a bin. Anchor and step consist of a multiple of a power of two, so coarse that
    /// the sum of these parts is exact, and of what is left. So a border is computed with about 36 bits, or 80, before it is
    /// rounded. That is not enough for all ranges: [`Even::agrees`](super::Even::agrees) tells.
    pub struct Grid<T: Value> {
        /// The number of bins over the width of the range.
        pub bins_per_unit: T,
        /// The multiple.
        pub anchor: T,
        /// What is left of the anchor.
        pub anchor_rest: T,
        /// The multiple.
        pub step: T,
        /// What is left of the width of a bin.
        pub step_rest: T,
        /// The number of the anchor, less the bits of a rounder, modulo 2^32.
        pub origin: u32,
    }
}

macro_rules! grids {
    ($($t:ty, $rounder:expr;)*) => {$(
        impl Grid<$t> {
            /// Added to a small number, it leaves no place for fractions: the sum's low bits are the nearest whole number.
            const ROUNDER: $t = $rounder;

            /// That of so many bins.
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            fn between(ends: [f64; 2], bins: u32) -> Self {
                let bins_per_unit = f64::from(bins) / (ends[1] - ends[0]);
                // Where that cannot be computed it is 0.
                let origin = ((-ends[0] * bins_per_unit).round() as u32).min(bins);
                let grid = grid(ends, <$t>::MANTISSA_DIGITS);
                // Of single precision some have too many digits, or are too small: then bins do not agree with the borders.
                let [anchor, anchor_rest] = Wide::border(origin, bins, ends).split(grid).map(|part| part as $t);
                let [step, step_rest] = Wide::width(bins, ends).split(grid).map(|part| part as $t);
                let origin = origin.wrapping_sub(Self::ROUNDER.to_bits() as u32);
                Grid { bins_per_unit: bins_per_unit as $t, anchor, anchor_rest, step, step_rest, origin }
            }

            /// The border that is nearest to where a number is, and its own number.
            #[inline(always)]
            fn nearest(&self, number: $t) -> ($t, u32) {
                let rounded = fma(number - self.anchor, self.bins_per_unit, Self::ROUNDER);
                let steps = rounded - Self::ROUNDER;
                let rest = fma(steps, self.step_rest, self.anchor_rest);
                let border = rest + fma(steps, self.step, self.anchor);
                (border, self.origin.wrapping_add(rounded.to_bits() as u32))
            }
        }
    )*};
}
grids! {
    f32, 1.5 * (1u32 << 23) as f32;
    f64, 1.5 * (1u64 << 52) as f64;
}

macro_rules! scales {
    ($($t:ty => $grid:ty;)*) => {$(
        impl Scale<$t> for Grid<$grid> {
            #[cfg(not(target_os = "cuda"))]
            const EXACT: bool = false;

            #[cfg(not(target_os = "cuda"))]
            fn new(bins: u32, lower: $t, upper: $t) -> Option<Self> {
                Some(Self::between([lower.into(), upper.into()], bins))
            }

            /// An estimate, rounded to a whole number `k`, or the bin before, if border `k` is larger.
            #[inline(always)]
            fn bin(&self, sample: $t, _: $t) -> u32 {
                let (border, k) = self.nearest(sample as $grid);
                k.wrapping_sub((border as $t > sample) as u32)
            }
        }
    )*};
}
scales! {
    f32 => f32;
    f32 => f64;
    f64 => f64;
}
