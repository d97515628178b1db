//! The bin of an `f64` among bins of equal width with rounded borders: an estimate, corrected by comparison with a border.

use super::scale::Scale;
use cuda_std::arguments;
use cuda_std::math::fma;

arguments! {
    /// Computes the rounded borders between `f64` bins.
    ///
    /// Borders are counted from the *anchor*, the border nearest to zero, so that no digits cancel: border `k` is the anchor
    /// plus `k - origin` times the width of a bin. Anchor and width are each split into two parts. The main part is a
    /// multiple of a power of two, so coarse that sums of main parts are exact; the other part is the rest. So a border is
    /// computed with about 80 bits before it is rounded. That is not enough for all ranges:
    /// [`Even::agrees`](super::Even::agrees) checks the result.
    pub struct Grid {
        /// Number of bins divided by the width of the range.
        pub bins_per_unit: f64,
        /// Main part of the anchor.
        pub anchor: f64,
        /// Rest of the anchor.
        pub anchor_rest: f64,
        /// Main part of the width of a bin.
        pub step: f64,
        /// Rest of the width of a bin.
        pub step_rest: f64,
        /// Index of the anchor minus the low bits of `ROUNDER`, modulo 2^32.
        pub origin: u32,
    }
}

impl Grid {
    /// Adding this to a small number rounds it to a whole number, which is in the low bits of the sum.
    pub(super) const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

    /// Returns the border nearest to a number, as estimated, and the border's index.
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
    /// Estimates the nearest border `k` and returns bin `k`, or `k - 1` if the border is larger than the sample. This is
    /// monotonic: for equal estimates the comparison is, and a sample with a larger estimate has at least bin `k`.
    #[inline(always)]
    fn bin(&self, sample: f64, _: f64) -> u32 {
        let (border, k) = self.nearest(sample);
        k.wrapping_sub((border > sample) as u32)
    }
}
