//! From a problem's size to grid, block and shared memory: what the host has to know.

use super::shared::DROPPED;
use super::{GROUP, ROW, cached};
use cuda_std::shared_bytes;

/// The most packs of a launch: 2 GiB of samples, so that no counter of 32 bits overflows.
pub const MOST_PACKS: u64 = 1 << 27;

/// Threads of a block in which each waits for all others.
const THREADS_IN_TURNS: u32 = 32;

/// The most weights of a launch.
pub const MOST_WEIGHTS: u64 = 1 << 30;

/// What the host chooses for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Threads of a block that counts with atomic additions.
    pub threads: u32,
    /// The most blocks of them to a multiprocessor.
    pub blocks: u32,
    /// The most groups of a block that counts without atomic additions.
    pub groups: u32,
    /// Threads of a block that looks at weights.
    pub weighing_threads: u32,
    /// The most blocks of them to a multiprocessor.
    pub weighing_blocks: u32,
}

/// The kernels of this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A critical section for each sample.
    Critical,
    /// Atomic additions in global memory.
    Global,
    /// Atomic additions in shared memory.
    Shared {
        /// As many copies of each counter as fit, a power of two, instead of one.
        most_copies: u32,
    },
    /// Atomic additions in global memory, and in shared memory for frequent keys.
    Cached,
    /// Counters of each thread's own.
    Private,
}

/// The shared memory of a device, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// What a block can have.
    pub block: u64,
    /// What there is for all blocks of a multiprocessor.
    pub multiprocessor: u64,
    /// What the hardware takes of it for each block.
    pub reserved: u64,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads of a block.
    pub threads: u32,
    /// The dynamic shared memory of a block, in bytes.
    pub shared_bytes: u64,
    /// Blocks that together count all counters of the same samples.
    pub ranges: u32,
    /// The counters of one of them.
    pub range: u32,
    /// The binary logarithm of the number of copies of each counter.
    pub copies_log2: u32,
    /// Blocks to a multiprocessor; `None` if there is to be one block in all.
    blocks: Option<u32>,
}

impl Geometry {
    /// Returns the launch of `kernel` for a number of counters, at most 2^31; 0 counters count as 1.
    #[must_use]
    pub fn new(kernel: Kernel, counters: u32, memory: Memory, tuning: &Tuning) -> Self {
        let counters = counters.max(1);
        let plain =
            |threads, blocks| Geometry { threads, shared_bytes: 0, ranges: 1, range: counters, copies_log2: 0, blocks };
        match kernel {
            Kernel::Critical => plain(THREADS_IN_TURNS, None),
            Kernel::Global => plain(tuning.threads, Some(tuning.blocks)),
            Kernel::Cached => {
                let blocks = resident(cached::SHARED_BYTES, memory, tuning);
                Geometry { shared_bytes: cached::SHARED_BYTES, ..plain(tuning.threads, Some(blocks)) }
            }
            Kernel::Private => private(counters.into(), memory, tuning, plain(GROUP, Some(1))),
            Kernel::Shared { most_copies } => shared(counters, most_copies, memory, tuning),
        }
    }

    /// Whether there is one copy of each counter in a block, and no room for another block on its multiprocessor.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.blocks == Some(1) && self.copies_log2 == 0
    }

    /// Returns the blocks that count a number of packs on a device with these multiprocessors: at most as many as are resident.
    #[must_use]
    pub fn grid(&self, packs: u64, processors: u32) -> u32 {
        let useful = packs.div_ceil(u64::from(self.threads)).max(1);
        let resident = self.blocks.map_or(1, |blocks| u64::from(processors) * u64::from(blocks));
        let parts = useful.min(resident / u64::from(self.ranges)).max(1);
        // Ranges are less than 2^31 / 2^10, and parts of them no more than the blocks that a device can hold.
        parts as u32 * self.ranges
    }
}

/// How the kernels that add up weights, and that find the largest one, are launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeighGeometry {
    /// Threads of a block.
    pub threads: u32,
    /// The most blocks to a multiprocessor.
    blocks: u32,
    /// The sums that a block keeps in shared memory: all or none.
    pub sums: u32,
    /// The dynamic shared memory of a block that adds up weights, in bytes. The search for the largest one needs none.
    pub shared_bytes: u64,
}

impl WeighGeometry {
    /// Returns the layout for a number of sums, if a block may have this much shared memory.
    #[must_use]
    pub fn new(sums: u32, block: u64, tuning: &Tuning) -> Self {
        let all = shared_bytes::<u64>(sums.into());
        let (sums, shared_bytes) = if all <= block { (sums, all) } else { (0, 0) };
        WeighGeometry { threads: tuning.weighing_threads, blocks: tuning.weighing_blocks, sums, shared_bytes }
    }

    /// Returns the blocks for a number of weights, on a device with these multiprocessors.
    #[must_use]
    pub fn grid(&self, weights: u64, processors: u32) -> u32 {
        let most = u64::from(processors) * u64::from(self.blocks);
        // No more than `MOST_WEIGHTS`.
        weights.min(MOST_WEIGHTS).div_ceil(self.threads.into()).min(most).max(1) as u32
    }
}

/// As many groups as fit.
fn private(counters: u64, memory: Memory, tuning: &Tuning, plain: Geometry) -> Geometry {
    let rounds = shared_bytes::<u32>(counters);
    let group = counters * u64::from(ROW);
    let groups = (memory.block.saturating_sub(rounds) / group).clamp(1, tuning.groups.into());
    Geometry { threads: GROUP * groups as u32, shared_bytes: shared_bytes::<u8>(groups * group) + rounds, ..plain }
}

/// As many copies as fit, or as few ranges as are needed.
fn shared(counters: u32, most_copies: u32, memory: Memory, tuning: &Tuning) -> Geometry {
    let capacity = (memory.block / 16 * 4).clamp(1, u64::from(u32::MAX)) as u32;
    let (ranges, dropped) = match counters <= capacity {
        true => (1, 0),
        false => (counters.div_ceil(capacity.saturating_sub(DROPPED).max(1)), DROPPED),
    };
    let range = counters.div_ceil(ranges);
    let bytes = |copies_log2: u32| shared_bytes::<u32>((u64::from(range) << copies_log2) + u64::from(dropped));
    // Two blocks fill a multiprocessor.
    let half = (memory.multiprocessor / 2).saturating_sub(memory.reserved).min(memory.block);
    // Ranges have one: two would not fit, and the kernel counts on it.
    let most_log2 = if ranges > 1 { 0 } else { most_copies.max(1).ilog2() };
    let copies_log2 = (0..=most_log2).rev().find(|log2| bytes(*log2) <= half).unwrap_or(0);
    let shared_bytes = bytes(copies_log2);
    let blocks = Some(resident(shared_bytes, memory, tuning));
    Geometry { threads: tuning.threads, shared_bytes, ranges, range, copies_log2, blocks }
}

/// The blocks with so much shared memory that a multiprocessor has room for, or one.
fn resident(shared_bytes: u64, memory: Memory, tuning: &Tuning) -> u32 {
    (memory.multiprocessor / (shared_bytes + memory.reserved).max(1)).clamp(1, tuning.blocks.into()) as u32
}
