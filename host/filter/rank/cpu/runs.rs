//! Extremes of any flat window, run by run, with a stride of columns of 1. A run is neighbours in a row of the window.
//!
//! Level `i` of a row has the least key of `2^i` neighbours, which is the lesser one of two of the level before. A run of a window is two of
//! `2^i` neighbours, which overlap, with the largest `i` that fits: so an output takes two comparisons for each run, however long that is.
//! Tables of such lengths, for rows of a window: E. R. Urbach and M. H. F. Wilkinson, *Efficient 2-D grayscale morphological
//! transformations with arbitrary flat structuring elements* (2008).
//!
//! The keys are taken strip by strip, row after row: a row's levels serve all outputs whose windows have the row, and are then replaced by
//! those of the next one, in the processor's fastest cache.

use super::{Band, Sortable, room};
use crate::Result;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::{Extreme, Key};
use std::ops::Range;

/// Bytes of a row of a strip.
const STRIP: usize = 1 << 12;

/// Memory for the levels of a row, from the second one on, and for the least keys of a strip of outputs.
#[derive(Default)]
pub(super) struct Levels<K> {
    levels: Vec<K>,
    least: Vec<K>,
}

impl<T: Sortable> Band<'_, T> {
    /// Computes the extremes, whose keys are in the band.
    pub(super) fn runs(&self, extreme: Extreme, memory: &mut Levels<T::Narrow>, outputs: &mut [T]) -> Result<()> {
        let width = self.width();
        let strip = (STRIP / size_of::<T::Narrow>()).min(width);
        let longest = self.rule.runs.runs.iter().map(|[_, begin, end]| end - begin).max();
        let count = longest.unwrap_or(1).ilog2() as usize;
        let levels = room(&mut memory.levels, count.saturating_mul(self.reach(strip)))?;
        let least = room(&mut memory.least, self.rows.saturating_mul(strip))?;
        for first in (0..width).step_by(strip) {
            let columns = first..(first + strip).min(width);
            let levels = &mut levels[..count * self.reach(columns.len())];
            vectorised!(self.strip(extreme, columns.clone(), [&mut *levels, &mut *least], outputs));
        }
        Ok(())
    }

    /// Returns the keys of a row that neighbouring outputs depend on.
    fn reach(&self, outputs: usize) -> usize {
        outputs.saturating_add((self.problem.columns.taps - 1) * self.problem.channels)
    }

    /// Computes some columns of outputs.
    #[inline(always)]
    fn strip(
        &self,
        extreme: Extreme,
        columns: Range<usize>,
        [levels, least]: [&mut [T::Narrow]; 2],
        outputs: &mut [T],
    ) {
        let (rows, len) = (self.problem.rows, columns.len());
        let least = &mut least[..self.rows * len];
        least.fill(T::narrow(T::Key::MAX));
        for position in 0..self.padded.positions() {
            let first = (position + 1).saturating_sub(rows.taps).div_ceil(rows.stride);
            let last = (position / rows.stride).min(self.rows - 1);
            if first > last {
                // Between windows.
                continue;
            }
            let keys = &self.padded.line(position)[columns.start..][..self.reach(len)];
            fill_levels(keys, self.problem.channels, levels);
            for row in first..=last {
                self.compare([keys, levels], position - row * rows.stride, &mut least[row * len..][..len]);
            }
        }
        for (row, least) in least.chunks_exact(len).enumerate() {
            let outputs = &mut outputs[row * self.problem.output_pitch..][columns.clone()];
            for (output, &key) in outputs.iter_mut().zip(least) {
                *output = extreme.sample(T::widen(key));
            }
        }
    }

    /// Compares the least keys of a row of outputs with the runs in row `tap` of their windows, which are in a row of keys.
    #[inline(always)]
    fn compare(&self, [keys, levels]: [&[T::Narrow]; 2], tap: usize, least: &mut [T::Narrow]) {
        let (channels, len) = (self.problem.channels, least.len());
        for &[_, begin, end] in self.rule.runs.of_row(tap) {
            let level = (end - begin).ilog2();
            let keys = if level == 0 { keys } else { &levels[(level as usize - 1) * keys.len()..][..keys.len()] };
            let [one, other] = [begin, end - (1 << level)].map(|place| &keys[place as usize * channels..][..len]);
            for i in 0..len {
                least[i] = least[i].min(one[i].min(other[i]));
            }
        }
    }
}

/// Sets the levels of a row, from the second one on, which are one after the other. Keys that lack neighbours in the row belong to no run.
#[inline(always)]
fn fill_levels<K: Copy + Ord>(keys: &[K], channels: usize, levels: &mut [K]) {
    let (mut before, mut distance) = (keys, channels);
    for level in levels.chunks_exact_mut(keys.len()) {
        let len = keys.len() - distance;
        let (level, one, other) = (&mut level[..], &before[..len], &before[distance..][..len]);
        for i in 0..len {
            level[i] = one[i].min(other[i]);
        }
        (before, distance) = (level, 2 * distance);
    }
}
