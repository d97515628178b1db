//! Generated weights of two dimensions. They are computed in double precision and rounded once.

use super::weights::Weights;
use super::{Filter2dError, FilterWeight};
use crate::cpu::allocation;
use crate::filter::generated::OutOfRange;
use crate::{Error, Gaussian, Gaussian2d, Result};
use std::sync::Arc;

/// Maximum standard deviation of an unsharp mask, whose weights are not computed as a product of a column and a row.
const MAX_UNSHARP_SIGMA: f64 = 128.0;

/// Maximum radius: that of the maximum standard deviation.
const MAX_UNSHARP_RADIUS: f64 = 4.0 * MAX_UNSHARP_SIGMA;

/// Returns the smoothing and the differentiating vector of the Sobel operator.
pub(super) fn sobel<W: FilterWeight>() -> [Arc<Vec<W>>; 2] {
    [[1.0, 2.0, 1.0], [-1.0, 0.0, 1.0]].map(|weights| weights.map(W::of_f64).to_vec().into())
}

/// Returns the Laplacian of four neighbours.
pub(super) fn laplacian<W: FilterWeight>() -> Vec<W> {
    [0.0, 1.0, 0.0, 1.0, -4.0, 1.0, 0.0, 1.0, 0.0].map(W::of_f64).to_vec()
}

/// Returns the weights of `x + amount · (x - blurred)`.
pub(super) fn unsharp_weights<W: FilterWeight>(gaussian: Gaussian2d, amount: f64) -> Result<Weights<W>> {
    let [column, row] = [unsharp_vector(gaussian.rows)?, unsharp_vector(gaussian.columns)?];
    if !amount.is_finite() {
        return Err(out_of_range(OutOfRange { what: "the amount", range: "finite", value: amount }));
    }
    let shape = [column.len(), row.len()];
    let centre = shape.map(|taps| taps / 2);
    let weight = |i: usize| {
        let [r, c] = [i / shape[1], i % shape[1]];
        let blurred = column[r] * row[c];
        let original = if [r, c] == centre { 1.0 } else { 0.0 };
        W::of_f64(original + amount * (original - blurred))
    };
    Ok(Weights::dense(shape, allocation::collected((0..shape[0] * shape[1]).map(weight))?))
}

/// Returns the blur of an unsharp mask along one axis.
fn unsharp_vector(gaussian: Gaussian) -> Result<Vec<f64>> {
    gaussian.check_sigma("from 0 to 128", MAX_UNSHARP_SIGMA).map_err(out_of_range)?;
    gaussian.normalised::<Filter2dError>("from 0 to 512", MAX_UNSHARP_RADIUS)
}

fn out_of_range(error: OutOfRange) -> Error {
    Filter2dError::from(error).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsharp_masks_keep_the_mean() {
        let Ok(weights) = unsharp_weights::<f64>(1.5.into(), 0.8) else { panic!("valid parameters") };
        let sum: f64 = weights.row_after_row().unwrap().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
}
