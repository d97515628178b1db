//! Extremes of rectangles: minima of keys, down the columns first, then along the rows.
//!
//! The minimum of `2 n` neighbours is the lesser one of two minima of `n` neighbours, `n` apart. After the last power of two, two minima
//! that overlap have the minimum of any number of neighbours. So a window of `n` samples along an axis takes `log2(n)` comparisons, rounded
//! up, and each of them compares vectors of neighbouring columns. Segments as in van Herk's method take about three comparisons per sample,
//! but along rows these depend on each other.

use super::network::LANES;
use super::{Band, Sortable};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::Extreme;
use std::mem::swap;

/// Columns of a strip whose minima are in the processor's cache.
const STRIP: usize = 512;

/// Returns the distance of the keys that each step compares, for windows of `taps` samples.
#[inline(always)]
fn distances(taps: usize) -> impl Iterator<Item = usize> {
    let doubled = taps.ilog2();
    let rest = taps - (1 << doubled);
    (0..doubled).map(|step| 1 << step).chain((rest > 0).then_some(rest))
}

impl<T: Sortable> Band<'_, T> {
    /// Computes the extremes, whose keys are in the band.
    pub(super) fn extremes(&self, extreme: Extreme, outputs: &mut [T]) -> Result<()> {
        let (width, problem) = (self.padded.width(), self.problem);
        let mut columns = room::<T::Narrow>(self.rows.saturating_mul(width))?;
        let strip = STRIP.min(width);
        let mut minima = room::<T::Narrow>(self.padded.positions().saturating_mul(strip))?;
        for first in (0..width).step_by(strip) {
            let len = strip.min(width - first);
            vectorised!(self.down(&mut columns, [first, len], &mut minima));
        }
        let mut other = room::<T::Narrow>(width)?;
        for (row, line) in columns.chunks_exact_mut(width).enumerate() {
            let outputs = &mut outputs[row * problem.output_pitch..][..self.width()];
            vectorised!(self.along(extreme, [line, &mut other], outputs));
        }
        Ok(())
    }

    /// Computes the minima down some columns.
    #[inline(always)]
    fn down(&self, columns: &mut [T::Narrow], [first, len]: [usize; 2], minima: &mut [T::Narrow]) {
        let (taps, positions, width) = (self.problem.rows.taps, self.padded.positions(), self.padded.width());
        for (position, row) in minima.chunks_exact_mut(len).take(positions).enumerate() {
            row.copy_from_slice(&self.padded.line(position)[first..][..len]);
        }
        let mut count = positions;
        for distance in distances(taps) {
            count -= distance;
            for position in 0..count {
                let (before, behind) = minima.split_at_mut((position + distance) * len);
                lessen(&mut before[position * len..][..len], &behind[..len]);
            }
        }
        for row in 0..self.rows {
            let begin = row * self.problem.rows.stride;
            columns[row * width + first..][..len].copy_from_slice(&minima[begin * len..][..len]);
        }
    }

    /// Computes the outputs of a row from the minima of its columns, which change.
    #[inline(always)]
    fn along(&self, extreme: Extreme, [mut line, mut other]: [&mut [T::Narrow]; 2], outputs: &mut [T]) {
        let (axis, channels) = (self.problem.columns, self.problem.channels);
        for distance in distances(axis.taps) {
            let ahead = &line[distance * channels..];
            for ((least, &key), &other) in other.iter_mut().zip(&*line).zip(ahead) {
                *least = key.min(other);
            }
            swap(&mut line, &mut other);
        }
        if axis.stride == 1 {
            for (output, &least) in outputs.iter_mut().zip(&*line) {
                *output = extreme.sample(T::widen(least));
            }
        } else {
            for (element, output) in outputs.iter_mut().enumerate() {
                *output = extreme.sample(T::widen(line[self.place(element)]));
            }
        }
    }
}

/// Replaces keys by the lesser ones of them and of others.
#[inline(always)]
fn lessen<K: Copy + Ord + Default>(keys: &mut [K], others: &[K]) {
    let (mut vectors, mut other_vectors) = (keys.chunks_exact_mut(LANES), others.chunks_exact(LANES));
    for (keys, others) in vectors.by_ref().zip(other_vectors.by_ref()) {
        // A copy makes it plain that keys and others do not overlap.
        let mut lesser = [K::default(); LANES];
        lesser.copy_from_slice(keys);
        for (key, other) in lesser.iter_mut().zip(others) {
            *key = (*key).min(*other);
        }
        keys.copy_from_slice(&lesser);
    }
    for (key, other) in vectors.into_remainder().iter_mut().zip(other_vectors.remainder()) {
        *key = (*key).min(*other);
    }
}

/// Returns memory for keys.
fn room<K: Copy + Default>(len: usize) -> Result<Vec<K>> {
    let mut keys = allocation::reserved(len)?;
    keys.resize(len, K::default());
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of samples is reached, and no step leaves a gap.
    #[test]
    fn distances_make_windows() {
        for taps in 1..300 {
            let span = distances(taps).fold(1, |span, distance| {
                assert!(distance <= span);
                span + distance
            });
            assert_eq!(span, taps);
        }
    }
}
