//! Rules for samples on the host, and how those of the device are made.

use super::{Bordered, FromRange};
use crate::histogram::bins::{cell, search};
use crate::histogram::{Binning, Countable, Edges, Even, Scale};
use cuda_std::GlobalIn;

impl<T: Bordered, S: FromRange<T>> Even<T, S> {
    /// Returns the rule for `bins` bins, at least one, from `lower` to `upper`, or `None` if scale `S` does not suit them.
    /// `upper` must be larger than `lower`, and belongs to the last bin if the range is `closed`.
    #[must_use]
    pub fn new(bins: u32, lower: T, upper: T, closed: bool) -> Option<Self> {
        let last = if closed { upper } else { upper.before() };
        S::new(bins, lower, upper).map(|scale| Even { scale, lower, last, bins, last_bin: bins - 1 })
    }
}

impl<T: Bordered, S: Scale<T>> Even<T, S> {
    /// Returns whether the numbers on both sides of border `k` have the bins that the borders define. `k` is less than the
    /// number of bins; there is one border more than bins.
    ///
    /// If this is true for all `k`, every number has the right bin, because [`Scale::bin`] is monotonic.
    #[must_use]
    pub fn agrees(&self, k: u32, borders: &[T]) -> bool {
        let (border, is_last) = (borders[k as usize], k + 1 == self.bins);
        // Bins between equal borders are empty.
        let is_empty = border > self.last || (!is_last && border == borders[k as usize + 1]);
        let begins = is_empty || self.key(border) == k;
        let ends = is_empty || !is_last || self.key(self.last) == k;
        let is_before_empty = k == 0 || borders[k as usize - 1] == border;
        begins && ends && (is_before_empty || self.key(border.before()) == k - 1)
    }
}

/// [`Edges`] for the host.
#[derive(Clone, Copy, Debug)]
pub struct EdgeSlice<'a, T> {
    /// The edges in ascending order, one more than bins.
    pub edges: &'a [T],
    /// Largest number inside.
    pub last: T,
}

impl<'a, T: Bordered> EdgeSlice<'a, T> {
    /// Returns the bins between these edges, at least two. The last edge belongs to the last bin if they are `closed`.
    #[must_use]
    pub fn new(edges: &'a [T], closed: bool) -> Self {
        let last = edges[edges.len() - 1];
        EdgeSlice { edges, last: if closed { last } else { last.before() } }
    }
}

impl<T: Countable> EdgeSlice<'_, T> {
    /// Returns the same rule for the device. `edges` is a copy of the edges there.
    #[must_use]
    pub fn on_device<'l>(&self, edges: GlobalIn<'l, T>) -> Edges<'l, T> {
        Edges { edges, lower: self.edges[0], last: self.last, bins: self.edges.len() as u32 - 1 }
    }
}

impl<T: Countable> Binning for EdgeSlice<'_, T> {
    type Sample = T;

    #[inline]
    fn key(&self, sample: T) -> u32 {
        let bins = self.edges.len() as u32 - 1;
        let bin = search(bins, |k| self.edges[k as usize] <= sample);
        cell(sample, self.edges[0], self.last, bins, bin)
    }
}

/// [`Even`] for the host: checks an estimated bin, and searches the borders only if the estimate is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Estimated<'a, T> {
    /// The bins, with all borders.
    pub bins: EdgeSlice<'a, T>,
    /// Number of bins divided by the width of the range.
    pub bins_per_unit: f64,
}

impl<'a, T: Bordered + Into<f64>> Estimated<'a, T> {
    /// Returns the bins between these borders, at least two. The last border belongs to the last bin if they are `closed`.
    #[must_use]
    pub fn new(borders: &'a [T], closed: bool) -> Self {
        let bins = borders.len() - 1;
        let bins_per_unit = bins as f64 / (borders[bins].into() - borders[0].into());
        Estimated { bins: EdgeSlice::new(borders, closed), bins_per_unit }
    }
}

impl<T: Countable + Into<f64>> Binning for Estimated<'_, T> {
    type Sample = T;

    #[inline]
    fn key(&self, sample: T) -> u32 {
        let edges = self.bins.edges;
        // The cast turns NaN and negative estimates into 0.
        let estimate = (sample.into() - edges[0].into()) * self.bins_per_unit;
        let k = (estimate as usize).min(edges.len() - 2);
        if edges[k] <= sample && sample < edges[k + 1] && sample <= self.bins.last {
            return k as u32;
        }
        self.bins.key(sample)
    }
}

/// [`Bytes`](crate::histogram::Bytes) for the host.
#[derive(Clone, Copy, Debug)]
pub struct ByValue<B> {
    /// The rule for the cells of the values.
    pub binning: B,
}

impl<B: Binning<Sample = u8>> Binning for ByValue<B> {
    type Sample = u8;

    #[inline(always)]
    fn key(&self, sample: u8) -> u32 {
        sample as u32
    }

    #[inline(always)]
    fn cell(&self, key: u32) -> u32 {
        self.binning.key(key as u8)
    }
}
