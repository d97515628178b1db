//! Running counts: a window's samples are counted, and from one output to the next the ends of its runs are.
//!
//! The counts are in two levels, so few of them are passed on the way to the rank. From one output to the next, the way begins where the
//! last one ended: T. Huang, G. Yang and G. Tang, *A fast two-dimensional median filtering algorithm* (1979).

use super::{Band, Sortable};
use crate::Result;
use crate::cpu::allocation;

/// Bins of a group.
const GROUP: usize = 16;

/// Counts of keys, and the place of a rank among them.
struct Counts {
    bins: Vec<u32>,
    groups: Vec<u32>,
    /// The current bin, and the number of keys in the bins before it.
    bin: usize,
    less: u32,
}

impl Counts {
    fn new(bins: usize) -> Result<Self> {
        let [bins, groups] = [bins, bins / GROUP].map(|len| allocation::filled(0, len));
        Ok(Counts { bins: bins?, groups: groups?, bin: 0, less: 0 })
    }

    fn clear(&mut self) {
        self.bins.fill(0);
        self.groups.fill(0);
        (self.bin, self.less) = (0, 0);
    }

    #[inline(always)]
    fn add(&mut self, bin: usize) {
        self.bins[bin] += 1;
        self.groups[bin / GROUP] += 1;
        self.less += u32::from(bin < self.bin);
    }

    #[inline(always)]
    fn remove(&mut self, bin: usize) {
        self.bins[bin] -= 1;
        self.groups[bin / GROUP] -= 1;
        self.less -= u32::from(bin < self.bin);
    }

    /// Returns the bin of the key with this rank, which is less than the number of keys.
    #[inline(always)]
    fn find(&mut self, rank: u32) -> usize {
        while self.less > rank {
            let group = (self.bin / GROUP).wrapping_sub(1);
            if self.bin.is_multiple_of(GROUP) && self.less - self.groups[group] > rank {
                self.bin -= GROUP;
                self.less -= self.groups[group];
            } else {
                self.bin -= 1;
                self.less -= self.bins[self.bin];
            }
        }
        while self.less + self.bins[self.bin] <= rank {
            let group = self.bin / GROUP;
            if self.bin.is_multiple_of(GROUP) && self.less + self.groups[group] <= rank {
                self.less += self.groups[group];
                self.bin += GROUP;
            } else {
                self.less += self.bins[self.bin];
                self.bin += 1;
            }
        }
        self.bin
    }
}

impl<T: Sortable> Band<'_, T> {
    /// Computes the outputs by running counts, of keys that have bins. There are no NaNs.
    pub(super) fn histograms(&self, outputs: &mut [T]) -> Result<()> {
        let mut counts = Counts::new(T::BINS.unwrap_or(GROUP))?;
        let width = self.width();
        for row in 0..self.rows {
            let outputs = &mut outputs[row * self.problem.output_pitch..][..width];
            for channel in 0..self.problem.channels {
                self.histogram(&mut counts, row, channel, outputs);
            }
        }
        Ok(())
    }

    /// Computes a channel of a row.
    fn histogram(&self, counts: &mut Counts, row: usize, channel: usize, outputs: &mut [T]) {
        let (channels, step, rank) = (self.problem.channels, self.problem.columns.stride, self.rule.rank());
        counts.clear();
        for (pixel, output) in outputs.iter_mut().skip(channel).step_by(channels).enumerate() {
            let place = pixel * step;
            for &[tap, begin, end] in &self.rule.runs.runs {
                let line = self.line(row, tap as usize);
                let bin = |column: usize| T::bin(line[column * channels + channel]);
                let [begin, end] = [begin, end].map(|column| place + column as usize);
                if pixel == 0 {
                    (begin..end).for_each(|column| counts.add(bin(column)));
                    continue;
                }
                // Runs that are shorter than the step have no samples in common with the last ones.
                (begin - step..begin.min(end - step)).for_each(|column| counts.remove(bin(column)));
                (begin.max(end - step)..end).for_each(|column| counts.add(bin(column)));
            }
            *output = T::of_key(T::widen(T::of_bin(counts.find(rank))));
        }
    }
}
