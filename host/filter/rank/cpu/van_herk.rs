//! Extremes of rectangles: minima of keys, down the columns first, then along the rows.
//!
//! Along an axis, positions are divided into segments as long as a window. A window is the end of one segment and the beginning of the
//! next, so its minimum is the lesser one of a suffix minimum and a prefix minimum. That takes about three comparisons per sample, however
//! long the window is: M. van Herk, *A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels* (1992),
//! and J. Gil and M. Werman, *Computing 2-D min, median, and max filters* (1993).

use super::{Band, Sortable};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::Extreme;

/// Columns of a strip whose minima are in the processor's cache.
const STRIP: usize = 512;

impl<T: Sortable> Band<'_, T> {
    /// Computes the extremes, whose keys are in the band.
    pub(super) fn extremes(&self, extreme: Extreme, outputs: &mut [T]) -> Result<()> {
        let (width, problem) = (self.padded.width(), self.problem);
        let mut columns = room::<T::Narrow>(self.rows.saturating_mul(width))?;
        let strip = STRIP.min(width);
        let room_of_strip = || room::<T::Narrow>(self.padded.positions().saturating_mul(strip));
        let [mut prefixes, mut suffixes] = [room_of_strip()?, room_of_strip()?];
        for first in (0..width).step_by(strip) {
            let len = strip.min(width - first);
            vectorised!(self.down(&mut columns, [first, len], &mut prefixes, &mut suffixes));
        }
        let [mut prefixes, mut suffixes] = [room::<T::Narrow>(width)?, room::<T::Narrow>(width)?];
        let (taps, channels) = (problem.columns.taps, problem.channels);
        for (row, line) in columns.chunks_exact(width).enumerate() {
            along(line, taps * channels, channels, &mut prefixes, &mut suffixes);
            let outputs = &mut outputs[row * problem.output_pitch..][..self.width()];
            for (element, output) in outputs.iter_mut().enumerate() {
                let place = self.place(element);
                let least = suffixes[place].min(prefixes[place + (taps - 1) * channels]);
                *output = extreme.sample(T::widen(least));
            }
        }
        Ok(())
    }

    /// Computes the minima down some columns.
    #[inline(always)]
    fn down(
        &self,
        columns: &mut [T::Narrow],
        [first, len]: [usize; 2],
        prefixes: &mut [T::Narrow],
        suffixes: &mut [T::Narrow],
    ) {
        let (taps, positions, width) = (self.problem.rows.taps, self.padded.positions(), self.padded.width());
        for position in 0..positions {
            let keys = &self.padded.line(position)[first..][..len];
            let (before, row) = prefixes.split_at_mut(position * len);
            row[..len].copy_from_slice(keys);
            if !position.is_multiple_of(taps) {
                lessen(&mut row[..len], &before[(position - 1) * len..]);
            }
        }
        for position in (0..positions).rev() {
            let keys = &self.padded.line(position)[first..][..len];
            let (row, behind) = suffixes.split_at_mut((position + 1) * len);
            let row = &mut row[position * len..];
            row.copy_from_slice(keys);
            if !(position + 1).is_multiple_of(taps) && position + 1 < positions {
                lessen(row, &behind[..len]);
            }
        }
        for row in 0..self.rows {
            let begin = row * self.problem.rows.stride;
            let outputs = &mut columns[row * width + first..][..len];
            outputs.copy_from_slice(&suffixes[begin * len..][..len]);
            lessen(outputs, &prefixes[(begin + taps - 1) * len..][..len]);
        }
    }
}

/// Computes the prefix and suffix minima of segments of `segment` keys along a row; neighbours are `step` keys apart.
fn along<K: Copy + Ord>(line: &[K], segment: usize, step: usize, prefixes: &mut [K], suffixes: &mut [K]) {
    prefixes.copy_from_slice(line);
    suffixes.copy_from_slice(line);
    for first in (0..line.len()).step_by(segment) {
        let end = (first + segment).min(line.len());
        for place in first + step..end {
            prefixes[place] = prefixes[place].min(prefixes[place - step]);
        }
        for place in (first..end.saturating_sub(step)).rev() {
            suffixes[place] = suffixes[place].min(suffixes[place + step]);
        }
    }
}

#[inline(always)]
fn lessen<K: Copy + Ord>(keys: &mut [K], others: &[K]) {
    for (key, other) in keys.iter_mut().zip(others) {
        *key = (*key).min(*other);
    }
}

/// Returns memory for keys.
fn room<K: Copy + Default>(len: usize) -> Result<Vec<K>> {
    let mut keys = allocation::reserved(len)?;
    keys.resize(len, K::default());
    Ok(keys)
}
