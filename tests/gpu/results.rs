//! Results that could depend on how the work is divided, and numbers that are not finite.

use super::{Failed, Trial, equal, same, shared_trial};
use crate::common::Random;
use crate::filter1d::extension::FilterShape;
use crate::filter1d::{ALGORITHMS, Direction, Sample};
use ndarray::Array2;
use slm::filter1d::{Filter1dAlgorithm, PreparedFilter1d};
use slm::{Boundary, Device, Error, Extent, Filter1d};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("integers_as_on_the_cpu", integers_as_on_the_cpu),
        shared_trial("long_filters_f32", long_filters::<f32>),
        shared_trial("long_filters_f64", long_filters::<f64>),
        shared_trial("long_filters_i32", long_filters::<i32>),
        shared_trial("not_finite_f32", not_finite::<f32>),
        shared_trial("not_finite_f64", not_finite::<f64>),
    ]
}

const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

fn boundaries<T: Sample>() -> [Boundary<T>; 6] {
    let outside = T::random(0x1234_5678_9abc_def0);
    use Boundary::{Constant, Mirror, Nearest, Reflect, Wrap, Zero};
    [Zero, Constant(outside), Nearest, Reflect, Mirror, Wrap]
}

fn describe<T: Sample>(taps: &[T], direction: Direction) -> Filter1d<T> {
    match direction {
        Direction::Correlate => Filter1d::correlate(taps),
        Direction::Convolve => Filter1d::convolve(taps),
    }
}

/// Prepares the filter, or returns `None` if the algorithm needs too much shared memory.
fn prepare<T: Sample>(filter: &Filter1d<T>, device: &Device) -> slm::Result<Option<PreparedFilter1d<T>>> {
    filter.prepare(device).map(Some).or_else(too_large)
}

fn too_large<T>(error: Error) -> slm::Result<Option<T>> {
    if let Error::SharedMemoryExceeded { .. } = error { Ok(None) } else { Err(error) }
}

fn integers_as_on_the_cpu(device: &Device) -> Result<(), Failed> {
    for case in 0..200 {
        let mut random = Random::new(case);
        let [rows, columns, taps] = [200, 200, 300].map(|maximum| 1 + random.below(maximum));
        let taps: Vec<i32> = random.values(taps);
        let direction = [Direction::Correlate, Direction::Convolve][random.below(2)];
        let (boundary, extent) = (boundaries()[random.below(6)], EXTENTS[random.below(3)]);
        let algorithm = ALGORITHMS[random.below(ALGORITHMS.len())];
        let filter = describe(&taps, direction).boundary(boundary).extent(extent).algorithm(algorithm);
        let (gpu, cpu) = (filter.prepare(device)?, filter.prepare(&Device::cpu())?);
        let x = Array2::from_shape_vec((rows, columns), random.values(rows * columns))?;
        let fail = |e: Failed| format!("case {case}: {rows} x {columns}, {filter:?}: {e:?}");
        let flat = x.as_slice().ok_or("rows one after another")?;
        same(&gpu.apply(flat)?, &cpu.apply(flat)?).map_err(fail)?;
        for axis in [0, 1] {
            let Some(actual) = gpu.along(axis).apply(x.view()).map(Some).or_else(too_large)? else { continue };
            equal(actual, cpu.along(axis).apply(x.view())?).map_err(fail)?;
        }
    }
    Ok(())
}

