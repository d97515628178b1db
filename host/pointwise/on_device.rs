//! A function of `N` samples on a device of some kind.

use super::lines::Lines;
use super::{Plan, PointwiseElement};
use crate::any::{BufferMut, BufferRef, Slice, SliceMut};
use crate::{Buffer, Device, LaunchPlan, Result, allocation};

/// A function on the CPU.
pub(super) trait OnCpu<const N: usize>: Send + Sync {
    /// Computes all outputs. Elements between the rows stay unchanged.
    fn run(&self, lines: &Lines<N>, samples: [Slice<'_>; N], outputs: SliceMut<'_>);
}

/// A function of `N` samples on a GPU.
pub(super) trait OnGpu<const N: usize>: Send + Sync {
    /// Computes all outputs. The buffers are on this device and have the types that the function was prepared for.
    fn run(&self, lines: &Lines<N>, samples: [BufferRef<'_>; N], outputs: BufferMut<'_>) -> Result<()>;

    /// Returns the launches for lines that are not empty.
    fn plan(&self, lines: &Lines<N>) -> LaunchPlan;
}

/// A function bound to a device, for the types that it was prepared for.
pub(super) struct OnDevice<const N: usize> {
    pub(super) device: Device,
    kind: Kind<N>,
}

enum Kind<const N: usize> {
    Cpu(Box<dyn OnCpu<N>>),
    Gpu(Box<dyn OnGpu<N>>),
}

impl<const N: usize> OnDevice<N> {
    pub(super) fn cpu(device: &Device, function: Box<dyn OnCpu<N>>) -> Self {
        OnDevice { device: device.clone(), kind: Kind::Cpu(function) }
    }

    pub(super) fn gpu(device: &Device, function: Box<dyn OnGpu<N>>) -> Self {
        OnDevice { device: device.clone(), kind: Kind::Gpu(function) }
    }

    /// Computes outputs on the device. All buffers belong to it and contain all lines.
    pub(super) fn run<S: PointwiseElement, O: PointwiseElement>(
        &self,
        lines: &Lines<N>,
        samples: [&Buffer<S>; N],
        outputs: &mut Buffer<O>,
    ) -> Result<()> {
        match &self.kind {
            _ if lines.is_empty() => {}
            Kind::Cpu(function) => {
                let samples = samples.map(|samples| S::slice(samples.storage().cpu()));
                function.run(lines, samples, O::slice_mut(outputs.storage_mut().cpu_mut()));
            }
            Kind::Gpu(function) => function.run(lines, samples.map(S::buffer), O::buffer_mut(outputs))?,
        }
        Ok(())
    }

    /// Returns the outputs for samples on the host, all of one length.
    pub(super) fn run_on_host<S: PointwiseElement, O: PointwiseElement>(&self, samples: [&[S]; N]) -> Result<Vec<O>> {
        let lines = Lines::row(samples[0].len());
        match &self.kind {
            Kind::Cpu(function) => {
                let mut outputs = allocation::filled(O::default(), lines.columns)?;
                function.run(&lines, samples.map(S::slice), O::slice_mut(&mut outputs));
                Ok(outputs)
            }
            Kind::Gpu(_) => {
                let samples = samples.iter().map(|samples| self.device.upload(samples)).collect::<Result<Vec<_>>>()?;
                let mut outputs = self.device.unwritten(lines.columns)?;
                self.run(&lines, std::array::from_fn(|i| &samples[i]), &mut outputs)?;
                outputs.download_written()
            }
        }
    }

    pub(super) fn plan(&self, lines: &Lines<N>) -> Plan {
        let shape = [lines.rows, lines.columns];
        match &self.kind {
            Kind::Cpu(_) => Plan::new(&self.device, "cpu", shape, None),
            Kind::Gpu(_) if lines.is_empty() => Plan::new(&self.device, "none", shape, None),
            Kind::Gpu(function) => {
                let launch = function.plan(lines);
                Plan::new(&self.device, launch.kernel, shape, Some(launch))
            }
        }
    }
}
