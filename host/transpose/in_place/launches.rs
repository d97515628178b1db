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
    pub(super) enqueue: &'a dyn for<'l> Fn(&Memory<'_, 'l, '_>) -> Result<()>,
}

/// Receives launches in their order.
pub(super) type Receiver<'a> = &'a mut dyn FnMut(InPlaceLaunch<'_>) -> Result<()>;

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

    /// Passes on the launches for all matrices, but of those for one matrix only the ones for the first `matrices` matrices.
    fn each_launch(&self, matrices: u64, receive: Receiver<'_>) -> Result<()>;
}
