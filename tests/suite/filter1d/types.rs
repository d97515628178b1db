//! Samples of one type and taps of another: outputs against the oracle with the documented type of the sums, and saturation.

use super::oracle::{Case, Direction, Sum};
use super::{EXTENTS, SUITE, algorithms_for_pictures};
use crate::common::numbers::{Kind, Number};
use crate::common::{Random, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::filter1d::FilterElement;
use slm::ndarray::{Array2, ArrayView1, Axis};
use slm::{Boundary, Device, Extent, Filter1d, FilterSample};

/// Samples and taps. Emulated devices use the first ones.
const LINES: [(usize, usize); 6] = [(0, 3), (1, 4), (40, 5), (130, 33), (5000, 4), (900, 257)];
const FEW: usize = 4;

/// The unit roundoff of sums.
const EXACT: f64 = 0.0;
const SINGLE: f64 = f32::EPSILON as f64 / 2.0;
const DOUBLE: f64 = f64::EPSILON / 2.0;

/// Returns a number: any integer, or a float from -1 to 1.
fn any<S: Number>(random: &mut Random) -> S {
    let unit = random.unit();
    S::of(S::KIND.range().map_or(2.0 * unit - 1.0, |[least, greatest]| (least + unit * (greatest - least)).round()))
}

pub(super) fn trials() -> Vec<Trial> {
    type Test = fn(&Device) -> Result<(), Failed>;
    let tests: [(&str, Test); 14] = [
        ("u8_i32", |device| check::<u8, i32>(device, EXACT)),
        ("u8_f32", |device| check::<u8, f32>(device, SINGLE)),
        ("u8_f64", |device| check::<u8, f64>(device, DOUBLE)),
        ("u16_i32", |device| check::<u16, i32>(device, EXACT)),
        ("u16_f32", |device| check::<u16, f32>(device, SINGLE)),
        ("i16_i32", |device| check::<i16, i32>(device, EXACT)),
        ("i16_f32", |device| check::<i16, f32>(device, SINGLE)),
        ("i16_f64", |device| check::<i16, f64>(device, DOUBLE)),
        ("i32_f32", |device| check::<i32, f32>(device, DOUBLE)),
        ("i32_f64", |device| check::<i32, f64>(device, DOUBLE)),
        ("f32_i32", |device| check::<f32, i32>(device, DOUBLE)),
        ("f32_f64", |device| check::<f32, f64>(device, DOUBLE)),
        ("f64_f32", |device| check::<f64, f32>(device, DOUBLE)),
        ("saturation", saturation),
    ];
    let trial = |(name, test)| on_every_backend(SUITE, &format!("types::{name}"), test);
    tests.into_iter().flat_map(trial).collect()
}

fn check<S: FilterSample + Number, W: FilterElement + Number>(device: &Device, unit: f64) -> Result<(), Failed> {
    let boundaries = [Boundary::Constant(7.0), Boundary::Nearest, Boundary::Mirror, Boundary::Wrap];
    let count = if is_slow(device) { FEW } else { LINES.len() };
    for (number, (samples, taps)) in LINES[..count].iter().enumerate() {
        let random = &mut Random::new(*samples as u64);
        let x: Vec<S> = (0..*samples).map(|_| any(random)).collect();
        // The sums of integers are in the middle of the range and beyond both of its ends.
        let taps: Vec<W> = (0..*taps)
            .map(|_| W::of(if W::KIND.range().is_some() { random.below(4) as f64 - 1.0 } else { random.unit() - 0.25 }))
            .collect();
        // On emulated devices, each line has two of the boundaries: the next line and sums of `f64` have the others.
        let (first, every) = if is_slow(device) { ((number + usize::from(unit == DOUBLE)) % 2, 2) } else { (0, 1) };
        for (other, boundary) in boundaries.into_iter().enumerate().skip(first).step_by(every) {
            let line = Line { x: &x, taps: &taps, boundary, extent: EXTENTS[(number + other) % 3], unit };
            let fail = |failed: Failed| format!("{line:?}: {}", failed.message().unwrap_or("failed"));
            line.check(device).map_err(fail)?;
        }
    }
    Ok(())
}

#[derive(Debug)]
struct Line<'a, S, W> {
    x: &'a [S],
    taps: &'a [W],
    boundary: Boundary<f64>,
    extent: Extent,
    unit: f64,
}

