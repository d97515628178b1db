//! The method of a filter: sums, or Fourier transforms.

use super::algorithm::Method;
use super::element::Number;
use super::fft::ByTransforms;
use super::gpu::GpuFilter1d;
use super::line_filter::{CpuLines, GpuLines, no_transforms};
use super::{ErrorBound, Filter1dAlgorithm, Lines, Taps};
use crate::device::gpu::Gpu;
use crate::device::kernel::OnDemand;
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Result};
use std::ops::RangeInclusive;

/// Numbers of taps with which transforms take less time than sums on the CPU. Spectra of more taps take much memory.
const TAPS_ON_CPU: RangeInclusive<usize> = 96..=1 << 22;

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
            let sums = GpuFilter1d::new(gpu, taps, Filter1dAlgorithm::Auto)?;
            let (gpu, taps) = (gpu.clone(), taps.clone());
            Box::new(FasterOnGpu { gpu, taps, by, sums, transforms: OnDemand::default() })
        }
        Allowed::Sums => Box::new(GpuFilter1d::new(gpu, taps, method.algorithm)?),
    })
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
    by: ByTransforms<T>,
    sums: GpuFilter1d<T>,
    transforms: OnDemand<Box<dyn GpuLines<T>>>,
}

impl<T: Number> FasterOnGpu<T> {
    /// Returns the filter for these lines.
    fn of(&self, lines: &Lines) -> Result<&dyn GpuLines<T>> {
        let all = self.taps.taps.len();
        // Sums have fewer taps in short lines, where some are added up.
        let of_sums = self.taps.fold(lines).map_or(all, |fold| fold.taps);
        if !(self.by.are_faster)(&self.gpu, [all, of_sums], lines) {
            return Ok(&self.sums);
        }
        Ok(&**self.transforms.get(|| (self.by.on_gpu)(&self.gpu, &self.taps, "transforms take less time"))?)
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
