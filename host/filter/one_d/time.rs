//! The times that filters of lines take on an NVIDIA H200: `Auto` takes the method that takes less, and plans give them.
//!
//! `benches/taps.rs` measures them for 3 to 16,384 taps and 2^10 to 2^28 samples, and `tests/suite/filter1d/choice.rs` compares the choices
//! with a record of these measurements. No other GPU has times of its own so far.

use super::Lines;
use super::element::Number;
use super::tuning::tuning;
use crate::device::info::SharedMemory;
use slm_kernels::filter1d::{Filter1dKernel, Filter1dProblem, Geometry, Orientation, tensor_bytes};
use slm_kernels::signal::Same;
use std::time::Duration;

/// Samples and outputs of fewer bytes stay in the L2 cache, so that memory is not waited for.
const CACHE_BYTES: f64 = 50e6;

/// By how much another method than sums must take less time. The times below are not more accurate.
const MARGIN: f64 = 1.03;

/// Times per point of transforms of 1,024, 2,048, 4,096 and 8,192 points, and of those for parts of the taps, in picoseconds, if memory is not
/// waited for. They were measured on an H100. In the record of an H200, launches along rows that take 100 us and more take 0.8 to 1.3 times as
/// long as they say.
pub(super) const F32_POINTS: [f64; 4] = [2.35, 2.53, 2.71, 3.1];
pub(super) const F32_POINTS_OF_PARTS: f64 = 1.7;
pub(super) const F64_POINTS: [f64; 3] = [4.6, 4.07, 5.14];
pub(super) const F64_POINTS_OF_PARTS: f64 = 2.6;

/// A time in picoseconds: a constant, and a part for each tap.
type OfTaps = [f64; 2];

/// Times of a method, in picoseconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Of a launch with a single block.
    launch: OfTaps,
    /// Of memory, for each output.
    memory: OfTaps,
    /// Of arithmetic, for each sum that a block computes, also beyond the end of a line. That of transforms depends on their points.
    arithmetic: OfTaps,
    /// Of a block at an end of its line, which loads samples one by one.
    end: f64,
}

/// Times of the methods of a type of elements, along rows and along columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimesOfMethods {
    sums: [Times; 2],
    tensor_cores: Option<[Times; 2]>,
    transforms: Option<[Times; 2]>,
}

/// A type of elements whose filters were measured.
pub(crate) trait Timed: Sized {
    const TIMES: TimesOfMethods;
}

/// Returns the time of sums with this number of taps, in picoseconds.
pub(super) fn of_sums<T: Number>(shared: SharedMemory, taps: usize, lines: &Lines) -> f64 {
    let at_once = taps.min(Geometry::chunk::<Same<T>>(shared.max_per_block, &tuning()));
    let geometry = geometry::<T>(Filter1dKernel::Register, at_once, lines);
    along(&T::TIMES.sums, lines).of_sums::<T>(&geometry, taps, lines)
}

/// Returns the time on tensor cores with this number of taps, in picoseconds, or `None` if they cannot filter.
pub(super) fn on_tensor_cores<T: Number>(shared: SharedMemory, taps: usize, lines: &Lines) -> Option<f64> {
    let times = T::TIMES.tensor_cores.filter(|_| tensor_bytes(taps) <= shared.max_per_block)?;
    let geometry = geometry::<T>(Filter1dKernel::Tensor, taps, lines);
    Some(along(&times, lines).of_sums::<T>(&geometry, taps, lines))
}

/// Returns the time of transforms whose arithmetic takes some time, in picoseconds, or `None` if there are none.
pub(super) fn of_transforms<T: Timed>(arithmetic: f64, lines: &Lines) -> Option<f64> {
    Some(along(&T::TIMES.transforms?, lines).with_arithmetic::<T>(arithmetic, 0.0, lines))
}

/// Returns whether a method other than sums is worth it, for the times of both.
pub(super) fn is_faster(other: f64, sums: f64) -> bool {
    other * MARGIN < sums
}

pub(crate) fn duration(picoseconds: f64) -> Duration {
    Duration::from_nanos((picoseconds / 1e3) as u64)
}

fn geometry<T: Number>(kernel: Filter1dKernel, taps: usize, lines: &Lines) -> Geometry {
    let &Lines { lines, outputs, orientation, .. } = lines;
    let [lines, outputs, taps] = [lines, outputs, taps].map(|count| count as u64);
    Geometry::new::<Same<T>>(kernel, &Filter1dProblem { lines, outputs, taps, phases: 1, orientation }, &tuning())
}

fn along<'a>([rows, columns]: &'a [Times; 2], lines: &Lines) -> &'a Times {
    match lines.orientation {
        Orientation::Rows => rows,
        Orientation::Columns => columns,
    }
}

