//! The samples that a piece of the outputs depends on, converted and continued beyond the borders.

use super::accumulator::Accumulator;
use super::cpu::WIDTH;
use super::element::Slice;
use super::window::{Axis, Problem};
use crate::{Result, allocation};
use slm_kernels::signal::Border;
use std::ops::Range;

/// Samples of a problem.
pub(super) struct Strips<'a, A> {
    pub(super) problem: &'a Problem,
    pub(super) input: Slice<'a>,
    pub(super) border: Border,
    pub(super) outside: A,
}

/// Rows of samples. A row contains, for each column of weights, the samples that meet it, at `offsets`.
pub(super) struct Piece<A> {
    samples: Vec<A>,
    /// Elements of a row, a multiple of [`WIDTH`].
    pub(super) row_len: usize,
    pub(super) offsets: Vec<usize>,
    /// Outputs of a row.
    len: usize,
    /// For each output row and row of weights, in this order, the row of samples.
    index: Vec<usize>,
    /// Rows of weights.
    taps: usize,
}

impl<A> Piece<A> {
    /// Returns the number of outputs of a row, rounded up to a multiple of [`WIDTH`].
    pub(super) fn padded_len(&self) -> usize {
        self.len.next_multiple_of(WIDTH)
    }

    /// Returns the rows of samples that meet the rows of weights for an output row.
    pub(super) fn rows(&self, output: usize) -> impl Iterator<Item = &[A]> {
        let index = &self.index[output * self.taps..][..self.taps];
        index.iter().map(|&row| &self.samples[row * self.row_len..][..self.row_len])
    }
}

impl<A: Accumulator> Piece<A> {
    /// Replaces NaNs with 0, and returns a piece with 0 in their places and 1 in all others. Returns `None` without NaNs.
    pub(super) fn take_missing(&mut self) -> Result<Option<Self>> {
        if !self.samples.iter().any(|sample| sample.is_nan()) {
            return Ok(None);
        }
        let mut mask = allocation::filled(A::ONE, self.samples.len())?;
        for (sample, present) in self.samples.iter_mut().zip(&mut mask) {
            if sample.is_nan() {
                (*sample, *present) = (A::ZERO, A::ZERO);
            }
        }
        let (offsets, index) = (self.offsets.clone(), self.index.clone());
        Ok(Some(Piece { samples: mask, offsets, index, ..*self }))
    }
}

impl<A: Accumulator> Strips<'_, A> {
    /// Returns the samples for some pixels of some output rows of all planes.
    pub(super) fn piece(&self, rows: Range<usize>, pixels: Range<usize>) -> Result<Piece<A>> {
        let (columns, channels) = (self.problem.columns, self.problem.channels);
        let len = pixels.len() * channels;
        let runs = Runs::new(&columns, pixels);
        let offsets: Vec<usize> = (0..columns.taps).map(|tap| runs.offset(tap) * channels).collect();
        let row_len = (runs.offset(columns.taps - 1) * channels + len.next_multiple_of(WIDTH)).next_multiple_of(WIDTH);
        let (sources, index) = self.sources(rows)?;
        let mut samples = allocation::reserved(sources.len().saturating_mul(row_len))?;
        for (number, &source) in sources.iter().enumerate() {
            match source {
                Some(row) => runs.all().for_each(|run| self.extend(&mut samples, row, run)),
                None => samples.extend(std::iter::repeat_n(self.outside, runs.len() * channels)),
            }
            samples.resize((number + 1) * row_len, A::ZERO);
        }
        Ok(Piece { samples, row_len, offsets, len, index, taps: self.problem.rows.taps })
    }

    /// Returns the distinct input rows that output rows depend on (`None` is the constant outside), and the index of each among
    /// them, for each output row and row of weights.
    fn sources(&self, outputs: Range<usize>) -> Result<(Vec<Option<usize>>, Vec<usize>)> {
        let axis = self.problem.rows;
        let source = |output: usize, tap: usize| {
            let (plane, row) = (output / axis.outputs, output % axis.outputs);
            let row = self.border.source(axis.position(row, tap), axis.samples as u64)?;
            Some(plane * axis.samples + row as usize)
        };
        let mut all: Vec<Option<usize>> = allocation::reserved(outputs.len().saturating_mul(axis.taps))?;
        all.extend(outputs.flat_map(|output| (0..axis.taps).map(move |tap| source(output, tap))));
        let mut distinct = allocation::reserved(all.len())?;
        distinct.extend_from_slice(&all);
        distinct.sort_unstable();
        distinct.dedup();
        let mut index = allocation::reserved(all.len())?;
        index.extend(all.iter().map(|source| distinct.partition_point(|other| other < source)));
        Ok((distinct, index))
    }

    /// Appends a run of pixels of an input row.
    fn extend(&self, to: &mut Vec<A>, row: usize, run: Run) {
        let Problem { columns, channels, input_pitch, .. } = *self.problem;
        let samples = columns.samples as i64;
        let pixels = |range: Range<usize>| {
            let first = row * input_pitch;
            first + range.start * channels..first + range.end * channels
        };
        let mut pixel = run.start;
        let end = run.start + (run.count * run.step) as i64;
        while pixel < end {
            if run.step == 1 && (0..samples).contains(&pixel) {
                let inside = pixel..end.min(samples);
                A::extend(to, self.input, pixels(inside.start as usize..inside.end as usize));
                pixel = inside.end;
                continue;
            }
            match self.border.source(pixel, columns.samples as u64) {
                Some(source) => A::extend(to, self.input, pixels(source as usize..source as usize + 1)),
                None => to.extend(std::iter::repeat_n(self.outside, channels)),
            }
            pixel += run.step as i64;
        }
    }
}

/// Pixels `start`, `start + step`, …
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    start: i64,
    count: usize,
    step: usize,
}

/// Runs of pixels that the weights of a row meet: one for all weights if they overlap, otherwise one per weight.
struct Runs {
    /// The run that the first weight meets, or all of them together.
    first: Run,
    /// Number of runs.
    count: usize,
    /// From one run to the next, in pixels of the input.
    distance: usize,
    /// From the pixels of one weight to those of the next, in pixels of the runs.
    offset: usize,
}

impl Runs {
    /// Returns the runs for some outputs.
    fn new(axis: &Axis, outputs: Range<usize>) -> Self {
        let (start, count) = (axis.position(outputs.start, 0), outputs.len());
        if axis.stride == 1 && axis.dilation <= count {
            let count = count + (axis.taps - 1) * axis.dilation;
            return Runs { first: Run { start, count, step: 1 }, count: 1, distance: 0, offset: axis.dilation };
        }
        let first = Run { start, count, step: axis.stride };
        Runs { first, count: axis.taps, distance: axis.dilation, offset: count }
    }

    fn all(&self) -> impl Iterator<Item = Run> {
        let Run { start, count, step } = self.first;
        (0..self.count).map(move |run| Run { start: start + (run * self.distance) as i64, count, step })
    }

    /// Returns the number of pixels of all runs.
    fn len(&self) -> usize {
        self.count * self.first.count
    }

    /// Returns the index among all pixels of the first one that a weight meets.
    fn offset(&self, tap: usize) -> usize {
        tap * self.offset
    }
}
