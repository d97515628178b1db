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
    /// The type of the borders of bins: `i64` for integers, as a range may end behind the type's largest number, and the type
    /// itself for floats.
    type Bound: Element + PartialOrd + From<Self>;
}

/// The way from generic code to the code of an element type: compiled once, with this crate, and not with every crate that
/// counts.
pub(crate) trait Prepare: Element {
    /// Checks a rule and binds it to a device.
    fn prepare(device: &Device, rule: Rule<Self>, algorithm: HistogramAlgorithm) -> Result<PreparedHistogram<Self>>
    where
        Self: HistogramElement;
}

/// A histogram on a device of some kind.
pub(super) trait OnDevice<T: Element>: Send + Sync {
    /// Counts the first `len` samples of a buffer, and adds to `counts`; both are on this device.
    fn run(&self, samples: &Buffer<T>, len: usize, counts: &mut Buffer<u64>) -> Result<()>;

    /// Counts samples of the host with so many counters.
    fn run_on_host(&self, samples: &[T], counters: usize) -> Result<Vec<u64>>;

    /// Adds up the weights of the first `len` samples; both buffers are on this device.
    fn weigh(&self, samples: &Buffer<T>, len: usize, weights: WeightBuffer<'_>) -> Result<Sums>;

    /// The same for samples and weights of the host.
    fn weigh_on_host(&self, samples: &[T], weights: WeightSlice<'_>) -> Result<Sums>;

    /// How so many samples would be counted on `device`, which is this one.
    fn plan(&self, device: &Device, samples: usize) -> Plan;

    /// [`PreparedHistogram::weighted_plan`].
    fn weighted_plan(&self, samples: usize) -> Vec<LaunchPlan>;
}

/// What the code of an element type asks of it.
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
