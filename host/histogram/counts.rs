//! Results of counting.

use super::{HistogramElement, HistogramError};
use crate::Result;
use crate::device::buffer::check_length;
use slm_kernels::histogram::OUTSIDE;
use std::sync::Arc;

/// Counts of samples of type `T` per channel; sums of weights if `N` is `f64`.
/// [`PreparedHistogram::apply`](super::PreparedHistogram::apply) returns it.
///
/// [`bins`](Self::bins), [`below`](Self::below), [`above`](Self::above) and [`nan`](Self::nan) return the counts of a histogram
/// with one channel. For several channels they return an error: use [`channel`](Self::channel) or [`channels`](Self::channels).
#[derive(Clone, Debug, PartialEq)]
pub struct Counts<T: HistogramElement, N = u64> {
    edges: Arc<Vec<T::Bound>>,
    counters: Vec<N>,
    /// Counters per channel: at least one, plus [`OUTSIDE`].
    cells: usize,
}

/// Counts of one channel: the result of [`Counts::channel`].
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

impl<T: HistogramElement, N: Copy> Counts<T, N> {
    /// Returns the counts for `counters`, which has the cells of at least one channel.
    pub(crate) fn new(counters: Vec<N>, cells: usize, edges: &Arc<Vec<T::Bound>>) -> Self {
        Counts { edges: edges.clone(), counters, cells }
    }

    /// Returns the borders of the bins: see [`PreparedHistogram::edges`](super::PreparedHistogram::edges).
    #[must_use]
    pub fn edges(&self) -> &[T::Bound] {
        &self.edges
    }

    /// Returns the only counted channel.
    fn only(&self) -> Result<Channel<'_, N>> {
        let mut channels = self.channels();
        match (channels.len(), channels.next()) {
            (1, Some(channel)) => Ok(channel),
            (channels, _) => Err(HistogramError::SeveralChannels { channels }.into()),
        }
    }

    /// Returns the count of each bin of the only counted channel.
    ///
    /// ```
    /// use slm::histogram::HistogramError;
    /// use slm::{Device, Error, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::cpu();
    /// let counts = Histogram::even(2, 0..256).prepare(&device)?.apply(&[0u8, 3, 200])?;
    /// assert_eq!(counts.bins()?, [2, 1]);
    /// let counts = Histogram::even(2, 0..256).channels(3).prepare(&device)?.apply(&[0u8, 3, 200])?;
    /// assert_eq!(counts.bins(), Err(Error::Histogram(HistogramError::SeveralChannels { channels: 3 })));
    /// let blue = counts.channels().nth(2).expect("there are three");
    /// assert_eq!(blue.bins, [0, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`HistogramError::SeveralChannels`] if several channels were counted.
    pub fn bins(&self) -> Result<&[N]> {
        Ok(self.only()?.bins)
    }

    /// Returns the count of samples below the first bin in the only counted channel.
    ///
    /// # Errors
    ///
    /// [`HistogramError::SeveralChannels`] if several channels were counted.
    pub fn below(&self) -> Result<N> {
        Ok(self.only()?.below)
    }

    /// Returns the count of samples above the last bin in the only counted channel.
    ///
    /// # Errors
    ///
    /// [`HistogramError::SeveralChannels`] if several channels were counted.
    pub fn above(&self) -> Result<N> {
        Ok(self.only()?.above)
    }

    /// Returns the count of NaNs in the only counted channel.
    ///
    /// # Errors
    ///
    /// [`HistogramError::SeveralChannels`] if several channels were counted.
    pub fn nan(&self) -> Result<N> {
        Ok(self.only()?.nan)
    }

    /// Returns the counted channels, in order.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = Channel<'_, N>> {
        self.counters.chunks_exact(self.cells).map(|cells| {
            let (bins, outside) = cells.split_at(cells.len() - OUTSIDE as usize);
            Channel { bins, below: outside[0], above: outside[1], nan: outside[2] }
        })
    }

    /// Returns the counted channel with this index, numbered from 0, or `None` if it does not exist.
    #[must_use]
    pub fn channel(&self, channel: usize) -> Option<Channel<'_, N>> {
        self.channels().nth(channel)
    }
}

impl<T: HistogramElement> Counts<T> {
    /// Returns the total count of all counted channels, inside and outside the bins. Saturates at `u64::MAX`.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counters.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Sums of weights. [`PreparedHistogram::apply_weighted`](super::PreparedHistogram::apply_weighted) returns it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightedCounts<T: HistogramElement> {
    /// Sums of the weights, in bins and outside.
    pub sums: Counts<T, f64>,
}

impl<T: HistogramElement> WeightedCounts<T> {
    pub(super) fn new(sums: Vec<f64>, cells: usize, edges: &Arc<Vec<T::Bound>>) -> Self {
        WeightedCounts { sums: Counts::new(sums, cells, edges) }
    }

    /// Returns an error unless these are the sums of a histogram with `counters` counters, `cells` per channel, and these
    /// edges.
    pub(super) fn check(&self, counters: usize, cells: usize, edges: &Arc<Vec<T::Bound>>) -> Result<()> {
        check_length("the sums to add to", counters, self.sums.counters.len())?;
        let are_same_edges = Arc::ptr_eq(edges, &self.sums.edges) || *edges == self.sums.edges;
        if cells == self.sums.cells && are_same_edges { Ok(()) } else { Err(HistogramError::OtherBins.into()) }
    }

    /// Adds the sums of another call.
    pub(super) fn add(&mut self, sums: &[f64]) {
        for (sum, more) in self.sums.counters.iter_mut().zip(sums) {
            *sum += more;
        }
    }
}
