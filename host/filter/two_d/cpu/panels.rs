//! Dense weights on the CPU by Fourier transforms of panels, with their rows joined.
//!
//! The outputs are cut into panels of some columns. The rows of samples that a panel depends on, joined, are a line, and so are the rows of
//! weights, with zeros up to the next row of the panel:
//!
//! ```text
//! samples   | a b c d | e f g h | i j k l |        a panel whose rows have 4 samples
//! weights   | u v 0 0 | w x                        2 rows of 2 weights
//! sums      | o o o - | o o o                      the first one is u a + v b + w e + x f
//! ```
//!
//! Sums at `-` have samples from the end of a row and from the beginning of the next one: they belong to no output. A one-dimensional filter with
//! an [error bound per segment](crate::filter1d#fourier-transforms) filters the lines of some panels at a time.

use super::strips::Strips;
use crate::cpu::allocation;
use crate::cpu::parallel::{even, for_chunks, try_for_chunks};
use crate::device::kernel::Recent;
use crate::filter::generated::WeightSource;
use crate::filter1d::{CpuLines, Filtering, Lines, Number, Reach, TAPS_ON_CPU, Taps, of_many_taps, points_on_cpu};
use crate::filter2d::accumulator::Accumulator;
use crate::filter2d::weights::{Values, Weights};
use crate::filter2d::window::{Axis, PictureProblem};
use crate::{Element, Extent, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::Border;
use std::iter;
use std::sync::Arc;

/// The lowest of the limits for a panel's columns of outputs that are tried.
const NARROW: usize = 32;

/// Samples of the panels that are filtered at a time, approximately: enough work for many threads, and little memory.
const GROUP: usize = 1 << 21;

/// Time of a transform forwards and backwards for each point and each bit of the number of points, in units of one product. Measured with
/// one channel of `f32`, as are the next ones (`benches/RESULTS.md`).
const TIME_OF_POINT: f64 = 13.0;

/// Points that fit into the cache of a core. With more, the time of a point grows with this power of their number.
const MOST_CACHED: f64 = 65536.0;
const GROWTH: f64 = 0.2;

/// Number of transforms that take as much time as the preparation of the filter of lines.
const PREPARATION: f64 = 6.0;

/// The panels of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Panels {
    /// Number of panels of a plane.
    count: usize,
    /// Outputs of a panel's row, in pixels. The last panel may have fewer.
    width: usize,
    /// Samples of a panel's row.
    pitch: usize,
    /// Taps of a line.
    taps: usize,
    /// Samples of a line.
    samples: usize,
}

/// The filters of lines for the last panels.
pub(super) type Filters<A> = Recent<Panels, Arc<dyn CpuLines<A>>>;

/// A filter with dense weights.
pub(super) struct OfPanels<'a, A: Accumulator + Number> {
    pub(super) weights: &'a Weights<A>,
    pub(super) filters: &'a Filters<A>,
}

impl Panels {
    /// Returns panels of at most `most` columns of outputs, or `None` if lines with this number of taps are not transformed.
    fn new(problem: &PictureProblem, most: usize) -> Option<Self> {
        let &PictureProblem { rows, columns, channels, .. } = problem;
        let width = even(columns.outputs, most);
        let halo = columns.taps - 1;
        let pitch = width.checked_add(halo)?.checked_mul(channels)?;
        let taps = (rows.taps - 1).checked_mul(pitch)?.checked_add(halo * channels + 1)?;
        let samples = (rows.outputs + rows.taps - 1).checked_mul(pitch)?;
        TAPS_ON_CPU.contains(&taps).then_some(Panels {
            count: columns.outputs.div_ceil(width),
            width,
            pitch,
            taps,
            samples,
        })
    }

    /// Returns the panels that take the least time, or `None` if none are transformed.
    fn fastest(problem: &PictureProblem) -> Option<Self> {
        let Axis { outputs, taps, .. } = problem.columns;
        let limits = iter::successors(Some(NARROW.max(taps)), |&most| (most < outputs).then_some(2 * most));
        let panels = limits.filter_map(|most| Panels::new(problem, most));
        panels.min_by(|a, b| a.time(problem).total_cmp(&b.time(problem)))
    }

    /// Returns the outputs of a line, those that belong to no output of the picture among them.
    fn outputs(&self) -> usize {
        self.samples - self.taps + 1
    }

    /// Returns the time of all planes, in units of one product.
    fn time(&self, problem: &PictureProblem) -> f64 {
        let points = points_on_cpu(self.taps, self.outputs());
        let segments = self.outputs().div_ceil(points - self.taps + 1);
        let transforms = (problem.planes * self.count) as f64 * segments as f64 + PREPARATION;
        let points = points as f64;
        transforms * points * points.log2() * TIME_OF_POINT * (points / MOST_CACHED).max(1.0).powf(GROWTH)
    }

