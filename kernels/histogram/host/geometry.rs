//! Grid, block and shared memory for a problem's size, computed on the host.

use crate::histogram::peak::PER_WORD;
use crate::histogram::shared::DROPPED;
use crate::histogram::weigh::WORDS;
use crate::histogram::weigh_once::{MOST_COPIES_LOG2, ONCE_THREADS, TOGETHER};
use crate::histogram::{GROUP, OUTSIDE, ROW, Weight, cached};
use cuda_std::shared_bytes;

/// Maximum number of packs per launch: 2 GiB of samples, so that no 32-bit counter overflows.
pub const MOST_PACKS: u64 = 1 << 27;

/// Threads per block of the kernel with a critical section.
const THREADS_IN_TURNS: u32 = 32;

/// Maximum number of weights per launch.
pub const MOST_WEIGHTS: u64 = 1 << 30;

/// Constants that the host chooses for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConstants {
    /// Threads per block of kernels that count with atomic additions.
    pub threads: u32,
    /// Maximum number of such blocks per multiprocessor.
    pub blocks: u32,
    /// Maximum number of groups per block of the kernel that counts without atomic additions.
    pub groups: u32,
    /// Threads per block of kernels that process weights, if several are resident.
    pub weighing_threads: u32,
    /// Maximum number of such blocks per multiprocessor.
    pub weighing_blocks: u32,
    /// Maximum shared memory of such a block, in bytes.
    pub weighing_bytes: u64,
    /// Maximum number of ranges of keys of the kernel that adds up weights in one pass.
    pub weighing_ranges: u32,
}

/// Kernels that count, by what their launch parameters depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFamily {
    /// A critical section per sample.
    Critical,
    /// Atomic additions in global memory.
    Global,
    /// Atomic additions in shared memory.
    Shared {
        /// Maximum number of copies of each counter. The kernel has as many as fit, a power of two.
        most_copies: u32,
    },
    /// The same for one channel of samples between edges, which are in shared memory with a guide. There are as many edges as counters
    /// for bins.
    Guided {
        /// Bytes of an edge.
        edge_bytes: u32,
        /// Maximum number of copies of each counter. The kernel has as many as fit, a power of two.
        most_copies: u32,
    },
    /// Atomic additions in global memory, and in shared memory for frequent keys.
    Cached,
    /// Private counters of each thread.
    Private,
}

/// The shared memory of a device, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct SharedLimits {
    /// Maximum per block.
    pub block: u64,
    /// Total of a multiprocessor.
    pub multiprocessor: u64,
    /// Part of the total that the hardware reserves for each resident block.
    pub reserved: u64,
}

/// The launch parameters of a kernel that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Number of ranges of counters, or of bins with a guide. This many neighbouring blocks read the same samples.
    pub ranges: u32,
    /// Counters, or bins, per range.
    pub range: u32,
    /// Binary logarithm of the number of copies of each counter.
    pub copies_log2: u32,
    /// Entries of a block's guide; 0 without one.
    pub entries: u32,
    /// Blocks per multiprocessor; `None` for a single block in the grid.
    blocks: Option<u32>,
}

impl Geometry {
    /// Returns the launch parameters of `kernel` for a number of counters, at most 2^31. 0 is treated as 1.
    #[must_use]
    pub fn new(kernel: KernelFamily, counters: u32, memory: SharedLimits, tuning: &LaunchConstants) -> Self {
        let counters = counters.max(1);
        let plain = |threads, blocks| Geometry {
            threads,
            shared_bytes: 0,
            ranges: 1,
            range: counters,
            copies_log2: 0,
            entries: 0,
            blocks,
        };
        match kernel {
            KernelFamily::Critical => plain(THREADS_IN_TURNS, None),
            KernelFamily::Global => plain(tuning.threads, Some(tuning.blocks)),
            KernelFamily::Cached => {
                let blocks = resident(cached::SHARED_BYTES, memory, tuning);
                Geometry { shared_bytes: cached::SHARED_BYTES, ..plain(tuning.threads, Some(blocks)) }
            }
            KernelFamily::Private => private(counters.into(), memory, tuning, plain(GROUP, Some(1))),
            KernelFamily::Shared { most_copies } => shared(counters, most_copies, memory, tuning),
            KernelFamily::Guided { edge_bytes, most_copies } => {
                guided(counters.saturating_sub(OUTSIDE).max(1), edge_bytes, most_copies, memory, tuning)
            }
        }
    }

