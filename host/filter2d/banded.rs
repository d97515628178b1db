//! Filters on GPUs by kernels that go down bands of rows.

use super::element::{BufferMut, BufferRef};
use super::memory::Windowed;
use super::rule::{Filter2d, Rule, plan, problem};
use super::{Filter2dAlgorithm, Plan, window};
use crate::info::SharedMemory;
use crate::{Device, LaunchShape, Residency, Result, Windows};
use slm_kernels::filter2d::{BandArgs, BandPart, Bands, Problem};

/// A kernel and its weights.
pub(super) trait Banded: Send + Sync {
    type Memory<'l>: Windowed<'l>;

    /// Whether windows are summed by segments.
    const SUMS_SEGMENTS: bool = false;

    fn name(&self) -> &'static str;

    fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>>;

    /// Returns the shape of a launch of one typical block.
    fn block(&self) -> LaunchShape;

    /// Returns the division of a picture with outputs on a device that runs `resident` blocks at the same time.
    fn bands(&self, problem: &Problem, resident: u64) -> Bands;

    fn launch(&self, windows: &Windows<'_, '_>, shape: LaunchShape, picture: BandArgs<Self::Memory<'_>>) -> Result<()>;
}

/// A filter by such a kernel.
pub(super) struct BandFilter<K> {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    kernel: K,
    reason: &'static str,
    /// Blocks that run at the same time.
    pub(super) resident: u64,
}

impl<K: Banded> BandFilter<K> {
    /// Returns the filter. `reason` is why the kernel is taken if no algorithm is requested.
    pub(super) fn new(
        device: &Device,
        shared: SharedMemory,
        rule: Rule,
        kernel: K,
        reason: &'static str,
    ) -> Result<Self> {
        let reason = if rule.algorithm == Filter2dAlgorithm::Auto { reason } else { "requested" };
        let resident = resident_blocks(device, kernel.residency(kernel.block())?);
        Ok(BandFilter { device: device.clone(), shared, rule, kernel, reason, resident })
    }

    fn bands(&self, picture: &window::Problem) -> Bands {
        self.kernel.bands(&problem(picture), self.resident)
    }

    fn args<'l>(
        &self,
        picture: &window::Problem,
        memory: K::Memory<'l>,
        bands: &Bands,
        part: &BandPart,
    ) -> BandArgs<K::Memory<'l>> {
        let Problem { rows, columns, .. } = problem(picture);
        BandArgs {
            memory,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            first_band: part.first_band,
            first_plane: part.first_plane,
            border: self.rule.border as u32,
            band: bands.band,
        }
    }
}

impl<K: Banded> Filter2d for BandFilter<K> {
    fn sums_segments(&self) -> bool {
        K::SUMS_SEGMENTS
    }

    fn enqueue(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let bands = self.bands(picture);
        let mut windows = Windows::new(&self.device);
        let memory = K::Memory::new(&mut windows, samples, outputs, &self.rule);
        bands.parts().try_for_each(|part| {
            let args = self.args(picture, memory, &bands, &part);
            self.kernel.launch(&windows, shape(&bands, &part), args)
        })
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let launches = (!picture.is_empty()).then(|| launches(&self.bands(picture)));
        let residency = |shape| self.kernel.residency(shape);
        let kernel = [self.kernel.name(), self.reason];
        plan(&self.device, self.shared, &self.rule, picture, launches, kernel, residency)
    }
}

/// Returns the number of blocks that run at the same time.
fn resident_blocks(device: &Device, residency: Option<Residency>) -> u64 {
    let blocks = residency.map_or(1, |residency| residency.blocks_per_multiprocessor);
    // At least 1, even if the driver should answer 0: bands are divided by it.
    (device.info().processors as u64 * u64::from(blocks)).max(1)
}

/// Returns the shape of the first launch, and the number of launches.
fn launches(bands: &Bands) -> (LaunchShape, u64) {
    let first = bands.parts().next().unwrap_or(BandPart { first_band: 0, first_plane: 0, grid: [0; 3] });
    (shape(bands, &first), bands.launches())
}

/// Returns the shape of a launch.
fn shape(bands: &Bands, part: &BandPart) -> LaunchShape {
    let [x, y] = bands.block;
    LaunchShape::new(part.grid, [x, y, 1]).shared_bytes(bands.shared_bytes).steps(bands.steps)
}
