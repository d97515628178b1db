//! One-dimensional filters on the CPU.
//!
//! The outputs are divided into pieces that fit into a core's cache together with their samples. A piece first copies its part
//! of the line, continued beyond the borders, so the inner loop needs no border checks. It keeps [`WIDTH`] neighbouring sums in
//! vector registers while it iterates over the taps; the compiler vectorises that loop.

use super::details::{Accuracy, PlannedLines};
use super::element::Number;
use super::line_filter::CpuLines;
use super::{Lines, Taps};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::parallel::try_for_chunks;
use crate::cpu::vector::vectorised;
use crate::plan::Planned;
use slm_kernels::filter1d::Orientation;

/// Number of sums that are computed together.
const WIDTH: usize = 32;

/// Outputs per piece of a row.
const PIECE: usize = 4096;

/// Rows of outputs per piece, if lines are columns.
const ROWS: usize = 16;

impl<T: Number> CpuLines<T> for Taps<T> {
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        let folded = self.fold(lines).map(|fold| self.folded(fold)).transpose()?.flatten();
        let (taps, lines) = match &folded {
            Some(folded) => (folded, &Lines { start: folded.reach.start(), ..*lines }),
            None => (self, lines),
        };
        match lines.orientation {
            _ if lines.is_empty() => Ok(()),
            Orientation::Rows => rows(taps, lines, samples, outputs),
            Orientation::Columns => columns(taps, lines, samples, outputs),
        }
    }

    fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        let accuracy = Accuracy::of_sums::<T>(self.taps.len());
        Ok(PlannedLines::of_sums(Planned::on_cpu(), lines, self.fewest(lines), accuracy))
    }
}

fn rows<T: Number>(taps: &Taps<T>, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
    try_for_chunks(outputs, lines.output_pitch, lines.lines, &|line, row| {
        let first = line * lines.input_pitch;
        let samples = &samples[first..first + lines.samples];
        try_for_chunks(&mut row[..lines.outputs], PIECE, usize::MAX, &|piece, outputs| {
            outputs.fill(T::ZERO);
            match taps.reach.stride {
                1 => {
                    let start = lines.start + (piece * PIECE) as i64;
                    let extended = extend(taps, samples, start, outputs.len() + taps.taps.len() - 1)?;
                    vectorised!(correlate(&taps.taps, &extended, outputs));
                    Ok(())
                }
                _ => add_phases(taps, samples, lines.start, piece * PIECE, outputs),
            }
        })
    })
}

/// Adds the products of the outputs from number `first` on, phase by phase, as `phases.rs` of the kernels: a phase is every
/// `stride`-th tap, and neighbouring outputs meet neighbouring ones of every `stride`-th sample.
fn add_phases<T: Number>(taps: &Taps<T>, samples: &[T], start: i64, first: usize, outputs: &mut [T]) -> Result<()> {
    let (stride, n) = (taps.reach.stride, samples.len());
    for phase in 0..stride.min(taps.taps.len()) {
        let of_phase = allocation::collected(taps.taps[phase..].iter().step_by(stride).copied())?;
        let (len, begin) = (outputs.len() + of_phase.len() - 1, start + (first * stride + phase) as i64);
        let extended = if begin >= 0 && begin as usize + (len - 1) * stride < n {
            allocation::collected(samples[begin as usize..].iter().step_by(stride).take(len).copied())?
        } else {
            let outside = |i| taps.border.source(i, n as u64).map_or(taps.outside, |i| samples[i as usize]);
            allocation::collected((0..len).map(|i| outside(begin + (i * stride) as i64)))?
        };
        vectorised!(correlate(&of_phase, &extended, outputs));
    }
    Ok(())
}

/// Returns `len` samples of the continued line, beginning with sample `start`.
pub(super) fn extend<T: Number>(taps: &Taps<T>, samples: &[T], start: i64, len: usize) -> Result<Vec<T>> {
    let n = samples.len() as i64;
    let end = start + len as i64;
    let inside = start.clamp(0, n)..end.clamp(0, n);
    let outside = |i| taps.border.source(i, n as u64).map_or(taps.outside, |i| samples[i as usize]);
    let mut extended = allocation::reserved(len)?;
    extended.extend((start..inside.start.min(end)).map(outside));
    extended.extend_from_slice(&samples[inside.start as usize..inside.end as usize]);
    extended.extend((inside.end.max(start)..end).map(outside));
    Ok(extended)
}

