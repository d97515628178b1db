//! Errors of filters.

use super::Filter1dAlgorithm;
use crate::filter::generated::OutOfRange;
use crate::filter::origin::range;
use crate::text::{Count, Number};

/// Invalid taps or channels of a filter, or an axis that it cannot run along.
///
/// Functions return it in [`Error::Filter1d`](crate::Error::Filter1d).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Filter1dError {
    /// A filter without taps.
    #[error("a filter must have at least 1 tap")]
    NoTaps,
    /// A filter without channels.
    #[error("a filter must have at least 1 channel")]
    NoChannels,
    /// A filter that would compute the same output again and again.
    #[error("the stride of a filter must be at least 1")]
    NoStride,
    /// An algorithm that has no kernel with a stride.
    #[error("{algorithm:?} has no kernel with a stride: it must be 1, not {stride}")]
    NoStrides {
        /// The algorithm.
        algorithm: Filter1dAlgorithm,
        /// Samples from one output to the next one.
        stride: usize,
    },
    /// A parameter of generated taps is out of range.
    #[error("{what} must be {range}, not {}", Number(*value, *value))]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// The valid range.
        range: &'static str,
        /// The value.
        value: f64,
    },
    /// An origin that moves the centre out of the taps.
    #[error("the origin of a filter must be from {} to {} for {}, not {origin}", range(*taps)[0], range(*taps)[1],
        Count(*taps, "tap"))]
    Origin {
        /// The origin.
        origin: isize,
        /// Number of taps.
        taps: usize,
    },
    /// A filter that Fourier transforms cannot compute.
    #[error("Fourier transforms filter one channel of f32 or f64 with taps of the same type, not {} of {sample} with taps of {tap}",
        Count(*channels, "channel"))]
    NoTransforms {
        /// Type of the samples.
        sample: &'static str,
        /// Type of the taps.
        tap: &'static str,
        /// Number of channels.
        channels: usize,
    },
    /// A filter that tensor cores cannot compute.
    #[error("tensor cores filter one channel of i32 with taps of i32, not {} of {sample} with taps of {tap}",
        Count(*channels, "channel"))]
    NotOnTensorCores {
        /// Type of the samples.
        sample: &'static str,
        /// Type of the taps.
        tap: &'static str,
        /// Number of channels.
        channels: usize,
    },
    /// A device without the products of bytes that the kernel for tensor cores takes.
    #[error("products of 16 x 32 and 32 x 8 bytes on tensor cores need compute capability 8.0, and the device has {}.{}", found.0, found.1)]
    NoTensorCores {
        /// Compute capability of the device.
        found: (u32, u32),
    },
    /// The number of samples is not a multiple of the channels.
    #[error("{} cannot be divided evenly among {}", Count(*samples, "sample"), Count(*channels, "channel"))]
    Interleaving {
        /// Number of samples of a line, the total of all channels.
        samples: usize,
        /// Number of channels.
        channels: usize,
    },
    /// The array has no such axis.
    #[error("there is no axis {axis}: the array has {}, numbered from 0", Count(*dimensions, "axis"))]
    Axis {
        /// Requested axis.
        axis: usize,
        /// Number of axes.
        dimensions: usize,
    },
    /// The array has other than one or two axes.
    #[error("a one-dimensional filter needs an array of 1 or 2 axes, not {dimensions}")]
    Dimensions {
        /// Number of axes.
        dimensions: usize,
    },
}

impl From<OutOfRange> for Filter1dError {
    fn from(OutOfRange { what, range, value }: OutOfRange) -> Self {
        Filter1dError::Parameter { what, range, value }
    }
}
