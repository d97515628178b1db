//! Filters whose weights are all equal: which filters they are, and their kernel on GPUs.

use super::accumulator::Accumulator;
use super::banded::{BandKernel, Floats, TYPICAL_BAND};
use super::gpu::{Filter2d, Rule, problem};
use super::streaming::{Streaming, no_kernel};
use super::sums::{Sums, with_sums};
use super::tuning::tuning;
use super::weights::{Values, Weights};
use super::window::Window;
use super::{Filter2dAlgorithm, Filter2dError, window};
use crate::info::SharedMemory;
use crate::kernel::Launch;
use crate::{Device, LaunchShape, Residency, Result, Windows};
use cuda_std::Entry;
use slm_kernels::filter2d::{BandArgs, Bands, BoxArgs, Problem, Strips, filter2d_box_f32};

/// Minimum number of rows plus columns of a box that the CPU sums by segments. Smaller ones take less time as other separable
/// filters: 4096 x 4096 samples took 100 ms and 75 ms with 11 x 11 weights, 84 ms and 84 ms with 13 x 13, and 88 ms and 105 ms with
/// 15 x 15.
const LEAST_ON_CPU: usize = 26;

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
    if !is_requested && (rule.algorithm != Filter2dAlgorithm::Auto || rows + columns < tuning().least_box) {
        return Ok(None);
    }
    let weight = match sums {
        Sums::F32(weights) if rule.boxes && rule.allows_bands() => weights.common(),
        _ if is_requested => return Err(no_kernel(sums, &rule).into()),
        _ => return Ok(None),
    };
    let strips = Strips::new(&problem(&window::Problem::new(&rule.window, 0, [1, 1])?), shared.max_per_block);
    match (weight, strips) {
        (Some(weight), Ok(strips)) => {
            let reason = if is_requested { "requested" } else { "all weights are equal" };
            let kernel = Boxes { loaded: Box::new(device.own_kernel::<filter2d_box_f32>()?), weight, strips };
            Ok(Some(Box::new(Streaming::new(device, shared, rule, BandKernel::Boxes(kernel), reason)?)))
        }
        (None, _) if is_requested => Err(Filter2dError::UnequalWeights { weights: [rows, columns] }.into()),
        (_, Err(bytes)) if is_requested => shared.check(filter2d_box_f32::NAME, bytes).map(|()| None),
        _ => Ok(None),
    }
}

/// The kernel for equal weights.
pub(super) struct Boxes {
    loaded: Box<dyn Launch<BoxArgs>>,
    weight: f32,
    strips: Strips,
}

impl Boxes {
    pub(super) fn residency(&self, shape: LaunchShape) -> Result<Option<Residency>> {
        self.loaded.residency(shape)
    }

    /// Returns the shape of a launch of one typical block.
    pub(super) fn block(&self) -> LaunchShape {
        LaunchShape::new([1; 3], [self.strips.threads, 1, 1]).shared_bytes(self.strips.shared_bytes(TYPICAL_BAND))
    }

    /// Returns the division of a picture with outputs on a device that runs `resident` blocks at the same time.
    pub(super) fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        self.strips.bands(problem, resident)
    }

    pub(super) fn launch(&self, windows: &Windows<'_>, shape: LaunchShape, picture: BandArgs<Floats>) -> Result<()> {
        self.loaded.launch(windows, shape, BoxArgs { picture, weight: self.weight }, &())
    }
}