    /// Returns the lines of `count` panels.
    fn lines(&self, count: usize, problem: &PictureProblem) -> Lines {
        Lines {
            lines: count,
            samples: self.samples,
            outputs: self.outputs(),
            start: 0,
            orientation: Orientation::Rows,
            input_pitch: self.samples,
            output_pitch: problem.rows.outputs * self.pitch,
        }
    }

    /// Sets the samples of panels of all planes, from panel number `first` on.
    fn gather<A: Accumulator>(&self, first: usize, strips: &Strips<'_, A>, samples: &mut [A]) -> Result<()> {
        let &PictureProblem { rows, columns, channels, .. } = strips.problem;
        let height = self.samples / self.pitch;
        try_for_chunks(samples, self.pitch, usize::MAX, &|number, samples| {
            let (panel, row) = (first + number / height, number % height);
            let (plane, column) = (panel / self.count, panel % self.count * self.width);
            let count = self.width.min(columns.outputs - column) + columns.taps - 1;
            let mut line = allocation::reserved(self.pitch)?;
            strips.line(&mut line, [plane, count], [rows.position(row, 0), columns.position(column, 0)]);
            let (of_panel, rest) = samples.split_at_mut(count * channels);
            of_panel.copy_from_slice(&line);
            rest.fill(A::ZERO);
            Ok(())
        })
    }

    /// Calls `store` with the sums of a panel and their outputs.
    fn store<A: Sync, O: Element>(
        &self,
        panel: usize,
        sums: &[A],
        problem: &PictureProblem,
        outputs: &mut [O],
        store: &(dyn Fn(&[A], &mut [O]) + Sync),
    ) {
        let (rows, pitch, width) = (problem.rows.outputs, problem.output_pitch, self.width * problem.channels);
        let first = panel % self.count * width;
        let columns = first..problem.output_width().min(first + width);
        // A single row may have any pitch, and the buffer may be longer than the picture.
        let outputs = &mut outputs[(panel / self.count * rows).saturating_mul(pitch)..];
        for_chunks(outputs, pitch, rows, &|row, outputs| {
            store(&sums[row * self.pitch..][..columns.len()], &mut outputs[columns.clone()]);
        });
    }
}

/// Returns the panels that take the least time, or `None` if products take less.
pub(super) fn faster_than_products(problem: &PictureProblem) -> Option<Panels> {
    let &PictureProblem { rows, columns, .. } = problem;
    let outputs = problem.output_rows() as f64 * problem.output_width() as f64;
    let products = outputs * rows.taps as f64 * columns.taps as f64;
    Panels::fastest(problem).filter(|panels| panels.time(problem) < products)
}

impl<A: Accumulator + Number> OfPanels<'_, A> {
    /// Computes all outputs, and calls `store` with sums and their outputs.
    pub(super) fn filter<O: Element>(
        &self,
        panels: Panels,
        strips: &Strips<'_, A>,
        outputs: &mut [O],
        store: &(dyn Fn(&[A], &mut [O]) + Sync),
    ) -> Result<()> {
        let problem = strips.problem;
        let (filter, all) = (self.of_lines(panels, problem)?, problem.planes * panels.count);
        let group = even(all, (GROUP / panels.samples).max(1));
        let mut samples = allocation::filled(A::ZERO, group * panels.samples)?;
        let mut sums = allocation::filled(A::ZERO, group * problem.rows.outputs * panels.pitch)?;
        for first in (0..all).step_by(group) {
            let lines = panels.lines(group.min(all - first), problem);
            let samples = &mut samples[..lines.lines * lines.input_pitch];
            panels.gather(first, strips, samples)?;
            filter.run(&lines, samples, &mut sums)?;
            for (sums, panel) in sums.chunks(lines.output_pitch).zip(first..first + lines.lines) {
                panels.store(panel, sums, problem, outputs, store);
            }
        }
        Ok(())
    }

    /// Returns what the lines are filtered by.
    pub(super) fn plan(&self, panels: Panels, problem: &PictureProblem) -> Result<Filtering> {
        let lines = panels.lines(problem.planes * panels.count, problem);
        Ok(self.of_lines(panels, problem)?.plan(&lines)?.details)
    }

    /// Returns the filter of the lines.
    fn of_lines(&self, panels: Panels, problem: &PictureProblem) -> Result<Arc<dyn CpuLines<A>>> {
        self.filters.get(panels, || {
            let mut taps = allocation::filled(A::ZERO, panels.taps)?;
            let Values::Dense(weights) = &self.weights.values else { unreachable!("outer products have two passes") };
            for (weights, taps) in weights.chunks(problem.columns.taps).zip(taps.chunks_mut(panels.pitch)) {
                weights.iter().zip(taps.iter_mut().step_by(problem.channels)).for_each(|(&weight, tap)| *tap = weight);
            }
            let reach = Reach { taps: panels.taps, left: 0, extent: Extent::Valid, channels: 1, stride: 1 };
            let (source, border, outside) = (WeightSource::Given, Border::Constant, A::ZERO);
            let taps = Taps { taps: taps.into(), source, border, outside, reach };
            Ok(of_many_taps(&taps, panels.outputs())?.into())
        })
    }
}
