//! Filters whose weights are all equal: which filters they are, and their kernel on GPUs.

use super::accumulator::Accumulator;
use super::element::{BufferMut, BufferRef};
use super::gpu::{Filter2d, Rule, plan, problem};
use super::streaming::no_kernel;
use super::sums::{Sums, with_sums};
use super::weights::{Values, Weights};
use super::window::Window;
use super::{Filter2dAlgorithm, Filter2dError, Plan, window};
use crate::info::SharedMemory;
use crate::kernel::Launch;
use crate::{Device, LaunchShape, Result, Windows};
use cuda_std::{Entry, GlobalIn, GlobalOut};
use slm_kernels::filter2d::{BandPart, Bands, BoxArgs, Problem, Strips, filter2d_box_f32};
use slm_kernels::signal::Kind;

/// Minimum number of rows plus columns of a box that the CPU sums by segments. Smaller ones take less time as other separable
/// filters: 4096 x 4096 samples took 100 ms and 75 ms with 11 x 11 weights, 84 ms and 84 ms with 13 x 13, and 88 ms and 105 ms with
/// 15 x 15.
const LEAST_ON_CPU: usize = 26;

/// Minimum number of rows plus columns of a box for which `Auto` chooses the kernel of boxes. Smaller ones take less time
/// with kernels for outer products: 8192 x 8192 samples on an H200 took 276 us with 3 x 3 weights and 222 us with 31 x 31, and as
/// outer products 154 us with 3 x 3, 208 us with 15 x 15, and 492 us with 31 x 31 where no kernel was compiled for that size.
const LEAST_ON_GPU: usize = 22;

/// Rows of a band for which the number of resident blocks is asked for.
const TYPICAL_BAND: u32 = 128;

/// Returns whether the CPU should sum windows by segments.
pub(super) fn pays_on_cpu(sums: &Sums, window: &Window) -> bool {
    let [rows, columns] = with_sums!(sums, weights => weights.shape);
    rows + columns >= LEAST_ON_CPU && window.has_unit_steps() && is_uniform(sums)
}

/// Returns whether all weights are equal, and finite.
pub(super) fn is_uniform(sums: &Sums) -> bool {
    with_sums!(sums, weights => weights.common().is_some())
}

impl<A: Accumulator> Weights<A> {
    /// Returns the weight of all samples, if it is the same for all, and finite.
    pub(super) fn common(&self) -> Option<A> {
        let common = |values: &[A]| values.iter().all(|value| *value == values[0]).then(|| values[0]);
        let weight = match &self.values {
            Values::Dense(weights) => common(weights)?,
            Values::Separable { column, row } => A::multiply_add(A::ZERO, common(column)?, common(row)?),
        };
        // Zero times an infinity or a NaN is NaN.
        let is_finite = !A::multiply_add(A::ZERO, weight, A::ZERO).is_nan();
        is_finite.then_some(weight)
    }
}

/// Returns the filter if its weights are equal, the kernel supports it, and the algorithm allows it.
///
/// # Errors
///
/// If the algorithm requires the kernel:
///
/// * [`Filter2dError::NoKernel`] for other types, channels, steps or treatments of NaNs.
/// * [`Filter2dError::UnequalWeights`]
/// * [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if the window is too large.
pub(super) fn prepare(
    device: &Device,
    shared: SharedMemory,
    sums: &Sums,
    rule: Rule,
) -> Result<Option<Box<dyn Filter2d>>> {
    let [rows, columns] = with_sums!(sums, weights => weights.shape);
    let is_requested = rule.algorithm == Filter2dAlgorithm::Box;
    if !is_requested && (rule.algorithm != Filter2dAlgorithm::Auto || rows + columns < LEAST_ON_GPU) {
        return Ok(None);
    }
    let weight = match sums {
        Sums::F32(weights) if rule.allows_boxes() => weights.common(),
        _ if is_requested => return Err(no_kernel(sums, &rule).into()),
        _ => return Ok(None),
    };
    let strips = Strips::new(&problem(&window::Problem::new(&rule.window, 0, [1, 1])?), shared.max_per_block);
    match (weight, strips) {
        (Some(weight), Ok(strips)) => {
            let reason = if is_requested { "requested" } else { "all weights are equal" };
            Ok(Some(Box::new(Boxes::new(device, shared, rule, (weight, strips), reason)?)))
        }
        (None, _) if is_requested => Err(Filter2dError::UnequalWeights { weights: [rows, columns] }.into()),
        (_, Err(bytes)) if is_requested => shared.check(filter2d_box_f32::NAME, bytes).map(|()| None),
        _ => Ok(None),
    }
}

