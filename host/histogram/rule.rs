//! The problem as it was described, and the checks of it.

use super::element::SampleType;
use super::{HistogramElement, HistogramError};
use crate::cpu::allocation;
use crate::cpu::parallel::for_elements;
use crate::{Error, Result};
use slm_kernels::histogram::OUTSIDE;
use std::cmp::Ordering;
use std::sync::Arc;

/// Maximum number of bins: one less than the maximum number of edges.
const MOST_BINS: usize = 1 << 24;

/// Maximum number of counters, and of channels. Kernels index both with 32 bits.
const MOST_COUNTERS: usize = 1 << 31;

/// Minimum number of borders per thread.
pub(super) const SHARE: usize = 1 << 10;

/// The bins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bins<T: HistogramElement> {
    /// One bin per value of this number of low bits. Samples are `u16`.
    LowBits(u32),
    /// Bins of equal width.
    Even { bins: usize, lower: T::Bound, upper: T::Bound },
    /// Bins between these numbers.
    Edges(Arc<Vec<T::Bound>>),
}

/// Maps samples to counters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CountingRule<T: HistogramElement> {
    pub(crate) bins: Bins<T>,
    /// Whether the last bin includes its upper end.
    pub(crate) closed: bool,
    /// Sample `i` belongs to channel `i % channels`.
    pub(crate) channels: usize,
    /// Number of counted channels, beginning with channel 0.
    pub(crate) counted: usize,
}

impl<T: SampleType> CountingRule<T> {
    /// Returns an error if the rule is invalid. The other functions require a valid rule.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.bins {
            &Bins::LowBits(bits) => drop(T::low_bits(bits)?),
            &Bins::Even { bins, lower, upper } => check_range::<T>(bins, lower, upper)?,
            Bins::Edges(edges) => check_edges::<T>(edges)?,
        }
        self.layout().check()
    }

    /// Returns the borders of the bins, one more than bins; empty if bins are not ranges of numbers.
    pub(crate) fn edges(&self) -> Result<Arc<Vec<T::Bound>>> {
        match &self.bins {
            Bins::LowBits(_) => Ok(Arc::default()),
            // `check_bins` has checked the bins against 2^24.
            &Bins::Even { bins, lower, upper } => borders::<T>(bins as u32, [lower, upper]),
            Bins::Edges(edges) => Ok(edges.clone()),
        }
    }
}

impl<T: HistogramElement> CountingRule<T> {
    /// Returns the number and order of the counters.
    pub(crate) fn layout(&self) -> CounterLayout {
        let bins = match &self.bins {
            Bins::LowBits(bits) => 1 << bits,
            Bins::Even { bins, .. } => *bins,
            Bins::Edges(edges) => edges.len() - 1,
        };
        CounterLayout { bins, channels: self.channels, counted: self.counted }
    }
}

/// Number and order of the counters: the cells of one counted channel after another. The cells of a channel are its bins, then
/// below, above and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CounterLayout {
    /// Bins per channel.
    pub(crate) bins: usize,
    /// Sample `i` belongs to channel `i % channels`.
    pub(crate) channels: usize,
    /// Number of counted channels, beginning with channel 0.
    pub(crate) counted: usize,
}

impl CounterLayout {
    fn check(&self) -> Result<()> {
        let (channels, counted, limit) = (self.channels, self.counted, MOST_COUNTERS as u64);
        if counted == 0 || counted > channels {
            return Err(HistogramError::Channels { channels, counted }.into());
        }
        if channels > MOST_COUNTERS {
            return Err(Error::TooLarge { what: "the number of channels", factors: [channels as u64, 1], limit });
        }
        check_counters(counted, self.cells())
    }

    /// Returns the number of counters per channel.
    pub(crate) fn cells(&self) -> usize {
        self.bins + OUTSIDE as usize
    }

    /// Returns the number of counters of all counted channels.
    pub(crate) fn counters(&self) -> usize {
        self.counted * self.cells()
    }

    /// Returns an error if channels have different numbers of samples.
    pub(crate) fn check_samples(&self, samples: usize) -> Result<()> {
        let channels = self.channels;
        if samples.is_multiple_of(channels) {
            Ok(())
        } else {
            Err(HistogramError::Interleaving { samples, channels }.into())
        }
    }
}

/// Returns the borders of bins of equal width.
fn borders<T: SampleType>(bins: u32, ends: [T::Bound; 2]) -> Result<Arc<Vec<T::Bound>>> {
    let mut borders = allocation::filled(T::Bound::default(), bins as usize + 1)?;
    for_elements(&mut borders, SHARE, |k, border| {
        *border = <T as SampleType>::border(k as u32, bins, ends);
    });
    Ok(borders.into())
}

/// Returns an error if there are too many counters.
pub(crate) fn check_counters(counted: usize, of_channel: usize) -> Result<()> {
    let (factors, limit) = ([counted as u64, of_channel as u64], MOST_COUNTERS as u64);
    if factors[0].saturating_mul(factors[1]) <= limit {
        return Ok(());
    }
    Err(Error::TooLarge { what: "the number of a histogram's counters", factors, limit })
}

fn check_bins(bins: usize) -> Result<()> {
    if (1..=MOST_BINS).contains(&bins) { Ok(()) } else { Err(HistogramError::Bins { bins, limit: MOST_BINS }.into()) }
}

fn check_range<T: SampleType>(bins: usize, lower: T::Bound, upper: T::Bound) -> Result<()> {
    check_bins(bins)?;
    let ends = [lower, upper].map(T::to_f64);
    if !(lower < upper && ends.iter().all(|end| end.is_finite())) {
        return Err(HistogramError::Range { lower: ends[0], upper: ends[1] }.into());
    }
    Ok(())
}

fn check_edges<T: SampleType>(edges: &[T::Bound]) -> Result<()> {
    if edges.len() < 2 {
        return Err(HistogramError::Edges { edges: edges.len() }.into());
    }
    check_bins(edges.len() - 1)?;
    // NaNs do not ascend.
    if let Some(index) = edges.array_windows().position(|[edge, next]| edge.partial_cmp(next) != Some(Ordering::Less)) {
        let [edge, next] = [edges[index], edges[index + 1]].map(T::to_f64);
        return Err(HistogramError::EdgeOrder { index, edge, next }.into());
    }
    match edges[1..edges.len() - 1].iter().position(|edge| !T::is_sample(*edge)) {
        None => Ok(()),
        Some(index) => Err(HistogramError::InnerEdge { index: index + 1, edge: T::to_f64(edges[index + 1]) }.into()),
    }
}
