//! Algorithms of filters.

#[cfg(doc)]
use super::{Filter2dError, PreparedFilter2d};

/// Kernel that computes a two-dimensional filter on a GPU. The CPU ignores this setting, except that it takes transforms for `Auto` alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter2dAlgorithm {
    /// The algorithm that takes the least time for the filter among those that support it on the device.
    /// [`plan`](PreparedFilter2d::plan) returns the choice and its reason.
    ///
    /// Outer products with many weights are filters of lines, down the columns and then along the rows, which no other algorithm
    /// stands for. They request memory for two pictures of sums. Whether a filter takes them depends on the width of the picture.
    #[default]
    Auto,
    /// Each thread computes one output and reads all samples and weights from global memory. It needs no shared memory, so it
    /// takes any number of weights.
    GlobalMemory,
    /// A block keeps a tile of samples and its halo in shared memory. Each thread computes one output at a time.
    SharedTile,
    /// A tile in shared memory, and several neighbouring outputs per thread in registers. The strides and the column dilation must
    /// be 1, and NaNs must propagate.
    RegisterTiled,
    /// Each warp goes down a strip of the picture. It loads each sample of the strip once, and keeps the sums of all output rows
    /// that depend on the current row in registers. For 3 x 3, 5 x 5, 7 x 7 and 9 x 9 weights of type `f32`, and pictures of `f32`
    /// with one channel, to outputs of `f32`; up to 7 x 7 also from four channels of `u8` to `u8`, which takes longer if a row
    /// pitch is not a multiple of 4. Strides and dilations must be 1, and NaNs must propagate.
    Streaming,
    /// Outer products: sums along the rows first, then down the columns.
    ///
    /// For some types and sizes of weights, one launch makes both passes: each block keeps the sums along the current rows in shared
    /// memory or in registers. Other outer products take two launches. In between, the sums along the rows are in temporary memory of
    /// the device: as many numbers of the type of the sums as the picture has rows, times the columns of the outputs. The first launch
    /// also computes rows that the stride leaves out. [`plan`](PreparedFilter2d::plan) returns the launches.
    ///
    /// NaNs must propagate, and sums must not be `i64`, which no kernel stores.
    Separable,
    /// Sums of the samples of each window, times the weight that all of them have in common. The number of additions per output
    /// hardly depends on the size of the window: along each axis, a window consists of the end of one segment of samples and the
    /// beginning of the next one, so its sum is a suffix sum plus a prefix sum. Nothing is subtracted, so NaNs and infinities only
    /// affect outputs whose window contains them.
    ///
    /// For equal, finite weights. Strides and dilations must be 1, and NaNs must propagate. A strip of the picture with as many rows
    /// as the window must fit into the device's shared memory, and windows are at most as wide as a strip. The errors
    /// [`BoxTooHigh`](Filter2dError::BoxTooHigh) and [`BoxTooWide`](Filter2dError::BoxTooWide) have the limits for the filter and the
    /// device. The more memory a strip takes, the fewer of them are in progress at the same time.
    ///
    /// Sums of `f32` from four channels of `u8` to `u8` are running sums: a window that goes down the picture gets a row of samples and
    /// loses another, which leaves no error in sums of integers. That is for windows of up to 128 columns, 1,024 rows and 32,896
    /// samples, and takes longer if a row pitch is not a multiple of 4.
    ///
    /// The segments are those of M. van Herk, *A fast algorithm for local minimum and maximum filters on rectangular and octagonal
    /// kernels* (1992), and J. Gil and M. Werman, *Computing 2-D min, median, and max filters* (1993), with sums in the place of
    /// minima.
    Box,
}
