//! Launches of transpositions in place: what a plan shows, and how they are enqueued.

use crate::device::kernel::Loaded;
use crate::{LaunchShape, Result, Windows};
use cuda_std::{GlobalIn, GlobalInOut};

/// The memory of a transposition.
pub(super) struct Memory<'a, 'l, 'b> {
    pub(super) windows: &'a Windows<'l, 'b>,
    pub(super) matrices: GlobalInOut<'l, u8>,
    pub(super) scratch: GlobalInOut<'l, u8>,
    pub(super) table: GlobalIn<'l, u32>,
}

/// A launch.
pub(super) struct InPlaceLaunch<'a> {
    pub(super) kernel: &'a dyn Loaded,
    pub(super) shape: LaunchShape,
    /// Bytes that are read and written.
    pub(super) moved_bytes: u64,
    /// Whether each matrix has such a launch.
    pub(super) of_one_matrix: bool,
    /// The number of launches that this one stands for.
    pub(super) times: u64,
    pub(super) enqueue: &'a dyn for<'l> Fn(&Memory<'_, 'l, '_>) -> Result<()>,
}

/// Receives launches in their order.
pub(super) type Receiver<'a> = &'a mut dyn FnMut(InPlaceLaunch<'_>) -> Result<()>;

/// The launches that are passed on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passed {
    /// All, with those for one matrix for this number of matrices.
    All(u64),
    /// For a plan, in which their number takes no time: those for one matrix for the first matrix only, and of those that differ in their
    /// matrices the first one.
    Planned,
}

impl Passed {
    /// Returns the number of matrices whose own launches are passed on.
    pub(super) fn matrices(self) -> u64 {
        match self {
            Passed::All(matrices) => matrices,
            Passed::Planned => 1,
        }
    }
}

/// A way to transpose matrices, with its loaded kernels.
pub(super) trait InPlaceMethod: Send + Sync {
    /// Returns the bytes of scratch memory.
    fn scratch_bytes(&self) -> u64 {
        0
    }

    /// Returns the table that kernels read.
    fn table(&self) -> &[u32] {
        &[]
    }

    /// Passes on launches.
    fn each_launch(&self, passed: Passed, receive: Receiver<'_>) -> Result<()>;
}
