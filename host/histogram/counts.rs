//! What comes of counting.

use slm_kernels::histogram::{OUTSIDE, Quantum};
use std::sync::Arc;

/// What a histogram has counted of samples of type `T`, channel by channel; sums of weights if `N` is `f64`.
///
/// Most histograms have one channel, and [`bins`](Self::bins), [`below`](Self::below), [`above`](Self::above) and
/// [`nan`](Self::nan) are the first one's.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts<T, N = u64> {
    edges: Arc<[T]>,
    counters: Vec<N>,
    /// The counters of a channel, at least one and [`OUTSIDE`].
    cells: usize,
}

/// The counts of one channel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel<'a, N = u64> {
    /// Of each bin.
    pub bins: &'a [N],
    /// Of samples below the first bin.
    pub below: N,
    /// Of samples above the last bin.
    pub above: N,
    /// Of samples that are not a number.
    pub nan: N,
}

impl<T, N: Copy> Counts<T, N> {
    /// As they stand in a buffer: the cells of one channel or more.
    pub(crate) fn new(counters: Vec<N>, cells: usize, edges: &Arc<[T]>) -> Self {
        Counts { edges: edges.clone(), counters, cells }
    }

    /// The borders of the bins: see [`PreparedHistogram::edges`](super::PreparedHistogram::edges).
    #[must_use]
    pub fn edges(&self) -> &[T] {
        &self.edges
    }

    fn first(&self) -> Channel<'_, N> {
        self.channel(0).expect("a histogram counts one channel or more")
    }

    /// Of each bin of the first channel.
    #[must_use]
    pub fn bins(&self) -> &[N] {
        self.first().bins
    }

    /// Of the first channel's samples below the first bin.
    #[must_use]
    pub fn below(&self) -> N {
        self.first().below
    }

    /// Of the first channel's samples above the last bin.
    #[must_use]
    pub fn above(&self) -> N {
        self.first().above
    }

    /// Of the first channel's samples that are not a number.
    #[must_use]
    pub fn nan(&self) -> N {
        self.first().nan
    }

    /// The channels that were counted, in their order.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = Channel<'_, N>> {
        self.counters.chunks_exact(self.cells).map(|cells| {
            let (bins, outside) = cells.split_at(cells.len() - OUTSIDE as usize);
            Channel { bins, below: outside[0], above: outside[1], nan: outside[2] }
        })
    }

    /// One of the channels that were counted, numbered from 0.
    #[must_use]
    pub fn channel(&self, channel: usize) -> Option<Channel<'_, N>> {
        self.channels().nth(channel)
    }
}

impl<T> Counts<T> {
    /// All samples of all channels that were counted, in bins and outside: `u64::MAX` at the most.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counters.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// What a weighted histogram has added up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightedCounts<T> {
    /// The sums of the weights, in bins and outside.
    pub sums: Counts<T, f64>,
    /// The power of two whose multiples the weights were rounded to.
    pub quantum: f64,
}

impl<T> WeightedCounts<T> {
    pub(crate) fn new(multiples: &[i64], quantum: Quantum, cells: usize, edges: &Arc<[T]>) -> crate::Result<Self> {
        let mut sums = crate::allocation::reserved(multiples.len())?;
        sums.extend(multiples.iter().map(|&multiples| quantum.sum(multiples)));
        Ok(WeightedCounts { sums: Counts::new(sums, cells, edges), quantum: quantum.value() })
    }
}
