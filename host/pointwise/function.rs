//! A function of `N` samples, bound to a device.

use super::lines::Lines;
use super::{Plan, PointwiseElement};
use crate::any::{BufferMut, BufferRef, Slice, SliceMut};
use crate::gpu::Gpu;
use crate::on_device::{OnDevice, Task};
use crate::{Buffer, Device, LaunchPlan, Result};

/// A function on the CPU.
pub(super) trait CpuFunction<const N: usize>: Send + Sync {
    /// Computes all outputs. Elements between the rows stay unchanged.
    fn run(&self, lines: &Lines<N>, samples: [Slice<'_>; N], outputs: SliceMut<'_>);
}

/// A function of `N` samples on a GPU.
pub(super) trait GpuFunction<const N: usize>: Send + Sync {
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

    fn on_gpu(&self, function: &OnGpu<N>, samples: [&Buffer<S>; N], outputs: &mut Buffer<O>) -> Result<()> {
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

    /// Computes all outputs. The buffers are on this device.
    pub(super) fn run<S: PointwiseElement, O: PointwiseElement>(
        &self,
        lines: &Lines<N>,
        samples: [&Buffer<S>; N],
        outputs: &mut Buffer<O>,
    ) -> Result<()> {
        self.on_device.run(lines, samples, outputs)
    }

    /// Returns the outputs of samples on the host, all of the same length.
    pub(super) fn run_on_host<S: PointwiseElement, O: PointwiseElement>(&self, samples: [&[S]; N]) -> Result<Vec<O>> {
        let lines = Lines::row(samples[0].len());
        self.on_device.run_on_host(&self.device, &lines, samples, lines.columns)
    }

    pub(super) fn plan(&self, lines: &Lines<N>) -> Plan {
        let shape = [lines.rows, lines.columns];
        match &self.on_device {
            OnDevice::Cpu(_) => Plan::new(&self.device, "cpu", shape, None),
            OnDevice::Gpu(_) if lines.is_empty() => Plan::new(&self.device, "none", shape, None),
            OnDevice::Gpu(function) => {
                let launch = function.plan(lines);
                Plan::new(&self.device, launch.kernel, shape, Some(launch))
            }
        }
    }
}
