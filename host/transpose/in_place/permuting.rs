//! Launches that copy parts of matrices to other memory and back.

use super::launches::{InPlaceLaunch, Receiver};
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::{LaunchShape, Result};
use cuda_std::GlobalInOut;
use slm_kernels::transpose::{Region, transpose_permute};

/// Threads per block. Not measured separately.
const THREADS: u32 = 256;

/// Maximum number of blocks. Each block iterates as often as needed.
const MOST_BLOCKS: u64 = 1 << 16;

/// The kernel that copies parts, for units of some size.
pub(super) struct Permuting {
    kernel: Box<dyn for<'l> Launch<([GlobalInOut<'l, u8>; 2], Region)>>,
    unit: u32,
}

impl Permuting {
    pub(super) fn load(gpu: &Gpu, unit: u32) -> Result<Self> {
        let kernel: Box<dyn for<'l> Launch<([GlobalInOut<'l, u8>; 2], Region)>> = match unit {
            1 => Box::new(gpu.own_kernel::<transpose_permute<u8>>()?),
            2 => Box::new(gpu.own_kernel::<transpose_permute<u16>>()?),
            _ => Box::new(gpu.own_kernel::<transpose_permute<u32>>()?),
        };
        Ok(Permuting { kernel, unit })
    }

    /// Passes on the launch that copies a region to or from these bytes of scratch memory: the first one, and their number.
    pub(super) fn launch(&self, region: &Region, [first, bytes]: [u64; 2], receive: Receiver<'_>) -> Result<()> {
        let units = region.part_rows * region.part_columns * u64::from(region.units);
        let blocks = units.div_ceil(THREADS.into()).min(MOST_BLOCKS);
        let shape = LaunchShape::new([blocks, 1, 1], [THREADS, 1, 1]);
        receive(InPlaceLaunch {
            kernel: &*self.kernel,
            shape,
            // A copy reads and writes.
            moved_bytes: units.saturating_mul(2 * u64::from(self.unit)),
            of_one_matrix: true,
            times: 1,
            enqueue: &|memory| {
                let windows = [memory.matrices, memory.scratch.slice(first, bytes)];
                self.kernel.launch(memory.windows, shape, (windows, *region), &())
            },
        })
    }
}
