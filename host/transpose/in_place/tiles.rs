//! Square matrices whose tiles are exchanged.

use super::launches::{InPlaceLaunch, InPlaceMethod, Passed, Receiver};
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::transpose::kernels::shape;
use crate::{Device, Result};
use cuda_std::Entry;
use slm_kernels::Misaligned;
use slm_kernels::transpose::{
    Geometry, LaunchConstants, Squares, SwapVisitor, SwapWork, TransposeKernel, TransposeProblem,
};

/// Square matrices, and the kernel for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiles {
    problem: TransposeProblem,
    kernel: TransposeKernel,
    geometry: Geometry,
    squares: Squares,
}

impl Tiles {
    /// Returns the fastest kernel for square matrices, or `None` if two elements do not fit into `shared` bytes of shared memory.
    pub(super) fn new(problem: &TransposeProblem, launches: &LaunchConstants, shared: u64) -> Option<Self> {
        let kernels = [TransposeKernel::swap_packed(problem), Some(TransposeKernel::swap(problem))];
        let below = problem.rows.saturating_mul(problem.input_pitch);
        let tiles = |kernel| {
            let geometry = Geometry::new(kernel, problem, launches);
            Tiles { problem: *problem, kernel, geometry, squares: Squares { across: 1, beside: 0, below } }
        };
        kernels.into_iter().flatten().map(tiles).find(|tiles| tiles.geometry.shared_bytes <= shared)
    }

    /// Returns the same kernel for matrices at these positions.
    pub(super) fn at(self, squares: Squares) -> Self {
        Tiles { squares, ..self }
    }

    /// Loads the kernel.
    pub(super) fn load(self, gpu: &Gpu) -> Result<LoadedTiles> {
        Ok(LoadedTiles { tiles: self, kernel: self.kernel.visit_in_place(Load(gpu))? })
    }
}

type SwapLaunch = dyn for<'l> Launch<SwapWork<'l>>;

struct Load<'a>(&'a Device);

impl SwapVisitor for Load<'_> {
    type Output = Result<Box<SwapLaunch>>;

    fn visit<E>(self) -> Self::Output
    where
        E: Entry<Constants = ()>,
        for<'l> E::Args<'l>: TryFrom<SwapWork<'l>, Error = Misaligned>,
    {
        Ok(Box::new(self.0.own_kernel::<E>()?))
    }
}

/// The same with the loaded kernel.
pub(super) struct LoadedTiles {
    tiles: Tiles,
    kernel: Box<SwapLaunch>,
}

impl InPlaceMethod for LoadedTiles {
    fn each_launch(&self, passed: Passed, receive: Receiver<'_>) -> Result<()> {
        let Tiles { problem, geometry, squares, .. } = self.tiles;
        let bytes = problem.rows.saturating_mul(problem.columns).saturating_mul(2 * problem.element);
        let (most, times, matrices) = match passed {
            Passed::All(_) => (usize::MAX, 1, None),
            Passed::Planned => (1, geometry.launches(), Some(problem.matrices)),
        };
        geometry.parts().take(most).try_for_each(|part| {
            let shape = shape(&geometry, part.grid);
            receive(InPlaceLaunch {
                kernel: &*self.kernel,
                shape,
                moved_bytes: bytes.saturating_mul(matrices.unwrap_or(part.grid[2])),
                of_one_matrix: false,
                times,
                enqueue: &|memory| {
                    let work = SwapWork { geometry, part, matrices: memory.matrices, squares };
                    self.kernel.launch(memory.windows, shape, work, &())
                },
            })
        })
    }
}
