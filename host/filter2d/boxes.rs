//! Filters whose weights are all equal: which filters they are, and their kernel on GPUs.

use super::accumulator::Accumulator;
use super::banded::{Floats, launches, resident_blocks, shape};
use super::element::{BufferMut, BufferRef, Scalar};
use super::gpu::{Filter2d, Rule, plan, problem};
use super::streaming::no_kernel;
use super::sums::{Sums, with_sums};
use super::tuning::tuning;
use super::weights::{Values, Weights};
use super::window::{self, Window};
use super::{Filter2dAlgorithm, Filter2dError, Plan};
use crate::any::Erase;
use crate::info::SharedMemory;
use crate::kernel::Launch;
use crate::{Device, LaunchShape, Result, Windows};
use cuda_std::Entry;
use slm_kernels::filter2d::{Any, BandPart, Bands, BoxArgs, Bytes, Memory, Problem, Strips, Typed, filter2d_box};
use slm_kernels::signal::{Kind, Output, Types};

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
/// * [`Filter2dError::NoKernel`] for steps other than 1, if NaNs are missing samples, and for windows or pixels that are too wide
///   for a block.
/// * [`Filter2dError::UnequalWeights`]
/// * [`Error::SharedMemoryExceeded`](crate::Error::SharedMemoryExceeded) if the window is too large.
pub(super) fn prepare(
    device: &Device,
    shared: SharedMemory,
    sums: &Sums,
    rule: Rule,
) -> Result<Option<Box<dyn Filter2d>>> {
    let is_possible = rule.boxes && rule.window.has_unit_steps();
    match rule.algorithm {
        Filter2dAlgorithm::Auto if is_possible && is_large(sums, &rule) => {}
        Filter2dAlgorithm::Box if is_possible => {}
        Filter2dAlgorithm::Box => return Err(no_kernel(sums, &rule).into()),
        _ => return Ok(None),
    }
    match (sums, rule.kinds, rule.window.channels()) {
        (Sums::F32(weights), [Kind::F32, Kind::F32], 1) => {
            Boxes::<Typed<Floats>>::find(device, shared, (sums, weights), rule)
        }
        (Sums::F32(weights), [Kind::U8, Kind::U8], 1) => {
            Boxes::<Typed<Bytes>>::find(device, shared, (sums, weights), rule)
        }
        _ => with_sums!(sums, weights => Boxes::<Any<_>>::find(device, shared, (sums, weights), rule)),
    }
}

/// Returns whether a box of this size takes less time by the kernel than by others.
fn is_large(sums: &Sums, rule: &Rule) -> bool {
    let [rows, columns] = with_sums!(sums, weights => weights.shape);
    let least = if rule.allows_bands() { tuning().least_box } else { tuning().least_box_of_others };
    rows + columns >= least
}

/// Samples and outputs of a kernel.
trait Windowed: Memory {
    fn new<'b>(windows: &mut Windows<'b>, samples: BufferRef<'b>, outputs: BufferMut<'b>, outside: Scalar) -> Self;
}

impl<F: Types<Sample: Erase + Output<F::Sum>, Sum: Accumulator, Output: Erase>> Windowed for Typed<F> {
    fn new<'b>(windows: &mut Windows<'b>, samples: BufferRef<'b>, outputs: BufferMut<'b>, outside: Scalar) -> Self {
        let (Some(samples), Some(outputs), Some(outside)) =
            (F::Sample::typed_buffer(samples), F::Output::typed_buffer_mut(outputs), F::Sample::typed_scalar(outside))
        else {
            unreachable!("the rule has been checked for the types of the kernel")
        };
        Typed { input: windows.input(samples), output: windows.output(outputs), outside }
    }
}

impl<A: Accumulator> Windowed for Any<A> {
    fn new<'b>(windows: &mut Windows<'b>, samples: BufferRef<'b>, outputs: BufferMut<'b>, outside: Scalar) -> Self {
        Any { input: samples.window(windows), output: outputs.window(windows), outside: A::of_scalar(outside) }
    }
}

