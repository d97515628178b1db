//! The method of a filter: directly, or by Fourier transforms.

use super::algorithm::Method;
use super::element::Number;
use super::gpu::GpuFilter1d;
use super::line_filter::{CpuLines, GpuLines, no_transforms};
use super::{ErrorBound, Filter1dAlgorithm, Lines, Taps};
use crate::device::gpu::Gpu;
use crate::device::kernel::OnDemand;
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Result};

/// Number of taps from which on transforms take less time than sums on the CPU.
const LEAST_TAPS_ON_CPU: usize = 96;

/// Returns the filter on the CPU.
pub(super) fn on_cpu<T: Number>(taps: &Taps<T>, method: Method) -> Result<Box<dyn CpuLines<T>>> {
    match method {
        Method { algorithm: Filter1dAlgorithm::Fft, .. } => T::on_cpu(taps)?.ok_or_else(|| no_transforms(taps).into()),
        Method { algorithm: Filter1dAlgorithm::Auto, bound: ErrorBound::PerSegment }
            if T::HAS_TRANSFORMS && taps.taps.len() >= LEAST_TAPS_ON_CPU =>
        {
            Ok(Box::new(FasterOnCpu { taps: taps.clone(), transforms: OnDemand::default() }))
        }
        _ => Ok(Box::new(taps.clone())),
    }
}

/// A filter on the CPU by the method that takes less time for its lines.
struct FasterOnCpu<T: Number> {
    taps: Taps<T>,
    transforms: OnDemand<Option<Box<dyn CpuLines<T>>>>,
}

impl<T: Number> CpuLines<T> for FasterOnCpu<T> {
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()> {
        // Shorter lines are not worth a transform, or have the taps added up.
        if lines.outputs < self.taps.taps.len() || lines.samples < self.taps.taps.len() {
            return self.taps.run(lines, samples, outputs);
        }
        match self.transforms.get(|| T::on_cpu(&self.taps))? {
            Some(transforms) => transforms.run(lines, samples, outputs),
            None => self.taps.run(lines, samples, outputs),
        }
    }
}

/// Returns the filter on a GPU.
pub(super) fn on_gpu<T: Number>(gpu: &Gpu, taps: &Taps<T>, method: Method) -> Result<Box<dyn GpuLines<T>>> {
    match method {
        Method { algorithm: Filter1dAlgorithm::Fft, .. } => {
            T::on_gpu(gpu, taps, "requested")?.ok_or_else(|| no_transforms(taps).into())
        }
        Method { algorithm: Filter1dAlgorithm::Auto, bound: ErrorBound::PerSegment } if T::HAS_TRANSFORMS => {
            Ok(Box::new(Faster::new(gpu, taps)?))
        }
        Method { algorithm, .. } => Ok(Box::new(GpuFilter1d::new(gpu, taps, algorithm)?)),
    }
}

/// A filter by the method that takes less time for its lines.
struct Faster<T: Number> {
    gpu: Gpu,
    taps: Taps<T>,
    direct: GpuFilter1d<T>,
    transforms: OnDemand<Option<Box<dyn GpuLines<T>>>>,
}

impl<T: Number> Faster<T> {
    fn new(gpu: &Gpu, taps: &Taps<T>) -> Result<Self> {
        let direct = GpuFilter1d::new(gpu, taps, Filter1dAlgorithm::Auto)?;
        Ok(Faster { gpu: gpu.clone(), taps: taps.clone(), direct, transforms: OnDemand::default() })
    }

    /// Returns the filter for these lines.
    fn of(&self, lines: &Lines) -> Result<&dyn GpuLines<T>> {
        if !T::are_faster(&self.gpu, self.taps.taps.len(), lines) {
            return Ok(&self.direct);
        }
        let transforms = self.transforms.get(|| T::on_gpu(&self.gpu, &self.taps, "transforms take less time"))?;
        Ok(transforms.as_deref().unwrap_or(&self.direct))
    }
}

impl<T: Number> GpuLines<T> for Faster<T> {
    fn run(&self, lines: &Lines, samples: BufferSlice<'_, T>, outputs: BufferSliceMut<'_, T>) -> Result<()> {
        self.of(lines)?.run(lines, samples, outputs)
    }

    fn plan(&self, lines: &Lines) -> Result<Planned> {
        self.of(lines)?.plan(lines)
    }
}
