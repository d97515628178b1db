//! Errors of two-dimensional filters.

use super::Filter2dAlgorithm;
use crate::filter::generated::OutOfRange;
use crate::filter::origin::range;
use crate::text::{Count, Number};

/// Invalid weights, steps, channels or shapes of a two-dimensional filter.
///
/// Functions return it in [`Error::Filter2d`](crate::Error::Filter2d).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Filter2dError {
    /// A kernel without weights.
    #[error("a filter must have at least 1 row and 1 column of weights, not {rows} x {columns}")]
    NoWeights {
        /// Rows of weights.
        rows: usize,
        /// Columns of weights.
        columns: usize,
    },
    /// Integer weights whose sums may not fit into 64 bits.
    #[error(
        "the magnitudes of the weights sum to {magnitudes}, but must sum to at most {limit} for exact sums of this sample type"
    )]
    WeightsTooLarge {
        /// Sum of the magnitudes of all weights.
        magnitudes: u128,
        /// Maximum sum of the magnitudes.
        limit: u128,
    },
    /// A product of a column and a row of integer weights that their type cannot represent.
    #[error("the product of the weights {column} and {row} exceeds {weights}")]
    ProductTooLarge {
        /// A weight of the column.
        column: f64,
        /// A weight of the row.
        row: f64,
        /// Name of the weights' type.
        weights: &'static str,
    },
    /// A parameter of generated weights is out of range.
    #[error("{what} must be {range}, not {}", Number(*value, *value))]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// The valid range.
        range: &'static str,
        /// The value.
        value: f64,
    },
    /// An origin that moves the centre out of the weights.
    #[error("{what} must be from {} to {} for {}, not {origin}", range(*weights)[0], range(*weights)[1],
        Count(*weights, "weight"))]
    Origin {
        /// The origin of an axis.
        what: &'static str,
        /// Its value.
        origin: isize,
        /// Number of weights along the axis.
        weights: usize,
    },
    /// The boundaries of rows and columns have different constants.
    #[error("the boundaries of rows and columns must have the same constant, but have {} and {}", Number(*rows, *columns),
        Number(*columns, *rows))]
    Constants {
        /// The constant above and below the picture.
        rows: f64,
        /// The constant to the left and to the right of it.
        columns: f64,
    },
    /// A stride, a dilation or a number of channels of 0.
    #[error("{what} must be at least 1, not 0")]
    Zero {
        /// What is 0.
        what: &'static str,
    },
    /// The register-tiled kernel of a GPU does not support the filter.
    #[error(
        "RegisterTiled needs strides and a column dilation of 1, and NaNs that propagate, but the strides are {} and {}, the \
         column dilation is {dilation}, and NaNs {}", strides[0], strides[1],
        if *renormalise { "are left out" } else { "propagate" }
    )]
    RegisterTiled {
        /// Strides of rows and columns.
        strides: [usize; 2],
        /// Dilation of columns.
        dilation: usize,
        /// Whether NaNs are left out.
        renormalise: bool,
    },
    /// There is no kernel of the requested algorithm for the filter.
    #[error("{algorithm:?} has no kernel for {unsupported}")]
    NoKernel {
        /// The algorithm.
        algorithm: Filter2dAlgorithm,
        /// The first property of the filter that no kernel of the algorithm has.
        unsupported: Unsupported,
    },
    /// The weights are not the outer product of a column and a row.
    #[error(
        "Separable needs the product of a column and a row, but these {} x {} weights are not one", weights[0], weights[1]
    )]
    NotSeparable {
        /// Rows and columns of the weights.
        weights: [usize; 2],
    },
    /// The weights are not all equal, or not finite.
    #[error("Box needs weights that are finite and all equal, but these {} x {} weights are not", weights[0], weights[1])]
    UnequalWeights {
        /// Rows and columns of the weights.
        weights: [usize; 2],
    },
    /// The window has too many columns for the kernel of boxes.
    #[error("Box takes at most {} of weights for {}, not {columns}", Count(*most, "column"), Count(*channels, "channel"))]
    BoxTooWide {
        /// Columns of the weights.
        columns: usize,
        /// Interleaved channels.
        channels: usize,
        /// Maximum number of columns that the kernel takes for all extents.
        most: usize,
    },
    /// The window has too many rows for the kernel of boxes: a strip of the picture does not fit into shared memory.
    #[error("Box takes at most {} of {} of weights for {} on this device, not {rows}", Count(*most, "row"),
        Count(*columns, "column"), Count(*channels, "channel"))]
    BoxTooHigh {
        /// Rows of the weights.
        rows: usize,
        /// Columns of the weights.
        columns: usize,
        /// Interleaved channels.
        channels: usize,
        /// Maximum number of rows for as many columns and channels.
        most: usize,
    },
    /// The number of columns is not a multiple of the channels.
    #[error("{} cannot be divided evenly among {}", Count(*columns, "column"), Count(*channels, "channel"))]
    Interleaving {
        /// Number of columns of the matrix.
        columns: usize,
        /// Number of channels.
        channels: usize,
    },
    /// The number of rows is not a multiple of the planes.
    #[error("{} cannot be divided evenly among {}", Count(*rows, "row"), Count(*planes, "plane"))]
    Planes {
        /// Number of rows of the matrix.
        rows: usize,
        /// Number of planes.
        planes: usize,
    },
    /// The last axis of an array does not have one element per channel.
    #[error("the last axis of the array has the length {actual}, but the filter has {}", Count(*expected, "channel"))]
    Channels {
        /// Number of channels.
        expected: usize,
        /// Length of the last axis.
        actual: usize,
    },
    /// The array has too few axes.
    #[error(
        "the array has {}, but needs at least {needed}: rows, columns, and channels if they were set",
        Count(*dimensions, "axis")
    )]
    Dimensions {
        /// Number of axes.
        dimensions: usize,
        /// Minimum number of axes.
        needed: usize,
    },
}

impl From<OutOfRange> for Filter2dError {
    fn from(OutOfRange { what, range, value }: OutOfRange) -> Self {
        Filter2dError::Parameter { what, range, value }
    }
}

/// A property of a filter that the kernels of an algorithm do not have. `Display` also tells which they have.
///
/// It is a part of [`Filter2dError::NoKernel`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unsupported {
    /// A stride other than 1.
    #[error("strides of {} and {}: it needs strides of 1", .0[0], .0[1])]
    Strides(
        /// Strides of rows and columns.
        [usize; 2],
    ),
    /// A dilation other than 1.
    #[error("dilations of {} and {}: it needs dilations of 1", .0[0], .0[1])]
    Dilations(
        /// Dilations of rows and columns.
        [usize; 2],
    ),
    /// NaNs that are left out.
    #[error("NaNs that are left out: it needs NanPolicy::Propagate")]
    MissingSamples,
    /// Types, or a number of channels.
    #[error(
        "{channels}-channel samples of {}, weights of {}, sums of {} and outputs of {}: it needs {needed}", types[0], types[1],
        types[2], types[3]
    )]
    Types {
        /// Names of the types of samples, weights, sums and outputs.
        types: Box<[&'static str; 4]>,
        /// Interleaved channels.
        channels: usize,
        /// What the kernels have.
        needed: &'static str,
    },
    /// A size of the weights.
    #[error("{} x {} weights: it needs as many rows as columns, and one of the numbers {sizes:?}", actual[0], actual[1])]
    Weights {
        /// Rows and columns of the weights.
        actual: [usize; 2],
        /// Rows, and columns, of the weights that have kernels.
        sizes: &'static [usize],
    },
}