impl Rule {
    /// Returns whether types, channels, steps and treatment of NaNs are those of the kernel.
    fn allows_boxes(&self) -> bool {
        let Rule { window, kinds, boxes, .. } = *self;
        boxes && kinds == [Kind::F32; 2] && window.channels() == 1 && window.has_unit_steps()
    }
}

/// A filter of pictures of one channel, whose samples, sums and outputs are `f32`.
struct Boxes {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    weight: f32,
    strips: Strips,
    loaded: Box<dyn Launch<BoxArgs>>,
    reason: &'static str,
    /// Blocks that run at the same time.
    resident: u64,
}

impl Boxes {
    fn new(
        device: &Device,
        shared: SharedMemory,
        rule: Rule,
        (weight, strips): (f32, Strips),
        reason: &'static str,
    ) -> Result<Self> {
        let loaded: Box<dyn Launch<BoxArgs>> = Box::new(device.own_kernel::<filter2d_box_f32>()?);
        let residency = loaded.residency(shape(&strips, [1; 3], strips.shared_bytes(TYPICAL_BAND)))?;
        let blocks = residency.map_or(1, |residency| residency.blocks_per_multiprocessor);
        // At least 1, even if the driver should answer 0: bands are divided by it.
        let resident = (device.info().processors as u64 * u64::from(blocks)).max(1);
        Ok(Boxes { device: device.clone(), shared, rule, weight, strips, loaded, reason, resident })
    }

    fn args(
        &self,
        picture: &window::Problem,
        (input, output): (GlobalIn<f32>, GlobalOut<f32>),
        bands: &Bands,
        part: &BandPart,
    ) -> BoxArgs {
        let Problem { rows, columns, .. } = problem(picture);
        BoxArgs {
            input,
            output,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            first_band: part.first_band,
            first_plane: part.first_plane,
            weight: self.weight,
            outside: f32::of_scalar(self.rule.outside),
            border: self.rule.border as u32,
            band: bands.band,
        }
    }
}

impl Filter2d for Boxes {
    fn run(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let (BufferRef::F32(samples), BufferMut::F32(outputs)) = (samples, outputs) else {
            unreachable!("`allows_boxes` has checked the types")
        };
        if picture.is_empty() {
            return Ok(());
        }
        let bands = self.strips.bands(&problem(picture), self.resident);
        let mut windows = Windows::new(&self.device);
        let memory = (windows.input(samples), windows.output(outputs));
        let _submission = self.device.submission_lock()?;
        bands.parts().try_for_each(|part| {
            let shape = shape(&self.strips, part.grid, bands.shared_bytes).steps(bands.steps);
            self.loaded.launch(&windows, shape, self.args(picture, memory, &bands, &part), &())
        })
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let launches = (!picture.is_empty()).then(|| {
            let bands = self.strips.bands(&problem(picture), self.resident);
            let first = bands.parts().next().map_or([0; 3], |part| part.grid);
            (shape(&self.strips, first, bands.shared_bytes), bands.parts().count() as u64)
        });
        let residency = |shape| self.loaded.residency(shape);
        let kernel = [filter2d_box_f32::NAME, self.reason];
        plan(&self.device, self.shared, &self.rule, picture, launches, kernel, residency)
    }
}

fn shape(strips: &Strips, grid: [u64; 3], shared_bytes: u64) -> LaunchShape {
    LaunchShape::new(grid, [strips.threads, 1, 1]).shared_bytes(shared_bytes)
}
