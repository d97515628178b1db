//! The bin of a sample, with the same arithmetic on host and device.
//!
//! The counts of a histogram are *cells*: its bins, followed by one cell each for samples below the range, above it, and
//! NaN. Ranges are half-open, `lower <= x < upper`, or closed, `lower <= x <= upper`. In both cases, samples are compared
//! with `last`, the largest number inside.

use super::{Countable, Scale};
use core::hint::select_unpredictable;
use cuda_std::{Argument, GlobalIn, arguments};

/// Number of cells after the bins.
pub const OUTSIDE: u32 = 3;

/// A rule that gives every sample a cell.
///
/// Samples are counted by *key*, with one counter per key. Usually a key is a cell. Bytes are their own keys: a kernel
/// counts the 256 values, and looks up the cell of each value at the end.
pub trait Binning: Copy {
    /// Type of the samples.
    type Sample: Countable;

    /// Returns the key of a sample.
    #[must_use]
    fn key(&self, sample: Self::Sample) -> u32;

    /// Returns the cell of a key.
    #[inline(always)]
    #[must_use]
    fn cell(&self, key: u32) -> u32 {
        key
    }
}

/// A rule that kernels take as an argument.
pub trait BinningArgument: Binning + Argument {
    /// The same rule for the launch `'l`.
    type At<'l>: BinningArgument<Sample = Self::Sample>;
}

arguments! {
    /// Bins of equal width: bin `k` extends from [border](Countable::border) `k` to border `k + 1`.
    pub struct Even<T: Countable, S: Scale<T>> {
        /// Computes the bin of a number.
        pub scale: S,
        /// Smallest number inside.
        pub lower: T,
        /// Largest number inside.
        pub last: T,
        /// Number of bins.
        pub bins: u32,
        /// `bins - 1`, as an argument, so that it does not occupy a register throughout a loop.
        pub last_bin: u32,
    }
}

impl<T: Countable, S: Scale<T>> Even<T, S> {
    /// Returns the rule for `bins` bins, at least one, from `lower` to `upper`, or `None` if scale `S` does not suit them.
    /// `upper` must be larger than `lower`, and belongs to the last bin if the range is `closed`.
    #[cfg(not(target_os = "cuda"))]
    #[must_use]
    pub fn new(bins: u32, lower: T, upper: T, closed: bool) -> Option<Self> {
        let last = if closed { upper } else { upper.before() };
        S::new(bins, lower, upper).map(|scale| Even { scale, lower, last, bins, last_bin: bins - 1 })
    }

    /// Returns whether the numbers on both sides of border `k` have the bins that the borders define. `k` is less than the
    /// number of bins; there is one border more than bins.
    ///
    /// If this is true for all `k`, every number has the right bin, because [`Scale::bin`] is monotonic.
    #[cfg(not(target_os = "cuda"))]
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

impl<T: Countable, S: Scale<T>> Binning for Even<T, S> {
    type Sample = T;

    #[inline(always)]
    fn key(&self, sample: T) -> u32 {
        let bin = self.scale.bin(sample, self.lower).min(self.last_bin);
        cell(sample, self.lower, self.last, self.bins, bin)
    }
}

impl<T: Countable, S: Scale<T>> BinningArgument for Even<T, S> {
    type At<'l> = Self;
}

arguments! {
    /// Bins between given numbers: bin `k` is `edges[k] <= x < edges[k + 1]`.
    pub struct Edges<'l, T: Countable> {
        /// The edges in ascending order, one more than bins.
        pub edges: GlobalIn<'l, T>,
        /// The first edge.
        pub lower: T,
        /// Largest number inside.
        pub last: T,
        /// Number of bins.
        pub bins: u32,
    }
}

impl<T: Countable> Binning for Edges<'_, T> {
    type Sample = T;

    #[inline(always)]
    fn key(&self, sample: T) -> u32 {
        let edges = self.edges.at(0);
        let bin = search(self.bins, |k| edges.get(k) <= sample);
        cell(sample, self.lower, self.last, self.bins, bin)
    }
}

impl<T: Countable> BinningArgument for Edges<'_, T> {
    type At<'l> = Edges<'l, T>;
}

/// [`Edges`] for the host.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct EdgeSlice<'a, T> {
    /// The edges in ascending order, one more than bins.
    pub edges: &'a [T],
    /// Largest number inside.
    pub last: T,
}

#[cfg(not(target_os = "cuda"))]
impl<'a, T: Countable> EdgeSlice<'a, T> {
    /// Returns the bins between these edges, at least two. The last edge belongs to the last bin if they are `closed`.
    #[must_use]
    pub fn new(edges: &'a [T], closed: bool) -> Self {
        let last = edges[edges.len() - 1];
        EdgeSlice { edges, last: if closed { last } else { last.before() } }
    }

    /// Returns the same rule for the device. `edges` is a copy of the edges there.
    #[must_use]
    pub fn on_device<'l>(&self, edges: GlobalIn<'l, T>) -> Edges<'l, T> {
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

/// [`Even`] for the host: checks an estimated bin, and searches the borders only if the estimate is wrong.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct Guided<'a, T> {
    /// The bins, with all borders.
    pub bins: EdgeSlice<'a, T>,
    /// Number of bins divided by the width of the range.
    pub bins_per_unit: f64,
}

#[cfg(not(target_os = "cuda"))]
impl<'a, T: Countable + Into<f64>> Guided<'a, T> {
    /// Returns the bins between these borders, at least two. The last border belongs to the last bin if they are `closed`.
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
        // The cast turns NaN and negative estimates into 0.
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
        /// The bits of a sample that are its bin.
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

impl BinningArgument for LowBits {
    type At<'l> = Self;
}

/// Number of keys of bytes.
pub const BYTE_VALUES: u32 = 256;

arguments! {
    /// Counts bytes by their value, for any bins. There are only 256 values, so the cell of each value is looked up once
    /// at the end, not for each sample.
    pub struct Bytes<'l> {
        /// The cell of each value.
        pub cells: GlobalIn<'l, u32>,
    }
}

impl Binning for Bytes<'_> {
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

impl BinningArgument for Bytes<'_> {
    type At<'l> = Bytes<'l>;
}

/// [`Bytes`] for the host.
#[cfg(not(target_os = "cuda"))]
#[derive(Clone, Copy, Debug)]
pub struct ByValue<B> {
    /// The rule for the cells of the values.
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

/// Returns the cell of a sample, which is `bin` if the sample is in the range. Has no branches, so that the computations for
/// several samples can overlap.
#[inline(always)]
fn cell<T: Countable>(sample: T, lower: T, last: T, bins: u32, bin: u32) -> u32 {
    let (above_lower, below_last) = (lower <= sample, sample <= last);
    // For NaN, both are false.
    let outside = select_unpredictable(below_last, bins, bins + 2);
    let outside = select_unpredictable(above_lower, bins + 1, outside);
    select_unpredictable(above_lower & below_last, bin, outside)
}

/// Returns the last of `bins` bins for which `begins` returns true, or 0 if there is none. If `begins` is true for a bin, it
/// must be true for all bins before it.
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
