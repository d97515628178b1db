//! A function of `N` samples, bound to a device.

use super::PointwiseElement;
use super::lines::Lines;
use crate::device::data::{Elements, Shape, Target, number_of};
use crate::device::gpu::Gpu;
use crate::device::on_device::{OnDevice, Task};
use crate::element::any::{BufferMut, BufferRef, Slice, SliceMut};
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Device, LaunchPlan, Plan, Result};

/// Reason for a kernel.
pub(super) const ONLY_KERNEL: &str = "the only kernel of the operation for these types";

/// A function on the CPU.
pub(super) trait CpuFunction<const N: usize>: Send + Sync {
    /// Computes all outputs. Elements between the rows stay unchanged.
    fn run(&self, lines: &Lines<N>, samples: [Slice<'_>; N], outputs: SliceMut<'_>);
}

/// A function of `N` samples on a GPU.
pub(crate) trait GpuFunction<const N: usize>: Send + Sync {
    /// Computes all outputs. The buffers are on this device and have the types that the function was prepared for.
    fn run(&self, lines: &Lines<N>, samples: [BufferRef<'_>; N], outputs: BufferMut<'_>) -> Result<()>;

    /// Returns the launches for lines that are not empty.
    fn plan(&self, lines: &Lines<N>) -> LaunchPlan;
}

type OnCpu<const N: usize> = Box<dyn CpuFunction<N>>;
type OnGpu<const N: usize> = Box<dyn GpuFunction<N>>;

/// A function for the types that it was prepared for.
pub(super) struct BoundFunction<const N: usize> {
    pub(super) device: Device,
    on_device: OnDevice<OnCpu<N>, OnGpu<N>>,
}

impl<const N: usize, S: PointwiseElement, O: PointwiseElement> Task<OnCpu<N>, OnGpu<N>, S, O, N> for Lines<N> {
    fn on_cpu(&self, function: &OnCpu<N>, samples: [&[S]; N], outputs: &mut [O]) -> Result<()> {
        if !self.is_empty() {
            function.run(self, samples.map(S::slice), O::slice_mut(outputs));
        }
        Ok(())
    }

    fn on_gpu(
        &self,
        function: &OnGpu<N>,
        samples: [BufferSlice<'_, S>; N],
        outputs: BufferSliceMut<'_, O>,
    ) -> Result<()> {
        if self.is_empty() { Ok(()) } else { function.run(self, samples.map(S::buffer), O::buffer_mut(outputs)) }
    }
}

impl<const N: usize> BoundFunction<N> {
    pub(super) fn new<C: CpuFunction<N> + 'static>(
        device: &Device,
        on_cpu: impl FnOnce() -> Result<C>,
        on_gpu: impl FnOnce(Gpu) -> Result<OnGpu<N>>,
    ) -> Result<Self> {
        let on_cpu = || Ok(Box::new(on_cpu()?) as OnCpu<N>);
        Ok(BoundFunction { device: device.clone(), on_device: OnDevice::new(device, on_cpu, on_gpu)? })
    }

    /// Computes all outputs for inputs of this shape.
    pub(super) fn run<S: PointwiseElement, O: PointwiseElement>(
        &self,
        shape: &Shape,
        samples: [&Elements<'_, S>; N],
        outputs: Target<'_, O>,
    ) -> Result<()> {
        let [rows, columns] = shape.rows_and_columns();
        let pitches = samples.map(|samples| samples.pitch(columns));
        let lines = Lines::new([rows, columns], pitches, outputs.pitch(columns));
        self.on_device.run(&self.device, &lines, samples, outputs)
    }

    /// Returns the plan for samples of this shape, without gaps.
    pub(super) fn plan(&self, axes: &[usize]) -> Plan {
        let lines = Lines::row(number_of(axes));
        let planned = match &self.on_device {
            OnDevice::Cpu(_) => Planned::on_cpu(),
            OnDevice::Gpu(_) if lines.is_empty() => Planned::nothing(),
            OnDevice::Gpu(function) => Planned::new(ONLY_KERNEL, [function.plan(&lines)]),
        };
        Plan::new(&self.device, (), axes, (), planned)
    }
}
