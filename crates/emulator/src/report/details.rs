//! What a finding names: elements, other threads' accesses, splits, and the progress of blocks.

use super::site::{Action, Line};
use cuda_std::host::Space;
use std::fmt;

/// An element of a window, or a position outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The memory.
    pub space: Space,
    /// Byte offset in the block's shared memory, in the buffer, or in the table of constants.
    pub byte: u64,
    /// Index in the window.
    pub index: u64,
    /// Length of the window, in elements.
    pub len: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = match self.space {
            Space::Shared => "shared memory",
            Space::Global | Space::GlobalConstant => "global memory",
            Space::Constant => "the constants",
        };
        write!(f, "element {} of a window of {} on {space} (byte {})", self.index, self.len, self.byte)
    }
}

/// Access of another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Block of the thread.
    pub block: [u32; 3],
    /// The thread.
    pub thread: [u32; 3],
    /// Kind of its access.
    pub action: Action,
    /// Line in the source.
    pub at: Line,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Other { block, thread, action, at } = self;
        write!(f, "the {action} of thread {thread:?} of block {block:?} at {at}")
    }
}

/// Progress of the blocks of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStates {
    /// Number of blocks that have ended.
    pub ended: u64,
    /// Number of blocks in progress.
    pub begun: u64,
    /// Number of blocks that have not begun.
    pub waiting: u64,
}

impl fmt::Display for BlockStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockStates { ended, begun, waiting } = self;
        write!(
            f,
            "of {} blocks {ended} have ended, {begun} are running, {waiting} have not begun",
            ended + begun + waiting
        )
    }
}

/// Shared memory that a thread split off its arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The thread.
    pub thread: [u32; 3],
    /// First byte in the block's shared memory.
    pub base: u32,
    /// Number of bytes, rounded up to a multiple of 16.
    pub bytes: u32,
    /// Line in the source.
    pub at: Line,
}

/// Reason why a lane takes no part in an operation of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absence {
    /// The mask does not include it.
    NotInMask,
    /// The block has fewer threads.
    NotInBlock,
    /// Its thread has ended.
    Ended,
    /// Its thread waits for something else.
    WaitsElsewhere,
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Absence::NotInMask => "is not in the mask",
            Absence::NotInBlock => "the block does not have, although it is in the mask",
            Absence::Ended => "has ended, although it is in the mask",
            Absence::WaitsElsewhere => "waits elsewhere, although it is in the mask",
        })
    }
}
