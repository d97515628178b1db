//! Counting samples in bins.
//!
//! | file | contents |
//! |---|---|
//! | `countable.rs` | the element types |
//! | `scale.rs` | the bin of a number, by one multiplication |
//! | `halfway.rs` | the bin of an `f32` among rounded borders |
//! | `grid.rs` | the bin of an `f64` among rounded borders |
//! | `bins.rs` | the bin of a sample, on host and device |
//! | `words.rs` | the same for integers of 32 bits, signed or not |
//! | `walk.rs` | the loops over the samples, for all kernels |
//! | `global.rs` | kernels that count in global memory: with atomic additions, or in a critical section |
//! | `cached.rs` | the kernel that counts frequent keys in shared memory, and all others in global memory |
//! | `shared.rs` | kernels with counters in shared memory and atomic additions; one or several copies of each counter |
//! | `guided.rs` | the kernel that searches edges in shared memory, with a guide |
//! | `guide.rs` | guides: tables that shorten a search |
//! | `lookup.rs` | the accesses of guides that depend on the data |
//! | `map.rs` | maps from numbers to the entries of a guide |
//! | `private.rs` | the kernel with private counters of each thread in shared memory, without atomic additions |
//! | `weight.rs` | weights as whole numbers, on host and device |
//! | `weigh_once.rs` | the kernel that adds up weights of similar magnitudes in one pass |
//! | `peak.rs` | the kernel that finds the largest magnitude of the weights in each bin |
//! | `weigh.rs` | the kernel that adds up weights |
//! | `host/` | what only the host has: borders, scales for a range, and grid, block and shared memory for a problem's size |

mod bins;
mod cached;
mod countable;
mod global;
mod grid;
mod guide;
mod guided;
mod halfway;
#[cfg(not(target_os = "cuda"))]
mod host;
mod lookup;
mod map;
mod peak;
mod private;
mod scale;
mod shared;
mod walk;
mod weigh;
mod weigh_once;
mod weight;
mod words;

pub use bins::{
    BYTE_VALUES, Binning, BinningArgument, Bytes, Edges, Even, Inside, LowBits, OUTSIDE, Searched, SearchedArgument,
};
pub use countable::Countable;
pub use grid::Grid;
pub use halfway::Halfway;
#[cfg(not(target_os = "cuda"))]
pub use host::{
    Bordered, ByValue, EdgeSlice, Estimated, FromRange, Geometry, KernelFamily, LaunchConstants, MOST_PACKS,
    MOST_WEIGHTS, SharedLimits, WeighGeometry, count_log2,
};
pub use map::{DigitMap, Map, Searchable};
pub use peak::PeakArgs;
pub use scale::{Lattice, Ratio, Scale};
pub use walk::PACK_BYTES;
pub use weigh::{WeighArgs, WeightedArgs};
pub use weigh_once::{WeighOnceArgs, result_shift};
pub use weight::{NOT_FINITE, Quantum, Span, Weight, magnitude};
pub use words::{EvenWords, WordEdges, WordRange};

use cuda_std::{GlobalIn, GlobalInOut, Ordering, arguments, kernel};

/// Threads per group of the kernel with private counters.
pub(crate) const GROUP: u32 = 128;

/// Bytes of one counter of a group: one byte per thread.
pub(crate) const ROW: u32 = GROUP;

arguments! {
    /// Arguments of the kernels.
    pub struct Args<'l, B: Binning> {
        /// The whole packs of samples, as words. A pack has four words.
        pub words: GlobalIn<'l, u32>,
        /// All samples: the same memory, and the tail after the last whole pack.
        pub samples: GlobalIn<'l, B::Sample>,
        /// The counts, to which the kernel adds: `cells` cells for each counted channel.
        pub counts: GlobalInOut<'l, u64>,
        /// The lock of the critical section; 0 if free.
        pub lock: GlobalInOut<'l, u32>,
        /// The rule that gives each sample a bin.
        pub binning: B,
        /// Number of whole packs.
        pub packs: u32,
        /// Number of samples after the last whole pack.
        pub tail: u32,
        /// Number of interleaved channels.
        pub channels: u32,
        /// Channel of the first sample.
        pub first_channel: u32,
        /// Number of counted channels, beginning with channel 0.
        pub counted: u32,
        /// Keys per channel.
        pub keys: u32,
        /// Cells per channel.
        pub cells: u32,
        /// Not 0 if the additions are sequentially consistent.
        pub seq_cst: u32,
        /// Number of ranges of counters, or of bins with a guide.
        pub ranges: u32,
        /// Counters, or bins, per range.
        pub range: u32,
        /// Binary logarithm of the number of copies of each counter.
        pub copies_log2: u32,
        /// Number of entries of a guide, for the kernel that has one.
        pub entries: u32,
    }
}

