//! The bin of a sample, with the same arithmetic on host and device (`host/bins.rs` has more rules for the host).
//!
//! The counts of a histogram are *cells*: its bins, followed by one cell each for samples below the range, above it, and
//! NaN. Ranges are half-open, `lower <= x < upper`, or closed, `lower <= x <= upper`. In both cases, samples are compared
//! with `last`, the largest number inside.

use super::{Countable, Scale, Searchable};
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

    /// Returns the keys of several samples. A rule can take the steps of a search for all of them together, so that their latencies
    /// overlap.
    #[inline(always)]
    #[must_use]
    fn keys<const N: usize>(&self, samples: [Self::Sample; N]) -> [u32; N] {
        samples.map(|sample| self.key(sample))
    }

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

/// A rule that searches the bin of a sample among edges.
pub trait Searched: Binning {
    /// What is compared with the edges.
    type Number: Searchable;
    /// The limits of some bins.
    type Limits: Inside<Self::Sample, Number = Self::Number>;

    /// Returns the number of bins.
    #[must_use]
    fn bins(&self) -> u32;

    /// Returns edge `first + k`, as bins from `first` on compare it with [numbers](Inside::number). There is one more edge than bins.
    #[must_use]
    fn edge(&self, first: u32, k: u32) -> Self::Number;

    /// Returns the limits of `bins` bins from `first`. If the bins [have no numbers](Self::have_numbers), one may still seem to be inside.
    #[must_use]
    fn limits(&self, first: u32, bins: u32) -> Self::Limits;

    /// Returns whether a number can be in one of `bins` bins from `first`, unless the limits exclude all numbers otherwise.
    #[inline(always)]
    #[must_use]
    fn have_numbers(&self, _first: u32, _bins: u32) -> bool {
        true
    }
}

/// A [`Searched`] rule that kernels take as an argument.
pub trait SearchedArgument: for<'l> BinningArgument<At<'l>: Searched> {}
impl<B: for<'l> BinningArgument<At<'l>: Searched>> SearchedArgument for B {}

/// The limits of some neighbouring bins: which samples of type `S` are inside.
pub trait Inside<S>: Copy {
    /// What is compared with the edges.
    type Number: Searchable;

    /// Returns what is compared with the edges for a sample.
    #[must_use]
    fn number(&self, sample: S) -> Self::Number;

    /// Returns `bin` for a number inside, and otherwise the number of bins plus 0 for a number below, 1 above, and 2 for NaN.
    #[must_use]
    fn cell(&self, number: Self::Number, bin: u32) -> u32;
}

arguments! {
    /// Bins of equal width: bin `k` extends from [border](super::Bordered::border) `k` to border `k + 1`.
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

impl<T: Searchable> Searched for Edges<'_, T> {
    type Number = T;
    type Limits = Limits<T>;

    #[inline(always)]
    fn bins(&self) -> u32 {
        self.bins
    }

    #[inline(always)]
    fn edge(&self, first: u32, k: u32) -> T {
        self.edges.get((first + k).into())
    }

    #[inline(always)]
    fn limits(&self, first: u32, bins: u32) -> Limits<T> {
        let end = first + bins;
        let last = if end < self.bins { self.edges.get(end.into()).before() } else { self.last };
        Limits { lower: self.edges.get(first.into()), last, bins }
    }
}

/// The smallest and the largest number inside. If the first exceeds the second, no number is inside.
#[derive(Clone, Copy, Debug)]
pub struct Limits<T> {
    lower: T,
    last: T,
    bins: u32,
}

impl<T: Searchable> Inside<T> for Limits<T> {
    type Number = T;

    #[inline(always)]
    fn number(&self, sample: T) -> T {
        sample
    }

    #[inline(always)]
    fn cell(&self, number: T, bin: u32) -> u32 {
        cell(number, self.lower, self.last, self.bins, bin)
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

/// Returns the cell of a sample, which is `bin` if the sample is in the range. Has no branches, so that the computations for
/// several samples can overlap.
#[inline(always)]
pub(super) fn cell<T: Countable>(sample: T, lower: T, last: T, bins: u32, bin: u32) -> u32 {
    let (above_lower, below_last) = (lower <= sample, sample <= last);
    // For NaN, both are false.
    let outside = select_unpredictable(below_last, bins, bins + 2);
    let outside = select_unpredictable(above_lower, bins + 1, outside);
    select_unpredictable(above_lower & below_last, bin, outside)
}

/// Returns the last of `bins` bins for which `begins` returns true, or 0 if there is none. If `begins` is true for a bin, it
/// must be true for all bins before it.
#[inline(always)]
pub(super) fn search(bins: u32, begins: impl Fn(u32) -> bool) -> u32 {
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
