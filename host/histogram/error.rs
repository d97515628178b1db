//! Errors of histograms.

use super::HistogramAlgorithm;
use crate::text::{Count, Number};

/// Invalid bins, channels, samples or weights of a histogram.
///
/// Functions return it in [`Error::Histogram`](crate::Error::Histogram).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HistogramError {
    /// Invalid number of bins.
    #[error("a histogram must have 1 to {limit} bins, not {bins}")]
    Bins {
        /// Requested bins.
        bins: usize,
        /// Maximum number of bins.
        limit: usize,
    },
    /// Invalid number of low bits.
    #[error("a histogram cannot count {bits} low bits: use 1 to {limit}")]
    LowBits {
        /// Requested bits.
        bits: u32,
        /// Bits per sample.
        limit: u32,
    },
    /// The lower end is not below the upper end, or one of them is not finite. Integers beyond 2^53 are rounded here.
    #[error("the range of a histogram must go from a finite number to a larger finite number, not from {} to {}",
        Number(*lower, *upper), Number(*upper, *lower))]
    Range {
        /// The lower end.
        lower: f64,
        /// The upper end.
        upper: f64,
    },
    /// Too few edges for a bin.
    #[error("a histogram must have at least 2 edges, not {edges}")]
    Edges {
        /// Number of edges.
        edges: usize,
    },
    /// Edges that do not ascend strictly, or are NaN.
    #[error("the edges of a histogram must ascend, but edge {index} is {} and the next one is {}",
        Number(*edge, *next), Number(*next, *edge))]
    EdgeOrder {
        /// Index of the first such edge, numbered from 0.
        index: usize,
        /// This edge.
        edge: f64,
        /// The next edge.
        next: f64,
    },
    /// An edge of integers, other than the first and the last, lies outside the range of the sample type.
    #[error("only the first and the last edge of a histogram may lie outside the range of the sample type, but edge {index} \
        is {}", Number(*edge, *edge))]
    InnerEdge {
        /// Index of the first such edge, numbered from 0.
        index: usize,
        /// This edge.
        edge: f64,
    },
    /// The counts of a single channel were requested from a histogram with several counted channels.
    #[error("the histogram counted {channels} channels: select one with `channel`, or iterate over `channels`")]
    SeveralChannels {
        /// Number of counted channels.
        channels: usize,
    },
    /// The number of counted channels is 0, or exceeds the number of channels.
    #[error("a histogram cannot count {counted} of {}: use at least 1 and at most all", Count(*channels, "channel"))]
    Channels {
        /// Number of channels.
        channels: usize,
        /// Number of channels to count.
        counted: usize,
    },
    /// There is no kernel of the required algorithm for these samples and bins.
    #[error("{algorithm:?} has no kernel for {samples} samples in bins that are {}: it has kernels for u8 samples, and for u32, \
        i32 and f32 samples in bins that are computed", if *is_searched { "searched" } else { "computed" })]
    NoKernel {
        /// Required algorithm.
        algorithm: HistogramAlgorithm,
        /// Type of the samples.
        samples: &'static str,
        /// Whether a GPU searches the bin of each sample, as it does between edges. Otherwise it computes the bin.
        is_searched: bool,
    },
    /// The number of samples is not a multiple of the channels.
    #[error("{} cannot be divided evenly among {}", Count(*samples, "sample"), Count(*channels, "channel"))]
    Interleaving {
        /// Number of samples.
        samples: usize,
        /// Number of channels.
        channels: usize,
    },
    /// Sums cannot be added to sums of another histogram with the same number of counters.
    #[error("the sums to add to belong to other bins or channels")]
    OtherBins,
    /// A weight is infinite or NaN.
    #[error("weights must be finite, but weight {index} is {weight}")]
    Weight {
        /// Index of the first such weight, numbered from 0.
        index: usize,
        /// The weight.
        weight: f64,
    },
}
