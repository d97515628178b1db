//! Counting samples in bins.
//!
//! | file | what |
//! |---|---|
//! | `countable.rs` | the element types |
//! | `borders.rs` | the borders of bins of equal width, exactly, on the host |
//! | `scale.rs` | from a number to its bin by one multiplication |
//! | `halfway.rs` | from an `f32` to its bin where borders are rounded |
//! | `grid.rs` | from an `f64` to its bin where borders are rounded |
//! | `bins.rs` | which bin a sample belongs to, on the host as well |
//! | `walk.rs` | the way through the samples, for all kernels |
//! | `global.rs` | kernels that count in global memory: with atomic additions, or in a critical section |
//! | `cached.rs` | the kernel that counts in global memory, but frequent keys in shared memory |
//! | `shared.rs` | counters in shared memory, with atomic additions; one or several copies |
//! | `private.rs` | counters of each thread's own in shared memory, without atomic additions |
//! | `weight.rs` | weights as whole numbers, on the host as well |
//! | `weigh.rs` | kernels that add up weights |
//! | `peak.rs` | the kernel that finds the largest weight |
//! | `geometry.rs` | from a problem's size to grid, block and shared memory |

mod bins;
#[cfg(not(target_os = "cuda"))]
mod borders;
mod cached;
mod countable;
#[cfg(not(target_os = "cuda"))]
mod geometry;
mod global;
mod grid;
mod halfway;
#[cfg(any(feature = "histogram_peak", not(target_os = "cuda")))]
mod peak;
mod private;
mod scale;
mod shared;
mod walk;
mod weigh;
mod weight;

pub use bins::{BYTE_VALUES, Binning, Bytes, Edges, Even, LowBits, OUTSIDE};
#[cfg(not(target_os = "cuda"))]
pub use bins::{ByValue, EdgeSlice, Guided};
pub use countable::Countable;
#[cfg(not(target_os = "cuda"))]
pub use geometry::{Geometry, Kernel, MOST_PACKS, MOST_WEIGHTS, Memory, Tuning, WeighGeometry};
pub use grid::Grid;
pub use halfway::Halfway;
#[cfg(any(feature = "histogram_peak", not(target_os = "cuda")))]
pub use peak::{PeakArgs, histogram_peak};
pub use scale::{Lattice, Ratio, Scale};
pub use walk::PACK_BYTES;
pub use weigh::WeightedArgs;
pub use weight::Quantum;

use cuda_std::{GlobalIn, GlobalInOut, Ordering, arguments, kernel};

/// Threads of a group of the kernels with counters of each thread's own.
pub(crate) const GROUP: u32 = 128;

/// The bytes of one counter of a group.
pub(crate) const ROW: u32 = GROUP;

arguments! {
    /// What the kernels are launched with.
    pub struct Args<B: Binning> {
        /// The samples in packs of four words.
        pub words: GlobalIn<u32>,
        /// The same memory, and the samples behind the last whole pack.
        pub samples: GlobalIn<B::Sample>,
        /// The counts that are added to: the cells of one counted channel after another.
        pub counts: GlobalInOut<u64>,
        /// Zero, for the critical section.
        pub lock: GlobalInOut<u32>,
        /// Which bin a sample belongs to.
        pub binning: B,
        /// The number of whole packs.
        pub packs: u32,
        /// The number of samples behind them.
        pub tail: u32,
        /// The number of channels, whose samples take turns.
        pub channels: u32,
        /// The channel of the first sample.
        pub first_channel: u32,
        /// How many channels are counted, from the first one on.
        pub counted: u32,
        /// The keys of a channel.
        pub keys: u32,
        /// The cells of a channel.
        pub cells: u32,
        /// Not 0 if the additions are sequentially consistent.
        pub seq_cst: u32,
        /// The ranges of the counters.
        pub ranges: u32,
        /// The counters of a range.
        pub range: u32,
        /// The binary logarithm of the number of copies.
        pub copies_log2: u32,
    }
}

impl<B: Binning> Args<B> {
    /// The number of counters.
    #[inline(always)]
    fn counters(&self) -> u32 {
        self.counted * self.keys
    }

    /// Where the key of a channel is counted.
    #[inline(always)]
    fn count_of(&self, channel: u32, key: u32) -> u64 {
        (channel * self.cells + self.binning.cell(key)) as u64
    }

    /// Adds what a block has counted to the counts.
    #[inline(always)]
    #[track_caller]
    fn add_up(&self, counter: u32, n: u64) {
        // Never 0, which the compiler has to know: lanes that might end the kernel on a division by zero are not brought
        // together again afterwards.
        let keys = self.keys.max(1);
        let (channel, key) = match self.counted {
            1 => (0, counter),
            _ => (counter / keys, counter % keys),
        };
        if n > 0 {
            self.counts.add(self.count_of(channel, key), n, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn is_seq_cst(&self) -> bool {
        self.seq_cst != 0
    }
}

kernel! {
    for<B: Binning> {
        "histogram_u8" { Bytes => u8; }
        "histogram_u16" { LowBits => low_bits_u16; Even<u16, Ratio> => even_u16; Edges<u16> => edges_u16; }
        "histogram_u32" { Even<u32, Ratio> => even_u32; Edges<u32> => edges_u32; }
        "histogram_i32" { Even<i32, Ratio> => even_i32; Edges<i32> => edges_i32; }
        "histogram_f32" { Even<f32, Lattice<f32>> => even_f32; Edges<f32> => edges_f32; }
        "histogram_f64" { Even<f64, Lattice<f64>> => even_f64; Edges<f64> => edges_f64; }
        "histogram_rounded_f32" { Even<f32, Halfway> => rounded_f32; }
        "histogram_rounded_f64" { Even<f64, Grid> => rounded_f64; }
    }

    /// A critical section for each sample.
    pub fn histogram_critical(_arena, args: Args<B>) {
        global::count_in_critical_section(&args);
    }

    /// An atomic addition in global memory for each sample.
    pub fn histogram_global(_arena, args: Args<B>) {
        global::count(&args);
    }

    /// An atomic addition for each sample: in shared memory if its key is frequent, else in global memory.
    pub fn histogram_cached(arena, args: Args<B>) {
        cached::count(arena, &args);
    }

    /// An atomic addition in shared memory for each sample. With so few registers, two blocks of 1024 threads are resident on
    /// a multiprocessor.
    pub fn histogram_shared(arena, args: Args<B>) where registers <= 32 {
        shared::count(arena, &args);
    }

    /// The same for one channel, one copy of its counters, and additions without order, where one block fills a
    /// multiprocessor.
    pub fn histogram_alone(arena, args: Args<B>) where registers <= 64 {
        shared::count_alone(arena, &args);
    }

    /// Counters of each thread's own.
    pub fn histogram_private(arena, args: Args<B>) {
        private::count(arena, &args);
    }

    /// Adds up weights.
    pub fn histogram_weigh(arena, args: WeightedArgs<B>) {
        weigh::add(arena, &args);
    }
}
