//! Errors of pointwise operations.

use crate::text::Number;

/// Invalid tables or parameters of a pointwise operation.
///
/// Functions return it in [`Error::Pointwise`](crate::Error::Pointwise).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointwiseError {
    /// A table has the wrong number of entries.
    #[error("the length of the table is {actual}, but must be {expected}")]
    Entries {
        /// Required number of entries: one for each value of the samples, or for each interval between edges.
        expected: usize,
        /// Actual number of entries.
        actual: usize,
    },
    /// A table between too few or too many edges.
    #[error("a table needs from 2 to {limit} edges, not {edges}")]
    Edges {
        /// Number of edges.
        edges: usize,
        /// Maximum number of edges.
        limit: usize,
    },
    /// Edges that do not ascend strictly.
    #[error("edges must ascend strictly, but edge {index} is {} and the next one {}", Number(*edge, *next), Number(*next, *edge))]
    EdgeOrder {
        /// Index of the first edge that is not below the next one.
        index: usize,
        /// This edge.
        edge: f64,
        /// The next edge.
        next: f64,
    },
    /// The scale or the offset of a conversion is not finite in the type of the computation.
    #[error("as a number of type {kind} the {what} must be finite, but {value:?} is not")]
    NotFinite {
        /// The scale or the offset.
        what: &'static str,
        /// The number.
        value: f64,
        /// Name of the type of the computation.
        kind: &'static str,
    },
    /// The exponent of a power is not finite and larger than 0 in the type of the computation.
    #[error("as a number of type {kind} the exponent must be finite and larger than 0, but {exponent:?} is not")]
    Exponent {
        /// The exponent.
        exponent: f64,
        /// Name of the type of the computation.
        kind: &'static str,
    },
    /// The bounds of a range are in the wrong order, or one of them is NaN.
    #[error("the lower bound must not exceed the upper bound, but they are {} and {}", Number(*lower, *upper), Number(*upper, *lower))]
    Bounds {
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// Pixels without channels, or with too many.
    #[error("pixels must have from 1 to {limit} channels, not {channels}")]
    Channels {
        /// Number of channels.
        channels: usize,
        /// Maximum number of channels.
        limit: usize,
    },
    /// The axis of channels of an array has another length than the number of channels.
    #[error("the axis of channels has the length {actual}, but must have {expected}")]
    ChannelAxis {
        /// Number of channels.
        expected: usize,
        /// Length of the axis.
        actual: usize,
    },
    /// An array has other than 1 to 3 axes, so it has neither pixels nor planes.
    #[error("pixels and planes have from 1 to 3 axes, not {dimensions}")]
    Dimensions {
        /// Number of axes.
        dimensions: usize,
    },
    /// The number of columns of interleaved channels, of rows of planes, or of elements of a single row, is not a multiple of the
    /// number of channels.
    #[error("{len} {what} cannot be divided evenly among {channels} channels")]
    Division {
        /// The rows, the columns or the elements.
        what: &'static str,
        /// Their number.
        len: usize,
        /// Number of channels.
        channels: usize,
    },
}
