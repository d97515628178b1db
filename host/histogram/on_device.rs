//! A histogram on a device of some kind.

use super::weights::{WeightBuffer, WeightSlice};
use super::{Plan, WeightedPlan};
use crate::{Buffer, Element, Result, allocation};

/// A histogram on the CPU.
pub(super) trait OnCpu<T>: Send + Sync {
    /// Adds the counts of the samples to `counts`, modulo 2^64. Adds nothing if it returns an error.
    fn count(&self, samples: &[T], counts: &mut [u64]) -> Result<()>;

    /// Returns the sums of the weights, one weight per sample.
    fn weigh(&self, samples: &[T], weights: WeightSlice<'_>) -> Result<Vec<f64>>;
}

/// A histogram on a GPU.
pub(super) trait OnGpu<T: Element>: Send + Sync {
    /// Adds the counts of the first `len` samples of a buffer to `counts`. Both are on this device.
    fn run(&self, samples: &Buffer<T>, len: usize, counts: &mut Buffer<u64>) -> Result<()>;

    /// Returns the counts of samples on the host, with this number of counters.
    fn run_on_host(&self, samples: &[T], counters: usize) -> Result<Vec<u64>>;

    /// Returns the sums of the weights of the first `len` samples. Both buffers are on this device.
    fn weigh(&self, samples: &Buffer<T>, len: usize, weights: WeightBuffer<'_>) -> Result<Vec<f64>>;

    /// Returns the sums of weights for samples and weights on the host.
    fn weigh_on_host(&self, samples: &[T], weights: WeightSlice<'_>) -> Result<Vec<f64>>;

    fn plan(&self, samples: usize) -> Plan;

    fn weighted_plan(&self, samples: usize) -> WeightedPlan;
}

/// A histogram on a device.
pub(super) enum OnDevice<T: Element> {
    Cpu(Box<dyn OnCpu<T>>),
    Gpu(Box<dyn OnGpu<T>>),
}

impl<T: Element> OnDevice<T> {
    /// Adds the counts of the first `len` samples of a buffer to `counts`.
    pub(super) fn run(&self, samples: &Buffer<T>, len: usize, counts: &mut Buffer<u64>) -> Result<()> {
        match self {
            OnDevice::Cpu(histogram) => {
                histogram.count(&samples.storage().cpu()[..len], counts.storage_mut().cpu_mut())
            }
            OnDevice::Gpu(histogram) => histogram.run(samples, len, counts),
        }
    }

    /// Returns the counts of samples on the host, with this number of counters.
    pub(super) fn run_on_host(&self, samples: &[T], counters: usize) -> Result<Vec<u64>> {
        match self {
            OnDevice::Cpu(histogram) => {
                let mut counts = allocation::filled(0, counters)?;
                histogram.count(samples, &mut counts)?;
                Ok(counts)
            }
            OnDevice::Gpu(histogram) => histogram.run_on_host(samples, counters),
        }
    }

    /// Returns the sums of the weights of the first `len` samples.
    pub(super) fn weigh(&self, samples: &Buffer<T>, len: usize, weights: WeightBuffer<'_>) -> Result<Vec<f64>> {
        match self {
            OnDevice::Cpu(histogram) => histogram.weigh(&samples.storage().cpu()[..len], weights.on_cpu(len)),
            OnDevice::Gpu(histogram) => histogram.weigh(samples, len, weights),
        }
    }

    /// Returns the sums of weights for samples and weights on the host.
    pub(super) fn weigh_on_host(&self, samples: &[T], weights: WeightSlice<'_>) -> Result<Vec<f64>> {
        match self {
            OnDevice::Cpu(histogram) => histogram.weigh(samples, weights),
            OnDevice::Gpu(histogram) => histogram.weigh_on_host(samples, weights),
        }
    }
}
