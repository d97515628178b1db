//! The bin of an `f32` among bins of equal width with rounded borders: in double precision, without comparing with a border.

use super::scale::Scale;
use cuda_std::arguments;
use cuda_std::math::{floor_bits, fma};

arguments! {
    /// Computes the bin of an `f32` from the number half way between the sample and the next larger `f32`.
    ///
    /// A sample `x` is at or above a border that was rounded to nearest if the exact border is at most `x + ulp / 2`. So the
    /// bin is `floor((x + ulp / 2 - lower) · bins_per_unit)`, where `x + ulp / 2` has one bit more than an `f32`. An exact
    /// border at `x + ulp / 2` is a tie, which was rounded to even. So `2^-25` ulp is added for an even sample and subtracted
    /// for an odd one: eight times the maximum error of the arithmetic. Near zero no digits cancel, because `lower` is
    /// represented in bins: its whole number of bins is subtracted from the result.
    ///
    /// The result can be wrong if a border is within `2^-25` ulp of `x + ulp / 2` without being a tie, and if `x` is a
    /// negative power of two, because then the next larger `f32` is only `ulp / 2` away. So this is not right for all ranges:
    /// [`Even::agrees`](super::Even::agrees) checks the result.
    pub struct Halfway {
        /// Number of bins divided by the width of the range.
        pub bins_per_unit: f64,
        /// `bins_per_unit` times half an ulp of 1, for an odd sample. For an even one, `2^-23` of it is added.
        pub bins_per_half_ulp: f64,
        /// The nearest whole number to `lower` in bins, minus `lower` in bins.
        pub fraction: f64,
        /// That whole number, modulo 2^32.
        pub first: u32,
    }
}

impl Scale<f32> for Halfway {
    #[inline(always)]
    fn bin(&self, sample: f32, _: f32) -> u32 {
        const EXPONENT: u64 = 0x7ff << 52;
        /// Lowest significand bit of the `f32`, which is `2^-23` of its power of two.
        const ODD: u64 = 1 << 29;
        let sample = sample as f64;
        let power = f64::from_bits((sample.to_bits() ^ ODD) & (EXPONENT | ODD));
        let half_ulp = fma(power, self.bins_per_half_ulp, self.fraction);
        floor_bits(fma(sample, self.bins_per_unit, half_ulp)).wrapping_sub(self.first)
    }
}
