//! The filter by its definition, one output at a time, with twice the precision of `f64`.

pub mod extension;
pub mod shared_memory;

use crate::random::Draw;
use slm::filter1d::{Filter1dAlgorithm, FilterElement, HaloLoad};
use slm::{Boundary, Extent};
use std::fmt::Display;

/// Every algorithm for GPUs.
pub const ALGORITHMS: [Filter1dAlgorithm; 5] = [
    Filter1dAlgorithm::Auto,
    Filter1dAlgorithm::GlobalMemory,
    Filter1dAlgorithm::SharedTile(HaloLoad::EdgeThread),
    Filter1dAlgorithm::SharedTile(HaloLoad::Cooperative),
    Filter1dAlgorithm::RegisterTiled,
];

/// A reference sum: exact modulo 2^32 for integers, to about 100 bits for floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sum {
    Real(Real),
    Wrapped(i32),
}

/// A sum of products of floats: `sum + rest`, unless `sum` is infinite or NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Real {
    pub sum: f64,
    pub rest: f64,
    /// The sum of the products' magnitudes.
    pub magnitude: f64,
}

impl Real {
    /// Adds a product, with the errors of Dekker's multiplication and Knuth's addition.
    pub fn add(self, x: f64, tap: f64) -> Self {
        let product = x * tap;
        let sum = self.sum + product;
        let part = sum - self.sum;
        let error = (self.sum - (sum - part)) + (product - part);
        let rest = self.rest + (error + x.mul_add(tap, -product));
        Real { sum, rest, magnitude: self.magnitude + product.abs() }
    }

    /// Returns whether `actual`, a sum of `taps` products, is within the documented bound: for the unit roundoff `unit`, and
    /// with an absolute error of `smallest` for each product that may underflow.
    pub fn agrees(&self, actual: f64, taps: usize, unit: f64, smallest: f64) -> bool {
        if !self.sum.is_finite() {
            return actual == self.sum || (actual.is_nan() && self.sum.is_nan());
        }
        let taps = taps as f64;
        let gamma = taps * unit / (1.0 - taps * unit);
        ((actual - self.sum) - self.rest).abs() <= gamma * self.magnitude + taps * smallest
    }
}

/// The order of the taps.
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
    /// Returns the number of outputs.
    pub fn output_count(&self) -> usize {
        let (n, m) = (self.x.len(), self.taps.len());
        match self.extent {
            _ if n == 0 => 0,
            Extent::Same => n,
            Extent::Valid if n < m => 0,
            Extent::Valid => n - m + 1,
            Extent::Full => n + m - 1,
        }
    }

    /// Returns the outputs with the given indices.
    pub fn outputs(&self, numbers: impl IntoIterator<Item = usize>) -> Vec<Sum> {
        T::outputs(self, &numbers.into_iter().collect::<Vec<_>>())
    }

    fn outputs_of_type(&self, numbers: &[usize]) -> Vec<Sum> {
        // An empty signal cannot be extended.
        if self.x.is_empty() {
            return Vec::new();
        }
        let m = self.taps.len();
        // No output reads beyond `m` samples outside.
        let extended = self.extended(m);
        let at = |i: i64| extended[(i + m as i64) as usize];
        numbers.iter().map(|&o| self.output(o as i64, at)).collect()
    }

    /// Returns output `o`, given the extended signal.
    fn output(&self, o: i64, signal: impl Fn(i64) -> T) -> Sum {
        let m = self.taps.len() as i64;
        // The output's position in `Extent::Same`'s coordinates, which may be outside the signal.
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

    /// Returns the signal, extended by `reach` samples on either side as in SciPy's diagrams. The samples are computed from
    /// the inside out: each one copies a sample of the previous period, of which a short signal has many.
    fn extended(&self, reach: usize) -> Vec<T> {
        let n = self.x.len() as i64;
        let place = |i: i64| (i + reach as i64) as usize;
        let mut extended = vec![T::default(); self.x.len() + 2 * reach];
        extended[place(0)..place(n)].copy_from_slice(self.x);
        for i in (1..=reach as i64).flat_map(|distance| [-distance, n - 1 + distance]) {
            extended[place(i)] = match self.boundary {
                Boundary::Zero => T::default(),
                Boundary::Constant(outside) => outside,
                Boundary::Nearest => self.x[i.clamp(0, n - 1) as usize],
                Boundary::Reflect if i < 0 => extended[place(-1 - i)],
                Boundary::Reflect => extended[place(2 * n - 1 - i)],
                Boundary::Mirror if n == 1 => self.x[0],
                Boundary::Mirror if i < 0 => extended[place(-i)],
                Boundary::Mirror => extended[place(2 * n - 2 - i)],
                Boundary::Wrap if i < 0 => extended[place(i + n)],
                Boundary::Wrap => extended[place(i - n)],
            };
        }
        extended
    }
}

/// An element type, as the tests use it.
pub trait Sample: FilterElement + Draw + Display {
    const NAME: &'static str;
    /// Returns whether `actual` is the reference sum `expected` within the documented rounding for `taps` taps.
    fn agrees(actual: Self, expected: Sum, taps: usize) -> bool;
    /// Returns the sum of the products.
    fn sum(pairs: impl Iterator<Item = (Self, Self)>) -> Sum;
    /// Returns the bits, for exact comparisons.
    fn bits(self) -> u64;
    /// Returns the outputs with the given indices.
    fn outputs(case: &Case<'_, Self>, numbers: &[usize]) -> Vec<Sum>;
    /// Returns the first number whose bits differ.
    fn difference(actual: &[Self], expected: &[Self]) -> Option<usize>;
}

macro_rules! floats {
    ($($t:ty, $unit:expr;)*) => {$(
        impl Sample for $t {
            const NAME: &'static str = stringify!($t);
            fn agrees(actual: Self, expected: Sum, taps: usize) -> bool {
                let Sum::Real(expected) = expected else { unreachable!() };
                // No product underflows.
                expected.agrees(actual.into(), taps, $unit, 0.0)
            }
            fn sum(pairs: impl Iterator<Item = (Self, Self)>) -> Sum {
                Sum::Real(pairs.fold(Real::default(), |sum, (x, tap)| sum.add(x.into(), tap.into())))
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            fn outputs(case: &Case<'_, Self>, numbers: &[usize]) -> Vec<Sum> {
                case.outputs_of_type(numbers)
            }
            fn difference(actual: &[Self], expected: &[Self]) -> Option<usize> {
                actual.iter().zip(expected).position(|(a, b)| a.bits() != b.bits())
            }
        }
    )*};
}
floats! {
    f32, (-24f64).exp2();
    f64, (-53f64).exp2();
}

impl Sample for i32 {
    const NAME: &'static str = "i32";
    fn agrees(actual: Self, expected: Sum, _taps: usize) -> bool {
        Sum::Wrapped(actual) == expected
    }
    fn sum(pairs: impl Iterator<Item = (Self, Self)>) -> Sum {
        Sum::Wrapped(pairs.fold(0, |sum: i32, (x, tap)| sum.wrapping_add(x.wrapping_mul(tap))))
    }
    fn bits(self) -> u64 {
        self as u64
    }
    fn outputs(case: &Case<'_, Self>, numbers: &[usize]) -> Vec<Sum> {
        case.outputs_of_type(numbers)
    }
    fn difference(actual: &[Self], expected: &[Self]) -> Option<usize> {
        actual.iter().zip(expected).position(|(a, b)| a != b)
    }
}
