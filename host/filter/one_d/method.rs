//! The method of a filter: sums, sums on tensor cores, or Fourier transforms.

use super::algorithm::Method;
use super::element::Number;
use super::fft::ByTransforms;
use super::gpu::GpuFilter1d;
use super::line_filter::{CpuLines, GpuLines, no_transforms, not_on_tensor_cores};
use super::{ErrorBound, Filter1dAlgorithm, Filter1dError, Lines, Taps};
use crate::device::gpu::Gpu;
use crate::device::kernel::OnDemand;
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Result};
use slm_kernels::filter1d::{Orientation, tensor_bytes};
use std::ops::RangeInclusive;

/// Numbers of taps with which transforms take less time than sums on the CPU. Spectra of more taps take much memory.
const TAPS_ON_CPU: RangeInclusive<usize> = 96..=1 << 22;

/// Numbers of taps with which tensor cores take less time than sums on a GPU, and of outputs of a line that fill enough blocks.
const TAPS_ON_TENSOR_CORES: usize = 49;
const OUTPUTS_ON_TENSOR_CORES: usize = 1 << 12;

/// The first GPUs whose tensor cores have the products of the kernel.
const FIRST_WITH_TENSOR_CORES: (u32, u32) = (8, 0);

/// What a method allows.
enum Allowed<T: Number> {
    Sums,
    Transforms(ByTransforms<T>),
    Both(ByTransforms<T>),
}

fn allowed<T: Number>(taps: &Taps<T>, method: Method) -> Result<Allowed<T>> {
    Ok(match (method.algorithm, method.bound, T::BY_TRANSFORMS) {
        // Transforms would compute all outputs.
        _ if taps.reach.stride > 1 => Allowed::Sums,
        (Filter1dAlgorithm::TensorCore, ..) if T::TENSOR_TAPS.is_none() => return Err(not_on_tensor_cores(taps).into()),
        (Filter1dAlgorithm::Fft, _, Some(transforms)) => Allowed::Transforms(transforms),
        (Filter1dAlgorithm::Fft, _, None) => return Err(no_transforms(taps).into()),
        (Filter1dAlgorithm::Auto, ErrorBound::PerSegment, Some(transforms)) => Allowed::Both(transforms),
        _ => Allowed::Sums,
    })
}

/// Returns the filter on the CPU.
pub(super) fn on_cpu<T: Number>(taps: &Taps<T>, method: Method) -> Result<Box<dyn CpuLines<T>>> {
    Ok(match allowed(taps, method)? {
        Allowed::Transforms(by) => (by.on_cpu)(taps)?,
        Allowed::Both(by) if TAPS_ON_CPU.contains(&taps.taps.len()) => {
            Box::new(FasterOnCpu { taps: taps.clone(), by, transforms: OnDemand::default() })
        }
        Allowed::Sums | Allowed::Both(_) => Box::new(taps.clone()),
    })
}

/// Returns the filter on a GPU.
pub(super) fn on_gpu<T: Number>(gpu: &Gpu, taps: &Taps<T>, method: Method) -> Result<Box<dyn GpuLines<T>>> {
    Ok(match allowed(taps, method)? {
        Allowed::Transforms(by) => (by.on_gpu)(gpu, taps, "requested")?,
        Allowed::Both(by) => {
            let make: Make<T> = Box::new(move |gpu, taps| (by.on_gpu)(gpu, taps, "transforms take less time"));
            Box::new(FasterOnGpu::new(gpu, taps, by.are_faster, make)?)
        }
        Allowed::Sums if method.algorithm == Filter1dAlgorithm::TensorCore => {
            check_tensor_cores(gpu, taps)?;
            on_tensor_cores(gpu, taps)?
        }
        Allowed::Sums if method.algorithm == Filter1dAlgorithm::Auto && can_take_tensor_cores(gpu, taps) => {
            Box::new(FasterOnGpu::new(gpu, taps, are_faster_on_tensor_cores, Box::new(on_tensor_cores))?)
        }
        Allowed::Sums => Box::new(GpuFilter1d::new(gpu, taps, method.algorithm)?),
    })
}