/// A box filter.
struct Boxes<M: Memory> {
    device: Device,
    shared: SharedMemory,
    rule: Rule,
    loaded: Box<dyn Launch<BoxArgs<M>>>,
    weight: M::Sum,
    strips: Strips,
    /// Blocks that run at the same time.
    resident: u64,
}

impl<M: Windowed<Sum: Accumulator> + Send + Sync> Boxes<M>
where
    filter2d_box<M>: Entry<Args = BoxArgs<M>, Constants = ()>,
{
    /// Returns the filter if the weights are equal and the window fits into shared memory.
    ///
    /// # Errors
    ///
    /// If not, and the algorithm requires the kernel.
    fn find(
        device: &Device,
        shared: SharedMemory,
        (sums, weights): (&Sums, &Weights<M::Sum>),
        rule: Rule,
    ) -> Result<Option<Box<dyn Filter2d>>> {
        let is_required = rule.algorithm == Filter2dAlgorithm::Box;
        let problem = rule.without_outputs()?;
        let resident = |bytes| shared.resident_blocks(bytes);
        match (weights.common(), Strips::new::<M>(&problem, shared.max_per_block, resident)) {
            // Two passes take less time than narrow strips.
            (Some(_), Ok(strips)) if !is_required && !strips.is_wide(&problem) => Ok(None),
            (Some(weight), Ok(strips)) => Ok(Some(Box::new(Self::new(device, shared, weight, strips, rule)?))),
            (None, _) if is_required => Err(Filter2dError::UnequalWeights { weights: weights.shape }.into()),
            (_, Err(None)) if is_required => Err(no_kernel(sums, &rule).into()),
            (_, Err(Some(bytes))) if is_required => shared.check(filter2d_box::<M>::NAME, bytes).map(|()| None),
            _ => Ok(None),
        }
    }

    fn new(device: &Device, shared: SharedMemory, weight: M::Sum, strips: Strips, rule: Rule) -> Result<Self> {
        let loaded = Box::new(device.own_kernel::<filter2d_box<M>>()?);
        let block = LaunchShape::new([1; 3], [strips.threads, 1, 1]).shared_bytes(strips.shared_bytes(Bands::TYPICAL));
        let resident = resident_blocks(device, loaded.residency(block)?);
        Ok(Boxes { device: device.clone(), shared, rule, loaded, weight, strips, resident })
    }
}

impl<M: Memory> Boxes<M> {
    fn args(&self, picture: &window::Problem, memory: M, bands: &Bands, part: &BandPart) -> BoxArgs<M> {
        let Problem { rows, columns, channels, .. } = problem(picture);
        BoxArgs {
            memory,
            rows,
            columns,
            input_pitch: picture.input_pitch as u64,
            output_pitch: picture.output_pitch as u64,
            first_band: part.first_band,
            first_plane: part.first_plane,
            weight: self.weight,
            border: self.rule.border as u32,
            band: bands.band,
            channels,
        }
    }
}

impl<M: Windowed + Send + Sync> Filter2d for Boxes<M> {
    fn enqueue(&self, picture: &window::Problem, samples: BufferRef<'_>, outputs: BufferMut<'_>) -> Result<()> {
        let bands = self.strips.bands(&problem(picture), self.resident);
        let mut windows = Windows::new(&self.device);
        let memory = M::new(&mut windows, samples, outputs, self.rule.outside);
        bands.parts().try_for_each(|part| {
            let args = self.args(picture, memory, &bands, &part);
            self.loaded.launch(&windows, shape(&bands, &part), args, &())
        })
    }

    fn plan(&self, picture: &window::Problem) -> Plan {
        let bands = || self.strips.bands(&problem(picture), self.resident);
        let launches = (!picture.is_empty()).then(|| launches(&bands()));
        let reason = match self.rule.algorithm {
            Filter2dAlgorithm::Box => "requested",
            _ => "all weights are equal",
        };
        let residency = |shape| self.loaded.residency(shape);
        plan(&self.device, self.shared, &self.rule, picture, launches, [self.loaded.name(), reason], residency)
    }
}
