//! Rank filters on CUDA and emulated GPUs.

use super::choose::choose;
use super::element::{Loaded, Sortable};
use super::rule::RankRule;
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::filter::two_d::window::{self, PictureProblem};
use crate::plan::Planned;
use crate::{Buffer, BufferSlice, BufferSliceMut, LaunchPlan, LaunchShape, Result, Windows};
use slm_kernels::filter2d::Geometry;
use slm_kernels::rank2d::{Args, Axis, RankKernel, RankProblem, rank_geometry};

/// A rank filter on a GPU.
pub(super) struct GpuRank<T: Sortable> {
    gpu: Gpu,
    rule: RankRule<T>,
    kernel: RankKernel,
    reason: &'static str,
    loaded: Loaded<T>,
    runs: Buffer<u32>,
    ranks: Buffer<u32>,
}

impl<T: Sortable> GpuRank<T> {
    /// Loads the kernel and uploads the window and the ranks.
    pub(super) fn new(gpu: Gpu, rule: RankRule<T>) -> Result<Self> {
        let (kernel, reason) = choose(&rule, gpu.shared)?;
        let loaded = T::load(&gpu, kernel)?;
        let runs = gpu.upload(rule.runs.runs.as_flattened())?;
        let ranks = gpu.upload(&allocation::copied(&rule.ranks)?)?;
        Ok(GpuRank { gpu, rule, kernel, reason, loaded, runs, ranks })
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
        let (problem, geometry) = self.geometry(picture);
        let _submission = self.gpu.submission_lock()?;
        let mut windows = Windows::new(&self.gpu);
        let (input, output) = (windows.input_slice(samples), windows.output_slice(outputs));
        let (window, ranks) = (windows.input(&self.runs), windows.input(&self.ranks));
        geometry.parts().try_for_each(|part| {
            let args = Args {
                input,
                output,
                window,
                ranks,
                rows: problem.rows,
                columns: problem.columns,
                input_pitch: picture.input_pitch as u64,
                output_pitch: picture.output_pitch as u64,
                planes: problem.planes,
                first_group: part.first_group,
                outside: self.rule.outside,
                channels: problem.channels,
                // At most the number of blocks, which the launch checks against 31 bits.
                tiles: geometry.tiles as u32,
                runs: self.rule.runs.runs.len() as u32,
                count: self.rule.runs.count,
                omit: self.rule.omit.into(),
                greatest: self.rule.extreme.is_some_and(|extreme| extreme.greatest).into(),
            };
            self.loaded.launch(&windows, shape(&geometry, part.blocks), args, &())
        })
    }

    pub(super) fn plan(&self, picture: &PictureProblem) -> Planned {
        if picture.is_empty() {
            return Planned::nothing();
        }
        let (_, geometry) = self.geometry(picture);
        let shape = shape(&geometry, geometry.parts().next().map_or(0, |part| part.blocks));
        let launch = self.gpu.launch_plan(self.loaded.name(), shape, self.loaded.residency(shape));
        let inputs =
            (picture.planes * picture.rows.samples) as u64 * (picture.columns.samples as u64 * picture.channels as u64);
        let outputs = picture.output_rows() as u64 * picture.output_width() as u64;
        let moved_bytes = inputs.saturating_add(outputs).saturating_mul(size_of::<T>() as u64);
        Planned::new(self.reason, [LaunchPlan { times: geometry.launches(), moved_bytes, ..launch }])
    }

    fn geometry(&self, picture: &PictureProblem) -> (RankProblem, Geometry) {
        let problem = problem(picture);
        (problem, rank_geometry::<T>(self.kernel, &problem))
    }
}

/// Returns the problem of an empty picture.
pub(super) fn without_outputs<T>(rule: &RankRule<T>) -> Result<RankProblem> {
    Ok(problem(&PictureProblem::new(&rule.window, 0, [1, 1])?))
}

/// Returns the problem as kernels see it. `Window` has checked strides and channels against 32 bits.
fn problem(picture: &PictureProblem) -> RankProblem {
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
    }
}

fn shape(geometry: &Geometry, blocks: u64) -> LaunchShape {
    let [x, y] = geometry.block;
    LaunchShape::new([blocks, 1, 1], [x, y, 1]).shared_bytes(geometry.shared_bytes).steps(geometry.steps)
}
