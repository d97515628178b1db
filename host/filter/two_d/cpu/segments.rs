//! Box filters on the CPU: sums of windows whose cost does not depend on the size of the window.
//!
//! A line is cut into segments as long as the window. A window then consists of the end of one segment and the beginning of the
//! next one, so its sum is a suffix sum plus a prefix sum:
//!
//! ```text
//! segments    | a b c d e | f g h i j |
//! window          [ c d e   f g ]            (c + d + e) + (f + g)
//! ```
//!
//! That is three additions per element and axis, and no subtraction: each sum contains the samples of its own window alone, so a
//! NaN or an infinity does not affect others, and nothing cancels. The method is that of M. van Herk, *A fast algorithm for local
//! minimum and maximum filters on rectangular and octagonal kernels* (Pattern Recognition Letters 13, 1992), and J. Gil and
//! M. Werman, *Computing 2-D min, median, and max filters* (IEEE PAMI 15, 1993), with sums in the place of minima.
//!
//! Down the columns whole rows are added up, which the compiler vectorises. Bands begin with a segment, and their size depends on
//! the window alone, so results do not depend on the number of threads.

use super::strips::Strips;
use crate::cpu::allocation;
use crate::cpu::parallel::try_for_chunks;
use crate::cpu::vector::vectorised;
use crate::filter2d::accumulator::{Accumulator, zeros};
use crate::{Element, Result};
use std::ops::Range;

/// Minimum number of rows of a band, unless it is a single row.
const BAND: usize = 64;

/// Minimum number of outputs of a row in a piece, approximately.
const PIECE: usize = 1024;

/// Returns the rows of a band for windows of `taps` rows.
pub(super) fn band(taps: usize) -> usize {
    taps * BAND.div_ceil(taps)
}

/// A box filter and its samples, with sums of type `A`.
pub(super) struct Segments<'a, A> {
    /// The weight of all samples.
    pub(super) weight: A,
    pub(super) strips: Strips<'a, A>,
}

/// Output rows of a plane.
struct Band {
    plane: usize,
    rows: Range<usize>,
}

impl<A: Accumulator> Segments<'_, A> {
    /// Computes all outputs: bands of rows of each plane, or parts of rows if there are few and they do not overlap. Calls `store`
    /// with sums and their outputs.
    pub(super) fn rows<O: Element>(&self, outputs: &mut [O], store: &(dyn Fn(&[A], &mut [O]) + Sync)) -> Result<()> {
        let problem = self.strips.problem;
        let (rows, pitch) = (problem.rows, problem.output_pitch);
        let height = if rows.taps == 1 && rows.outputs < BAND { 1 } else { band(rows.taps) };
        // A single row may have any pitch, and the buffer may be longer than the picture.
        try_for_chunks(outputs, rows.outputs.saturating_mul(pitch), problem.planes, &|plane, outputs| {
            try_for_chunks(outputs, height.saturating_mul(pitch), rows.outputs.div_ceil(height), &|number, outputs| {
                let first = number * height;
                self.band(&Band { plane, rows: first..rows.outputs.min(first + height) }, outputs, store)
            })
        })
    }

    fn band<O: Element>(&self, band: &Band, outputs: &mut [O], store: &(dyn Fn(&[A], &mut [O]) + Sync)) -> Result<()> {
        let problem = self.strips.problem;
        let part = (PIECE / problem.channels).max(problem.columns.taps);
        if band.rows.len() == 1 {
            let outputs = &mut outputs[..problem.output_width()];
            return try_for_chunks(outputs, part.saturating_mul(problem.channels), usize::MAX, &|number, outputs| {
                let pixels = number * part..number * part + outputs.len() / problem.channels;
                self.piece(band, pixels, &mut |_, sums| store(sums, outputs))
            });
        }
        (0..problem.columns.outputs).step_by(part).try_for_each(|first| {
            let pixels = first..problem.columns.outputs.min(first.saturating_add(part));
            let elements = pixels.start * problem.channels..pixels.end * problem.channels;
            self.piece(band, pixels, &mut |row, sums| {
                store(sums, &mut outputs[row * problem.output_pitch..][elements.clone()]);
            })
        })
    }

    /// Computes the outputs of some pixels of a band, and calls `store` with the number of each row in the band and its outputs.
    fn piece(&self, band: &Band, pixels: Range<usize>, store: &mut dyn FnMut(usize, &[A])) -> Result<()> {
        let problem = self.strips.problem;
        let (axis, channels) = (problem.rows, problem.channels);
        let first = problem.columns.position(pixels.start, 0);
        let count = pixels.len() + problem.columns.taps - 1;
        let len = count * channels;
        let load = |line: &mut Vec<A>, output: usize, tap: usize| {
            self.strips.line(line, [band.plane, count], [axis.position(output, tap), first]);
        };
        let mut line = allocation::reserved(len)?;
        let (mut sum, mut outputs) = (zeros(len)?, zeros(pixels.len() * channels)?);
        let mut column_sums = zeros(len.saturating_mul(axis.taps.min(band.rows.len())))?;
        for segment in band.rows.clone().step_by(axis.taps) {
            let rows = axis.taps.min(band.rows.end - segment);
            sum.fill(A::ZERO);
            for i in (0..axis.taps).rev() {
                load(&mut line, segment, i);
                add(&mut sum, &line);
                if i < rows {
                    column_sums[i * len..][..len].copy_from_slice(&sum);
                }
            }
            sum.fill(A::ZERO);
            for (i, column_sums) in column_sums.chunks_exact_mut(len).take(rows).enumerate() {
                if i > 0 {
                    load(&mut line, segment, axis.taps + i - 1);
                    add(&mut sum, &line);
                    add(column_sums, &sum);
                }
                along_row(column_sums, [problem.columns.taps, channels], self.weight, &mut outputs);
                store(segment - band.rows.start + i, &outputs);
            }
        }
        Ok(())
    }
}

/// Returns a sum; a factor of one changes nothing.
#[inline]
fn plus<A: Accumulator>(a: A, b: A) -> A {
    A::multiply_add(a, b, A::ONE)
}

fn add<A: Accumulator>(sums: &mut [A], terms: &[A]) {
    vectorised!({
        for (sum, &term) in sums.iter_mut().zip(terms) {
            *sum = plus(*sum, term);
        }
    });
}

/// Computes `outputs[e] = weight · Σ_j samples[e + j · channels]` for `taps` samples each. The samples are overwritten.
fn along_row<A: Accumulator>(samples: &mut [A], [taps, channels]: [usize; 2], weight: A, outputs: &mut [A]) {
    let segment = taps * channels;
    let output = |sum| A::multiply_add(A::ZERO, sum, weight);
    for (number, outputs) in outputs.chunks_mut(segment).enumerate() {
        let (own, next) = samples[number * segment..].split_at_mut(segment);
        for channel in 0..channels {
            let mut suffix = A::ZERO;
            for place in (channel..segment).step_by(channels).rev() {
                suffix = plus(suffix, own[place]);
                own[place] = suffix;
            }
            outputs[channel] = output(suffix);
            let mut prefix = A::ZERO;
            for place in (channel + channels..outputs.len()).step_by(channels) {
                prefix = plus(prefix, next[place - channels]);
                outputs[place] = output(plus(own[place], prefix));
            }
        }
    }
}
