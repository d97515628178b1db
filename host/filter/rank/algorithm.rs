//! Algorithms of rank filters.

#[cfg(doc)]
use super::PreparedRank2d;

/// Kernel that computes a rank filter on a GPU. The CPU ignores this setting. All return the same outputs, bit for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rank2dAlgorithm {
    /// Kernels in shared memory if a tile fits there, otherwise global memory. [`plan`](PreparedRank2d::plan) returns the choice and its
    /// reason.
    #[default]
    Auto,
    /// Each thread computes one output and reads its window from global memory: once for extremes; other ranks are found by bisection of the
    /// samples' bits, once per bit. It needs no shared memory.
    GlobalMemory,
    /// A block keeps a tile of samples and its halo in shared memory. Networks of comparisons in registers find medians of 3 x 3, 5 x 5 and
    /// 7 x 7 samples, if both strides are 1 and no NaNs are left out, and any rank of windows of at most 49 samples. Extremes of rectangles are
    /// found along the rows, then down the columns; those of other windows with strides of 1 from minima of 1, 2, 4, …
    /// neighbours, two for each run of a window; and other ranks by bisection. Medians of 3 x 3 samples of `f32`, and of `u8`
    /// from compute capability 9.0 on, read tiles within the picture straight from global memory, if pixels have one channel, the extent is
    /// `Same` and rows of samples and outputs begin at multiples of four.
    SharedTile,
    /// A block sorts a tile of samples and its halo in shared memory, once for all windows in it: rectangles with strides of 1. A rank is found
    /// by counting those of the sorted samples that are in the rows and the columns of the window. [`Auto`](Self::Auto) uses it for
    /// ranks other than extremes that have no network, if a tile of 8 x 32 outputs fits into shared memory; or of 1 x 32, for windows of one
    /// row of at least 96 samples. For other filters, [`prepare`](crate::Rank2d::prepare) fails.
    SortedTile,
    /// Extremes of rectangles with strides of 1, in two launches: along the rows, then down the columns of their results, in memory that is
    /// allocated for each use. Windows of one row or column take one launch, and no memory. The cost hardly depends on the size of the
    /// window. [`Auto`](Self::Auto) uses it from 17 rows or columns on. For other filters, [`prepare`](crate::Rank2d::prepare) fails.
    VanHerk,
}