fn with_taps([constant, tap]: OfTaps, taps: f64) -> f64 {
    constant + tap * taps
}

impl Times {
    fn of_sums<T>(&self, geometry: &Geometry, taps: usize, lines: &Lines) -> f64 {
        let (taps, ends) = (taps as f64, lines.lines as f64 * geometry.tiles.min(2) as f64);
        let of_sums = with_taps(self.arithmetic, taps) * geometry.sums(lines.lines as u64) as f64;
        self.with_arithmetic::<T>(of_sums + self.end * ends, taps, lines)
    }

    fn with_arithmetic<T>(&self, arithmetic: f64, taps: f64, lines: &Lines) -> f64 {
        let [samples, outputs] = [lines.samples, lines.outputs].map(|count| lines.lines as f64 * count as f64);
        let is_cached =
            lines.orientation == Orientation::Rows && (samples + outputs) * (size_of::<T>() as f64) < CACHE_BYTES;
        let memory = if is_cached { 0.0 } else { with_taps(self.memory, taps) * outputs };
        with_taps(self.launch, taps) + arithmetic.max(memory)
    }
}

const fn sums(launch: OfTaps, memory: OfTaps, arithmetic: OfTaps) -> Times {
    Times { launch, memory, arithmetic, end: 0.0 }
}

const fn transforms(launch: f64, memory: f64) -> Times {
    Times { launch: [launch, 0.0], memory: [memory, 0.0], arithmetic: [0.0; 2], end: 0.0 }
}

impl Timed for f32 {
    const TIMES: TimesOfMethods = TimesOfMethods {
        sums: [sums([10.2e6, 25e3], [2.1, 0.0245], [1.4, 0.031]), sums([10.2e6, 25e3], [3.2, 0.02], [2.2, 0.0445])],
        tensor_cores: None,
        transforms: Some([transforms(9.5e6, 2.6), transforms(9.5e6, 20.7)]),
    };
}

impl Timed for f64 {
    const TIMES: TimesOfMethods = TimesOfMethods {
        sums: [sums([9.5e6, 25e3], [4.1, 0.011], [0.9, 0.068]), sums([9.5e6, 25e3], [4.9, 0.017], [1.2, 0.08])],
        tensor_cores: None,
        transforms: Some([transforms(9.8e6, 4.6), transforms(9.8e6, 26.0)]),
    };
}

impl Timed for i32 {
    const TIMES: TimesOfMethods = TimesOfMethods {
        sums: [sums([10.5e6, 35e3], [2.1, 0.0345], [0.3, 0.062]), sums([10.5e6, 35e3], [3.2, 0.035], [0.6, 0.0685])],
        tensor_cores: Some([
            Times { end: 3.3e3, ..sums([10.6e6, 12.5e3], [3.4, 0.011], [2.5, 0.0189]) },
            sums([10.6e6, 12.5e3], [21.5, 0.0045], [16.4, 0.0185]),
        ]),
        transforms: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(samples: usize) -> Lines {
        let (start, orientation) = (-1, Orientation::Rows);
        Lines { lines: 1, samples, outputs: samples, start, orientation, input_pitch: samples, output_pitch: samples }
    }

    #[test]
    fn times_are_about_those_of_an_h200() {
        let shared = SharedMemory::H200;
        let is_near = |time: f64, microseconds: f64| (0.9..1.1).contains(&(time / 1e6 / microseconds));
        assert!(is_near(of_sums::<f32>(shared, 257, &row(1 << 26)), 634.5));
        assert!(is_near(of_sums::<f64>(shared, 65, &row(1 << 26)), 375.2));
        assert!(is_near(of_sums::<i32>(shared, 3, &row(1 << 10)), 10.9));
        assert!(is_near(on_tensor_cores::<i32>(shared, 257, &row(1 << 28)).unwrap(), 1969.0));
        assert!(is_near(of_transforms::<f32>(0.0, &row(1 << 26)).unwrap(), 187.0));
    }

    #[test]
    fn methods_that_a_type_does_not_have_take_no_time() {
        let shared = SharedMemory::H200;
        assert_eq!(on_tensor_cores::<f32>(shared, 65, &row(1 << 20)), None);
        assert_eq!(of_transforms::<i32>(0.0, &row(1 << 20)), None);
        // The samples of so many taps do not fit.
        assert_eq!(on_tensor_cores::<i32>(shared, 1 << 24, &row(1 << 20)), None);
    }

    #[test]
    fn small_gains_are_not_worth_it() {
        assert!(!is_faster(0.98, 1.0) && is_faster(0.96, 1.0));
    }
}
