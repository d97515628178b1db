//! Filters on GPUs by kernels that go down bands of rows: the choice of the kernel, and its launches.

use super::accumulator::Accumulator;
use super::banded::{BandKernel, Compiled, Floats, Passes, shape};
use super::element::{BufferMut, BufferRef};
use super::gpu::{Filter2d, Rule, plan, problem};
use super::sums::{Sums, with_sums};
use super::weights::{Values, Weights};
use super::{Filter2dAlgorithm, Filter2dError, Plan, window};
use crate::info::SharedMemory;
use crate::{Device, Result, Windows};
use cuda_std::{GlobalIn, GlobalOut};
use slm_kernels::filter2d::{BandArgs, BandPart, Bands, Problem};
use slm_kernels::signal::Kind;

/// Returns the filter if there is a kernel for it that the algorithm allows.
///
/// # Errors
///
/// [`Filter2dError::NoKernel`] if the algorithm requires such a kernel.
pub(super) fn prepare(
    device: &Device,
    shared: SharedMemory,
    sums: &Sums,
    rule: Rule,
) -> Result<Option<Box<dyn Filter2d>>> {
    let weights = match sums {
        Sums::F32(weights) if rule.allows_bands() => Some(weights),
        _ => None,
    };
    let is_requested = matches!(rule.algorithm, Filter2dAlgorithm::Streaming | Filter2dAlgorithm::Separable);
    let found = match weights {
        Some(weights) => find(device, shared, weights, rule.algorithm)?,
        None => None,
    };
    match found {
        Some((kernel, reason)) => {
            let reason = if is_requested { "requested" } else { reason };
            Ok(Some(Box::new(Streaming::new(device, shared, rule, kernel, reason)?)))
        }
        None if rule.algorithm == Filter2dAlgorithm::Streaming => Err(no_kernel(sums, &rule).into()),
        None => Ok(None),
    }
}

/// Returns the kernel for weights that an algorithm allows, and the reason for it.
fn find(
    device: &Device,
    shared: SharedMemory,
    weights: &Weights<f32>,
    algorithm: Filter2dAlgorithm,
) -> Result<Option<(BandKernel, &'static str)>> {
    let product = || separable(device, shared, weights, algorithm == Filter2dAlgorithm::Separable);
    let dense = || Compiled::dense(device, weights);
    let (product, dense) = match algorithm {
        Filter2dAlgorithm::Separable => (product()?, None),
        Filter2dAlgorithm::Streaming => (None, dense()?),
        Filter2dAlgorithm::Auto => match product()? {
            None => (None, dense()?),
            found => (found, None),
        },
        _ => (None, None),
    };
    let dense = dense.map(|kernel| (kernel, "weights of a size that the kernel is compiled for"));
    Ok(product.map(|kernel| (kernel, "an outer product")).or(dense))
}

/// Returns the kernel for an outer product, or `None` if the weights are none, or if there is no kernel for them. Unless it
/// `is_requested`, it must be worthwhile.
fn separable(
    device: &Device,
    shared: SharedMemory,
    weights: &Weights<f32>,
    is_requested: bool,
) -> Result<Option<BandKernel>> {
    let product = if is_requested { weights.clone().into_product() } else { weights.clone().factorised() };
    let Values::Separable { column, row } = product.values else { return Ok(None) };
    // Two passes take less time than sums in registers: 8192 x 8192 samples on an H200 took 153 instead of 160 µs with 7 x 7 weights,
    // and 289 instead of 389 with 31 x 31 (two runs of the benchmark, before and after this choice).
    if !Passes::is_supported(shared, weights.shape) {
        return Compiled::product(device, [&column, &row]);
    }
    match is_requested || Passes::is_worthwhile(weights.shape) {
        true => Passes::product(device, shared, [&column, &row]),
        false => Ok(None),
    }
}

impl Rule {
    /// Returns whether types, channels, steps and treatment of NaNs are those of the kernels.
    pub(super) fn allows_bands(&self) -> bool {
        let Rule { window, kinds, renormalise, .. } = *self;
        kinds == [Kind::F32; 2] && window.channels() == 1 && window.has_unit_steps() && !renormalise
    }
}

/// Returns why there is no kernel.
pub(super) fn no_kernel(sums: &Sums, rule: &Rule) -> Filter2dError {
    let Rule { window, algorithm, kinds, renormalise, .. } = *rule;
    let weights = with_sums!(sums, weights => weights.shape);
    if algorithm == Filter2dAlgorithm::Separable && !sums.clone().into_product().is_separable() {
        return Filter2dError::NotSeparable { weights };
    }
    Filter2dError::NoKernel {
        algorithm,
        weights,
        types: Box::new([kinds[0].name(), rule.weights, sums.name(), kinds[1].name()]),
        channels: window.channels(),
        strides: [window.rows.stride(), window.columns.stride()],
        dilations: [window.rows.dilation(), window.columns.dilation()],
        renormalise,
    }
}

/// A filter of pictures of one channel, whose samples, sums and outputs are `f32`.
pub(super) struct Streaming {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    kernel: BandKernel,
    reason: &'static str,
    /// Blocks that run at the same time.
    pub(super) resident: u64,
}

impl Streaming {
    pub(super) fn new(
        device: &Device,
        shared: SharedMemory,
        rule: Rule,
        kernel: BandKernel,
        reason: &'static str,
    ) -> Result<Self> {
        let residency = kernel.residency(kernel.block())?;
        let blocks = residency.map_or(1, |residency| residency.blocks_per_multiprocessor);
        // At least 1, even if the driver should answer 0: bands are divided by it.
        let resident = (device.info().processors as u64 * u64::from(blocks)).max(1);
        Ok(Streaming { device: device.clone(), shared, rule, kernel, reason, resident })
    }

    fn bands(&self, problem: &Problem) -> Bands {
        self.kernel.bands(problem, self.resident)
    }

    fn args(
        &self,
        picture: &window::Problem,
        (input, output): (GlobalIn<f32>, GlobalOut<f32>),
        bands: &Bands,
        part: &BandPart,
    ) -> BandArgs<Floats> {
        let Problem { rows, columns, .. } = problem(picture);
        BandArgs {
            input,
            output,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            first_band: part.first_band,
            first_plane: part.first_plane,
            outside: f32::of_scalar(self.rule.outside),
            border: self.rule.border as u32,
            band: bands.band,
        }
    }
}

impl Filter2d for Streaming {
    fn enqueue(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let (BufferRef::F32(samples), BufferMut::F32(outputs)) = (samples, outputs) else {
            unreachable!("`allows_bands` has checked the types")
        };
        let bands = self.bands(&problem(picture));
        let mut windows = Windows::new(&self.device);
        let memory = (windows.input(samples), windows.output(outputs));
        bands.parts().try_for_each(|part| {
            let args = self.args(picture, memory, &bands, &part);
            self.kernel.launch(&windows, &bands, &part, args)
        })
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let launches = (!picture.is_empty()).then(|| {
            let bands = self.bands(&problem(picture));
            let first = bands.parts().next().unwrap_or(BandPart { first_band: 0, first_plane: 0, grid: [0; 3] });
            (shape(&bands, &first), bands.parts().count() as u64)
        });
        let residency = |shape| self.kernel.residency(shape);
        let kernel = [self.kernel.name(), self.reason];
        plan(&self.device, self.shared, &self.rule, picture, launches, kernel, residency)
    }
}
