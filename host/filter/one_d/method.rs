//! The method of a filter: sums, sums on tensor cores, or Fourier transforms.

use super::algorithm::Method;
use super::details::PlannedLines;
use super::element::Number;
use super::fft::{ByTransforms, points_on_cpu};
use super::gpu::GpuFilter1d;
use super::line_filter::{CpuLines, GpuLines, no_transforms, not_on_tensor_cores};
use super::{ErrorBound, Filter1dAlgorithm, Filter1dError, Lines, Taps, time};
use crate::device::gpu::Gpu;
use crate::device::info::SharedMemory;
use crate::device::kernel::OnDemand;
use crate::{BufferSlice, BufferSliceMut, Result};
use slm_kernels::filter1d::tensor_bytes;
use std::ops::RangeInclusive;

/// Numbers of taps with which transforms take less time than sums on the CPU. Spectra of more taps take much memory.
pub(crate) const TAPS_ON_CPU: RangeInclusive<usize> = 96..=1 << 22;

/// Why transforms are taken that were not requested.
const LESS_TIME: &str = "transforms take less time";

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
        Allowed::Transforms(by) => (by.on_cpu)(taps, usize::MAX, "requested")?,
        Allowed::Both(by) if TAPS_ON_CPU.contains(&taps.taps.len()) => {
            Box::new(FasterOnCpu { taps: taps.clone(), by, transforms: Default::default() })
        }
        Allowed::Sums | Allowed::Both(_) => Box::new(taps.clone()),
    })
}

/// Returns a filter on the CPU for lines of this number of outputs, by transforms if there are many taps, and without changing the taps.
pub(crate) fn of_many_taps<T: Number>(taps: &Taps<T>, outputs: usize) -> Result<Box<dyn CpuLines<T>>> {
    match T::BY_TRANSFORMS {
        Some(by) if TAPS_ON_CPU.contains(&taps.taps.len()) => (by.on_cpu)(taps, outputs, LESS_TIME),
        _ => Ok(Box::new(taps.clone())),
    }
}

/// Returns the filter on a GPU.
pub(super) fn on_gpu<T: Number>(gpu: &Gpu, taps: &Taps<T>, method: Method) -> Result<Box<dyn GpuLines<T>>> {
    Ok(match allowed(taps, method)? {
        Allowed::Transforms(by) => (by.on_gpu)(gpu, taps, "requested")?,
        Allowed::Both(by) => {
            let make: Make<T> = Box::new(move |gpu, taps| (by.on_gpu)(gpu, taps, LESS_TIME));
            Box::new(FasterOnGpu::new(gpu, taps, Other { time: by.time, folds: false, make })?)
        }
        Allowed::Sums if method.algorithm == Filter1dAlgorithm::TensorCore => {
            check_tensor_cores(gpu, taps)?;
            on_tensor_cores(gpu, taps)?
        }
        Allowed::Sums if method.algorithm == Filter1dAlgorithm::Auto && can_take_tensor_cores(gpu, taps) => {
            let make: Make<T> = Box::new(on_tensor_cores);
            Box::new(FasterOnGpu::new(gpu, taps, Other { time: time::on_tensor_cores::<T>, folds: true, make })?)
        }
        Allowed::Sums => Box::new(GpuFilter1d::new(gpu, taps, method.algorithm)?),
    })
}

/// Returns the filter on a GPU that takes the least time with this bound of errors.
pub(crate) fn on_gpu_by<T: Number>(gpu: &Gpu, taps: &Taps<T>, bound: ErrorBound) -> Result<Box<dyn GpuLines<T>>> {
    on_gpu(gpu, taps, Method { bound, ..Method::default() })
}

/// What the time of a filter on a GPU depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuOfLines {
    pub(crate) shared: SharedMemory,
    pub(crate) has_tensor_cores: bool,
}

impl GpuOfLines {
    pub(crate) fn new(gpu: &Gpu) -> Self {
        GpuOfLines { shared: gpu.shared, has_tensor_cores: lacks_tensor_cores(gpu).is_none() }
    }
}

/// Returns the time of this filter on an H200, in picoseconds.
pub(crate) fn time_on_gpu<T: Number>(gpu: GpuOfLines, taps: usize, lines: &Lines, bound: ErrorBound) -> f64 {
    let of_sums = time::of_sums::<T>(gpu.shared, taps, lines);
    let of_other = match T::BY_TRANSFORMS.filter(|_| bound == ErrorBound::PerSegment) {
        Some(by) => (by.time)(gpu.shared, taps, lines),
        None if gpu.has_tensor_cores => time::on_tensor_cores::<T>(gpu.shared, taps, lines),
        None => None,
    };
    of_other.filter(|&time| time::is_faster(time, of_sums)).unwrap_or(of_sums)
}

