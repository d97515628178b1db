//! Results of counting.

use slm_kernels::histogram::{OUTSIDE, Quantum};
use std::sync::Arc;

/// Counts of samples of type `T` per channel; sums of weights if `N` is `f64`. [`PreparedHistogram::apply`](super::PreparedHistogram::apply)
/// returns it.
///
/// Most histograms have one channel, and [`bins`](Self::bins), [`below`](Self::below), [`above`](Self::above) and
/// [`nan`](Self::nan) are the first one's.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts<T, N = u64> {
    edges: Arc<[T]>,
    counters: Vec<N>,
    /// Counters per channel: at least one, plus [`OUTSIDE`].
    cells: usize,
}

/// Counts of one channel. [`Counts::channel`] returns it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Channel<'a, N = u64> {
    /// Counts of the bins.
    pub bins: &'a [N],
    /// Count of samples below the first bin.
    pub below: N,
    /// Count of samples above the last bin.
    pub above: N,
    /// Count of NaNs.
    pub nan: N,
}

impl<T, N: Copy> Counts<T, N> {
    /// Returns the counts of a buffer: the cells of one channel or more.
    pub(crate) fn new(counters: Vec<N>, cells: usize, edges: &Arc<[T]>) -> Self {
        Counts { edges: edges.clone(), counters, cells }
    }

    /// Returns the borders of the bins, as [`PreparedHistogram::edges`](super::PreparedHistogram::edges).
    #[must_use]
    pub fn edges(&self) -> &[T] {
        &self.edges
    }

    fn first(&self) -> Channel<'_, N> {
        self.channel(0).expect("a histogram counts one channel or more")
    }

    /// Returns the counts of the first channel's bins.
    #[must_use]
    pub fn bins(&self) -> &[N] {
        self.first().bins
    }

    /// Returns the count of the first channel's samples below the first bin.
    #[must_use]
    pub fn below(&self) -> N {
        self.first().below
    }

    /// Returns the count of the first channel's samples above the last bin.
    #[must_use]
    pub fn above(&self) -> N {
        self.first().above
    }

    /// Returns the count of the first channel's NaNs.
    #[must_use]
    pub fn nan(&self) -> N {
        self.first().nan
    }

    /// Returns the counted channels, in their order.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = Channel<'_, N>> {
        self.counters.chunks_exact(self.cells).map(|cells| {
            let (bins, outside) = cells.split_at(cells.len() - OUTSIDE as usize);
            Channel { bins, below: outside[0], above: outside[1], nan: outside[2] }
        })
    }

    /// Returns a counted channel, numbered from 0; `None` if there are fewer.
    #[must_use]
    pub fn channel(&self, channel: usize) -> Option<Channel<'_, N>> {
        self.channels().nth(channel)
    }
}

impl<T> Counts<T> {
    /// Returns the number of samples of all counted channels, in bins and outside, with `u64::MAX` as the limit.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counters.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Sums of weights. [`PreparedHistogram::apply_weighted`](super::PreparedHistogram::apply_weighted) returns it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightedCounts<T> {
    /// Sums of the weights, in bins and outside.
    pub sums: Counts<T, f64>,
    /// The power of two to whose multiples the weights were rounded.
    pub quantum: f64,
}

impl<T> WeightedCounts<T> {
    pub(crate) fn new(multiples: &[i64], quantum: Quantum, cells: usize, edges: &Arc<[T]>) -> crate::Result<Self> {
        let mut sums = crate::allocation::reserved(multiples.len())?;
        sums.extend(multiples.iter().map(|&multiples| quantum.sum(multiples)));
        Ok(WeightedCounts { sums: Counts::new(sums, cells, edges), quantum: quantum.value() })
    }
}
