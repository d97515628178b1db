//! Algorithms of filters.

/// Algorithm of a filter. The CPU has one direct algorithm, and takes it for all requests that it does not refuse, except for
/// [`Fft`](Filter1dAlgorithm::Fft).
///
/// Lines with several [`channels`](super::Filter1d::channels), and samples of another type than the taps, are filtered by the
/// kernels for pictures, whose [algorithms](crate::Filter2dAlgorithm) have the same names. The tiles of `RegisterTiled` and
/// `SharedTile` then contain all taps, and those of `SharedTile` all channels too. `Auto` uses another algorithm if there is too
/// little shared memory for them, or if the other one takes less time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Filter1dAlgorithm {
    /// The fastest algorithm: [`RegisterTiled`](Filter1dAlgorithm::RegisterTiled), which supports any number of taps, in several
    /// launches if there are very many; or one of these if it takes less time: [`TensorCore`](Filter1dAlgorithm::TensorCore), and
    /// [`Fft`](Filter1dAlgorithm::Fft) if an [error bound](ErrorBound::PerSegment) allows it.
    #[default]
    Auto,
    /// Each thread computes one output and reads everything from global memory. It needs no shared memory, so it supports any
    /// number of taps.
    GlobalMemory,
    /// A block keeps a tile of samples and its halo in shared memory; each thread computes one output at a time. Shows the
    /// effect of shared memory alone.
    SharedTile(HaloLoad),
    /// A tile in shared memory, and several neighbouring outputs per thread in registers. The fastest direct algorithm.
    RegisterTiled,
    /// Fourier transforms of segments in shared memory (overlap-save), for one channel of `f32` or `f64` with taps of the same type. The time
    /// hardly depends on the number of taps, up to 4,097 of `f32` and 2,049 of `f64`, and grows with it from there on. The
    /// [error bound](ErrorBound::PerSegment) is that of a segment.
    ///
    /// The CPU uses transforms, too, for up to 2^24 taps.
    Fft,
    /// Products of bytes on tensor cores, for one channel of `i32` with taps of `i32`. The outputs are exactly those of the other algorithms.
    /// It needs a GPU of compute capability 8.0 or later, such as an A100.
    TensorCore,
}

/// What the error of an output depends on. It limits the algorithms that [`Auto`](Filter1dAlgorithm::Auto) takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorBound {
    /// The samples that the output depends on, as the [module](super) describes. A NaN or an infinity affects no other outputs.
    #[default]
    PerOutput,
    /// All samples of a segment, and of the segment that is transformed at the same time. A segment has up to 8,192 outputs on a GPU. On the CPU
    /// it has up to eight times as many as there are taps, or up to 1,024 with fewer than 128 taps. A NaN or an infinity affects all outputs of
    /// both. Long filters of `f32` and `f64` take less time by [`Fft`](Filter1dAlgorithm::Fft).
    PerSegment,
}

/// How a filter computes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Method {
    pub(super) algorithm: Filter1dAlgorithm,
    pub(super) bound: ErrorBound,
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
