//! A histogram on a device of some kind.

use super::{Algorithm, Histogram, HistogramElement, Plan, PreparedHistogram, Rule, check_weights};
use crate::backend::cpu;
#[cfg(cuda)]
use crate::backend::cuda;
#[cfg(feature = "emulator")]
use crate::backend::emulated;
use crate::buffer::Storage;
use crate::device::Engine;
use crate::{Device, Element, Result};
use slm_kernels::histogram::Quantum;
use std::sync::Arc;

/// What backends do for a histogram.
pub(crate) trait Bound<T: Element>: Send + Sync {
    /// Counts samples, and adds to `counts`; both are on this device.
    fn run(&self, samples: &Storage<T>, counts: &mut Storage<u64>) -> Result<()>;

    /// Counts samples of the host with so many counters.
    fn run_on_host(&self, device: &Device, samples: &[T], counters: usize) -> Result<Vec<u64>> {
        let samples = device.upload(samples)?;
        let mut counts = device.zeroed(counters)?;
        self.run(samples.storage(), counts.storage_mut())?;
        counts.download()
    }

    /// The sums of the weights, in multiples of the quantum; samples and weights are on this device.
    fn weigh(&self, samples: &Storage<T>, weights: &Storage<f32>) -> Result<(Vec<i64>, Quantum)>;

    /// The same for samples and weights of the host.
    fn weigh_on_host(&self, device: &Device, samples: &[T], weights: &[f32]) -> Result<(Vec<i64>, Quantum)> {
        check_weights(weights)?;
        self.weigh(device.upload(samples)?.storage(), device.upload(weights)?.storage())
    }

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
    Ok(match device.engine() {
        Engine::Cpu => Box::new(cpu::Histogram::new(rule, edges, algorithm)),
        #[cfg(cuda)]
        Engine::Cuda(queue) => cuda::histogram(queue, &rule.for_kernels(edges), algorithm)?,
        #[cfg(feature = "emulator")]
        Engine::Emulated(emulation) => emulated::histogram(emulation, &rule.for_kernels(edges), algorithm)?,
    })
}
