//! Generated weights along one axis, for filters of one and of two dimensions. They are computed in double precision and rounded
//! once.

use crate::{Error, FilterWeight, Result};

/// Distance, in standard deviations, at which a Gaussian is cut off.
const CUT_OFF: f64 = 4.0;

/// Maximum standard deviation of a Gaussian blur, which has `8 · sigma + 1` weights per axis.
const MAX_SIGMA: f64 = 1_048_576.0;

/// Maximum length of a side of a box.
const MAX_BOX: usize = 1 << 24;

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The user gives them, or they are no mean.
    Given,
    /// A Gaussian blur.
    Gaussian,
    /// Equal weights whose sum is 1.
    Box,
}

/// A parameter that is out of range. Each operation has an error for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfRange {
    pub(crate) what: &'static str,
    pub(crate) range: &'static str,
    pub(crate) value: f64,
}

/// Returns the weights of a Gaussian blur along one axis.
pub(crate) fn gaussian_weights<W: FilterWeight>(sigma: f64) -> std::result::Result<Vec<W>, OutOfRange> {
    if !(0.0..=MAX_SIGMA).contains(&sigma) {
        return Err(OutOfRange { what: "sigma", range: "from 0 to 2^20", value: sigma });
    }
    Ok(gaussian(sigma).into_iter().map(W::of_f64).collect())
}

/// Returns `exp(-d² / (2 sigma²))` for all distances up to the cut-off, divided by their sum.
pub(crate) fn gaussian(sigma: f64) -> Vec<f64> {
    let radius = (CUT_OFF * sigma).round() as i64;
    // A radius of 0 leaves a single weight, also for a sigma of 0.
    let weight = |d: i64| if d == 0 { 1.0 } else { (-0.5 * (d as f64 / sigma).powi(2)).exp() };
    let weights: Vec<f64> = (-radius..=radius).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Returns equal weights whose sum is 1, for the side `what` of a box.
pub(crate) fn box_weights<W: FilterWeight>(what: &'static str, taps: usize) -> Result<Vec<W>> {
    if taps > MAX_BOX {
        return Err(Error::TooLarge { what, factors: [taps as u64, 1], limit: MAX_BOX as u64 });
    }
    Ok(std::iter::repeat_n(W::of_f64(1.0 / taps as f64), taps).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussians_sum_to_one_and_are_symmetric() {
        for sigma in [0.0, 0.1, 0.5, 1.0, 4.0, 10.25] {
            let weights = gaussian(sigma);
            assert_eq!(weights.len() % 2, 1);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
            assert!(weights.iter().eq(weights.iter().rev()));
        }
        // `scipy.ndimage._filters._gaussian_kernel1d(1.0, 0, 4)[4:]`
        let expected = [0.398943469, 0.241971446, 0.053991127, 0.004431862, 0.000133831];
        for (actual, expected) in gaussian(1.0)[4..].iter().zip(expected) {
            assert!((actual - expected).abs() < 1e-9, "{actual}, expected {expected}");
        }
    }
}
