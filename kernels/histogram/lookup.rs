//! The accesses of a guide whose addresses depend on the edges and on the samples, as do their bank conflicts.

use super::bins::search;
use super::guide::Guide;
use super::{Map, Searchable};
use core::array;

/// Bytes of the words of all banks.
const BANK_BYTES: u32 = 128;

impl<N: Searchable> Guide<'_, N> {
    /// Marks the entry behind that of edge `k`, unless a later edge has the same one.
    #[inline(always)]
    pub(super) fn mark(&self, k: u32, entry: impl Fn(N) -> u32) {
        let next = entry(self.edges.get(k)) + 1;
        let is_last = k + 1 == self.bins || entry(self.edges.get(k + 1)) >= next;
        if is_last && next < self.entries.len() {
            self.entries.set(next, k as u16);
        }
    }

    /// Returns the last bin that begins before entry `i`, or 0.
    #[inline(always)]
    pub(super) fn last_before(&self, i: u32, entry: impl Fn(N) -> u32) -> u32 {
        search(self.bins, |k| entry(self.edges.get(k)) < i)
    }

    /// Returns the bins of numbers, with the map and the number of candidates for which the guide was made. Numbers before the first bin
    /// or behind the last one have any bin.
    #[inline(always)]
    pub(super) fn bins<const K: usize>(&self, map: &impl Map<N>, candidates: u32, numbers: [N; K]) -> [u32; K] {
        let mut bins = numbers.map(|number| self.entries.get(map.entry(number)) as u32);
        let mut len = candidates;
        while len > 1 {
            // Strides of powers of two would lead many lanes to one bank.
            let is_near = len / 2 * (size_of::<N>() as u32) < BANK_BYTES;
            let half = if is_near { len / 2 } else { (len / 2 - 1) | 1 };
            bins = array::from_fn(|k| {
                let middle = bins[k] + half;
                if self.edges.get(middle) <= numbers[k] { middle } else { bins[k] }
            });
            len -= half;
        }
        bins
    }
}