impl<S: FilterSample + Number, W: FilterElement + Number> Line<'_, S, W> {
    fn filter(&self) -> Filter1d<S, W> {
        let boundary = match self.boundary {
            Boundary::Constant(outside) => Boundary::Constant(S::of(outside)),
            Boundary::Nearest => Boundary::Nearest,
            Boundary::Mirror => Boundary::Mirror,
            _ => Boundary::Wrap,
        };
        Filter1d::convolve(self.taps).samples().boundary(boundary).extent(self.extent)
    }

    fn check(&self, device: &Device) -> Result<(), Failed> {
        let (x, taps) = (numbers(self.x), numbers(self.taps));
        let (direction, boundary, extent) = (Direction::Convolve, self.boundary, self.extent);
        let case = Case { x: &x, taps: &taps, direction, boundary, extent };
        let expected = case.outputs(0..case.output_count());
        for &algorithm in algorithms_for_pictures(device, self.taps.len(), 1) {
            let filter = self.filter().algorithm(algorithm).prepare(device)?;
            let actual = filter.apply(self.x)?;
            equal(actual.len(), expected.len())?;
            for (o, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
                if !self.agrees(actual.to(), *expected) {
                    return Err(format!("{algorithm:?}: output {o} is {actual:?}, expected {expected:?}").into());
                }
            }
            // Along either axis of a matrix, lines are what they are alone.
            let lines = Array2::from_shape_fn((3, self.x.len()), |(line, i)| self.x[(i + line) % self.x.len()]);
            let last = filter.apply(&lines.row(2).to_vec())?;
            for axis in [0, 1] {
                let matrix = if axis == 1 { lines.view() } else { lines.t() };
                let outputs = filter.along(axis).apply(matrix)?;
                let first: ArrayView1<'_, S> = outputs.index_axis(Axis(1 - axis), 0);
                equal(first.to_vec(), actual.clone())?;
                equal(outputs.index_axis(Axis(1 - axis), 2).to_vec(), last.clone())?;
            }
        }
        Ok(())
    }

    /// Returns whether an output is the sum, within the bound of its type and rounded to the type of the outputs.
    fn agrees(&self, actual: f64, expected: Sum) -> bool {
        let Sum::Real(exact) = expected else { unreachable!("the case has floats") };
        let roundings = self.taps.len() as f64 * self.unit;
        let error = roundings / (1.0 - roundings) * exact.magnitude;
        match S::KIND.range() {
            Some([least, greatest]) => {
                let stored = |error: f64| (exact.sum + (exact.rest + error)).round_ties_even().clamp(least, greatest);
                (stored(-error)..=stored(error)).contains(&actual)
            }
            None => {
                let unit = if S::KIND == Kind::F32 { SINGLE } else { DOUBLE };
                ((actual - exact.sum) - exact.rest).abs() <= error + unit * (exact.sum.abs() + error)
            }
        }
    }
}

fn numbers<T: Number>(numbers: &[T]) -> Vec<f64> {
    numbers.iter().map(|number| number.to()).collect()
}

/// Outputs and constants beyond the range, and halves, which become even.
fn saturation(device: &Device) -> Result<(), Failed> {
    let scale = |scale: f32| Filter1d::correlate(&[scale]);
    equal(scale(2.5).samples().prepare(device)?.apply(&[0u8, 1, 3, 101, 103])?, vec![0, 2, 8, 252, 255])?;
    equal(
        scale(-1.5).samples().prepare(device)?.apply(&[0i16, 1, 3, 30_000, -30_000])?,
        vec![0, -2, -4, -32_768, 32_767],
    )?;
    equal(scale(f32::NAN).samples().prepare(device)?.apply(&[1u16, 2])?, vec![0, 0])?;
    let twice = Filter1d::correlate(&[2]).samples().prepare(device)?;
    equal(twice.apply(&[5u16, 40_000, 65_535])?, vec![10, 65_535, 65_535])?;
    let next = |constant| Filter1d::correlate(&[0.0, 0.0, 1.0]).boundary(Boundary::Constant(constant)).samples::<u8>();
    for (constant, outside) in [(300.0, 255), (-7.0, 0), (2.5, 2), (f64::NAN, 0)] {
        equal(next(constant).prepare(device)?.apply(&[1, 2])?, vec![2, outside])?;
    }
    Ok(())
}
