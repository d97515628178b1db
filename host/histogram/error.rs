//! Errors of histograms.

use std::fmt;

/// Invalid bins, channels, samples or weights of a histogram.
///
/// Functions return it inside of [`Error`](crate::Error).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HistogramError {
    /// A number of bins that no histogram has.
    #[error("a histogram has 1 to {limit} bins, and not {bins}")]
    Bins {
        /// The bins asked for.
        bins: usize,
        /// The most that there can be.
        limit: usize,
    },
    /// A number of low bits that samples do not have.
    #[error("a histogram of low bits takes 1 to {limit} of them, and not {bits}")]
    LowBits {
        /// The bits asked for.
        bits: u32,
        /// The bits of a sample.
        limit: u32,
    },
    /// A range that has no inside. Integers beyond 2^53 are rounded here.
    #[error("the range of a histogram goes from a finite number to a larger one, and not from {} to {}",
        Number(*lower, *upper), Number(*upper, *lower))]
    Range {
        /// The lower end.
        lower: f64,
        /// The upper end.
        upper: f64,
    },
    /// Too few edges to have a bin between them.
    #[error("the bins of a histogram take at least 2 edges, and there are {edges}")]
    Edges {
        /// How many there are.
        edges: usize,
    },
    /// Edges that do not ascend, are equal or NaN.
    #[error("the edges of a histogram ascend, but edge {index} is {} and the next one {}",
        Number(*edge, *next), Number(*next, *edge))]
    EdgeOrder {
        /// The place of the first such edge, numbered from 0.
        index: usize,
        /// This edge.
        edge: f64,
        /// The one behind it.
        next: f64,
    },
    /// An edge of integers that no sample can be, and that is neither the first nor the last one.
    #[error("only the first and the last edge of a histogram may lie outside of what its samples can be, and edge {index} \
        is {}", Number(*edge, *edge))]
    InnerEdge {
        /// The place of the first such edge, numbered from 0.
        index: usize,
        /// This edge.
        edge: f64,
    },
    /// One channel's counts asked of a histogram that has counted several.
    #[error("the counts are of {channels} channels: take those of one by `channel`, or go through `channels`")]
    SeveralChannels {
        /// The channels that were counted.
        channels: usize,
    },
    /// A number of counted channels that is 0 or exceeds the channels.
    #[error("a histogram counts at least 1 of its channels and at most all, and not {counted} of {channels}")]
    Channels {
        /// The channels there are.
        channels: usize,
        /// Those to be counted.
        counted: usize,
    },
    /// Samples of several channels that are not the same number for each.
    #[error("{samples} samples cannot be divided among {channels} channels")]
    Interleaving {
        /// The samples there are.
        samples: usize,
        /// The channels there are.
        channels: usize,
    },
    /// A weight that cannot be added up.
    #[error("weights must be finite, and weight {index} is {weight}")]
    Weight {
        /// Its place, numbered from 0: the first such.
        index: usize,
        /// The weight.
        weight: f64,
    },
}

/// Displays a number of an element type, without hundreds of digits; beside it stands another one of the same type. If
/// both are `f32`, a fraction has the digits that tell it from other `f32`: 0.1 and not 0.10000000149011612.
struct Number(f64, f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Number(number, beside) = self;
        let is_f32 = |x: f64| x.is_nan() || f64::from(x as f32) == x;
        let is_short = number == 0.0 || !number.is_finite() || (1e-5..1e16).contains(&number.abs());
        match (is_short, is_f32(number) && is_f32(beside)) {
            // Of a whole number all digits, even if fewer would tell it from other `f32`.
            (true, true) if number.fract() != 0.0 => write!(f, "{}", number as f32),
            (true, _) => write!(f, "{number}"),
            (false, true) => write!(f, "{:e}", number as f32),
            (false, false) => write!(f, "{number:e}"),
        }
    }
}
