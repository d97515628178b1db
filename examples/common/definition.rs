//! Filters of reflected pictures by definition, in double precision, for the examples that compare their results with it.

/// A vector of weights along lines of samples, which are reflected at their ends.
pub(crate) struct Reflected {
    /// Distance of the first weight from the output.
    first: i64,
    weights: Vec<f64>,
    /// Number of samples of a line.
    len: usize,
}

impl Reflected {
    /// Returns the weights for lines of `len` samples. The reflected line has a period, so weights that are a period apart are
    /// added up.
    pub(crate) fn new<W: Copy + Into<f64>>(vector: &[W], len: usize) -> Self {
        let mut weights = vec![0.0; vector.len().min(2 * len)];
        for (i, &weight) in vector.iter().enumerate() {
            weights[i % (2 * len)] += weight.into();
        }
        Reflected { first: -(vector.len() as i64 / 2), weights, len }
    }

    /// Returns the index of the sample at a place that may be outside of the line.
    fn source(&self, place: i64) -> usize {
        let place = place.rem_euclid(2 * self.len as i64) as usize;
        place.min(2 * self.len - 1 - place)
    }

    /// Returns the indices and weights of the samples for the output at `centre`.
    pub(crate) fn at(&self, centre: usize) -> Vec<(usize, f64)> {
        let places = centre as i64 + self.first..;
        places.zip(&self.weights).map(|(place, &weight)| (self.source(place), weight)).collect()
    }

    /// Returns all outputs of a line.
    fn line(&self, samples: &[f64]) -> Vec<f64> {
        let places = self.first..self.first + (self.len + self.weights.len() - 1) as i64;
        let samples: Vec<_> = places.map(|place| samples[self.source(place)]).collect();
        let output = |window: &[f64]| window.iter().zip(&self.weights).map(|(sample, weight)| sample * weight).sum();
        samples.windows(self.weights.len()).map(output).collect()
    }
}

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

    /// Returns some outputs of the correlation with these weights, for all pairs of `rows` and `columns`, in a picture of this
    /// shape.
    pub(crate) fn correlate(
        &self,
        shape: [usize; 2],
        sample: impl Fn([usize; 2]) -> f64,
        [rows, columns]: [&[usize]; 2],
    ) -> Vec<f64> {
        let (down, along) = (Reflected::new(&self.column, shape[0]), Reflected::new(&self.row, shape[1]));
        let output = |row: &[(usize, f64)], column: &[(usize, f64)]| {
            let along = |r| column.iter().map(|&(c, weight)| weight * sample([r, c])).sum::<f64>();
            self.factor * row.iter().map(|&(r, weight)| weight * along(r)).sum::<f64>()
        };
        let columns: Vec<_> = columns.iter().map(|&column| along.at(column)).collect();
        let rows = rows.iter().map(|&row| down.at(row));
        rows.flat_map(|row| columns.iter().map(|column| output(&row, column)).collect::<Vec<_>>()).collect()
    }

    /// Returns a bound for the rounding errors in `f32`, for samples of magnitude 1: each weight goes through as many roundings
    /// as there are weights, and a few more.
    pub(crate) fn rounding(&self) -> f64 {
        let sum = |weights: &[f64]| weights.iter().map(|weight| weight.abs()).sum::<f64>();
        let (count, magnitude) = (self.column.len() * self.row.len(), sum(&self.column) * sum(&self.row));
        ((count as f64 + 20.0) * f64::from(f32::EPSILON) / 2.0).exp_m1() * self.factor.abs() * magnitude
    }
}

/// Returns the rows of the correlation of a picture of this shape with the outer square of a vector. Each row is computed when it is
/// taken, because all of them together need much memory.
pub(crate) fn blurred(
    vector: &[f64],
    [rows, columns]: [usize; 2],
    sample: impl Fn([usize; 2]) -> f64,
) -> impl Iterator<Item = Vec<f64>> {
    let (down, along) = (Reflected::new(vector, rows), Reflected::new(vector, columns));
    (0..rows).map(move |row| {
        let mut sums = vec![0.0; columns];
        for (r, weight) in down.at(row) {
            sums.iter_mut().enumerate().for_each(|(c, sum)| *sum += weight * sample([r, c]));
        }
        along.line(&sums)
    })
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
