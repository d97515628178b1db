//! The samples that a piece of the outputs depends on, converted and continued beyond the borders.

use super::products::padded_len;
use crate::Result;
use crate::cpu::allocation;
use crate::filter2d::accumulator::Accumulator;
use crate::filter2d::element::Slice;
use crate::filter2d::window::{Axis, PictureProblem};
use std::ops::Range;

/// Samples, or sums of such.
#[derive(Clone, Copy)]
pub(super) enum Input<'a, A> {
    Samples(Slice<'a>),
    Sums(&'a [A]),
}

impl<A: Accumulator> Input<'_, A> {
    /// Appends groups of numbers, as [`Accumulator::extend`].
    fn extend(&self, to: &mut Vec<A>, first: usize, [len, count, step]: [usize; 3]) {
        match self {
            Input::Samples(samples) => A::extend(to, *samples, first, [len, count, step]),
            Input::Sums(sums) => {
                (0..count).for_each(|number| to.extend_from_slice(&sums[first + number * step..][..len]));
            }
        }
    }
}

/// Samples of a problem.
pub(super) struct Strips<'a, A> {
    pub(super) problem: &'a PictureProblem,
    pub(super) input: Input<'a, A>,
    pub(super) outside: A,
}

/// Rows of samples. A row contains, for each column of weights, the samples that meet it, at `offsets`.
pub(super) struct Piece<'a, A> {
    samples: Vec<A>,
    /// Elements of a row, a multiple of the sums that are computed together.
    pub(super) row_len: usize,
    pub(super) offsets: Vec<usize>,
    /// Outputs of a row.
    len: usize,
    /// For each output row and row of weights, in this order, the row of samples.
    index: &'a [usize],
    /// Rows of weights.
    taps: usize,
}

impl<A> Piece<'_, A> {
    /// Returns the number of outputs of a row, rounded up to a multiple of the sums that are computed together.
    pub(super) fn padded_len(&self) -> usize {
        padded_len(self.len)
    }

    /// Returns the rows of samples that meet the rows of weights for an output row. With the next one, which the first
    /// [overlaps](Self::overlaps_next), also the one that meets the last row of weights for that one.
    pub(super) fn sources(&self, outputs: Range<usize>) -> Result<Vec<&[A]>> {
        let last = outputs.end - 1;
        let index = self.index(outputs.start).iter().chain(&self.index(last)[self.taps - (last - outputs.start)..]);
        let mut sources = allocation::reserved(self.taps + outputs.len() - 1)?;
        sources.extend(index.map(|&row| &self.samples[row * self.row_len..][..self.row_len]));
        Ok(sources)
    }

    /// Returns whether an output row and the next one depend on the same rows of samples, but for the first and the last one.
    pub(super) fn overlaps_next(&self, output: usize) -> bool {
        self.index(output)[1..] == self.index(output + 1)[..self.taps - 1]
    }

    fn index(&self, output: usize) -> &[usize] {
        &self.index[output * self.taps..][..self.taps]
    }
}

impl<A: Accumulator> Piece<'_, A> {
    /// Replaces NaNs with 0, and returns a piece with 0 in their places and 1 in all others. Returns `None` without NaNs.
    pub(super) fn take_missing(&mut self) -> Result<Option<Self>> {
        if !self.samples.iter().any(|sample| sample.is_nan()) {
            return Ok(None);
        }
        let mut mask = allocation::reserved(self.samples.len())?;
        mask.resize(self.samples.len(), A::ONE);
        for (sample, present) in self.samples.iter_mut().zip(&mut mask) {
            if sample.is_nan() {
                (*sample, *present) = (A::ZERO, A::ZERO);
            }
        }
        Ok(Some(Piece { samples: mask, offsets: self.offsets.clone(), ..*self }))
    }
}

/// The input rows that some output rows depend on.
pub(super) struct Band {
    /// The distinct rows, in order; `None` is the constant outside.
    sources: Vec<Option<usize>>,
    /// For each output row and row of weights, in this order, the index of its input row among the sources.
    index: Vec<usize>,
}

