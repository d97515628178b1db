//! Ranks by the definition: each window is sorted.

use slm::{Boundary, Extent};

/// Which sample of a window is the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rank {
    Median,
    Minimum,
    Maximum,
    At(isize),
    Percentile(f64),
}

/// A filter and what it is used on, with samples as `f64`.
#[derive(Clone, Debug)]
pub struct Case {
    /// Rows and columns.
    pub window: [usize; 2],
    /// The samples of the window; all if `None`.
    pub mask: Option<Vec<bool>>,
    pub rank: Rank,
    pub origin: [isize; 2],
    /// Of rows and columns.
    pub boundaries: [Boundary<f64>; 2],
    pub extent: Extent,
    pub stride: [usize; 2],
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

    /// The positions of the outputs along an axis, and the samples before an output's own place.
    fn positions(&self, axis: usize) -> (Vec<isize>, isize) {
        let (n, m) = (self.shape[axis] as isize, self.window[axis] as isize);
        let before = m / 2 + self.origin[axis];
        let behind = m - 1 - before;
        let range = match self.extent {
            _ if n == 0 => 0..0,
            Extent::Same => 0..n,
            Extent::Valid => before..n - behind,
            Extent::Full => -behind..n + before,
        };
        (range.step_by(self.stride[axis]).collect(), before)
    }

    /// Rows and columns of the outputs of a plane.
    pub fn output_shape(&self) -> [usize; 2] {
        [0, 1].map(|axis| self.positions(axis).0.len())
    }

    /// The outputs in the order of the samples.
    pub fn outputs(&self) -> Vec<f64> {
        let ((rows, above), (columns, before)) = (self.positions(0), self.positions(1));
        let mut outputs = Vec::new();
        for plane in 0..self.planes {
            for row in &rows {
                for column in &columns {
                    for channel in 0..self.channels() {
                        let mut window = Vec::new();
                        for i in 0..self.window[0] {
                            for j in 0..self.window[1] {
                                if self.mask.as_ref().is_none_or(|mask| mask[i * self.window[1] + j]) {
                                    let place = [row + i as isize - above, column + j as isize - before];
                                    window.push(self.sample(plane, place, channel));
                                }
                            }
                        }
                        outputs.push(self.ranked(window));
                    }
                }
            }
        }
        outputs
    }

    fn sample(&self, plane: usize, place: [isize; 2], channel: usize) -> f64 {
        let [rows, columns] = self.shape;
        let row = source(&self.boundaries[0], place[0], rows as isize);
        let column = source(&self.boundaries[1], place[1], columns as isize);
        match (row, column) {
            (Ok(row), Ok(column)) => {
                self.samples[((plane * rows + row) * columns + column) * self.channels() + channel]
            }
            (Err(outside), _) | (_, Err(outside)) => outside,
        }
    }

    fn ranked(&self, mut window: Vec<f64>) -> f64 {
        let all = window.len();
        window.retain(|sample| !sample.is_nan());
        if window.len() < all && !self.omit {
            return f64::NAN;
        }
        window.sort_by(f64::total_cmp);
        let n = window.len() as isize;
        let number = match self.rank {
            Rank::Median => n / 2,
            Rank::Minimum => 0,
            Rank::Maximum => n - 1,
            Rank::At(rank) if rank < 0 => n + rank,
            Rank::At(rank) => rank,
            Rank::Percentile(percentile) => ((n as f64 * percentile / 100.0) as isize).min(n - 1),
        };
        usize::try_from(number).ok().and_then(|number| window.get(number)).copied().unwrap_or(f64::NAN)
    }
}

/// The sample at a position, or the constant outside.
pub fn source(boundary: &Boundary<f64>, position: isize, n: isize) -> Result<usize, f64> {
    if (0..n).contains(&position) {
        return Ok(position as usize);
    }
    let place = match boundary {
        Boundary::Zero => return Err(0.0),
        Boundary::Constant(outside) => return Err(*outside),
        Boundary::Nearest => position.clamp(0, n - 1),
        Boundary::Wrap => position.rem_euclid(n),
        Boundary::Reflect => {
            let place = position.rem_euclid(2 * n);
            place.min(2 * n - 1 - place)
        }
        Boundary::Mirror => {
            let period = (2 * n - 2).max(1);
            let place = position.rem_euclid(period);
            place.min(period - place)
        }
    };
    Ok(place as usize)
}
