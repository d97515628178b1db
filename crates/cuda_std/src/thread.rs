//! Thread indices, the block's barrier, and the clock.
//!
//! Indices are those of CUDA: a grid consists of blocks, a block of threads, each in up to three dimensions.

use crate::machine;

macro_rules! indices {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u32 {
            machine::thread::$name()
        }
    )*};
}
indices! {
    /// Returns the thread's index in its block along x.
    thread_idx_x;
    /// Returns the thread's index in its block along y.
    thread_idx_y;
    /// Returns the thread's index in its block along z.
    thread_idx_z;
    /// Returns the block's index in the grid along x.
    block_idx_x;
    /// Returns the block's index in the grid along y.
    block_idx_y;
    /// Returns the block's index in the grid along z.
    block_idx_z;
    /// Returns the number of threads of a block along x.
    block_dim_x;
    /// Returns the number of threads of a block along y.
    block_dim_y;
    /// Returns the number of threads of a block along z.
    block_dim_z;
    /// Returns the number of blocks of the grid along x.
    grid_dim_x;
    /// Returns the number of blocks of the grid along y.
    grid_dim_y;
    /// Returns the number of blocks of the grid along z.
    grid_dim_z;
}

macro_rules! global_indices {
    ($($(#[$doc:meta])* $name:ident, $block:ident, $dim:ident, $thread:ident;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[must_use]
        pub fn $name() -> u64 {
            $block() as u64 * $dim() as u64 + $thread() as u64
        }
    )*};
}
global_indices! {
    /// Returns the thread's index in the whole grid along x, in 64 bits: `block_idx_x * block_dim_x + thread_idx_x`.
    global_x, block_idx_x, block_dim_x, thread_idx_x;
    /// Returns the thread's index in the whole grid along y, in 64 bits: `block_idx_y * block_dim_y + thread_idx_y`.
    global_y, block_idx_y, block_dim_y, thread_idx_y;
    /// Returns the thread's index in the whole grid along z, in 64 bits: `block_idx_z * block_dim_z + thread_idx_z`.
    global_z, block_idx_z, block_dim_z, thread_idx_z;
}

/// Returns the number of threads of a block: at most 1,024.
#[inline(always)]
#[must_use]
pub fn threads_per_block() -> u32 {
    block_dim_x() * block_dim_y() * block_dim_z()
}

/// Returns the thread's linear index in its block:
/// `thread_idx_x + block_dim_x * (thread_idx_y + block_dim_y * thread_idx_z)`.
///
/// This index modulo 32 is the thread's lane.
#[inline(always)]
#[must_use]
pub fn thread_linear() -> u32 {
    thread_idx_x() + block_dim_x() * (thread_idx_y() + block_dim_y() * thread_idx_z())
}

/// Returns the block's linear index in the grid: `block_idx_x + grid_dim_x * (block_idx_y + grid_dim_y * block_idx_z)`.
///
/// It has 64 bits, because a grid has up to 2^31 - 1 blocks along x and 65,535 along y and z each.
#[inline(always)]
#[must_use]
pub fn block_linear() -> u64 {
    let rows = block_idx_y() as u64 + grid_dim_y() as u64 * block_idx_z() as u64;
    block_idx_x() as u64 + grid_dim_x() as u64 * rows
}

/// Returns the thread's linear index in the whole grid: `block_linear * threads_per_block + thread_linear`.
#[inline(always)]
#[must_use]
pub fn global_linear() -> u64 {
    block_linear() * threads_per_block() as u64 + thread_linear() as u64
}

/// Returns the time of a clock that advances while the block runs. Only differences between two readings are meaningful.
///
/// On the device this is the number of cycles of the block's multiprocessor (`%clock64`). All threads on the multiprocessor
/// read the same clock. The reading keeps its place in source order among accesses and barriers. Loads and stores before it
/// may still be in progress, unless there is a barrier in between.
///
/// A machine on the host defines what it counts as time. The emulator counts the passes of shared memory that the block's
/// warps needed. It counts a warp's access when all its lanes have reached it, so read the clock after a barrier.
#[inline(always)]
#[must_use]
#[track_caller]
pub fn clock() -> u64 {
    machine::thread::clock()
}

/// Waits until every thread of the block has reached this call, and orders their accesses to shared and global memory:
/// writes before the barrier are visible after it.
///
/// Every thread of the block must reach the same call the same number of times. If only some threads reach a barrier, the
/// block waits for ever or the launch ends with an error, depending on the hardware.
///
/// On the device this is the unaligned barrier, `barrier.sync 0`, which every GPU from `sm_70` on has. It counts threads at
/// any call site, and the lanes of a warp may arrive one after another. So it stays correct if the compiler copies the call
/// into several arms of a branch. Do not rely on that in the source: barriers in two arms of a divergent branch are hard to
/// read, and the emulator reports them.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    machine::thread::sync_threads();
}
