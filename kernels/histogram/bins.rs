//! Which bin a sample belongs to: the same arithmetic on the host and on the device.
//!
//! The counts of a histogram are cells: its bins, and behind them one cell each for samples below the range, above it,
//! and for NaN. Ranges are half-open, `lower <= x < upper`, unless they are closed, `lower <= x <= upper`; either way
//! `last`, the largest number inside, is what samples are compared with.

use super::{Countable, Scale};
use core::hint::select_unpredictable;
use cuda_std::{GlobalIn, arguments};

/// The cells besides the bins.
pub const OUTSIDE: u32 = 3;

/// A rule that gives every sample a cell.
///
/// Samples are counted by *key*; there are as many counters as keys. Mostly a key is a cell, but samples of few
/// different values are their own keys, and only the values are given cells, once all samples have been counted.
pub trait Binning: Copy {
    /// What is counted.
    type Sample: Countable;

    /// The key of a sample.
    #[must_use]
    fn key(&self, sample: Self::Sample) -> u32;

    /// The cell of a key.
    #[inline(always)]
    #[must_use]
    fn cell(&self, key: u32) -> u32 {
        key
    }
}

arguments! {
    /// Bins of equal width: bin `k` extends from [border](Countable::border) `k` to border `k + 1`.
    pub struct Even<T: Countable, S: Scale<T>> {
        /// From number to bin.
        pub scale: S,
        /// The smallest number inside.
        pub lower: T,
        /// The largest number inside.
        pub last: T,
        /// The number of bins.
        pub bins: u32,
        /// The last bin: once more, so that no register has it for the length of a loop.
        pub last_bin: u32,
    }
}

impl<T: Countable, S: Scale<T>> Even<T, S> {
    /// `bins` bins, at least one, from `lower` to `upper`, which is larger; with `upper` itself if they are `closed`. `None`
    /// if this is not the scale for them.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn new(bins: u32, lower: T, upper: T, closed: bool) -> Option<Self> {
        let last = if closed { upper } else { upper.before() };
        S::new(bins, lower, upper).map(|scale| Even { scale, lower, last, bins, last_bin: bins - 1 })
    }

    /// Whether the bins on both sides of border `k`, less than the number of bins, are those that the borders say. There is
    /// one border more than bins.
    ///
    /// If they are at all borders, every number has the right bin, as [`Scale::bin`] ascends.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn agrees(&self, k: u32, borders: &[T]) -> bool {
        let (border, is_last) = (borders[k as usize], k + 1 == self.bins);
        // Bins with the same border as the next one are empty.
        let is_empty = border > self.last || (!is_last && border == borders[k as usize + 1]);
        let begins = is_empty || self.key(border) == k;
        let ends = is_empty || !is_last || self.key(self.last) == k;
        let is_before_empty = k == 0 || borders[k as usize - 1] == border;
        begins && ends && (is_before_empty || self.key(border.before()) == k - 1)
    }
}

impl<T: Countable, S: Scale<T>> Binning for Even<T, S> {
    type Sample = T;

    #[inline(always)]
    fn key(&self, sample: T) -> u32 {
        let bin = self.scale.bin(sample, self.lower).min(self.last_bin);
        cell(sample, self.lower, self.last, self.bins, bin)
    }
}

arguments! {
    /// Bins between given numbers: bin `k` is `edges[k] <= x < edges[k + 1]`.
    pub struct Edges<T: Countable> {
        /// The edges in ascending order, one more than there are bins.
        pub edges: GlobalIn<T>,
        /// The first edge.
        pub lower: T,
        /// The largest number inside.
        pub last: T,
        /// The number of bins.
        pub bins: u32,
    }
}

impl<T: Countable> Binning for Edges<T> {
    type Sample = T;

    #[inline(always)]
    fn key(&self, sample: T) -> u32 {
        let edges = self.edges.at(0);
        let bin = search(self.bins, |k| edges.get(k) <= sample);
        cell(sample, self.lower, self.last, self.bins, bin)
    }
}

/// [`Edges`] for the host.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct EdgeSlice<'a, T> {
    /// The edges in ascending order, one more than there are bins.
    pub edges: &'a [T],
    /// The largest number inside.
    pub last: T,
}

