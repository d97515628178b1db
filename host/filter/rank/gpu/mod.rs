//! Rank filters on CUDA and emulated GPUs.
//!
//! | file | launches |
//! |---|---|
//! | `direct.rs` | one kernel for both axes |
//! | `passes.rs` | a kernel for each axis |

mod direct;
mod passes;

use super::choose::{Choice, NO_TILE, choose};
use super::element::Sortable;
use super::rule::RankRule;
use crate::device::gpu::Gpu;
use crate::filter::two_d::window::{self, PictureProblem};
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Error, LaunchPlan, LaunchShape, Rank2dAlgorithm, Result};
use direct::Direct;
use passes::Passes;
use slm_kernels::filter2d::Geometry;
use slm_kernels::rank2d::{Axis, RankKernel, RankLimits, RankProblem};

/// The first GPUs that compare pairs of 16-bit integers.
const FIRST_WITH_PAIRS: (u32, u32) = (9, 0);

/// A rank filter on a GPU.
pub(super) struct GpuRank<T: Sortable> {
    launches: Box<dyn Launches<T>>,
    reason: &'static str,
}

/// Launches that compute the outputs of a picture.
trait Launches<T: Sortable>: Send + Sync {
    /// Enqueues the launches. Both buffers are on the device.
    fn enqueue(
        &self,
        picture: &PictureProblem,
        samples: BufferSlice<'_, T>,
        outputs: BufferSliceMut<'_, T>,
    ) -> Result<()>;

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan>;
}

impl<T: Sortable> GpuRank<T> {
    /// Loads the kernels and uploads what they need.
    pub(super) fn new(gpu: Gpu, rule: RankRule<T>) -> Result<Self> {
        let (choice, reason) = choose(&rule, gpu.shared)?;
        let one = |kernel| -> Result<Box<dyn Launches<T>>> { Ok(Box::new(Direct::new(&gpu, kernel, &rule)?)) };
        match choice {
            Choice::One(kernel) => Ok(GpuRank { launches: one(kernel)?, reason }),
            Choice::Passes => match Passes::new(&gpu, &rule) {
                Ok(passes) => Ok(GpuRank { launches: Box::new(passes), reason }),
                Err(Error::SharedMemoryExceeded { .. }) if rule.algorithm == Rank2dAlgorithm::Auto => {
                    Ok(GpuRank { launches: one(RankKernel::AnyExtremeGlobal)?, reason: NO_TILE })
                }
                Err(error) => Err(error),
            },
        }
    }

    /// Computes the outputs of pictures. Both buffers are on this device.
    pub(super) fn run(
        &self,
        picture: &PictureProblem,
        samples: BufferSlice<'_, T>,
        outputs: BufferSliceMut<'_, T>,
    ) -> Result<()> {
        if picture.is_empty() {
            return Ok(());
        }
        self.launches.enqueue(picture, samples, outputs)
    }

    pub(super) fn plan(&self, picture: &PictureProblem) -> Planned {
        if picture.is_empty() {
            return Planned::nothing();
        }
        Planned::new(self.reason, self.launches.plan(picture))
    }
}

/// Returns the problem of an empty picture.
pub(super) fn without_outputs<T>(rule: &RankRule<T>) -> Result<RankProblem> {
    let problem = problem(&PictureProblem::new(&rule.window, 0, [1, 1])?, rule.runs.len());
    Ok(RankProblem { rows: Axis { outputs: 0, ..problem.rows }, ..problem })
}

/// Returns problems for which kernels have all forms of tiles: a picture without outputs, one with many, and a line. A kernel whose tile fits
/// into shared memory for these has one that fits for every picture.
pub(super) fn of_every_form<T>(rule: &RankRule<T>) -> Result<[RankProblem; 3]> {
    const MANY: u64 = 1 << 31;
    let empty = without_outputs(rule)?;
    let of = |rows, columns| RankProblem {
        rows: Axis { outputs: rows, ..empty.rows },
        columns: Axis { outputs: columns, ..empty.columns },
        ..empty
    };
    Ok([empty, of(MANY, MANY), of(1, MANY)])
}

/// Returns the problem as kernels see it. `Window` has checked strides and channels against 32 bits.
fn problem(picture: &PictureProblem, runs: u32) -> RankProblem {
    let axis = |axis: &window::Axis| Axis {
        samples: axis.samples as u64,
        outputs: axis.outputs as u64,
        start: axis.start,
        stride: axis.stride as u32,
        taps: axis.taps as u32,
        border: axis.border as u32,
    };
    RankProblem {
        planes: picture.planes as u64,
        rows: axis(&picture.rows),
        columns: axis(&picture.columns),
        channels: picture.channels as u32,
        runs,
    }
}

/// Returns what launches depend on. Emulated GPUs compare pairs of 16-bit integers, too.
fn limits(gpu: &Gpu) -> RankLimits {
    let pairs = gpu.info().compute_capability.is_none_or(|capability| capability >= FIRST_WITH_PAIRS);
    RankLimits { pairs, shared_bytes: gpu.shared.max_per_block }
}

/// Returns the bytes of a picture's samples and outputs.
fn moved_bytes<T>(picture: &PictureProblem) -> u64 {
    let inputs =
        (picture.planes * picture.rows.samples) as u64 * (picture.columns.samples as u64 * picture.channels as u64);
    let outputs = picture.output_rows() as u64 * picture.output_width() as u64;
    inputs.saturating_add(outputs).saturating_mul(size_of::<T>() as u64)
}

/// Returns the shape of the first launch.
fn first_shape(geometry: &Geometry) -> LaunchShape {
    shape(geometry, geometry.parts().next().map_or(0, |part| part.blocks))
}

fn shape(geometry: &Geometry, blocks: u64) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes).steps(geometry.steps)
}
