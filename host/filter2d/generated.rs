//! Generated weights. They are computed in double precision and rounded once.

use super::weights::Weights;
use super::{Filter2dError, FilterWeight};
use std::sync::Arc;

/// Distance, in standard deviations, at which a Gaussian is cut off.
const CUT_OFF: f64 = 4.0;

/// Maximum standard deviation of a Gaussian blur, which has `8 · sigma + 1` weights per axis.
const MAX_SIGMA: f64 = 1_048_576.0;

/// Maximum standard deviation of an unsharp mask, which has `(8 · sigma + 1)²` weights.
const MAX_UNSHARP_SIGMA: f64 = 128.0;

/// Maximum length of a side of a box.
const MAX_BOX: usize = 1 << 24;

type Checked<T> = Result<T, Filter2dError>;

/// Returns the weights of a Gaussian blur along one axis.
pub(super) fn gaussian_weights<W: FilterWeight>(sigma: f64) -> Checked<Arc<[W]>> {
    if !(0.0..=MAX_SIGMA).contains(&sigma) {
        return Err(Filter2dError::Parameter { what: "sigma", range: "from 0 to 2^20", value: sigma });
    }
    Ok(gaussian(sigma).into_iter().map(W::of_f64).collect())
}

/// Returns `exp(-d² / (2 sigma²))` for all distances up to the cut-off, divided by their sum.
fn gaussian(sigma: f64) -> Vec<f64> {
    let radius = (CUT_OFF * sigma).round() as i64;
    // A radius of 0 leaves a single weight, also for a sigma of 0.
    let weight = |d: i64| if d == 0 { 1.0 } else { (-0.5 * (d as f64 / sigma).powi(2)).exp() };
    let weights: Vec<f64> = (-radius..=radius).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// Returns equal weights whose sum is 1, for the side `what` of a box.
pub(super) fn box_weights<W: FilterWeight>(what: &'static str, taps: usize) -> Checked<Arc<[W]>> {
    if taps > MAX_BOX {
        return Err(Filter2dError::Parameter { what, range: "at most 2^24", value: taps as f64 });
    }
    Ok(std::iter::repeat_n(W::of_f64(1.0 / taps as f64), taps).collect())
}

/// Returns the smoothing and the differentiating vector of the Sobel operator.
pub(super) fn sobel<W: FilterWeight>() -> [Arc<[W]>; 2] {
    [[1.0, 2.0, 1.0], [-1.0, 0.0, 1.0]].map(|weights| weights.map(W::of_f64).into())
}

/// Returns the Laplacian of four neighbours.
pub(super) fn laplacian<W: FilterWeight>() -> Arc<[W]> {
    [0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0].map(W::of_f64).into()
}

/// Returns the weights of `x + amount · (x - blurred)`.
pub(super) fn unsharp_weights<W: FilterWeight>(sigma: f64, amount: f64) -> Checked<Weights<W>> {
    if !(0.0..=MAX_UNSHARP_SIGMA).contains(&sigma) {
        return Err(Filter2dError::Parameter { what: "sigma", range: "from 0 to 128", value: sigma });
    }
    if !amount.is_finite() {
        return Err(Filter2dError::Parameter { what: "the amount", range: "finite", value: amount });
    }
    let blur = gaussian(sigma);
    let (taps, centre) = (blur.len(), blur.len() / 2);
    let weight = |i: usize| {
        let [r, c] = [i / taps, i % taps];
        let blurred = blur[r] * blur[c];
        let original = if [r, c] == [centre; 2] { 1.0 } else { 0.0 };
        W::of_f64(original + amount * (original - blurred))
    };
    Ok(Weights::dense([taps; 2], (0..taps * taps).map(weight).collect()))
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

    #[test]
    fn unsharp_masks_keep_the_mean() {
        let Ok(weights) = unsharp_weights::<f64>(1.5, 0.8) else { panic!("valid parameters") };
        let sum: f64 = weights.row_after_row().unwrap().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}
