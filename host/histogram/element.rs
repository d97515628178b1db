//! The element types.

use super::cpu::{self, Tally};
use super::fitted::{Fit, Fitted};
use super::kernels::HistogramKernels;
use super::weights::{Sums, WeightBuffer, WeightSlice};
use super::{HistogramAlgorithm, HistogramBound, Plan, PreparedHistogram, Rule, gpu};
use crate::{Buffer, Device, Element, LaunchPlan, Result};

/// An element type that can be counted: `u8`, `u16`, `u32`, `i32`, `f32` or `f64`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Prepare` in their generic code")]
pub trait HistogramElement: Element + PartialOrd + HistogramBound<Self> + Prepare {
    /// Type of the borders of bins: `i64` for integers, because a range may end beyond the largest sample value, and the sample
    /// type for floats.
    type Bound: Element + PartialOrd + From<Self>;
}

/// Operations per element type, compiled once in this crate and not again in every dependent crate.
pub(crate) trait Prepare: Element {
    /// Checks a rule and binds it to a device. Returns the prepared histogram.
    fn prepare(device: &Device, rule: Rule<Self>, algorithm: HistogramAlgorithm) -> Result<PreparedHistogram<Self>>
    where
        Self: HistogramElement;
}

/// A histogram on a device of some kind.
pub(super) trait OnDevice<T: Element>: Send + Sync {
    /// Adds the counts of the first `len` samples of a buffer to `counts`. Both are on this device.
    fn run(&self, samples: &Buffer<T>, len: usize, counts: &mut Buffer<u64>) -> Result<()>;

    /// Returns the counts of samples on the host, with this number of counters.
    fn run_on_host(&self, samples: &[T], counters: usize) -> Result<Vec<u64>>;

    /// Returns the sums of the weights of the first `len` samples. Both buffers are on this device.
    fn weigh(&self, samples: &Buffer<T>, len: usize, weights: WeightBuffer<'_>) -> Result<Sums>;

    /// Returns the sums of weights for samples and weights on the host.
    fn weigh_on_host(&self, samples: &[T], weights: WeightSlice<'_>) -> Result<Sums>;

    /// Returns the plan for counting this number of samples on `device`, which is this device.
    fn plan(&self, device: &Device, samples: usize) -> Plan;

    /// Returns the result of [`PreparedHistogram::weighted_plan`].
    fn weighted_plan(&self, samples: usize) -> Vec<LaunchPlan>;
}

/// Traits that the code of an element type requires.
pub(super) trait Number: Fit + Tally + HistogramKernels {}

impl<T: Fit + Tally + HistogramKernels> Number for T {}

fn prepare<T: Number>(device: &Device, rule: Rule<T>, algorithm: HistogramAlgorithm) -> Result<PreparedHistogram<T>> {
    rule.check()?;
    let edges = rule.edges()?;
    let fitted = Fitted::new(&rule, &edges);
    let on_device: Box<dyn OnDevice<T>> = match device.info().shared_memory {
        None => Box::new(cpu::Histogram::new(fitted, &edges, algorithm)),
        Some(shared) => gpu::prepare(device, shared, fitted, &edges, algorithm)?,
    };
    Ok(PreparedHistogram::new(device, rule, edges, algorithm, on_device))
}

macro_rules! histogram_elements {
    ($($t:ty: $bound:ty;)*) => {$(
        impl Prepare for $t {
            fn prepare(
                device: &Device,
                rule: Rule<$t>,
                algorithm: HistogramAlgorithm,
            ) -> Result<PreparedHistogram<$t>> {
                prepare(device, rule, algorithm)
            }
        }
        impl HistogramElement for $t {
            type Bound = $bound;
        }
    )*};
}
histogram_elements! {
    u8: i64;
    u16: i64;
    u32: i64;
    i32: i64;
    f32: f32;
    f64: f64;
}
