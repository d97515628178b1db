//! Signals extended period by period: a second definition of the boundaries, independent of the oracle's.

use super::Direction;
use slm::{Boundary, Extent};
use std::ops::Range;

/// A filter without values: `m` taps on `n` samples.
#[derive(Clone, Copy, Debug)]
pub struct FilterShape<T> {
    pub n: usize,
    pub m: usize,
    pub direction: Direction,
    pub boundary: Boundary<T>,
    pub extent: Extent,
}

impl<T: Copy> FilterShape<T> {
    /// Returns the number of samples that an output reads in front of its own one.
    pub fn left(&self) -> usize {
        match self.direction {
            Direction::Correlate => self.m / 2,
            Direction::Convolve => self.m - 1 - self.m / 2,
        }
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        match self.extent {
            _ if self.n == 0 => 0,
            Extent::Same => self.n,
            Extent::Valid => (self.n + 1).saturating_sub(self.m),
            Extent::Full => self.n + self.m - 1,
        }
    }

    /// Returns the sources of the values that the taps read: the index of a sample, or `None` for a constant. Output `o`
    /// reads the values `o` to `o + m - 1`.
    pub fn sources(&self) -> Vec<Option<usize>> {
        let start = match self.extent {
            Extent::Same => -(self.left() as i64),
            Extent::Valid => 0,
            Extent::Full => 1 - self.m as i64,
        };
        match self.outputs() {
            0 => Vec::new(),
            outputs => sources(self.boundary, self.n, start..start + (outputs + self.m - 1) as i64),
        }
    }

    /// Returns for each output whether it reads sample `p`.
    pub fn touches(&self, p: usize) -> Vec<bool> {
        self.sources().windows(self.m).map(|window| window.contains(&Some(p))).collect()
    }
}

/// Returns the samples at the given positions of an extended signal of `n` samples; `None` for a constant.
pub fn sources<T>(boundary: Boundary<T>, n: usize, positions: Range<i64>) -> Vec<Option<usize>> {
    let period: Vec<usize> = match boundary {
        Boundary::Zero | Boundary::Constant(_) => {
            return positions.map(|i| usize::try_from(i).ok().filter(|&i| i < n)).collect();
        }
        Boundary::Nearest => return positions.map(|i| Some(i.clamp(0, n as i64 - 1) as usize)).collect(),
        Boundary::Reflect => (0..n).chain((0..n).rev()).collect(),
        Boundary::Mirror => (0..n).chain((1..n - 1).rev()).collect(),
        Boundary::Wrap => (0..n).collect(),
    };
    positions.map(|i| Some(period[i.rem_euclid(period.len() as i64) as usize])).collect()
}
