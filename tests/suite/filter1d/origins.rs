//! Every origin, against the formula.

use super::oracle::{Direction, Sample, Sum, extension};
use super::{EXTENTS, SUITE, algorithms, algorithms_for_pictures, boundaries};
use crate::common::{Random, ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::Array2;
use slm::{Boundary, Device, Extent, Filter1d};

pub(super) fn trials() -> Vec<Trial> {
    [of_type::<f32>(), of_type::<f64>(), of_type::<i32>()].into_iter().flatten().collect()
}

fn of_type<T: Sample>() -> [Trial; 3] {
    on_every_backend(SUITE, &format!("origins::{}", T::NAME), every_origin::<T>)
}

/// Numbers of samples and of taps, some of them folded.
const SIZES: [(usize, usize); 8] = [(9, 1), (9, 2), (9, 3), (1, 4), (70, 5), (300, 6), (5, 70), (300, 130)];

fn every_origin<T: Sample>(device: &Device) -> Result<(), Failed> {
    let mut number = 0;
    for &(samples, count) in if is_slow(device) { &SIZES[..7] } else { &SIZES[..] } {
        let x: Vec<T> = Random::new(samples as u64).values(samples);
        let taps: Vec<T> = Random::new(count as u64).values(count);
        let [least, greatest] = [-((count / 2) as isize), (count - 1 - count / 2) as isize];
        for origin in [least, greatest, greatest / 2] {
            for direction in [Direction::Correlate, Direction::Convolve] {
                number += 1;
                let (_, boundary) = boundaries::<T>()[number % 6];
                let case = Case { x: &x, taps: &taps, origin, direction, boundary, extent: EXTENTS[number / 2 % 3] };
                check(device, &case).map_err(|failed| {
                    let message = failed.message().unwrap_or("failed");
                    format!("{samples} samples, {count} taps, {origin}, {direction:?}, {boundary:?}: {message}")
                })?;
            }
        }
    }
    Ok(())
}

struct Case<'a, T> {
    x: &'a [T],
    taps: &'a [T],
    origin: isize,
    direction: Direction,
    boundary: Boundary<T>,
    extent: Extent,
}

impl<T: Sample> Case<'_, T> {
    /// The distance from the place of an output to that of the sample that a tap meets.
    fn distance(&self, tap: usize) -> i64 {
        let distance = tap as i64 - (self.taps.len() / 2) as i64 - self.origin as i64;
        if self.direction == Direction::Correlate { distance } else { -distance }
    }

    fn outputs(&self) -> Vec<Sum> {
        let n = self.x.len() as i64;
        let ends = [self.distance(0), self.distance(self.taps.len() - 1)];
        let [least, greatest] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        // An output that depends on samples only, or on at least one of them.
        let places = match self.extent {
            Extent::Same => 0..n,
            Extent::Valid => -least..n - greatest,
            Extent::Full => -greatest..n - least,
        };
        let outside = if let Boundary::Constant(outside) = self.boundary { outside } else { T::default() };
        let sample = |place: i64| {
            let source = extension::sources(self.boundary, self.x.len(), place..place + 1)[0];
            source.map_or(outside, |source| self.x[source])
        };
        let pairs =
            |place: i64| (0..self.taps.len()).map(move |tap| (sample(place + self.distance(tap)), self.taps[tap]));
        places.map(|place| T::sum(pairs(place))).collect()
    }
}

fn check<T: Sample>(device: &Device, case: &Case<'_, T>) -> Result<(), Failed> {
    let expected = case.outputs();
    let filter = match case.direction {
        Direction::Correlate => Filter1d::correlate(case.taps),
        Direction::Convolve => Filter1d::convolve(case.taps),
    };
    let filter = filter.origin(case.origin).boundary(case.boundary).extent(case.extent);
    for &algorithm in algorithms(device) {
        let filter = filter.clone().algorithm(algorithm).prepare(device)?;
        compare(&filter.apply(case.x)?, &expected, case.taps.len())?;
        let column = Array2::from_shape_fn((case.x.len(), 2), |(r, _)| case.x[r]);
        let filtered = filter.along(0).apply(column.view())?;
        filtered.columns().into_iter().try_for_each(|column| compare(&column.to_vec(), &expected, case.taps.len()))?;
    }
    // The kernels for pictures.
    for &algorithm in algorithms_for_pictures(device, case.taps.len(), 2) {
        let filter = filter.clone().algorithm(algorithm).channels(2).prepare(device)?;
        let outputs = filter.apply(&case.x.iter().flat_map(|&x| [x; 2]).collect::<Vec<T>>())?;
        let of_channel = |channel| outputs.iter().skip(channel).step_by(2).copied().collect::<Vec<T>>();
        [0, 1].into_iter().try_for_each(|channel| compare(&of_channel(channel), &expected, case.taps.len()))?;
    }
    Ok(())
}

fn compare<T: Sample>(actual: &[T], expected: &[Sum], taps: usize) -> Result<(), Failed> {
    equal(actual.len(), expected.len())?;
    for (number, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        ensure(T::agrees(actual, expected, taps), || format!("output {number} is {actual}, expected {expected:?}"))?;
    }
    Ok(())
}
