//! Generated weights of two dimensions. They are computed in double precision and rounded once.

use super::weights::Weights;
use super::{Filter2dError, FilterWeight};
use crate::generated::gaussian;
use std::sync::Arc;

/// Maximum standard deviation of an unsharp mask, which has `(8 · sigma + 1)²` weights.
const MAX_UNSHARP_SIGMA: f64 = 128.0;

/// Returns the smoothing and the differentiating vector of the Sobel operator.
pub(super) fn sobel<W: FilterWeight>() -> [Arc<Vec<W>>; 2] {
    [[1.0, 2.0, 1.0], [-1.0, 0.0, 1.0]].map(|weights| weights.map(W::of_f64).to_vec().into())
}

/// Returns the Laplacian of four neighbours.
pub(super) fn laplacian<W: FilterWeight>() -> Vec<W> {
    [0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0].map(W::of_f64).to_vec()
}

/// Returns the weights of `x + amount · (x - blurred)`.
pub(super) fn unsharp_weights<W: FilterWeight>(sigma: f64, amount: f64) -> Result<Weights<W>, Filter2dError> {
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
    fn unsharp_masks_keep_the_mean() {
        let Ok(weights) = unsharp_weights::<f64>(1.5, 0.8) else { panic!("valid parameters") };
        let sum: f64 = weights.row_after_row().unwrap().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}
