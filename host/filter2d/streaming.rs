//! Filters on GPUs by kernels that go down bands of rows: the choice of the kernel, and its launches.

use super::banded::{BandKernel, Banded, Compiled, Floats, Passes, shape};
use super::element::{BufferMut, BufferRef};
use super::gpu::{Filter2d, Rule, plan, problem};
use super::sums::{Sums, with_sums};
use super::weights::{Values, Weights};
use super::{Filter2dAlgorithm, Filter2dError, Plan, window};
use crate::any::Erase;
use crate::info::SharedMemory;
use crate::{Device, Result, Windows};
use cuda_std::{GlobalIn, GlobalOut};
use slm_kernels::filter2d::{BandArgs, BandPart, Bands, Bytes, Problem};
use slm_kernels::signal::{Kind, Types};

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
    let found = match sums {
        Sums::F32(weights) if rule.allows_bands() => {
            boxed(device, shared, rule, find(device, shared, weights, rule.algorithm)?)?
        }
        Sums::F32(weights) if rule.allows_bytes() => boxed(device, shared, rule, find_bytes(device, weights, &rule)?)?,
        _ => None,
    };
    match found {
        None if rule.algorithm == Filter2dAlgorithm::Streaming => Err(no_kernel(sums, &rule).into()),
        found => Ok(found),
    }
}

/// Returns the filter by a kernel that was found, and the reason for it.
fn boxed<K: Banded + 'static>(
    device: &Device,
    shared: SharedMemory,
    rule: Rule,
    found: Option<(K, &'static str)>,
) -> Result<Option<Box<dyn Filter2d>>> {
    let Some((kernel, reason)) = found else { return Ok(None) };
    let is_requested = matches!(rule.algorithm, Filter2dAlgorithm::Streaming | Filter2dAlgorithm::Separable);
    let reason = if is_requested { "requested" } else { reason };
    Ok(Some(Box::new(Streaming::new(device, shared, rule, kernel, reason)?)))
}

/// The reasons for kernels.
const COMPILED: &str = "weights of a size that the kernel is compiled for";
const PRODUCT: &str = "an outer product";

/// Returns the kernel for weights that an algorithm allows, and the reason for it.
fn find(
    device: &Device,
    shared: SharedMemory,
    weights: &Weights<f32>,
    algorithm: Filter2dAlgorithm,
) -> Result<Option<(BandKernel, &'static str)>> {
    let product = || separable(device, shared, weights, algorithm == Filter2dAlgorithm::Separable);
    let dense = || Compiled::<Floats>::dense(device, weights);
    let (product, dense) = match algorithm {
        Filter2dAlgorithm::Separable => (product()?, None),
        Filter2dAlgorithm::Streaming => (None, dense()?),
        Filter2dAlgorithm::Auto => match product()? {
            None => (None, dense()?),
            found => (found, None),
        },
        _ => (None, None),
    };
    let dense = dense.map(|kernel| (kernel, COMPILED));
    Ok(product.map(|kernel| (kernel, PRODUCT)).or(dense))
}

/// Returns the kernel for bytes that an algorithm allows, and the reason for it.
fn find_bytes(device: &Device, weights: &Weights<f32>, rule: &Rule) -> Result<Option<(Compiled<Bytes>, &'static str)>> {
    let is_requested = rule.algorithm == Filter2dAlgorithm::Separable;
    if is_requested || rule.algorithm == Filter2dAlgorithm::Auto {
        let product = if is_requested { weights.clone().into_product() } else { weights.clone().factorised() };
        let found = match &product.values {
            Values::Separable { column, row } => Compiled::<Bytes>::product(device, [column, row])?,
            Values::Dense(_) => None,
        };
        if found.is_some() || is_requested {
            return Ok(found.map(|kernel| (kernel, PRODUCT)));
        }
    }
    let is_allowed = matches!(rule.algorithm, Filter2dAlgorithm::Auto | Filter2dAlgorithm::Streaming);
    let dense = if is_allowed { Compiled::<Bytes>::dense(device, weights)? } else { None };
    Ok(dense.map(|kernel| (kernel, COMPILED)))
}

/// Returns the kernel for an outer product, or `None` if the weights are none, or if there is no kernel for them. If it
/// `is_requested`, weights are taken as they are, and otherwise examined.
fn separable(
    device: &Device,
    shared: SharedMemory,
    weights: &Weights<f32>,
    is_requested: bool,
) -> Result<Option<BandKernel>> {
    let product = if is_requested { weights.clone().into_product() } else { weights.clone().factorised() };
    let Values::Separable { column, row } = product.values else { return Ok(None) };
    // Two passes take less time than sums in registers, and than all weights at once: 8192 x 8192 samples on an H200 took 148 instead
    // of 156 µs with 3 x 3 weights (`Streaming`), and 147 instead of 240 with 1 x 9, 149 instead of 298 with 9 x 1, 185 instead of
    // 353 with 2 x 30 (`RegisterTiled`); in registers, 160 instead of 153 with 7 x 7, and 389 instead of 289 with 31 x 31.
    match Passes::is_supported(shared, weights.shape) {
        true => Passes::product(device, shared, [&column, &row]),
        false => Compiled::<Floats>::product(device, [&column, &row]),
    }
}

impl Rule {
    /// Returns whether types, channels, steps and treatment of NaNs are those of the kernels.
    pub(super) fn allows_bands(&self) -> bool {
        let Rule { window, kinds, renormalise, .. } = *self;
        kinds == [Kind::F32; 2] && window.channels() == 1 && window.has_unit_steps() && !renormalise
    }

    /// The same for the kernels of bytes.
    fn allows_bytes(&self) -> bool {
        let Rule { window, kinds, renormalise, .. } = *self;
        let channels = Compiled::<Bytes>::CHANNELS;
        kinds == [Kind::U8; 2] && window.channels() == channels && window.has_unit_steps() && !renormalise
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

/// A filter by a kernel that goes down bands of rows.
pub(super) struct Streaming<K> {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    kernel: K,
    reason: &'static str,
    /// Blocks that run at the same time.
    pub(super) resident: u64,
}

/// The types of a kernel's samples and outputs.
type SampleOf<K> = <<K as Banded>::Types as Types>::Sample;
type OutputOf<K> = <<K as Banded>::Types as Types>::Output;

impl<K: Banded> Streaming<K> {
    pub(super) fn new(
        device: &Device,
        shared: SharedMemory,
        rule: Rule,
        kernel: K,
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
        (input, output): (GlobalIn<SampleOf<K>>, GlobalOut<OutputOf<K>>),
        outside: SampleOf<K>,
        bands: &Bands,
        part: &BandPart,
    ) -> BandArgs<K::Types> {
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
            outside,
            border: self.rule.border as u32,
            band: bands.band,
        }
    }
}

impl<K: Banded> Filter2d for Streaming<K> {
    fn enqueue(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let (Some(samples), Some(outputs), Some(outside)) = (
            SampleOf::<K>::typed_buffer(samples),
            OutputOf::<K>::typed_buffer_mut(outputs),
            SampleOf::<K>::typed_scalar(self.rule.outside),
        ) else {
            unreachable!("the rule has been checked for the types of the kernel")
        };
        let bands = self.bands(&problem(picture));
        let mut windows = Windows::new(&self.device);
        let memory = (windows.input(samples), windows.output(outputs));
        bands.parts().try_for_each(|part| {
            let args = self.args(picture, memory, outside, &bands, &part);
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
