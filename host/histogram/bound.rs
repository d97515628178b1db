//! A histogram on a device of some kind.

use super::{Algorithm, Histogram, HistogramElement, Plan, PreparedHistogram, Rule};
use crate::backend::cpu;
use crate::backend::gpu;
use crate::{Buffer, Device, Element, Result};
use slm_kernels::histogram::Quantum;
use std::sync::Arc;

/// What backends do for a histogram.
pub(crate) trait Bound<T: Element>: Send + Sync {
    /// Counts samples, and adds to `counts`; both are on this device.
    fn run(&self, samples: &Buffer<T>, counts: &mut Buffer<u64>) -> Result<()>;

    /// Counts samples of the host with so many counters.
    fn run_on_host(&self, samples: &[T], counters: usize) -> Result<Vec<u64>>;

    /// The sums of the weights, in multiples of the quantum; samples and weights are on this device.
    fn weigh(&self, samples: &Buffer<T>, weights: &Buffer<f32>) -> Result<(Vec<i64>, Quantum)>;

    /// The same for samples and weights of the host.
    fn weigh_on_host(&self, samples: &[T], weights: &[f32]) -> Result<(Vec<i64>, Quantum)>;

    /// How so many samples would be counted.
    fn plan(&self, device: &Device, samples: usize) -> Plan;
}

/// An element type whose histograms can be prepared. Not in generic code, so that the backends are compiled once, with
/// this crate, and not with every crate that counts.
pub trait Prepare: Element {
    /// [`Histogram::prepare`].
    fn prepare(histogram: &Histogram<Self>, device: &Device) -> Result<PreparedHistogram<Self>>;
}

macro_rules! histogram_elements {
    ($($t:ty)*) => {$(
        impl Prepare for $t {
            fn prepare(histogram: &Histogram<$t>, device: &Device) -> Result<PreparedHistogram<$t>> {
                PreparedHistogram::new(device, histogram.rule(), histogram.algorithm)
            }
        }
        impl HistogramElement for $t {}
    )*};
}
histogram_elements!(u8 u16 u32 i32 f32 f64);

/// Binds a histogram to a device; `edges` are those of the rule.
pub(super) fn bind<T: HistogramElement>(
    device: &Device,
    rule: &Rule<T>,
    edges: &Arc<[T]>,
    algorithm: Algorithm,
) -> Result<Box<dyn Bound<T>>> {
    Ok(match device.info().shared_memory {
        None => Box::new(cpu::Histogram::new(rule, edges, algorithm)),
        Some(shared) => gpu::histogram(device, shared, &rule.for_kernels(edges), algorithm)?,
    })
}
