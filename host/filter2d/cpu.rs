//! Two-dimensional filters on the CPU.
//!
//! The outputs are divided into pieces. A piece first copies the rows of samples that it depends on, each once, converted to the
//! type of the sums and continued beyond the borders, so the inner loops need no border checks. They keep [`WIDTH`] neighbouring
//! sums in vector registers while they iterate over the weights; the compiler vectorises them. A separable filter adds up rows
//! first and then neighbours in the resulting row.

use super::accumulator::{Accumulator, store, zeros};
use super::boxes;
use super::element::{Scalar, Slice, SliceMut, with_type};
use super::segments::Segments;
use super::strips::{Band, Piece, Strips};
use super::sums::{Sums, with_sums};
use super::weights::{Values, Weights};
use super::window::Problem;
use crate::parallel::try_for_chunks;
use crate::vector::vectorised;
use crate::{Element, Result};
use slm_kernels::signal::{Border, Output};
use std::ops::Range;

/// Sums that are computed together.
pub(super) const WIDTH: usize = 32;

/// Maximum number of output rows of a band.
const BAND: usize = 16;

/// Maximum number of pairs of an output row and a row of weights in a band, unless the band is a single row.
const MOST_SOURCES: usize = 1 << 16;

/// Outputs of a row in a piece, approximately.
const PIECE: usize = 1024;

/// Minimum number of output rows that are divided into bands. Fewer rows are divided into parts of rows.
const MANY_ROWS: usize = 64;

/// A filter.
pub(super) struct Filter2d {
    pub(super) sums: Sums,
    pub(super) border: Border,
    pub(super) outside: Scalar,
    /// Whether NaNs are missing samples. The weights are dense then.
    pub(super) renormalise: bool,
    /// Whether windows are summed by [`Segments`], if all weights are equal.
    pub(super) by_segments: bool,
}

impl Filter2d {
    /// Filters a picture into `outputs`. Elements between the rows stay unchanged. Returns an error if there is no memory for a
    /// piece; some outputs may be written then.
    pub(super) fn run(&self, problem: &Problem, input: Slice<'_>, outputs: SliceMut<'_>) -> Result<()> {
        if problem.is_empty() {
            return Ok(());
        }
        with_type!(SliceMut, outputs, outputs => self.run_typed(problem, input, outputs))
    }

    /// Returns what the weights are computed as.
    pub(super) fn reason(&self) -> &'static str {
        match self.sums.is_separable() {
            _ if self.by_segments && boxes::is_uniform(&self.sums) => {
                "box: sums of segments down the columns first, then along the rows"
            }
            true => "separable: sums down the columns first, then along the rows",
            false => "dense: all weights of an output at once",
        }
    }

    fn run_typed<O>(&self, problem: &Problem, input: Slice<'_>, outputs: &mut [O]) -> Result<()>
    where
        O: Element + Output<i32> + Output<i64> + Output<f32> + Output<f64>,
    {
        with_sums!(&self.sums, weights => self.with(weights, problem, input, outputs))
    }

    fn with<A: Accumulator, O: Element + Output<A>>(
        &self,
        weights: &Weights<A>,
        problem: &Problem,
        input: Slice<'_>,
        outputs: &mut [O],
    ) -> Result<()> {
        let strips = Strips { problem, input, border: self.border, outside: A::of_scalar(self.outside) };
        match weights.common().filter(|_| self.by_segments) {
            Some(weight) => Segments { weight, strips }.rows(outputs),
            None => Correlation { weights, strips, total: self.renormalise.then(|| weights.total()) }.rows(outputs),
        }
    }
}

/// A filter and its samples, with sums of type `A`.
struct Correlation<'a, A> {
    weights: &'a Weights<A>,
    strips: Strips<'a, A>,
    /// Sum of the weights if NaNs are missing samples.
    total: Option<A>,
}