/// Returns an error unless tensor cores of the GPU can compute a filter.
fn check_tensor_cores<T: Number>(gpu: &Gpu, taps: &Taps<T>) -> Result<()> {
    if T::TENSOR_TAPS.is_none() || taps.reach.stride > 1 {
        return Err(not_on_tensor_cores(taps).into());
    }
    match lacks_tensor_cores(gpu) {
        Some(found) => Err(Filter1dError::NoTensorCores { found }.into()),
        None => Ok(()),
    }
}

/// Returns the compute capability of a GPU whose tensor cores are not those of the kernel.
fn lacks_tensor_cores(gpu: &Gpu) -> Option<(u32, u32)> {
    gpu.info().compute_capability.filter(|&found| found < FIRST_WITH_TENSOR_CORES)
}

/// Returns whether tensor cores can compute a filter. Its taps must fit as they are, also where fewer are left after some are added up.
fn can_take_tensor_cores<T: Number>(gpu: &Gpu, taps: &Taps<T>) -> bool {
    check_tensor_cores(gpu, taps).is_ok() && tensor_bytes(taps.taps.len()) <= gpu.shared.max_per_block
}

fn on_tensor_cores<T: Number>(gpu: &Gpu, taps: &Taps<T>) -> Result<Box<dyn GpuLines<T>>> {
    Ok(Box::new(GpuFilter1d::new(gpu, taps, Filter1dAlgorithm::TensorCore)?))
}

/// A filter on the CPU by the method that takes less time for its lines.
struct FasterOnCpu<T: Number> {
    taps: Taps<T>,
    by: ByTransforms<T>,
    /// With the points of long lines, and with fewer, which take less time for some short ones.
    transforms: [OnDemand<Box<dyn CpuLines<T>>>; 2],
}

impl<T: Number> FasterOnCpu<T> {
    /// Returns the filter for these lines.
    fn of(&self, lines: &Lines) -> Result<&dyn CpuLines<T>> {
        let taps = self.taps.taps.len();
        // Shorter lines are not worth a transform, or have the taps added up.
        if lines.outputs < taps || lines.samples < taps {
            return Ok(&self.taps);
        }
        let has_fewer = points_on_cpu(taps, lines.outputs) < points_on_cpu(taps, usize::MAX);
        let transforms = &self.transforms[usize::from(has_fewer)];
        Ok(&**transforms.get(|| (self.by.on_cpu)(&self.taps, lines.outputs, LESS_TIME))?)
    }
}

impl<T: Number> CpuLines<T> for FasterOnCpu<T> {
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        self.of(lines)?.run(lines, samples, outputs)
    }

    fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        self.of(lines)?.plan(lines)
    }
}

/// A filter on a GPU by the method that takes less time for its lines.
struct FasterOnGpu<T: Number> {
    gpu: Gpu,
    taps: Taps<T>,
    sums: GpuFilter1d<T>,
    other: Other<T>,
    made: OnDemand<Box<dyn GpuLines<T>>>,
}

/// Another method than sums.
struct Other<T: Number> {
    /// Returns the time with this number of taps, in picoseconds, or `None` if the method cannot filter.
    time: fn(SharedMemory, usize, &Lines) -> Option<f64>,
    /// Whether taps that meet the same samples are added up first.
    folds: bool,
    make: Make<T>,
}

type Make<T> = Box<dyn Fn(&Gpu, &Taps<T>) -> Result<Box<dyn GpuLines<T>>> + Send + Sync>;

impl<T: Number> FasterOnGpu<T> {
    fn new(gpu: &Gpu, taps: &Taps<T>, other: Other<T>) -> Result<Self> {
        let sums = GpuFilter1d::new(gpu, taps, Filter1dAlgorithm::Auto)?;
        Ok(FasterOnGpu { gpu: gpu.clone(), taps: taps.clone(), sums, other, made: OnDemand::default() })
    }

    /// Returns the filter for these lines.
    fn of(&self, lines: &Lines) -> Result<&dyn GpuLines<T>> {
        if lines.is_empty() {
            return Ok(&self.sums);
        }
        let (shared, all, fewest) = (self.gpu.shared, self.taps.taps.len(), self.taps.fewest(lines));
        let of_other = (self.other.time)(shared, if self.other.folds { fewest } else { all }, lines);
        let of_sums = time::of_sums::<T>(shared, fewest, lines);
        match of_other {
            Some(time) if time::is_faster(time, of_sums) => {
                Ok(&**self.made.get(|| (self.other.make)(&self.gpu, &self.taps))?)
            }
            _ => Ok(&self.sums),
        }
    }
}

impl<T: Number> GpuLines<T> for FasterOnGpu<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        self.of(lines)?.run(lines, samples, outputs)
    }

    fn plan(&self, lines: &Lines) -> Result<PlannedLines> {
        self.of(lines)?.plan(lines)
    }
}