/// Returns an error unless tensor cores of the GPU can compute a filter.
fn check_tensor_cores<T: Number>(gpu: &Gpu, taps: &Taps<T>) -> Result<()> {
    if T::TENSOR_TAPS.is_none() || taps.reach.stride > 1 {
        return Err(not_on_tensor_cores(taps).into());
    }
    match gpu.info().compute_capability {
        Some(found) if found < FIRST_WITH_TENSOR_CORES => Err(Filter1dError::NoTensorCores { found }.into()),
        _ => Ok(()),
    }
}

/// Returns whether tensor cores take less time for some lines.
fn can_take_tensor_cores<T: Number>(gpu: &Gpu, taps: &Taps<T>) -> bool {
    taps.taps.len() >= TAPS_ON_TENSOR_CORES && check_tensor_cores(gpu, taps).is_ok()
}

fn on_tensor_cores<T: Number>(gpu: &Gpu, taps: &Taps<T>) -> Result<Box<dyn GpuLines<T>>> {
    Ok(Box::new(GpuFilter1d::new(gpu, taps, Filter1dAlgorithm::TensorCore)?))
}

/// Returns whether tensor cores take less time for all taps than sums, which have the second number of taps.
fn are_faster_on_tensor_cores(gpu: &Gpu, [all, of_sums]: [usize; 2], lines: &Lines) -> bool {
    lines.orientation == Orientation::Rows
        && all == of_sums
        && lines.outputs >= OUTPUTS_ON_TENSOR_CORES
        && tensor_bytes(all) <= gpu.shared.max_per_block
}

/// A filter on the CPU by the method that takes less time for its lines.
struct FasterOnCpu<T: Number> {
    taps: Taps<T>,
    by: ByTransforms<T>,
    transforms: OnDemand<Box<dyn CpuLines<T>>>,
}

impl<T: Number> CpuLines<T> for FasterOnCpu<T> {
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        // Shorter lines are not worth a transform, or have the taps added up.
        if lines.outputs < self.taps.taps.len() || lines.samples < self.taps.taps.len() {
            return self.taps.run(lines, samples, outputs);
        }
        self.transforms.get(|| (self.by.on_cpu)(&self.taps))?.run(lines, samples, outputs)
    }
}

/// A filter on a GPU by the method that takes less time for its lines.
struct FasterOnGpu<T: Number> {
    gpu: Gpu,
    taps: Taps<T>,
    sums: GpuFilter1d<T>,
    other: OnDemand<Box<dyn GpuLines<T>>>,
    is_faster: IsFaster,
    make: Make<T>,
}

/// Gets the number of taps, and that of sums.
type IsFaster = fn(&Gpu, [usize; 2], &Lines) -> bool;

/// Returns the filter by another method than sums.
type Make<T> = Box<dyn Fn(&Gpu, &Taps<T>) -> Result<Box<dyn GpuLines<T>>> + Send + Sync>;

impl<T: Number> FasterOnGpu<T> {
    fn new(gpu: &Gpu, taps: &Taps<T>, is_faster: IsFaster, make: Make<T>) -> Result<Self> {
        let sums = GpuFilter1d::new(gpu, taps, Filter1dAlgorithm::Auto)?;
        let (gpu, taps, other) = (gpu.clone(), taps.clone(), OnDemand::default());
        Ok(FasterOnGpu { gpu, taps, sums, other, is_faster, make })
    }

    /// Returns the filter for these lines.
    fn of(&self, lines: &Lines) -> Result<&dyn GpuLines<T>> {
        let all = self.taps.taps.len();
        // Sums have fewer taps in short lines, where some are added up.
        let of_sums = self.taps.fold(lines).map_or(all, |fold| fold.taps);
        if !(self.is_faster)(&self.gpu, [all, of_sums], lines) {
            return Ok(&self.sums);
        }
        Ok(&**self.other.get(|| (self.make)(&self.gpu, &self.taps))?)
    }
}

impl<T: Number> GpuLines<T> for FasterOnGpu<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        self.of(lines)?.run(lines, samples, outputs)
    }

    fn plan(&self, lines: &Lines) -> Result<Planned> {
        self.of(lines)?.plan(lines)
    }
}
