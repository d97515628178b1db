//! Filters on GPUs by kernels that go down bands of rows: the choice of the kernel, and its launches.

use super::banded::{BandKernel, Banded, Compiled, Floats, Passes, launches, resident_blocks};
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
            let product = |factors: [&[f32]; 2]| separable(device, shared, factors);
            let found = find(weights, rule.algorithm, product, || Compiled::<Floats>::dense(device, weights))?;
            boxed(device, shared, rule, found)?
        }
        Sums::F32(weights) if rule.allows(Kind::U8, Compiled::<Bytes>::CHANNELS) => {
            let product = |factors: [&[f32]; 2]| Compiled::<Bytes>::product(device, factors);
            let found = find(weights, rule.algorithm, product, || Compiled::<Bytes>::dense(device, weights))?;
            boxed(device, shared, rule, found)?
        }
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

/// Returns the kernel for weights that an algorithm allows, and the reason for it: that for the product of a column and a row, or
/// else that for `dense` weights.
fn find<K>(
    weights: &Weights<f32>,
    algorithm: Filter2dAlgorithm,
    product: impl FnOnce([&[f32]; 2]) -> Result<Option<K>>,
    dense: impl FnOnce() -> Result<Option<K>>,
) -> Result<Option<(K, &'static str)>> {
    let factors = match algorithm {
        Filter2dAlgorithm::Separable => Some(weights.clone().into_product().values),
        Filter2dAlgorithm::Auto => Some(weights.clone().factorised().values),
        Filter2dAlgorithm::Streaming => None,
        _ => return Ok(None),
    };
    let product = match factors {
        Some(Values::Separable { column, row }) => product([&column, &row])?,
        _ => None,
    };
    match product {
        Some(kernel) => Ok(Some((kernel, "an outer product"))),
        None if algorithm == Filter2dAlgorithm::Separable => Ok(None),
        None => Ok(dense()?.map(|kernel| (kernel, "weights of a size that the kernel is compiled for"))),
    }
}

/// Returns the kernel for the product of a column and a row of `f32`, or `None` if there is none for their lengths.
fn separable(device: &Device, shared: SharedMemory, factors: [&[f32]; 2]) -> Result<Option<BandKernel>> {
    // Two passes take less time than sums in registers: 8192 x 8192 samples on an H200 took 153 instead of 160 µs with 7 x 7 weights,
    // and 289 instead of 389 with 31 x 31. They also take less than kernels for all weights at once: 148 instead of 156 with 3 x 3
    // (`Streaming`), 147 instead of 240 with 1 x 9, 149 instead of 298 with 9 x 1, and 185 instead of 353 with 2 x 30
    // (`RegisterTiled`).
    match Passes::is_supported(shared, factors.map(<[f32]>::len)) {
        true => Passes::product(device, shared, factors),
        false => Compiled::<Floats>::product(device, factors),
    }
}

impl Rule {
    /// Returns whether types, channels, steps and treatment of NaNs are those of the kernels for `f32`.
    pub(super) fn allows_bands(&self) -> bool {
        self.allows(Kind::F32, Compiled::<Floats>::CHANNELS)
    }

    /// Returns whether a kernel that goes down bands, for these types and channels, has the steps and the treatment of NaNs.
    fn allows(&self, kind: Kind, channels: usize) -> bool {
        let Rule { window, kinds, renormalise, .. } = *self;
        kinds == [kind; 2] && window.channels() == channels && window.has_unit_steps() && !renormalise
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
        let resident = resident_blocks(device, kernel.residency(kernel.block())?);
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
        let launches = (!picture.is_empty()).then(|| launches(&self.bands(&problem(picture))));
        let residency = |shape| self.kernel.residency(shape);
        let kernel = [self.kernel.name(), self.reason];
        plan(&self.device, self.shared, &self.rule, picture, launches, kernel, residency)
    }
}