impl<A: Accumulator> Strips<'_, A> {
    /// Returns the input rows for some output rows of all planes.
    pub(super) fn band(&self, outputs: Range<usize>) -> Result<Band> {
        let axis = self.problem.rows;
        let places = outputs.map(|output| (output / axis.outputs, output % axis.outputs));
        let mut index = allocation::reserved(places.len().saturating_mul(axis.taps))?;
        let mut rows: Vec<Option<usize>> = allocation::reserved(places.len().saturating_mul(axis.taps))?;
        // Neighbouring outputs meet the same rows. Each row is found once, unless there are gaps between them.
        let are_gapless = axis.dilation == 1 && axis.stride <= axis.taps;
        let mut last = None;
        for (plane, output) in places {
            let first = axis.position(output, 0);
            let known = match last {
                Some((of, end)) if of == plane && are_gapless => (end - first) as usize,
                _ => 0,
            };
            let begin = rows.len() - known;
            rows.extend((known..axis.taps).map(|tap| self.source(plane, axis.position(output, tap))));
            index.extend(begin..begin + axis.taps);
            last = Some((plane, first + axis.taps as i64));
        }
        let mut sources = allocation::collected(rows.iter().copied())?;
        sources.sort_unstable();
        sources.dedup();
        let mut numbers: Vec<usize> = allocation::reserved(rows.len())?;
        numbers.extend(rows.iter().map(|row| sources.partition_point(|other| other < row)));
        index.iter_mut().for_each(|row| *row = numbers[*row]);
        Ok(Band { sources, index })
    }

    /// Returns the input row at a position of a plane, or `None` for the constant outside.
    fn source(&self, plane: usize, position: i64) -> Option<usize> {
        let rows = self.problem.rows;
        Some(plane * rows.samples + rows.source(position)?)
    }

    /// Returns the samples for some pixels of the output rows of a band.
    pub(super) fn piece<'a>(&self, band: &'a Band, pixels: Range<usize>) -> Result<Piece<'a, A>> {
        let (columns, channels) = (self.problem.columns, self.problem.channels);
        let len = pixels.len() * channels;
        let runs = Runs::new(&columns, pixels);
        let mut offsets = allocation::reserved(columns.taps)?;
        offsets.extend((0..columns.taps).map(|tap| runs.offset(tap) * channels));
        let last = offsets.iter().max().copied().unwrap_or(0);
        // The last blocks of sums read beyond the last samples.
        let row_len = padded_len((runs.len() * channels).max(last + padded_len(len)));
        let mut samples = allocation::reserved(band.sources.len().saturating_mul(row_len))?;
        for (number, &source) in band.sources.iter().enumerate() {
            match source {
                Some(row) => runs.all().for_each(|run| self.extend(&mut samples, row, run)),
                None => samples.extend(std::iter::repeat_n(self.outside, runs.len() * channels)),
            }
            samples.resize((number + 1) * row_len, A::ZERO);
        }
        Ok(Piece { samples, row_len, offsets, len, index: &band.index, taps: self.problem.rows.taps })
    }

    /// Replaces `to` by `count` neighbouring pixels of a plane, from the place (row, pixel) on, which may be outside.
    pub(super) fn line(&self, to: &mut Vec<A>, [plane, count]: [usize; 2], [row, start]: [i64; 2]) {
        to.clear();
        match self.source(plane, row) {
            Some(row) => self.extend(to, row, Run { start, count, step: 1 }),
            None => to.resize(count * self.problem.channels, self.outside),
        }
    }

    /// Appends a run of pixels of an input row.
    fn extend(&self, to: &mut Vec<A>, row: usize, run: Run) {
        let PictureProblem { columns, channels, input_pitch, .. } = *self.problem;
        let pixels =
            |first: usize, count: usize| (row * input_pitch + first * channels, [channels, count, run.step * channels]);
        let mut done = 0;
        while done < run.count {
            let pixel = run.start + (done * run.step) as i64;
            if (0..columns.samples as i64).contains(&pixel) {
                let inside = (columns.samples - pixel as usize).div_ceil(run.step).min(run.count - done);
                let (first, [len, count, step]) = pixels(pixel as usize, inside);
                // Neighbouring pixels are one group.
                let groups = if run.step == 1 { [len * count, 1, step] } else { [len, count, step] };
                self.input.extend(to, first, groups);
                done += inside;
                continue;
            }
            match columns.source(pixel) {
                Some(source) => {
                    let (first, groups) = pixels(source, 1);
                    self.input.extend(to, first, groups);
                }
                None => to.extend(std::iter::repeat_n(self.outside, channels)),
            }
            done += 1;
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

/// Runs of pixels that contain the ones that each weight of a row is multiplied by, side by side for neighbouring outputs.
///
/// If windows overlap, there is one run for each phase of the stride: `0 3 6 | 1 4 7 | 2 5 8` for a stride of 3. If they hardly
/// do, there is one run for each weight.
struct Runs {
    first: Run,
    /// Number of runs.
    count: usize,
    /// From the start of one run to that of the next, in pixels of the input.
    distance: usize,
    /// Dilation, and stride: the number of runs if there is one for each phase.
    phases: Option<[usize; 2]>,
}

impl Runs {
    /// Returns the runs for some outputs.
    fn new(axis: &Axis, outputs: Range<usize>) -> Self {
        let (start, count) = (axis.position(outputs.start, 0), outputs.len());
        let all = (count - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1;
        let phase = all.div_ceil(axis.stride);
        if phase * axis.stride <= count.saturating_mul(axis.taps) {
            let first = Run { start, count: phase, step: axis.stride };
            return Runs { first, count: axis.stride, distance: 1, phases: Some([axis.dilation, axis.stride]) };
        }
        let first = Run { start, count, step: axis.stride };
        Runs { first, count: axis.taps, distance: axis.dilation, phases: None }
    }

    fn all(&self) -> impl Iterator<Item = Run> {
        let Run { start, count, step } = self.first;
        (0..self.count).map(move |run| Run { start: start + (run * self.distance) as i64, count, step })
    }

    /// Returns the number of pixels of all runs.
    fn len(&self) -> usize {
        self.count * self.first.count
    }

    /// Returns the index among all pixels of the one that a weight is multiplied by for the first output.
    fn offset(&self, tap: usize) -> usize {
        match self.phases {
            Some([dilation, stride]) => tap * dilation % stride * self.first.count + tap * dilation / stride,
            None => tap * self.first.count,
        }
    }
}
