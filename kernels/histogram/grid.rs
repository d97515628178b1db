//! From a float of double precision to its bin, among bins of equal width whose borders are rounded: an estimate, and the
//! border there.

#[cfg(not(target_os = "cuda"))]
use super::borders::{Wide, grid};
use super::scale::Scale;
use cuda_std::arguments;
use cuda_std::math::fma;

arguments! {
    /// Where the borders between numbers of double precision are.
    ///
    /// Borders are counted from the one that is nearest to zero, the *anchor*, so that no digits cancel: border `k` is the anchor
    /// and `k - origin` steps, each as wide as a bin. Anchor and step consist of a multiple of a power of two, so coarse that
    /// the sum of these parts is exact, and of what is left. So a border is computed with about 80 bits before it is
    /// rounded. That is not enough for all ranges: [`Even::agrees`](super::Even::agrees) tells.
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
        /// The number of the anchor, less the bits of the rounder, modulo 2^32.
        pub origin: u32,
    }
}

impl Grid {
    /// Added to a small number, it leaves no place for fractions: the sum's low bits are the nearest whole number.
    const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

    /// The border that is nearest to where a number is, and its own number.
    #[inline(always)]
    fn nearest(&self, number: f64) -> (f64, u32) {
        let rounded = fma(number - self.anchor, self.bins_per_unit, Self::ROUNDER);
        let steps = rounded - Self::ROUNDER;
        let rest = fma(steps, self.step_rest, self.anchor_rest);
        let border = rest + fma(steps, self.step, self.anchor);
        (border, self.origin.wrapping_add(rounded.to_bits() as u32))
    }
}

impl Scale<f64> for Grid {
    #[cfg(not(target_os = "cuda"))]
    const EXACT: bool = false;

    #[cfg(not(target_os = "cuda"))]
    fn new(bins: u32, lower: f64, upper: f64) -> Option<Self> {
        let bins_per_unit = f64::from(bins) / (upper - lower);
        if bins_per_unit == 0.0 || bins_per_unit.is_infinite() {
            return None;
        }
        // Of numbers above zero it is 0.
        let origin = ((-lower * bins_per_unit).round() as u32).min(bins);
        let ends = [lower, upper];
        let [anchor, anchor_rest] = Wide::border(origin, bins, ends).split(grid(ends));
        let [step, step_rest] = Wide::width(bins, ends).split(grid(ends));
        let origin = origin.wrapping_sub(Self::ROUNDER.to_bits() as u32);
        Some(Grid { bins_per_unit, anchor, anchor_rest, step, step_rest, origin })
    }

    /// An estimate, rounded to a whole number `k`, or the bin before, if border `k` is larger. Estimates ascend, and so do numbers
    /// with the same estimate; one with a larger estimate has at least bin `k`.
    #[inline(always)]
    fn bin(&self, sample: f64, _: f64) -> u32 {
        let (border, k) = self.nearest(sample);
        k.wrapping_sub((border > sample) as u32)
    }
}
