//! Morphology by the definition: each sample of each element.

use crate::numbers::Kind;
use crate::rank2d::source;
use slm::Boundary;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Erosion,
    Dilation,
    Opening,
    Closing,
    Gradient,
    TopHat,
    BlackHat,
}

pub const OPERATIONS: [Operation; 7] = [
    Operation::Erosion,
    Operation::Dilation,
    Operation::Opening,
    Operation::Closing,
    Operation::Gradient,
    Operation::TopHat,
    Operation::BlackHat,
];

/// An operation and what it is used on, with samples as `f64`.
#[derive(Clone, Debug)]
pub struct Case {
    pub kind: Kind,
    pub operation: Operation,
    /// Rows and columns of the element.
    pub element: [usize; 2],
    /// The samples of the element; all if `None`.
    pub mask: Option<Vec<bool>>,
    pub heights: Option<Vec<f64>>,
    pub origin: [isize; 2],
    /// Of rows and columns. `None` if what is outside is ignored.
    pub boundaries: Option<[Boundary<f64>; 2]>,
    pub channels: Option<usize>,
    pub omit: bool,
    pub planes: usize,
    /// Rows and columns of a plane.
    pub shape: [usize; 2],
    /// Plane after plane, row after row.
    pub samples: Vec<f64>,
}

impl Case {
    pub fn channels(&self) -> usize {
        self.channels.unwrap_or(1)
    }

    pub fn sample_count(&self) -> usize {
        self.planes * self.shape[0] * self.shape[1] * self.channels()
    }

    /// The outputs in the order of the samples.
    pub fn outputs(&self) -> Vec<f64> {
        let x = &self.samples;
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| self.kind.stored(a - b)).collect();
        let [erosion, dilation] = [false, true].map(|greatest| move |x: &[f64]| self.extremes(x, greatest));
        match self.operation {
            Operation::Erosion => erosion(x),
            Operation::Dilation => dilation(x),
            Operation::Opening => dilation(&erosion(x)),
            Operation::Closing => erosion(&dilation(x)),
            Operation::Gradient => difference(&dilation(x), &erosion(x)),
            Operation::TopHat => difference(x, &dilation(&erosion(x))),
            Operation::BlackHat => difference(&erosion(&dilation(x)), x),
        }
    }

    /// The erosion, or the dilation if it is the greatest one.
    fn extremes(&self, x: &[f64], greatest: bool) -> Vec<f64> {
        let ([rows, columns], channels) = (self.shape, self.channels());
        let sign = if greatest { -1 } else { 1 };
        let mut outputs = Vec::new();
        for number in 0..self.sample_count() {
            let (pixel, channel) = (number / channels, number % channels);
            let [plane, row, column] = [pixel / columns / rows, pixel / columns % rows, pixel % columns];
            let mut window = Vec::new();
            for at in 0..self.element[0] * self.element[1] {
                if self.mask.as_ref().is_some_and(|mask| !mask[at]) {
                    continue;
                }
                let [i, j] = [at / self.element[1], at % self.element[1]].map(|place| place as isize);
                let from = |axis: usize| (self.element[axis] / 2) as isize + self.origin[axis];
                let place = [row as isize + sign * (i - from(0)), column as isize + sign * (j - from(1))];
                let sample = match self.place(place, greatest) {
                    Ok([row, column]) => x[((plane * rows + row) * columns + column) * channels + channel],
                    Err(outside) => outside,
                };
                let height = self.heights.as_ref().map(|heights| -(sign as f64) * heights[at]);
                window.push(height.map_or(sample, |height| self.kind.stored(sample + height)));
            }
            outputs.push(self.extreme(window, greatest));
        }
        outputs
    }

    /// The row and column of a sample, or the constant outside.
    fn place(&self, [row, column]: [isize; 2], greatest: bool) -> Result<[usize; 2], f64> {
        let neutral = match (self.kind.range(), greatest) {
            (Some([least, _]), true) => least,
            (Some([_, most]), false) => most,
            (None, true) => f64::NEG_INFINITY,
            (None, false) => f64::INFINITY,
        };
        let [above, before] = self.boundaries.unwrap_or([Boundary::Constant(neutral); 2]);
        Ok([source(&above, row, self.shape[0] as isize)?, source(&before, column, self.shape[1] as isize)?])
    }

    fn extreme(&self, mut window: Vec<f64>, greatest: bool) -> f64 {
        let all = window.len();
        window.retain(|sample| !sample.is_nan());
        if window.len() < all && !self.omit {
            return f64::NAN;
        }
        window.sort_by(f64::total_cmp);
        let extreme = if greatest { window.last() } else { window.first() };
        extreme.copied().unwrap_or(f64::NAN)
    }
}