    /// Returns whether a block has one copy of each counter, and fills its multiprocessor.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.blocks == Some(1) && self.copies_log2 == 0
    }

    /// Returns whether a block has a guide.
    #[must_use]
    pub fn has_guide(&self) -> bool {
        self.entries > 0
    }

    /// Returns the number of blocks for a number of packs, on a device with `processors` multiprocessors. All blocks can be
    /// resident at once, unless there are more ranges than that.
    #[must_use]
    pub fn grid(&self, packs: u64, processors: u32) -> u32 {
        let useful = packs.div_ceil(u64::from(self.threads)).max(1);
        let resident = self.blocks.map_or(1, |blocks| u64::from(processors) * u64::from(blocks));
        let parts = useful.min(resident / u64::from(self.ranges)).max(1);
        // No overflow: there are less than 2^31 / 2^10 ranges, and no more parts than resident blocks.
        parts as u32 * self.ranges
    }
}

/// The launch parameters of a kernel that processes weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeighGeometry {
    /// Threads per block.
    pub threads: u32,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Number of keys of all channels that have shared memory in a block: all, those of a range, or 0 if they do not fit.
    pub keys: u32,
    /// Number of ranges of keys. This many neighbouring blocks read the same samples.
    pub ranges: u32,
    /// Binary logarithm of the number of copies of a sum.
    pub copies_log2: u32,
    /// Number of samples that a block processes together.
    piece: u32,
    /// Maximum number of blocks per multiprocessor.
    blocks: u32,
}

impl WeighGeometry {
    /// Returns the launch parameters of the kernel that finds the largest magnitudes.
    #[must_use]
    pub fn peaks(keys: u32, memory: SharedLimits, tuning: &LaunchConstants) -> Self {
        let shared_bytes = shared_bytes::<u32>(keys.div_ceil(PER_WORD).into());
        if shared_bytes > memory.block || shared_bytes <= tuning.weighing_bytes {
            return Self::new(keys, shared_bytes, tuning);
        }
        // Few such blocks are resident, so they have as many threads as possible.
        let (threads, blocks) = (tuning.threads, resident(shared_bytes, memory, tuning));
        WeighGeometry { threads, shared_bytes, keys, ranges: 1, copies_log2: 0, piece: threads, blocks }
    }

    /// Returns the launch parameters of the kernel that adds up weights.
    #[must_use]
    pub fn sums(keys: u32, tuning: &LaunchConstants) -> Self {
        Self::new(keys, shared_bytes::<u32>(u64::from(keys) * u64::from(WORDS)), tuning)
    }

    /// Returns the launch parameters of the kernel that adds up weights of type `W` in one pass: with as many copies of each sum as
    /// fit, at most one for each lane; or as few ranges as possible. One block is resident, because of its registers.
    #[must_use]
    pub fn once<W: Weight>(keys: u32, memory: SharedLimits, tuning: &LaunchConstants) -> Self {
        let bytes_of = |keys: u64| shared_bytes::<u32>(keys * u64::from(1 + W::WORDS));
        // Rounded down, because sizes are rounded up to 16 bytes.
        let capacity = (memory.block / 16 * 16 / bytes_of(4) * 4).max(1);
        let ranges = u64::from(keys).div_ceil(capacity).max(1) as u32;
        let (threads, piece) = (ONCE_THREADS, ONCE_THREADS);
        let plain = WeighGeometry { threads, shared_bytes: 0, keys: 0, ranges: 1, copies_log2: 0, piece, blocks: 1 };
        if ranges > tuning.weighing_ranges {
            return plain;
        }
        let keys = keys.div_ceil(ranges);
        let most = if ranges > 1 { 0 } else { MOST_COPIES_LOG2 };
        let copies_log2 = (0..=most).rev().find(|log2| u64::from(keys) << log2 <= capacity).unwrap_or(0);
        let (shared_bytes, piece) = (bytes_of(u64::from(keys) << copies_log2), ONCE_THREADS * TOGETHER);
        WeighGeometry { shared_bytes, keys, ranges, copies_log2, piece, ..plain }
    }

    fn new(keys: u32, bytes: u64, tuning: &LaunchConstants) -> Self {
        let (threads, blocks) = (tuning.weighing_threads, tuning.weighing_blocks);
        let (keys, shared_bytes) = if bytes <= tuning.weighing_bytes { (keys, bytes) } else { (0, 0) };
        WeighGeometry { threads, shared_bytes, keys, ranges: 1, copies_log2: 0, piece: threads, blocks }
    }

    /// Returns the number of blocks for a number of weights, on a device with `processors` multiprocessors.
    #[must_use]
    pub fn grid(&self, weights: u64, processors: u32) -> u32 {
        let most = u64::from(processors) * u64::from(self.blocks);
        let parts = weights.min(MOST_WEIGHTS).div_ceil(self.piece.into()).min(most / u64::from(self.ranges)).max(1);
        // The cast is exact: there are at most `MOST_WEIGHTS` parts of one range, and no more parts of several ones than processors.
        parts as u32 * self.ranges
    }
}