/// All algorithms add in the same order. The numbers of taps are near multiples of the maximum of one launch.
fn long_filters<T: Sample>(device: &Device) -> Result<(), Failed> {
    let bits = |values: &[T]| values.iter().map(|v| v.bits()).collect::<Vec<_>>();
    let x = Array2::from_shape_vec((140, 25), Random::new(1).values::<T>(3500))?;
    let flat = x.as_slice().ok_or("rows one after another")?;
    for (i, taps) in [479, 480, 481, 958, 959, 960, 961, 1441, 1919, 1920, 1921, 3000].into_iter().enumerate() {
        let taps: Vec<T> = Random::new(2).values(taps);
        let direction = [Direction::Correlate, Direction::Convolve][i % 2];
        let filter =
            describe(&taps, direction).boundary(boundaries()[i % 6]).extent([Extent::Same, Extent::Full][i / 6]);
        let global = filter.clone().algorithm(Filter1dAlgorithm::GlobalMemory).prepare(device)?;
        let expected = [global.apply(flat)?, elements(&global, &x, 0)?, elements(&global, &x, 1)?];
        for algorithm in ALGORITHMS {
            let fail = |e: Failed| format!("{} taps, {algorithm:?}: {e:?}", taps.len());
            let Some(other) = prepare(&filter.clone().algorithm(algorithm), device)? else { continue };
            same(&bits(&other.apply(flat)?), &bits(&expected[0])).map_err(fail)?;
            for axis in [0, 1] {
                let Some(actual) = elements(&other, &x, axis).map(Some).or_else(too_large)? else { continue };
                same(&bits(&actual), &bits(&expected[1 + axis])).map_err(fail)?;
            }
        }
    }
    Ok(())
}

fn elements<T: Sample>(filter: &PreparedFilter1d<T>, x: &Array2<T>, axis: usize) -> slm::Result<Vec<T>> {
    Ok(filter.along(axis).apply(x.view())?.into_iter().collect())
}

/// A float type with numbers that are not finite.
trait Float: Sample {
    const NOT_FINITE: [Self; 3];
    fn is_not_finite(self) -> bool;
}

macro_rules! floats {
    ($($t:ty),*) => {$(
        impl Float for $t {
            const NOT_FINITE: [Self; 3] = [<$t>::NAN, <$t>::INFINITY, <$t>::NEG_INFINITY];
            fn is_not_finite(self) -> bool {
                !self.is_finite()
            }
        }
    )*};
}
floats!(f32, f64);

/// A sample that is not finite affects exactly the outputs whose taps touch it, even with a tap of zero.
fn not_finite<T: Float>(device: &Device) -> Result<(), Failed> {
    const N: usize = 150;
    for m in [1, 2, 5, 34, 133, 962] {
        let mut taps: Vec<T> = Random::new(m as u64).values(m);
        taps[m / 3] = T::default();
        let direction = [Direction::Correlate, Direction::Convolve][m % 2];
        for boundary in boundaries::<T>() {
            for extent in EXTENTS {
                let shape = FilterShape { n: N, m, direction, boundary, extent };
                let filter = describe(&taps, direction).boundary(boundary).extent(extent);
                let fail = |e: Failed| format!("{boundary:?}, {extent:?}, {m} taps: {e:?}");
                check_reach(device, &filter, &shape).map_err(fail)?;
            }
        }
    }
    Ok(())
}

/// Puts a number that is not finite into the middle one of three lines.
fn check_reach<T: Float>(device: &Device, filter: &Filter1d<T>, shape: &FilterShape<T>) -> Result<(), Failed> {
    let filters: Vec<_> = ALGORITHMS.iter().map(|&a| (a, prepare(&filter.clone().algorithm(a), device))).collect();
    for (i, place) in [0, 1, shape.n / 2, shape.n - 1].into_iter().enumerate() {
        let reached = shape.touches(place);
        let untouched = vec![false; reached.len()];
        let mut x = Array2::from_shape_vec((3, shape.n), Random::new(1).values::<T>(3 * shape.n))?;
        x[[1, place]] = T::NOT_FINITE[i % 3];
        let columns = x.t().as_standard_layout().into_owned();
        for (algorithm, filter) in &filters {
            let Some(filter) = filter.as_ref().map_err(Clone::clone)? else { continue };
            let along_rows = filter.along(1).apply(x.view())?;
            let along_columns = filter.along(0).apply(columns.view()).map(Some).or_else(too_large)?;
            let along_columns = along_columns.map(|y| y.t().as_standard_layout().into_owned());
            for y in [Some(along_rows), along_columns].into_iter().flatten() {
                let not_finite = |line: usize| y.row(line).iter().map(|v| v.is_not_finite()).collect::<Vec<_>>();
                let fail = |e: Failed| format!("{algorithm:?}, sample {place}: {e:?}");
                same(&not_finite(1), &reached).map_err(fail)?;
                same(&not_finite(0), &untouched).map_err(fail)?;
                same(&not_finite(2), &untouched).map_err(fail)?;
            }
        }
    }
    Ok(())
}
