//! Filters of reflected pictures by definition, in double precision, for the examples that compare their results with it.

use ndarray::Array2;

/// A multiple of the outer product of two vectors.
pub(crate) struct Term {
    pub(crate) factor: f64,
    pub(crate) column: Vec<f64>,
    pub(crate) row: Vec<f64>,
}

impl Term {
    /// Returns a multiple of an outer square.
    pub(crate) fn square(factor: f64, vector: Vec<f64>) -> Self {
        Term { factor, column: vector.clone(), row: vector }
    }

    /// Returns an output of the correlation with these weights.
    pub(crate) fn correlate(&self, samples: &Array2<f64>, row: usize, column: usize) -> f64 {
        let (rows, columns) = samples.dim();
        let (rows, columns) = (reflected(&self.column, row, rows), reflected(&self.row, column, columns));
        let along = |r: usize| columns.iter().map(|&(c, weight)| weight * samples[[r, c]]).sum::<f64>();
        self.factor * rows.iter().map(|&(r, weight)| weight * along(r)).sum::<f64>()
    }

    /// Returns a bound for the rounding errors in `f32`, for samples of magnitude 1: each weight goes through as many roundings
    /// as there are weights, and a few more.
    pub(crate) fn rounding(&self) -> f64 {
        let sum = |weights: &[f64]| weights.iter().map(|weight| weight.abs()).sum::<f64>();
        let (count, magnitude) = (self.column.len() * self.row.len(), sum(&self.column) * sum(&self.row));
        ((count as f64 + 20.0) * f64::from(f32::EPSILON) / 2.0).exp_m1() * self.factor.abs() * magnitude
    }
}

/// Returns all outputs of the correlation with the outer square of a vector.
pub(crate) fn blurred(samples: &Array2<f64>, vector: &[f64]) -> Array2<f64> {
    let along_rows = |samples: &Array2<f64>| {
        let weights: Vec<_> = (0..samples.ncols()).map(|column| reflected(vector, column, samples.ncols())).collect();
        Array2::from_shape_fn(samples.dim(), |(row, column)| {
            weights[column].iter().map(|&(c, weight)| weight * samples[[row, c]]).sum()
        })
    };
    along_rows(&along_rows(samples).t().to_owned()).t().to_owned()
}

/// Returns the Gaussian at integers up to four standard deviations away, with the sum 1.
pub(crate) fn gaussian(sigma: f64) -> Vec<f64> {
    let radius = (4.0 * sigma + 0.5) as i32;
    // Without the power for the middle, which would be NaN for a standard deviation of 0.
    let weight = |x: i32| if x == 0 { 1.0 } else { (-0.5 * (f64::from(x) / sigma).powi(2)).exp() };
    let weights: Vec<f64> = (-radius..=radius).map(weight).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Returns the weight of each of `n` samples for the output at `centre`, including its reflections. Samples with the weight
/// zero are omitted.
pub(crate) fn reflected<W: Copy + Into<f64>>(taps: &[W], centre: usize, n: usize) -> Vec<(usize, f64)> {
    let mut weights = vec![0.0; n];
    let first = centre as i64 - taps.len() as i64 / 2;
    for (i, &tap) in (first..).zip(taps) {
        let place = i.rem_euclid(2 * n as i64) as usize;
        weights[place.min(2 * n - 1 - place)] += tap.into();
    }
    weights.into_iter().enumerate().filter(|&(_, weight)| weight != 0.0).collect()
}