/// Computes `outputs[o] += Σ_j taps[j] · samples[o + j]`.
#[inline(always)]
fn correlate<T: Number>(taps: &[T], samples: &[T], outputs: &mut [T]) {
    let mut blocks = outputs.chunks_exact_mut(WIDTH);
    let mut first = 0;
    for block in &mut blocks {
        let mut sums = [T::ZERO; WIDTH];
        sums.copy_from_slice(block);
        for (window, &tap) in samples[first..].windows(WIDTH).zip(taps) {
            for (sum, &sample) in sums.iter_mut().zip(window) {
                *sum = T::multiply_add(*sum, sample, tap);
            }
        }
        block.copy_from_slice(&sums);
        first += WIDTH;
    }
    for (o, output) in blocks.into_remainder().iter_mut().enumerate() {
        let products = samples[first + o..].iter().zip(taps);
        *output = products.fold(*output, |sum, (&sample, &tap)| T::multiply_add(sum, sample, tap));
    }
}

fn columns<T: Number>(taps: &Taps<T>, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
    let constant = allocation::filled(taps.outside, lines.lines)?;
    let row = |i: i64| match taps.border.source(i, lines.samples as u64) {
        Some(i) => &samples[i as usize * lines.input_pitch..][..lines.lines],
        None => &constant[..],
    };
    let stride = taps.reach.stride;
    // Without a stride, nothing is reordered.
    let order = if stride > 1 { by_phases(taps)? } else { Vec::new() };
    let ordered = allocation::collected(order.iter().map(|&j| taps.taps[j]))?;
    // A single row may have any pitch, and the buffer may be longer than the matrix.
    let (size, pieces) = (ROWS.saturating_mul(lines.output_pitch), lines.outputs.div_ceil(ROWS));
    try_for_chunks(outputs, size, pieces, &|piece, outputs| {
        let first = piece * ROWS;
        let count = ROWS.min(lines.outputs - first);
        let outputs = outputs.chunks_mut(lines.output_pitch).take(count).map(|output| &mut output[..lines.lines]);
        if stride > 1 {
            for (o, output) in outputs.enumerate() {
                let start = lines.start + ((first + o) * stride) as i64;
                let sources = allocation::collected(order.iter().map(|&j| row(start + j as i64)))?;
                vectorised!(correlate_rows(&ordered, &sources, output));
            }
            return Ok(());
        }
        let start = lines.start + first as i64;
        let needed = count + taps.taps.len() - 1;
        let mut sources: Vec<&[T]> = allocation::reserved(needed)?;
        sources.extend((0..needed as i64).map(|i| row(start + i)));
        for (o, output) in outputs.enumerate() {
            vectorised!(correlate_rows(&taps.taps, &sources[o..], output));
        }
        Ok(())
    })
}

/// Returns the numbers of the taps, phase by phase.
fn by_phases<T: Number>(taps: &Taps<T>) -> Result<Vec<usize>> {
    let (count, stride) = (taps.taps.len(), taps.reach.stride);
    let mut order = allocation::reserved(count)?;
    order.extend((0..stride.min(count)).flat_map(|phase| (phase..count).step_by(stride)));
    Ok(order)
}

/// Computes `outputs[c] = Σ_j taps[j] · sources[j][c]`.
#[inline(always)]
fn correlate_rows<T: Number>(taps: &[T], sources: &[&[T]], outputs: &mut [T]) {
    for (block, output) in outputs.chunks_mut(WIDTH).enumerate() {
        let first = block * WIDTH;
        let mut sums = [T::ZERO; WIDTH];
        for (source, &tap) in sources.iter().zip(taps) {
            for (sum, &sample) in sums.iter_mut().zip(&source[first..first + output.len()]) {
                *sum = T::multiply_add(*sum, sample, tap);
            }
        }
        output.copy_from_slice(&sums[..output.len()]);
    }
}
