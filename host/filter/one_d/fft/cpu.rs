//! Fourier transforms on the CPU: overlap-save, a segment per piece of work.
//!
//! Lines down columns are copied to lines along rows first, and their outputs back.

use super::spectrum::{check_memory, conjugate_spectrum, transform_of};
use crate::cpu::allocation;
use crate::cpu::parallel::{for_chunks, try_for_chunks};
use crate::filter1d::cpu::extend;
use crate::filter1d::details::{Accuracy, Filter1dMethod, Filtering, PlannedLines, operations_of_transforms};
use crate::filter1d::element::Number;
use crate::filter1d::line_filter::CpuLines;
use crate::filter1d::{Lines, Taps};
use crate::plan::Planned;
use crate::{Error, Result};
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, FftNum, RealFftPlanner, RealToComplex};
use slm_kernels::filter1d::Orientation;
use std::sync::Arc;

/// Points of a transform per tap of long lines, at least. With more, fewer points are computed twice, but each takes longer.
const POINTS_PER_TAP: usize = 4;

/// Minimum number of points of a transform of long lines.
const LEAST_POINTS: usize = 1 << 10;

/// Maximum number of taps.
const MOST_TAPS: usize = 1 << 24;

/// Neighbouring lines or rows that are copied together, so that parts of cache lines are not read alone.
const TOGETHER: usize = 16;

/// Returns the number of points that takes least time for lines of this number of outputs.
pub(crate) fn points(taps: usize, outputs: usize) -> usize {
    let most = (POINTS_PER_TAP * taps).next_power_of_two().max(LEAST_POINTS);
    let time = |points: usize| {
        let segments = outputs.div_ceil(points - taps + 1);
        segments as f64 * points as f64 * (points as f64).log2()
    };
    let fewer = (most / 2).max((2 * taps).next_power_of_two()).min(most);
    if time(fewer) < time(most) { fewer } else { most }
}

/// A filter by transforms on the CPU.
pub(super) struct CpuFft<T: Number + FftNum> {
    taps: Taps<T>,
    /// Why transforms were chosen.
    reason: &'static str,
    points: usize,
    /// The conjugate spectrum of the taps, divided by the number of points.
    spectrum: Vec<Complex<T>>,
    forward: Arc<dyn RealToComplex<T>>,
    inverse: Arc<dyn ComplexToReal<T>>,
}

impl<T: Number + FftNum + Into<f64>> CpuFft<T> {
    /// # Errors
    ///
    /// [`Error::TooLarge`] for taps whose transforms would take too much memory.
    pub(super) fn new(taps: &Taps<T>, outputs: usize, reason: &'static str, of: fn(f64) -> T) -> Result<Self> {
        let count = taps.taps.len();
        if count > MOST_TAPS {
            let what = "the number of taps of transforms on the CPU";
            return Err(Error::TooLarge { what, factors: [count as u64, 1], limit: MOST_TAPS as u64 });
        }
        let points = points(count, outputs);
        let exact = conjugate_spectrum(&*transform_of(points)?, taps.taps.iter().map(|&tap| tap.into()))?;
        let spectrum = allocation::collected(exact.iter().map(|number| Complex::new(of(number.re), of(number.im))))?;
        check_memory::<T>(points)?;
        let mut planner = RealFftPlanner::new();
        Ok(CpuFft {
            taps: taps.clone(),
            reason,
            points,
            spectrum,
            forward: planner.plan_fft_forward(points),
            inverse: planner.plan_fft_inverse(points),
        })
    }

    /// Outputs of a segment.
    fn step(&self) -> usize {
        self.points - self.taps.taps.len() + 1
    }

    fn rows(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        try_for_chunks(outputs, lines.output_pitch, lines.lines, &|line, row| {
            let first = line * lines.input_pitch;
            let samples = &samples[first..first + lines.samples];
            try_for_chunks(&mut row[..lines.outputs], self.step(), usize::MAX, &|segment, outputs| {
                self.segment(samples, lines.start + (segment * self.step()) as i64, outputs)
            })
        })
    }

    /// Computes the outputs of a segment, whose first sample is `start`.
    fn segment(&self, samples: &[T], start: i64, outputs: &mut [T]) -> Result<()> {
        let mut points = extend(&self.taps, samples, start, self.points)?;
        let mut spectrum = allocation::filled_here(Complex::default(), self.points / 2 + 1)?;
        let scratch = self.forward.get_scratch_len().max(self.inverse.get_scratch_len());
        let mut scratch = allocation::filled_here(Complex::default(), scratch)?;
        let lengths = "the lengths are those of the plan";
        self.forward.process_with_scratch(&mut points, &mut spectrum, &mut scratch).expect(lengths);
        for (point, weight) in spectrum.iter_mut().zip(&self.spectrum) {
            *point = *point * *weight;
        }
        // Both are real for real numbers, up to rounding.
        for place in [0, self.points / 2] {
            spectrum[place].im = T::zero();
        }
        self.inverse.process_with_scratch(&mut spectrum, &mut points, &mut scratch).expect(lengths);
        outputs.copy_from_slice(&points[..outputs.len()]);
        Ok(())
    }

    fn columns(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        let mut rows = allocation::filled(T::ZERO, lines.lines * lines.samples)?;
        for_chunks(&mut rows, TOGETHER * lines.samples, usize::MAX, &|group, rows| {
            for (i, row) in samples.chunks(lines.input_pitch).take(lines.samples).enumerate() {
                for (line, sample) in rows.chunks_mut(lines.samples).zip(&row[group * TOGETHER..]) {
                    line[i] = *sample;
                }
            }
        });
        let of_rows =
            Lines { orientation: Orientation::Rows, input_pitch: lines.samples, output_pitch: lines.outputs, ..*lines };
        let mut filtered = allocation::filled(T::ZERO, lines.lines * lines.outputs)?;
        self.rows(&of_rows, &rows, &mut filtered)?;
        let (size, groups) = (TOGETHER.saturating_mul(lines.output_pitch), lines.outputs.div_ceil(TOGETHER));
        for_chunks(outputs, size, groups, &|group, outputs| {
            let first = group * TOGETHER;
            for (l, line) in filtered.chunks(lines.outputs).enumerate() {
                for (row, output) in outputs.chunks_mut(lines.output_pitch).zip(&line[first..]) {
                    row[l] = *output;
                }
            }
        });
        Ok(())
    }
}

impl<T: Number + FftNum + Into<f64>> CpuLines<T> for CpuFft<T> {
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        match lines.orientation {
            _ if lines.is_empty() => Ok(()),
            Orientation::Rows => self.rows(lines, samples, outputs),
            Orientation::Columns => self.columns(lines, samples, outputs),
        }
    }

    fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        let segments = (lines.lines as u64).saturating_mul(lines.outputs.div_ceil(self.step()) as u64);
        // A transform of real numbers is one of half as many complex ones.
        let points = segments.saturating_mul(self.points as u64 / 2);
        let details = Filtering {
            method: Filter1dMethod::Transforms { points: self.points },
            operations: operations_of_transforms(points, self.points),
            predicted: None,
            accuracy: Accuracy::of_transforms::<T>(self.points, 1),
        };
        Ok(PlannedLines { planned: Planned::new(self.reason, []), details })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_have_fewer_points() {
        assert_eq!([points(801, usize::MAX), points(801, 5000), points(801, 1000)], [4096, 4096, 2048]);
        assert_eq!([points(1, 10), points(300, 10), points(1025, usize::MAX)], [512, 1024, 8192]);
    }
}