impl<B: Binning> Args<'_, B> {
    /// Returns the number of counters.
    #[inline(always)]
    fn counters(&self) -> u32 {
        self.counted * self.keys
    }

    /// Returns the index in `counts` for a key of a channel.
    #[inline(always)]
    fn count_of(&self, channel: u32, key: u32) -> u64 {
        (channel * self.cells + self.binning.cell(key)) as u64
    }

    /// Returns the channel and the key of a block's counter.
    #[inline(always)]
    fn channel_and_key(&self, counter: u32) -> (u32, u32) {
        // Never 0, and `max` shows that to the compiler. Otherwise some lanes might end the kernel in a division by zero, and
        // the compiler would not reconverge the warp.
        let keys = self.keys.max(1);
        match self.counted {
            1 => (0, counter),
            _ => (counter / keys, counter % keys),
        }
    }

    /// Adds a block's counter to the counts.
    #[inline(always)]
    #[track_caller]
    fn add_up(&self, counter: u32, n: u64) {
        let (channel, key) = self.channel_and_key(counter);
        if n > 0 {
            self.counts.add(self.count_of(channel, key), n, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn is_seq_cst(&self) -> bool {
        self.seq_cst != 0
    }
}

// One module for each kind of bins: a process compiles the code of the kernels that it launches, and no others.
kernel! {
    for<B: BinningArgument> {
        "histogram_u8" { Bytes<'static> => u8; }
        "histogram_low_bits_u16" { LowBits => low_bits_u16; }
        "histogram_even_u16" { Even<u16, Ratio> => even_u16; }
        "histogram_even_u32" { EvenWords => even_u32; }
        "histogram_even_f32" { Even<f32, Lattice<f32>> => even_f32; }
        "histogram_rounded_f32" { Even<f32, Halfway> => rounded_f32; }
        "histogram_even_f64" { Even<f64, Lattice<f64>> => even_f64; }
        "histogram_rounded_f64" { Even<f64, Grid> => rounded_f64; }
    }

    /// Counts each sample with an atomic addition in shared memory. The limit of registers lets two blocks of 1024 threads be
    /// resident on a multiprocessor.
    pub fn histogram_shared<'l>(arena, args: Args<'l, <B as BinningArgument>::At<'l>>) where registers <= 32 {
        shared::count(arena, &args);
    }

    /// Counts like `histogram_shared`, for one channel, one copy of each counter and relaxed additions, if one block fills a
    /// multiprocessor.
    pub fn histogram_alone<'l>(arena, args: Args<'l, <B as BinningArgument>::At<'l>>) where registers <= 64 {
        shared::count_alone(arena, &args);
    }
}

kernel! {
    for<B: SearchedArgument> {
        "histogram_edges_u16" { Edges<'static, u16> => edges_u16; }
        "histogram_edges_u32" { WordEdges<'static> => edges_u32; }
        "histogram_edges_f32" { Edges<'static, f32> => edges_f32; }
        "histogram_edges_f64" { Edges<'static, f64> => edges_f64; }
    }

    /// Searches the bin of each sample in global memory, and counts it like `histogram_shared`, for several channels or ordered additions.
    pub fn histogram_searched<'l>(arena, args: Args<'l, <B as BinningArgument>::At<'l>>) where registers <= 32 {
        shared::count_searched(arena, &args);
    }

    /// Counts one channel with relaxed additions, and searches the bins in shared memory. The limit of registers lets two blocks of
    /// 1024 threads be resident on a multiprocessor.
    pub fn histogram_guided<'l>(arena, args: Args<'l, <B as BinningArgument>::At<'l>>) where registers <= 32 {
        guided::count(arena, &args);
    }
}

kernel! {
    for<B: BinningArgument> {
        "histogram_cached_u8" { Bytes<'static> => u8; }
        "histogram_cached_u16" {
            LowBits => low_bits_u16;
            Even<u16, Ratio> => even_u16;
            Edges<'static, u16> => edges_u16;
        }
        "histogram_cached_u32" { EvenWords => even_u32; WordEdges<'static> => edges_u32; }
        "histogram_cached_f32" {
            Even<f32, Lattice<f32>> => even_f32;
            Even<f32, Halfway> => rounded_f32;
            Edges<'static, f32> => edges_f32;
        }
        "histogram_cached_f64" {
            Even<f64, Lattice<f64>> => even_f64;
            Even<f64, Grid> => rounded_f64;
            Edges<'static, f64> => edges_f64;
        }
    }

    /// Counts each sample with an atomic addition: in shared memory if its key is frequent, otherwise in global memory.
    pub fn histogram_cached<'l>(arena, args: Args<'l, <B as BinningArgument>::At<'l>>) {
        cached::count(arena, &args);
    }
}

// Other ways to count, for comparison. They are never the fastest, so there are few of them.
kernel! {
    for<B: BinningArgument> {
        "histogram_compared_u8" { Bytes<'static> => u8; }
        "histogram_compared_u32" { EvenWords => even_u32; }
        "histogram_compared_f32" { Even<f32, Lattice<f32>> => even_f32; Even<f32, Halfway> => rounded_f32; }
    }

    /// Counts each sample in a critical section.
    pub fn histogram_critical<'l>(_arena, args: Args<'l, <B as BinningArgument>::At<'l>>) {
        global::count_in_critical_section(&args);
    }

    /// Counts each sample with an atomic addition in global memory.
    pub fn histogram_global<'l>(_arena, args: Args<'l, <B as BinningArgument>::At<'l>>) {
        global::count(&args);
    }

    /// Counts in private counters of each thread.
    pub fn histogram_private<'l>(arena, args: Args<'l, <B as BinningArgument>::At<'l>>) {
        private::count(arena, &args);
    }
}

kernel! {
    for<B: BinningArgument> {
        "histogram_weights_u8" { Bytes<'static> => u8; }
        "histogram_weights_u16" {
            LowBits => low_bits_u16;
            Even<u16, Ratio> => even_u16;
            Edges<'static, u16> => edges_u16;
        }
        "histogram_weights_u32" { EvenWords => even_u32; WordEdges<'static> => edges_u32; }
        "histogram_weights_f32" {
            Even<f32, Lattice<f32>> => even_f32;
            Even<f32, Halfway> => rounded_f32;
            Edges<'static, f32> => edges_f32;
        }
        "histogram_weights_f64" {
            Even<f64, Lattice<f64>> => even_f64;
            Even<f64, Grid> => rounded_f64;
            Edges<'static, f64> => edges_f64;
        }
    }

    /// Finds the largest magnitude of the weights in each bin. The limit of registers lets two blocks of 1024 threads be resident
    /// on a multiprocessor.
    pub fn histogram_peaks<'l>(arena, args: PeakArgs<'l, <B as BinningArgument>::At<'l>>) where registers <= 32 {
        peak::find(arena, &args);
    }

    /// Adds up weights of similar magnitudes in one pass.
    pub fn histogram_weigh_once<'l>(arena, args: WeighOnceArgs<'l, <B as BinningArgument>::At<'l>>)
    where registers <= 64
    {
        weigh_once::add(arena, &args);
    }

    /// Adds up weights.
    pub fn histogram_weigh<'l>(arena, args: WeighArgs<'l, <B as BinningArgument>::At<'l>>) {
        weigh::add(arena, &args);
    }
}
