//! Algorithms of histograms.

/// Kernel that counts a histogram on a GPU. The CPU ignores this setting.
///
/// All algorithms return the same counts. [`Critical`](Self::Critical), [`GlobalAtomic`](Self::GlobalAtomic) and
/// [`PrivatePerThread`](Self::PrivatePerThread), which are for comparison, have kernels for `u8` samples in any bins, and for `u32`, `i32`
/// and `f32` samples in bins of equal width that are computed, not searched. For others, [`prepare`](super::Histogram::prepare) returns [`HistogramError::NoKernel`](super::HistogramError::NoKernel). The other algorithms
/// count all samples in all bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramAlgorithm {
    /// The fastest algorithm for the number of counters and this device: [`LanePrivate`](Self::LanePrivate),
    /// [`SharedAtomic(Relaxed)`](Self::SharedAtomic) or [`CachedAtomic`](Self::CachedAtomic).
    /// [`plan`](super::PreparedHistogram::plan) returns the choice and its reason.
    #[default]
    Auto,
    /// One block, whose threads enter a critical section one after another, with a lock by compare-and-swap. Shows the cost
    /// of a lock; only for a few samples.
    Critical,
    /// One atomic addition in global memory per sample. It needs no shared memory, so it supports any number of bins. It is
    /// slow if many samples are in few bins.
    GlobalAtomic(MemoryOrder),
    /// Like `GlobalAtomic(Relaxed)`, with the most frequent counters in shared memory. Each block repeatedly inspects some
    /// of its samples to find the most frequent ones. For more bins than shared memory can hold.
    CachedAtomic,
    /// Each thread counts in its own bytes in shared memory, without atomics. For few bins, because all threads of a block, at
    /// least 128, need their own bytes: 132 bytes per counter in all. Each counted channel has a counter for each bin and three
    /// more, or 256 for bytes. So 227 KiB of shared memory are enough for 1,760 counters, and 64 KiB for 496.
    PrivatePerThread,
    /// One set of 32-bit counters per block in shared memory, with atomic additions. Of the algorithms that count in shared
    /// memory, it supports the most bins. If a block cannot hold all counters, they are divided into ranges. Each block counts
    /// one range, so all samples are read once per range. Additions wait for each other if many samples are in few bins. With relaxed
    /// additions and one channel, bins between [`edges`](super::Histogram::edges) are searched in shared memory, too.
    SharedAtomic(MemoryOrder),
    /// Interleaved copies of a block's counters, as many as fit into half of the shared memory, with what is searched there, up to 32.
    /// With 32 copies each lane has its own bank, so lanes never wait for each other, for any samples. With fewer copies, they wait
    /// less than with one. One copy is `SharedAtomic(Relaxed)`, which also says where bins are searched.
    LanePrivate,
}

/// Memory order of the atomic additions of [`GlobalAtomic`](HistogramAlgorithm::GlobalAtomic) and
/// [`SharedAtomic`](HistogramAlgorithm::SharedAtomic).
///
/// Counting needs no order between additions, so the counts are the same. The choice shows the cost of the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemoryOrder {
    /// No order, which is enough for counting.
    #[default]
    Relaxed,
    /// Sequential consistency: one order of all additions that all threads observe. The default of C++ and SYCL atomics.
    SeqCst,
}