#[cfg(not(target_os = "cuda"))]
impl<'a, T: Countable> EdgeSlice<'a, T> {
    /// The bins between these edges, at least two; with the last edge itself if they are `closed`.
    #[must_use]
    pub fn new(edges: &'a [T], closed: bool) -> Self {
        let last = edges[edges.len() - 1];
        EdgeSlice { edges, last: if closed { last } else { last.before() } }
    }

    /// The same for the device; `edges` are there.
    #[must_use]
    pub fn on_device(&self, edges: GlobalIn<T>) -> Edges<T> {
        Edges { edges, lower: self.edges[0], last: self.last, bins: self.edges.len() as u32 - 1 }
    }
}

#[cfg(not(target_os = "cuda"))]
impl<T: Countable> Binning for EdgeSlice<'_, T> {
    type Sample = T;

    #[inline]
    fn key(&self, sample: T) -> u32 {
        let bins = self.edges.len() as u32 - 1;
        let bin = search(bins, |k| self.edges[k as usize] <= sample);
        cell(sample, self.edges[0], self.last, bins, bin)
    }
}

/// [`Even`] for the host: an estimate first, then the table.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct Guided<'a, T> {
    /// The bins.
    pub bins: EdgeSlice<'a, T>,
    /// The number of bins over the width of the range.
    pub bins_per_unit: f64,
}

#[cfg(not(target_os = "cuda"))]
impl<'a, T: Countable + Into<f64>> Guided<'a, T> {
    /// The bins between these borders, at least two; with the last border itself if they are `closed`.
    #[must_use]
    pub fn new(borders: &'a [T], closed: bool) -> Self {
        let bins = borders.len() - 1;
        let bins_per_unit = bins as f64 / (borders[bins].into() - borders[0].into());
        Guided { bins: EdgeSlice::new(borders, closed), bins_per_unit }
    }
}

#[cfg(not(target_os = "cuda"))]
impl<T: Countable + Into<f64>> Binning for Guided<'_, T> {
    type Sample = T;

    #[inline]
    fn key(&self, sample: T) -> u32 {
        let edges = self.bins.edges;
        // Of what cannot be computed it is 0.
        let estimate = (sample.into() - edges[0].into()) * self.bins_per_unit;
        let k = (estimate as usize).min(edges.len() - 2);
        if edges[k] <= sample && sample < edges[k + 1] && sample <= self.bins.last {
            return k as u32;
        }
        self.bins.key(sample)
    }
}

arguments! {
    /// The low bits of a sample are its bin.
    pub struct LowBits {
        /// These bits.
        pub mask: u16,
    }
}

impl Binning for LowBits {
    type Sample = u16;

    #[inline(always)]
    fn key(&self, sample: u16) -> u32 {
        (sample & self.mask) as u32
    }
}

/// The keys of bytes.
pub const BYTE_VALUES: u32 = 256;

arguments! {
    /// Counts bytes by their value, for any bins: there are only 256 values, and the way from value to bin
    /// is gone once for each of them and not for each sample.
    pub struct Bytes {
        /// The cells of the values.
        pub cells: GlobalIn<u32>,
    }
}

impl Binning for Bytes {
    type Sample = u8;

    #[inline(always)]
    fn key(&self, sample: u8) -> u32 {
        sample as u32
    }

    #[inline(always)]
    fn cell(&self, key: u32) -> u32 {
        self.cells.get(key.into())
    }
}

/// [`Bytes`] for the host.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct ByValue<B> {
    /// The bins.
    pub binning: B,
}

#[cfg(not(target_os = "cuda"))]
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

/// The cell of a sample that would be in `bin` if it were in the range. Without branches, so that the bins of several
/// samples can be worked out side by side.
#[inline(always)]
fn cell<T: Countable>(sample: T, lower: T, last: T, bins: u32, bin: u32) -> u32 {
    let (above_lower, below_last) = (lower <= sample, sample <= last);
    // Only what cannot be compared is neither.
    let outside = select_unpredictable(below_last, bins, bins + 2);
    let outside = select_unpredictable(above_lower, bins + 1, outside);
    select_unpredictable(above_lower & below_last, bin, outside)
}

/// The last of `bins` bins for which `begins` says yes; the first one if there is none. Whoever is in a bin is in or
/// behind all bins before it.
#[inline(always)]
fn search(bins: u32, begins: impl Fn(u32) -> bool) -> u32 {
    let (mut first, mut len) = (0, bins);
    while len > 1 {
        let half = len / 2;
        if begins(first + half) {
            first += half;
        }
        len -= half;
    }
    first
}
