//! Extremes with heights, or with other strides of columns than 1: each sample of the window is compared, of vectors of neighbouring outputs.

use super::network::LANES;
use super::{Band, Sortable};
use crate::Result;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::{Extreme, Key};

impl<T: Sortable> Band<'_, T> {
    /// Computes the extremes. The band has the keys of samples.
    pub(super) fn compared(&self, extreme: Extreme, outputs: &mut [T]) -> Result<()> {
        let width = self.width();
        for row in 0..self.rows {
            let outputs = &mut outputs[row * self.problem.output_pitch..][..width];
            for (number, outputs) in outputs.chunks_mut(LANES).enumerate() {
                vectorised!(self.least(extreme, row, number * LANES, outputs));
            }
        }
        Ok(())
    }

    /// Computes neighbouring outputs of a row, from `first` on.
    #[inline(always)]
    fn least(&self, extreme: Extreme, row: usize, first: usize, outputs: &mut [T]) {
        let mut least = [T::narrow(T::Key::MAX); LANES];
        let mut heights = self.rule.heights.iter().flat_map(|heights| heights.iter());
        for &[tap, begin, end] in &self.rule.runs.runs {
            let line = self.line(row, tap as usize);
            for column in begin as usize..end as usize {
                let keys = self.keys(line, [first, outputs.len()], column * self.problem.channels);
                let height = heights.next().copied();
                for (least, key) in least.iter_mut().zip(keys) {
                    let sample = T::of_key(T::widen(key));
                    let sample = height.map_or(sample, |height| extreme.moved(sample, height));
                    *least = (*least).min(T::narrow(extreme.key(sample)));
                }
            }
        }
        for (output, least) in outputs.iter_mut().zip(least) {
            *output = extreme.sample(T::widen(least));
        }
    }
}
