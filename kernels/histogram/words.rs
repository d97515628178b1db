//! The bin of an integer of 32 bits, signed or not, by its distance from the smallest number inside.
//!
//! A distance is a difference modulo 2^32. So the same bits have the same distance whether they are signed or not, and one kernel
//! counts both types:
//!
//! ```text
//!  number     least …… lower - 1 | lower …… last | last + 1 …… most
//!  distance   top + 1 … 2^32 - 1 |   0  …  span  | span + 1 … top
//! ```
//!
//! The arithmetic of bins needs the distance anyway, and comparisons with `span` and `top` replace those with `lower` and `last`.

use super::bins::search;
use super::{Binning, BinningArgument, Inside, Ratio, Searched};
use core::hint::select_unpredictable;
use cuda_std::math::opaque;
use cuda_std::{GlobalIn, arguments};

arguments! {
    /// A range of integers of 32 bits, by distances.
    pub struct WordRange {
        /// Smallest number inside.
        pub lower: u32,
        /// Distance of the largest number inside.
        pub span: u32,
        /// Distance of the largest number of the type.
        pub top: u32,
        /// Number of bins.
        pub bins: u32,
    }
}

impl WordRange {
    #[inline(always)]
    pub(super) fn distance(&self, sample: u32) -> u32 {
        sample.wrapping_sub(self.lower)
    }

    /// Returns the cell of a number at a distance, which is `bin` if the number is in the range. Has no branches, so that the
    /// computations for several samples can overlap.
    #[inline(always)]
    pub(super) fn cell(&self, distance: u32, bin: u32) -> u32 {
        // A selection takes one operand from the arguments, and the other one from a register. ptxas has both in uniform registers
        // if it knows that one is the other plus 1, and copies them for each sample.
        let above = opaque(self.bins + 1);
        let outside = select_unpredictable(distance <= self.top, above, self.bins);
        select_unpredictable(distance <= self.span, bin, outside)
    }
}

arguments! {
    /// [`Even`](super::Even) for integers of 32 bits.
    pub struct EvenWords {
        /// The range.
        pub range: WordRange,
        /// Computes the bin of a distance.
        pub scale: Ratio,
        /// The number of bins minus 1, as an argument, so that it does not occupy a register throughout a loop.
        pub last_bin: u32,
    }
}

impl Binning for EvenWords {
    type Sample = u32;

    #[inline(always)]
    fn key(&self, sample: u32) -> u32 {
        let distance = self.range.distance(sample);
        self.range.cell(distance, self.scale.of(distance).min(self.last_bin))
    }
}

impl BinningArgument for EvenWords {
    type At<'l> = Self;
}

arguments! {
    /// [`Edges`](super::Edges) for integers of 32 bits.
    pub struct WordEdges<'l> {
        /// The range.
        pub range: WordRange,
        /// Distances of the edges in ascending order, one more than bins.
        pub edges: GlobalIn<'l, u32>,
    }
}

impl Binning for WordEdges<'_> {
    type Sample = u32;

    #[inline(always)]
    fn key(&self, sample: u32) -> u32 {
        let (edges, distance) = (self.edges.at(0), self.range.distance(sample));
        self.range.cell(distance, search(self.range.bins, |k| edges.get(k) <= distance))
    }
}

impl WordEdges<'_> {
    /// Returns the distance of the largest number in `bins` bins from `first`, or a smaller one than that of edge `first` if there is
    /// none. The second edge differs from the first one, so the subtraction does not wrap.
    #[inline(always)]
    fn last(&self, first: u32, bins: u32) -> u32 {
        let end = first + bins;
        if end < self.range.bins { self.edges.get(end.into()) - 1 } else { self.range.span }
    }
}

impl Searched for WordEdges<'_> {
    type Number = u32;
    type Limits = WordRange;

    #[inline(always)]
    fn bins(&self) -> u32 {
        self.range.bins
    }

    #[inline(always)]
    fn edge(&self, first: u32, k: u32) -> u32 {
        self.edges.get((first + k).into()) - self.edges.get(first.into())
    }

    #[inline(always)]
    fn limits(&self, first: u32, bins: u32) -> WordRange {
        let (WordRange { lower, top, .. }, start) = (self.range, self.edges.get(first.into()));
        // 0 if the bins have no numbers.
        let span = self.last(first, bins).saturating_sub(start);
        WordRange { lower: lower.wrapping_add(start), span, top: top - start, bins }
    }

    #[inline(always)]
    fn have_numbers(&self, first: u32, bins: u32) -> bool {
        self.last(first, bins) >= self.edges.get(first.into())
    }
}

impl Inside<u32> for WordRange {
    type Number = u32;

    #[inline(always)]
    fn number(&self, sample: u32) -> u32 {
        self.distance(sample)
    }

    #[inline(always)]
    fn cell(&self, distance: u32, bin: u32) -> u32 {
        WordRange::cell(self, distance, bin)
    }
}

impl BinningArgument for WordEdges<'_> {
    type At<'l> = WordEdges<'l>;
}
