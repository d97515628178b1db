//! From a float of single precision to its bin, among bins of equal width whose borders are rounded: in double precision,
//! without a border to compare with.

use super::scale::Scale;
use cuda_std::arguments;
use cuda_std::math::{floor_bits, fma};

arguments! {
    /// Bins of `f32`, by the number half way from a sample to the next larger one.
    ///
    /// A sample `x` is not before a border that was rounded to nearest if the border, before it was rounded, is not behind
    /// `x + ulp / 2`. So the bin is `floor((x + ulp / 2 - lower) · bins_per_unit)`, where `x + ulp / 2` has one bit more than an
    /// `f32`. A border that is just there was rounded to the even one of its neighbours: `2^-25` ulp more are added to an even
    /// sample, and less to an odd one, eight times what the arithmetic may be off. Next to zero no digits cancel, as `lower`
    /// counts in multiples of the width: the whole ones are subtracted from the bin's number.
    ///
    /// A border may be that near to `x + ulp / 2` and not there; and in front of a negative power of two an ulp is half of what
    /// is added. So this is not right for all ranges: [`Even::agrees`](super::Even::agrees) tells.
    pub struct Halfway {
        /// The number of bins over the width of the range.
        pub bins_per_unit: f64,
        /// The same, times half an ulp of 1, for an odd sample. An even one gets `2^-23` of it more.
        pub bins_per_half_ulp: f64,
        /// `lower` in bins, less the whole ones, negative.
        pub fraction: f64,
        /// The whole ones, modulo 2^32.
        pub first: u32,
    }
}

impl Scale<f32> for Halfway {
    #[cfg(not(target_os = "cuda"))]
    const EXACT: bool = false;

    #[cfg(not(target_os = "cuda"))]
    fn new(bins: u32, lower: f32, upper: f32) -> Option<Self> {
        /// The largest multiples that `floor_bits` can tell.
        const MOST: f64 = (1u64 << 51) as f64;
        let (lower, upper, bins) = (f64::from(lower), f64::from(upper), f64::from(bins));
        let (width, product) = (upper - lower, lower * bins);
        let first = (product / width).round();
        if lower.abs().max(upper.abs()) * (bins / width) >= MOST {
            return None;
        }
        Some(Halfway {
            bins_per_unit: bins / width,
            bins_per_half_ulp: bins / width * f64::from(f32::EPSILON) / 2.0 * (1.0 - f64::from(f32::EPSILON) / 2.0),
            fraction: -fma(-first, width, product) / width,
            first: first as i64 as u32,
        })
    }

    #[inline(always)]
    fn bin(&self, sample: f32, _: f32) -> u32 {
        const EXPONENT: u64 = 0x7ff << 52;
        /// Is zero of an even `f32`; otherwise `2^-23` of the power of two.
        const ODD: u64 = 1 << 29;
        let sample = sample as f64;
        let power = f64::from_bits((sample.to_bits() ^ ODD) & (EXPONENT | ODD));
        let half_ulp = fma(power, self.bins_per_half_ulp, self.fraction);
        floor_bits(fma(sample, self.bins_per_unit, half_ulp)).wrapping_sub(self.first)
    }
}
