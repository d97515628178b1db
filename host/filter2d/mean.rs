//! Means of integers: generated weights whose sum is 1, so a constant picture stays as it is.
//!
//! The mean of a box is an integer sum and a division. So the weights become 1, and the sum is divided when it is stored. Sums are
//! floats all the same, which have a division and are exact for integers of up to 24 or 53 bits. A Gaussian keeps its weights, but
//! gets sums of `f64` if those of `f32` might have errors of half an output.

use super::element::peak;
use crate::generated::Origin;
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
    pub(super) fn new(origin: Origin, shape: [usize; 2], [samples, outputs]: [Kind; 2]) -> Self {
        let Some(peak) = peak(samples).map(|peak| peak as f64) else { return Mean::AsGiven };
        let [rows, columns] = shape.map(|taps| taps as f64);
        let count = rows * columns;
        match origin {
            Origin::Given => Mean::AsGiven,
            Origin::Gaussian if keeps_constants(rows + columns, peak) => Mean::AsGiven,
            Origin::Gaussian => Mean::InDouble,
            Origin::Box if super::element::peak(outputs).is_some() && is_rounded_alike(count, peak) => Mean::AsGiven,
            Origin::Box => Mean::Divided { by: count, in_double: count * peak > EXACT || outputs == Kind::F64 },
        }
    }
}

/// Returns whether sums of `f32` of equal samples, along one axis and then along the other one, have errors of less than half an
/// output: each of `taps` products and sums is rounded, and so are the weights, whose sum is 1.
fn keeps_constants(taps: f64, peak: f64) -> bool {
    (taps + 2.0) * peak < EXACT / 2.0
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

    #[test]
    fn small_odd_boxes_of_bytes_have_weights() {
        let of = |shape, kinds| Mean::new(Origin::Box, shape, kinds);
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
        let in_double = |shape, kind| match Mean::new(Origin::Box, shape, [kind; 2]) {
            Mean::Divided { in_double, .. } => in_double,
            other => panic!("{other:?}"),
        };
        assert!(!in_double([256, 257], Kind::U8) && in_double([258, 257], Kind::U8));
        assert!(!in_double([16, 16], Kind::U16) && in_double([1, 257], Kind::U16));
        assert!(!in_double([16, 32], Kind::I16) && in_double([1, 513], Kind::I16));
        assert!(in_double([1, 2], Kind::I32));
    }

    /// All products and sums of equal samples, rounded as on a GPU, and as on the CPU.
    #[test]
    fn gaussians_keep_constants() {
        for (kind, peak) in [(Kind::U8, 255u32), (Kind::U16, 65_535), (Kind::I16, 32_768)] {
            for sigma in [0.3, 1.0, 3.3, 6.5, 6.9, 13.9, 14.5, 100.0, 2040.0, 2070.0] {
                let weights = crate::generated::gaussian(sigma);
                let mean = Mean::new(Origin::Gaussian, [weights.len(); 2], [kind; 2]);
                let limit = f64::from(1u32 << 23) / f64::from(peak);
                let is_single = 2.0 * weights.len() as f64 + 2.0 < limit;
                assert_eq!(mean, if is_single { Mean::AsGiven } else { Mean::InDouble }, "{kind:?}, {sigma}");
                if !is_single {
                    continue;
                }
                let weights: Vec<f32> = weights.into_iter().map(|weight| weight as f32).collect();
                for constant in (1..=peak).rev().step_by(peak.div_ceil(300) as usize) {
                    let pass = |sample: f32| weights.iter().fold(0.0f32, |sum, weight| sum + sample * weight);
                    assert_eq!(pass(pass(constant as f32)).round_ties_even(), constant as f32, "{kind:?}, {sigma}");
                }
            }
        }
    }
}
