//! The filter as its definition says, one output at a time, in double precision.

use super::Sample;
use slm::{Boundary, Extent};

/// An exact sum: of floats in `f64`, of integers modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    Real(f64),
    Wrapped(i32),
}

/// Which of the two sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Correlate,
    Convolve,
}

/// A filter of `m` taps on `x`.
#[derive(Clone, Debug)]
pub struct Case<'a, T> {
    pub x: &'a [T],
    pub taps: &'a [T],
    pub direction: Direction,
    pub boundary: Boundary<T>,
    pub extent: Extent,
}

impl<T: Sample> Case<'_, T> {
    /// How many outputs there are.
    pub fn len(&self) -> usize {
        let (n, m) = (self.x.len(), self.taps.len());
        match self.extent {
            _ if n == 0 => 0,
            Extent::Same => n,
            Extent::Valid if n < m => 0,
            Extent::Valid => n - m + 1,
            Extent::Full => n + m - 1,
        }
    }

    /// The outputs with these numbers.
    pub fn outputs(&self, numbers: impl IntoIterator<Item = usize>) -> Vec<Sum> {
        // What is empty cannot be continued.
        if self.x.is_empty() {
            return Vec::new();
        }
        let m = self.taps.len();
        // No output looks further than the taps reach.
        let continued = self.continued(m);
        let at = |i: i64| continued[(i + m as i64) as usize];
        numbers.into_iter().map(|o| self.output(o as i64, at)).collect()
    }

    /// Output number `o` of the continued signal.
    fn output(&self, o: i64, signal: impl Fn(i64) -> T) -> Sum {
        let m = self.taps.len() as i64;
        // The output's place among those of `Extent::Same`, which may be outside.
        let i = match (self.extent, self.direction) {
            (Extent::Same, _) => o,
            (Extent::Valid, Direction::Correlate) => o + m / 2,
            (Extent::Valid, Direction::Convolve) => o + (m - 1) - m / 2,
            (Extent::Full, Direction::Correlate) => o + m / 2 - (m - 1),
            (Extent::Full, Direction::Convolve) => o - m / 2,
        };
        let place = |j: i64| match self.direction {
            Direction::Correlate => i + j - m / 2,
            Direction::Convolve => i - j + m / 2,
        };
        T::sum((0..m).map(|j| (signal(place(j)), self.taps[j as usize])))
    }

    /// The signal and as many places on either side: SciPy's pictures, one period at a time. From the inside out, so that
    /// what is a period away is there already: a short signal has many.
    fn continued(&self, reach: usize) -> Vec<T> {
        let n = self.x.len() as i64;
        let place = |i: i64| (i + reach as i64) as usize;
        let mut continued = vec![T::default(); self.x.len() + 2 * reach];
        continued[place(0)..place(n)].copy_from_slice(self.x);
        for i in (1..=reach as i64).flat_map(|distance| [-distance, n - 1 + distance]) {
            continued[place(i)] = match self.boundary {
                Boundary::Zero => T::default(),
                Boundary::Constant(outside) => outside,
                Boundary::Nearest => self.x[i.clamp(0, n - 1) as usize],
                Boundary::Reflect if i < 0 => continued[place(-1 - i)],
                Boundary::Reflect => continued[place(2 * n - 1 - i)],
                Boundary::Mirror if n == 1 => self.x[0],
                Boundary::Mirror if i < 0 => continued[place(-i)],
                Boundary::Mirror => continued[place(2 * n - 2 - i)],
                Boundary::Wrap if i < 0 => continued[place(i + n)],
                Boundary::Wrap => continued[place(i - n)],
            };
        }
        continued
    }

    /// The sum of the taps' magnitudes.
    pub fn weight(&self) -> f64 {
        self.taps.iter().map(|tap| tap.magnitude()).sum()
    }
}
