//! Signals continued by hand, a period at a time: another way to say what the boundaries are than the oracle's.

use super::Direction;
use slm::{Boundary, Extent};
use std::ops::Range;

/// Which taps meet which samples: `m` taps on `n` samples.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<T> {
    pub n: usize,
    pub m: usize,
    pub direction: Direction,
    pub boundary: Boundary<T>,
    pub extent: Extent,
}

impl<T: Copy> Meeting<T> {
    /// The samples before an output's own one that take part.
    pub fn left(&self) -> usize {
        match self.direction {
            Direction::Correlate => self.m / 2,
            Direction::Convolve => self.m - 1 - self.m / 2,
        }
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        match self.extent {
            _ if self.n == 0 => 0,
            Extent::Same => self.n,
            Extent::Valid => (self.n + 1).saturating_sub(self.m),
            Extent::Full => self.n + self.m - 1,
        }
    }

    /// The samples that stand where the taps look, `None` for a constant: output `o` looks at those from `o` to
    /// `o + m - 1`.
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

    /// For each output whether its taps touch sample `p`.
    pub fn touches(&self, p: usize) -> Vec<bool> {
        self.sources().windows(self.m).map(|window| window.contains(&Some(p))).collect()
    }
}

/// The samples of a signal of `n` that stand at `places` when it is continued; `None` for a constant.
pub fn sources<T>(boundary: Boundary<T>, n: usize, places: Range<i64>) -> Vec<Option<usize>> {
    let period: Vec<usize> = match boundary {
        Boundary::Zero | Boundary::Constant(_) => {
            return places.map(|i| usize::try_from(i).ok().filter(|&i| i < n)).collect();
        }
        Boundary::Nearest => return places.map(|i| Some(i.clamp(0, n as i64 - 1) as usize)).collect(),
        Boundary::Reflect => (0..n).chain((0..n).rev()).collect(),
        Boundary::Mirror => (0..n).chain((1..n - 1).rev()).collect(),
        Boundary::Wrap => (0..n).collect(),
    };
    places.map(|i| Some(period[i.rem_euclid(period.len() as i64) as usize])).collect()
}