impl<A: Accumulator> Correlation<'_, A> {
    /// Computes all outputs: bands of rows, or parts of rows if there are few.
    fn rows<O: Element + Output<A>>(&self, outputs: &mut [O]) -> Result<()> {
        let problem = self.strips.problem;
        let (rows, width) = (problem.output_rows(), problem.output_width());
        let height = if rows < MANY_ROWS { 1 } else { (MOST_SOURCES / problem.rows.taps).clamp(1, BAND) };
        let part = (PIECE / problem.channels).max(1);
        // A single row may have any pitch, and the buffer may be longer than the picture.
        let size = height.saturating_mul(problem.output_pitch);
        try_for_chunks(outputs, size, rows.div_ceil(height), &|number, outputs| {
            let band = self.strips.band(number * height..rows.min((number + 1) * height))?;
            if height == 1 {
                return try_for_chunks(
                    &mut outputs[..width],
                    part * problem.channels,
                    usize::MAX,
                    &|number, outputs| {
                        let pixels = number * part..number * part + outputs.len() / problem.channels;
                        self.piece(&band, 1, pixels, &mut |_, sums| store(sums, outputs))
                    },
                );
            }
            let count = height.min(rows - number * height);
            (0..problem.columns.outputs).step_by(part).try_for_each(|first| {
                let pixels = first..problem.columns.outputs.min(first + part);
                let elements = pixels.start * problem.channels..pixels.end * problem.channels;
                self.piece(&band, count, pixels, &mut |row, sums| {
                    store(sums, &mut outputs[row * problem.output_pitch..][elements.clone()]);
                })
            })
        })
    }

    /// Computes the outputs of some pixels of the `rows` rows of a band, and calls `store` with the number of each row in the band
    /// and its sums.
    fn piece(&self, band: &Band, rows: usize, pixels: Range<usize>, store: &mut dyn FnMut(usize, &[A])) -> Result<()> {
        let mut piece = self.strips.piece(band, pixels)?;
        let (mut sums, mut column_sums) = (zeros(piece.padded_len())?, zeros(piece.row_len)?);
        let mask = match self.total {
            Some(_) => piece.take_missing()?,
            None => None,
        };
        let mut present = zeros(mask.as_ref().map_or(0, Piece::padded_len))?;
        for row in 0..rows {
            self.correlate(&piece, row, &mut column_sums, &mut sums);
            if let Some(mask) = &mask {
                self.correlate(mask, row, &mut column_sums, &mut present);
            }
            if let Some(total) = self.total {
                renormalise(&mut sums, total, mask.is_some().then_some(&present[..]));
            }
            store(row, &sums);
        }
        Ok(())
    }

    /// Computes the sums of an output row of a piece. `column_sums` is temporary memory for a row of the piece.
    fn correlate(&self, piece: &Piece<'_, A>, row: usize, column_sums: &mut [A], sums: &mut [A]) {
        vectorised(|| match &self.weights.values {
            Values::Dense(weights) => dense(piece, row, weights, sums),
            Values::Separable { column, row: weights } => {
                add_rows(piece, row, column, column_sums);
                add_neighbours(&piece.offsets, weights, column_sums, sums);
            }
        });
    }
}

/// Computes `sums[e] = Σ_i Σ_j weights[i, j] · row_i[offsets[j] + e]`, where `row_i` are the rows that output row `row` depends
/// on.
#[inline(always)]
fn dense<A: Accumulator>(piece: &Piece<'_, A>, row: usize, weights: &[A], sums: &mut [A]) {
    for (block, sums) in sums.chunks_exact_mut(WIDTH).enumerate() {
        let mut block_sums = [A::ZERO; WIDTH];
        for (samples, weights) in piece.rows(row).zip(weights.chunks(piece.offsets.len())) {
            for (offset, &weight) in piece.offsets.iter().zip(weights) {
                add_products(&mut block_sums, &samples[offset + block * WIDTH..], weight);
            }
        }
        sums.copy_from_slice(&block_sums);
    }
}

/// Computes `sums[e] = Σ_i weights[i] · row_i[e]`, where `row_i` are the rows that output row `row` depends on.
#[inline(always)]
fn add_rows<A: Accumulator>(piece: &Piece<'_, A>, row: usize, weights: &[A], sums: &mut [A]) {
    for (block, sums) in sums.chunks_exact_mut(WIDTH).enumerate() {
        let mut block_sums = [A::ZERO; WIDTH];
        for (samples, &weight) in piece.rows(row).zip(weights) {
            add_products(&mut block_sums, &samples[block * WIDTH..], weight);
        }
        sums.copy_from_slice(&block_sums);
    }
}

/// Computes `sums[e] = Σ_j weights[j] · samples[offsets[j] + e]`.
#[inline(always)]
fn add_neighbours<A: Accumulator>(offsets: &[usize], weights: &[A], samples: &[A], sums: &mut [A]) {
    for (block, sums) in sums.chunks_exact_mut(WIDTH).enumerate() {
        let mut block_sums = [A::ZERO; WIDTH];
        for (offset, &weight) in offsets.iter().zip(weights) {
            add_products(&mut block_sums, &samples[offset + block * WIDTH..], weight);
        }
        sums.copy_from_slice(&block_sums);
    }
}

#[inline(always)]
fn add_products<A: Accumulator>(sums: &mut [A; WIDTH], samples: &[A], weight: A) {
    for (sum, &sample) in sums.iter_mut().zip(&samples[..WIDTH]) {
        *sum = A::multiply_add(*sum, sample, weight);
    }
}

/// Divides sums by the weights that are present; all of them if `present` is `None`.
fn renormalise<A: Accumulator>(sums: &mut [A], total: A, present: Option<&[A]>) {
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = A::renormalised(*sum, total, present.map_or(total, |present| present[i]));
    }
}
