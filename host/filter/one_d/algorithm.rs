//! Algorithms of filters.

/// Kernel that computes a filter on a GPU. The CPU ignores this setting.
///
/// Lines with several [`channels`](super::Filter1d::channels), and samples of another type than the taps, are filtered by the
/// kernels for pictures, whose [algorithms](crate::Filter2dAlgorithm) have the same names. The tiles of `RegisterTiled` and
/// `SharedTile` then contain all taps, and those of `SharedTile` all channels too. `Auto` uses another algorithm if there is too
/// little shared memory for them, or if the other one takes less time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter1dAlgorithm {
    /// The fastest algorithm: [`RegisterTiled`](Filter1dAlgorithm::RegisterTiled). It supports any number of taps, in several
    /// launches if there are very many.
    #[default]
    Auto,
    /// Each thread computes one output and reads everything from global memory. It needs no shared memory, so it supports any
    /// number of taps.
    GlobalMemory,
    /// A block keeps a tile of samples and its halo in shared memory; each thread computes one output at a time. Shows the
    /// effect of shared memory alone.
    SharedTile(HaloLoad),
    /// A tile in shared memory, and several neighbouring outputs per thread in registers. The fastest algorithm.
    RegisterTiled,
}

/// The threads that load the halo of a [`SharedTile`](Filter1dAlgorithm::SharedTile): the `taps - 1` samples that a block needs
/// beyond its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HaloLoad {
    /// All threads of the block together.
    #[default]
    Cooperative,
    /// One thread, while the others wait. Shows the cost of this common habit.
    EdgeThread,
}
