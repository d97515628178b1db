//! Means of integers: generated weights whose sum is 1, so a constant picture stays as it is.
//!
//! The mean of a box is an integer sum and a division. So the weights become 1, and the sum is divided when it is stored. Sums are
//! floats all the same, which have a division and are exact for integers of up to 24 or 53 bits. A Gaussian keeps its weights, but
//! gets sums of `f64` if those of `f32` might have errors of half an output.

use super::element::peak;
use crate::filter::fold::MOST_KEPT;
use crate::filter::generated::WeightSource;
use slm_kernels::signal::Kind;

/// The way to add up generated weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mean {
    /// As weights that the user gives.
    AsGiven,
    /// With the same weights in double precision.
    InDouble,
    /// With weights of 1 in the place of equal weights, in double or in single precision, and a division.
    Divided { by: f64, in_double: bool },
}

/// Integers up to it are exact in `f32`.
const EXACT: f64 = (1u32 << 24) as f64;

impl Mean {
    /// Returns the way for weights of this shape and these types of samples and outputs.
    pub(super) fn new(source: WeightSource, shape: [usize; 2], [samples, outputs]: [Kind; 2], added: Added) -> Self {
        let Some(largest) = peak(samples) else { return Mean::AsGiven };
        // `f32` has all halves up to the power of two that no mean exceeds, and no other mean of so few samples rounds to a half.
        let is_exact = |count: f64| count * largest.next_power_of_two() as f64 <= EXACT;
        let largest = largest as f64;
        let [rows, columns] = shape.map(|taps| taps as f64);
        let count = rows * columns;
        match source {
            WeightSource::Given => Mean::AsGiven,
            WeightSource::Gaussian if added.roundings(rows, columns) * largest < EXACT / 2.0 => Mean::AsGiven,
            WeightSource::Gaussian => Mean::InDouble,
            WeightSource::Box if peak(outputs).is_some() && is_rounded_alike(count, largest) => Mean::AsGiven,
            WeightSource::Box => Mean::Divided { by: count, in_double: !is_exact(count) || outputs == Kind::F64 },
        }
    }
}

/// How the products of an output are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// Along one axis, and then along the other one.
    InPasses,
    /// On some devices, all at once.
    AtOnce,
}

impl Added {
    /// Returns a bound of the error of sums of `f32` of equal samples, in roundings of a sum. The weights, whose sum is 1, are
    /// rounded, and so are products and sums.
    fn roundings(self, rows: f64, columns: f64) -> f64 {
        match self {
            Added::InPasses => rows + columns + 2.0,
            // Both factors of a weight, their product and that with the sample are rounded. The weights are symmetric, so the sums have
            // half the final value on average.
            Added::AtOnce if rows.max(columns) <= MOST_KEPT as f64 => rows * columns / 2.0 + 4.5,
            // Folded weights need not be.
            Added::AtOnce => rows * columns + 3.0,
        }
    }
}

/// Returns whether sums of `f32` of rounded weights become the same integers as exact means. An odd number of samples has no mean in
/// the middle between two integers, so the distance to the middle is at least half of one weight. The error is that of the
/// documented bound, with two roundings of the weights.
fn is_rounded_alike(count: f64, peak: f64) -> bool {
    count % 2.0 == 1.0 && count * (count + 19.0) * peak < EXACT / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Gaussian;
    use crate::filter2d::Filter2dError;

    #[test]
    fn small_odd_boxes_of_bytes_have_weights() {
        let of = |shape, kinds| Mean::new(WeightSource::Box, shape, kinds, Added::AtOnce);
        let bytes = [Kind::U8; 2];
        for size in [1, 3, 5, 7, 9, 11, 13] {
            assert_eq!(of([size; 2], bytes), Mean::AsGiven);
        }
        for shape in [[3, 4], [1, 2], [15, 15]] {
            let by = (shape[0] * shape[1]) as f64;
            assert_eq!(of(shape, bytes), Mean::Divided { by, in_double: false });
        }
        // Floats have no integer to be rounded to.
        assert_eq!(of([3; 2], [Kind::U8, Kind::F32]), Mean::Divided { by: 9.0, in_double: false });
        assert_eq!(of([3; 2], [Kind::U8, Kind::F64]), Mean::Divided { by: 9.0, in_double: true });
        assert_eq!(of([3; 2], [Kind::F32; 2]), Mean::AsGiven);
    }

    #[test]
    fn sums_are_exact() {
        let in_double = |shape, kind| match Mean::new(WeightSource::Box, shape, [kind; 2], Added::AtOnce) {
            Mean::Divided { in_double, .. } => in_double,
            other => panic!("{other:?}"),
        };
        // 65,537 bytes have means that differ from a half by less than `f32` can tell.
        assert!(!in_double([256, 256], Kind::U8) && in_double([65_537, 1], Kind::U8));
        assert!(!in_double([16, 16], Kind::U16) && in_double([1, 257], Kind::U16));
        assert!(!in_double([16, 32], Kind::I16) && in_double([1, 513], Kind::I16));
        assert!(in_double([1, 2], Kind::I32));
    }

    /// All products and sums of equal samples, rounded as on a GPU, and as on the CPU.
    #[test]
    fn gaussians_keep_constants() {
        for (kind, peak) in [(Kind::U8, 255u32), (Kind::U16, 65_535), (Kind::I16, 32_768)] {
            for sigma in [0.3, 1.0, 1.7, 1.9, 2.2, 3.3, 6.5, 6.9, 13.9, 14.5, 100.0, 2040.0, 2070.0] {
                let weights: Vec<f64> = Gaussian::new(sigma).weights::<_, Filter2dError>().expect("a valid sigma");
                let taps = weights.len();
                let limit = f64::from(1u32 << 23) / f64::from(peak);
                let weights: Vec<f32> = weights.into_iter().map(|weight| weight as f32).collect();
                let products = || weights.iter().flat_map(|c| weights.iter().map(move |r| c * r));
                let pass = |sample: f32| weights.iter().fold(0.0f32, |sum, weight| sum + sample * weight);
                let at_once = |sample: f32| products().fold(0.0f32, |sum, weight| sum + sample * weight);
                let is_single = |added, roundings: f64| {
                    let mean = Mean::new(WeightSource::Gaussian, [taps; 2], [kind; 2], added);
                    let expected = if roundings < limit { Mean::AsGiven } else { Mean::InDouble };
                    assert_eq!(mean, expected, "{kind:?}, {sigma}, {added:?}");
                    roundings < limit
                };
                let in_passes = is_single(Added::InPasses, (2 * taps + 2) as f64);
                let at_most =
                    if taps <= MOST_KEPT { (taps * taps) as f64 / 2.0 + 4.5 } else { (taps * taps + 3) as f64 };
                let dense = is_single(Added::AtOnce, at_most);
                for constant in (1..=peak).rev().step_by(peak.div_ceil(300) as usize) {
                    let constant = constant as f32;
                    if in_passes {
                        assert_eq!(pass(pass(constant)).round_ties_even(), constant, "{kind:?}, {sigma}");
                    }
                    // Larger ones take too long.
                    if dense && taps < 120 {
                        assert_eq!(at_once(constant).round_ties_even(), constant, "{kind:?}, {sigma}");
                    }
                }
            }
        }
    }
}
