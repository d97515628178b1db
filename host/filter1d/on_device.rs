//! A filter on a device of some kind.

use super::{FilterAlgorithm, Lines, Plan, general};
use crate::{Buffer, Device, Element, FilterSample, Result, allocation};

/// A filter on the CPU.
pub(super) trait OnCpu<T>: Send + Sync {
    /// Filters `lines` of `samples` into `outputs`. Gaps between rows are not accessed. Returns an error if there is no memory
    /// for intermediate results. Some outputs may be written then.
    fn run(&self, lines: &Lines, samples: &[T], outputs: &mut [T]) -> Result<()>;
}

/// A filter on a GPU.
pub(super) trait OnGpu<T: Element>: Send + Sync {
    /// Filters `lines` of `samples` into `outputs`. Both buffers are on this device.
    fn run(&self, lines: &Lines, samples: &Buffer<T>, outputs: &mut Buffer<T>) -> Result<()>;

    fn plan(&self, lines: &Lines) -> Plan;
}

/// A filter on a device.
pub(super) enum OnDevice<S: FilterSample> {
    Cpu(Box<dyn OnCpu<S>>),
    Gpu(Box<dyn OnGpu<S>>),
    /// A filter of pictures, on either.
    Pictures(Box<general::Filter1d<S>>),
}

impl<S: FilterSample> OnDevice<S> {
    pub(super) fn run(&self, lines: &Lines, samples: &Buffer<S>, outputs: &mut Buffer<S>) -> Result<()> {
        match self {
            _ if lines.is_empty() => Ok(()),
            OnDevice::Cpu(filter) => filter.run(lines, samples.storage().cpu(), outputs.storage_mut().cpu_mut()),
            OnDevice::Gpu(filter) => filter.run(lines, samples, outputs),
            OnDevice::Pictures(filter) => filter.run(lines, samples, outputs),
        }
    }

    /// Returns `len` outputs for samples on the host. `device` is this device.
    pub(super) fn run_on_host(&self, device: &Device, lines: &Lines, samples: &[S], len: usize) -> Result<Vec<S>> {
        match self {
            OnDevice::Cpu(filter) => {
                let mut outputs = allocation::filled(S::default(), len)?;
                filter.run(lines, samples, &mut outputs)?;
                Ok(outputs)
            }
            OnDevice::Gpu(_) => {
                let samples = device.upload(samples)?;
                let mut outputs = device.unwritten(len)?;
                self.run(lines, &samples, &mut outputs)?;
                outputs.download_written()
            }
            OnDevice::Pictures(_) if lines.is_empty() => Ok(Vec::new()),
            OnDevice::Pictures(filter) => filter.run_on_host(lines, samples),
        }
    }

    /// Returns the plan for filtering `lines` on `device`, which is this device.
    pub(super) fn plan(&self, device: &Device, algorithm: FilterAlgorithm, lines: &Lines) -> Plan {
        match self {
            OnDevice::Gpu(filter) => filter.plan(lines),
            OnDevice::Pictures(filter) if device.info().shared_memory.is_some() => filter.plan(algorithm, lines),
            OnDevice::Cpu(_) | OnDevice::Pictures(_) => Plan::cpu(device, algorithm, lines),
        }
    }
}