/// Returns the launch parameters of the kernel with private counters: as many groups per block as fit.
fn private(counters: u64, memory: SharedLimits, tuning: &LaunchConstants, plain: Geometry) -> Geometry {
    let rounds = shared_bytes::<u32>(counters);
    let group = counters * u64::from(ROW);
    let groups = (memory.block.saturating_sub(rounds) / group).clamp(1, tuning.groups.into());
    Geometry { threads: GROUP * groups as u32, shared_bytes: shared_bytes::<u8>(groups * group) + rounds, ..plain }
}

/// Returns the launch parameters of the kernels of `shared.rs`: as many copies as fit, or as few ranges as possible.
fn shared(counters: u32, most_copies: u32, memory: SharedLimits, tuning: &LaunchConstants) -> Geometry {
    let capacity = (memory.block / 16 * 4).clamp(1, u64::from(u32::MAX)) as u32;
    let (ranges, dropped) = match counters <= capacity {
        true => (1, 0),
        false => (counters.div_ceil(capacity.saturating_sub(DROPPED).max(1)), DROPPED),
    };
    let range = counters.div_ceil(ranges);
    let bytes = |copies_log2: u32| shared_bytes::<u32>((u64::from(range) << copies_log2) + u64::from(dropped));
    let half = half(memory);
    // Copies are limited to the shared memory with which two blocks are resident. Several ranges have one copy: two would not fit, and the
    // kernel relies on it.
    let most_log2 = if ranges > 1 { 0 } else { most_copies.max(1).ilog2() };
    let copies_log2 = (0..=most_log2).rev().find(|log2| bytes(*log2) <= half).unwrap_or(0);
    let shared_bytes = bytes(copies_log2);
    let blocks = Some(resident(shared_bytes, memory, tuning));
    Geometry { threads: tuning.threads, shared_bytes, ranges, range, copies_log2, entries: 0, blocks }
}

/// Binary logarithm of the maximum number of entries of a guide per bin.
const MOST_ENTRIES_LOG2: u32 = 2;

/// Maximum number of entries of a guide, for which its maps are exact enough.
const MOST_ENTRIES: u32 = 1 << 16;

/// Bytes of shared memory beside those of the bins, at most: three counters in one copy, a word, and what four windows are rounded up by.
const BYTES_BESIDE_BINS: u64 = 128;

/// Returns the launch parameters of the kernel with a guide: as few ranges of bins as possible, then as many copies of the counters as
/// fit, and then as many entries, at least one for each bin.
fn guided(bins: u32, edge_bytes: u32, most_copies: u32, memory: SharedLimits, tuning: &LaunchConstants) -> Geometry {
    // A counter, an edge and an entry.
    let bytes_of_bin = u64::from(size_of::<u32>() as u32 + edge_bytes + size_of::<u16>() as u32);
    let capacity = (memory.block.saturating_sub(BYTES_BESIDE_BINS) / bytes_of_bin).clamp(1, u64::from(u16::MAX)) as u32;
    let ranges = bins.div_ceil(capacity);
    let range = bins.div_ceil(ranges);
    let bytes = |copies_log2: u32, entries: u32| {
        shared_bytes::<u32>(u64::from(range + OUTSIDE) << copies_log2)
            + shared_bytes::<u8>(u64::from(range) * u64::from(edge_bytes))
            + shared_bytes::<u16>(entries.into())
            + shared_bytes::<u32>(1)
    };
    let most_log2 = if ranges > 1 { 0 } else { most_copies.max(1).ilog2() };
    let copies = (0..=most_log2).rev().map(|copies_log2| (copies_log2, half(memory)));
    // If two blocks do not fit, one takes all.
    let fitting = copies.chain([(0, memory.block)]).find_map(|(copies_log2, most)| {
        let entries = (0..=MOST_ENTRIES_LOG2).rev().map(|log2| (range << log2).min(MOST_ENTRIES));
        entries.into_iter().find(|entries| bytes(copies_log2, *entries) <= most).map(|entries| (copies_log2, entries))
    });
    let (copies_log2, entries) = fitting.unwrap_or((0, range));
    let shared_bytes = bytes(copies_log2, entries);
    let blocks = Some(resident(shared_bytes, memory, tuning));
    Geometry { threads: tuning.threads, shared_bytes, ranges, range, copies_log2, entries, blocks }
}

/// Returns the shared memory with which two blocks are resident.
fn half(memory: SharedLimits) -> u64 {
    (memory.multiprocessor / 2).saturating_sub(memory.reserved).min(memory.block)
}

/// Returns the number of blocks with this much shared memory that can be resident on a multiprocessor, at least 1.
fn resident(shared_bytes: u64, memory: SharedLimits, tuning: &LaunchConstants) -> u32 {
    (memory.multiprocessor / (shared_bytes + memory.reserved).max(1)).clamp(1, tuning.blocks.into()) as u32
}
