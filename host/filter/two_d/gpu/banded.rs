//! Filters on GPUs by kernels that go down bands of rows.

use super::Launches;
use super::pixels::Windowed;
use crate::device::gpu::Gpu;
use crate::filter2d::element::{BufferMut, BufferRef};
use crate::filter2d::rule::{FilterRule, problem};
use crate::filter2d::window::PictureProblem;
use crate::{Device, LaunchPlan, LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{BandArgs, BandPart, Bands, Filter2dProblem};

/// A kernel and its weights.
pub(super) trait Banded: Send + Sync {
    type Pixels<'l>: Windowed<'l>;

    /// Whether the kernel adds up segments, which begin anew in each band.
    const SUMS_SEGMENTS: bool = false;

    fn name(&self) -> &'static str;

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;

    /// Returns the shape of a launch of one typical block.
    fn block(&self) -> LaunchShape;

    /// Returns the division of a picture with outputs on a device that runs `resident` blocks at the same time.
    fn bands(&self, problem: &Filter2dProblem, resident: u64) -> Bands;

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<Self::Pixels<'_>>) -> Result<()>;
}

/// Launches of such a kernel.
pub(super) struct BandLaunches<K> {
    gpu: Gpu,
    rule: FilterRule,
    kernel: K,
    /// Blocks that run at the same time.
    pub(super) resident: u64,
}

impl<K: Banded> BandLaunches<K> {
    pub(super) fn new(gpu: &Gpu, rule: FilterRule, kernel: K) -> Result<Self> {
        let resident = resident_blocks(gpu, kernel.residency(kernel.block())?);
        Ok(BandLaunches { gpu: gpu.clone(), rule, kernel, resident })
    }

    fn bands(&self, picture: &PictureProblem) -> Bands {
        let problem = problem(picture);
        let Some(rows) = picture.whole_rows.filter(|_| K::SUMS_SEGMENTS) else {
            return self.kernel.bands(&problem, self.resident);
        };
        let mut whole = problem;
        whole.rows.outputs = rows as u64;
        let mut bands = self.kernel.bands(&whole, self.resident);
        bands.blocks[1] = problem.rows.outputs.div_ceil(bands.band.into());
        bands
    }

    fn args<'l>(
        &self,
        picture: &PictureProblem,
        pixels: K::Pixels<'l>,
        bands: &Bands,
        part: &BandPart,
    ) -> BandArgs<K::Pixels<'l>> {
        let Filter2dProblem { rows, columns, .. } = problem(picture);
        BandArgs {
            memory: pixels,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            first_band: part.first_band,
            first_plane: part.first_plane,
            band: bands.band,
        }
    }
}

impl<K: Banded> Launches for BandLaunches<K> {
    fn enqueue(&self, picture: &PictureProblem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let bands = self.bands(picture);
        let mut windows = Windows::new(&self.gpu);
        let pixels = K::Pixels::new(&mut windows, samples, outputs, &self.rule);
        bands.parts().try_for_each(|part| {
            let args = self.args(picture, pixels, &bands, &part);
            self.kernel.launch(&windows, shape(&bands, &part), args)
        })
    }

    fn segment_rows(&self, picture: &PictureProblem) -> usize {
        if K::SUMS_SEGMENTS { self.bands(picture).band as usize } else { 1 }
    }

    fn plan(&self, picture: &PictureProblem) -> Vec<LaunchPlan> {
        let bands = self.bands(picture);
        let first = bands.parts().next().unwrap_or(BandPart { first_band: 0, first_plane: 0, grid: [0; 3] });
        let shape = shape(&bands, &first);
        let launch = self.gpu.launch_plan(self.kernel.name(), shape, self.kernel.residency(shape));
        let moved_bytes = self.rule.moved_bytes(picture);
        vec![LaunchPlan { times: bands.launches(), moved_bytes, ..launch }]
    }
}

/// Returns the number of blocks that run at the same time.
fn resident_blocks(device: &Device, residency: Option<Residency>) -> u64 {
    let blocks = residency.map_or(1, |residency| residency.blocks_per_multiprocessor);
    // At least 1, even if the driver should answer 0: bands are divided by it.
    (device.info().processors as u64 * u64::from(blocks)).max(1)
}

/// Returns the shape of a launch.
fn shape(bands: &Bands, part: &BandPart) -> LaunchShape {
    let [x, y] = bands.block;
    LaunchShape::new(part.grid, [x, y, 1]).shared_bytes(bands.shared_bytes).steps(bands.steps)
}
