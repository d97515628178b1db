//! The element types.

use super::kernels::FilterKernels;
use super::{FilterAlgorithm, Lines, Plan, Taps, cpu, gpu};
use crate::multiply_add::MultiplyAdd;
use crate::{Buffer, Device, Element, FilterSample, FilterWeight, Result};

/// An element type that can be filtered: `f32`, `f64` or `i32`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Prepare` in their generic code")]
pub trait FilterElement: FilterSample + FilterWeight + Prepare {}

/// Operations per element type, compiled once in this crate and not again in every dependent crate.
pub(crate) trait Prepare: Element {
    /// Returns the filter with these valid taps on a device.
    fn prepare(device: &Device, taps: &Taps<Self>, algorithm: FilterAlgorithm) -> Result<Box<dyn OnDevice<Self>>>;
}

/// A filter on a device of some kind.
pub(crate) trait OnDevice<T: Element>: Send + Sync {
    /// Filters `lines` of `samples` into `outputs`. Both buffers are on this device.
    fn run(&self, lines: &Lines, samples: &Buffer<T>, outputs: &mut Buffer<T>) -> Result<()>;

    /// Returns `len` outputs for samples on the host.
    fn run_on_host(&self, lines: &Lines, samples: &[T], len: usize) -> Result<Vec<T>>;

    /// Returns the plan for filtering `lines` on `device`, which is this device.
    fn plan(&self, device: &Device, lines: &Lines) -> Plan;
}

/// Traits that the code of an element type requires.
pub(super) trait Number: FilterElement + MultiplyAdd + FilterKernels {}

impl<T: FilterElement + MultiplyAdd + FilterKernels> Number for T {}

fn prepare<T: Number>(device: &Device, taps: &Taps<T>, algorithm: FilterAlgorithm) -> Result<Box<dyn OnDevice<T>>> {
    Ok(match device.info().shared_memory {
        None => Box::new(cpu::Filter1d::new(taps, algorithm)),
        Some(shared) => Box::new(gpu::Filter1d::new(device, shared, taps, algorithm)?),
    })
}

macro_rules! filter_elements {
    ($($t:ty)*) => {$(
        impl Prepare for $t {
            fn prepare(device: &Device, taps: &Taps<$t>, algorithm: FilterAlgorithm) -> Result<Box<dyn OnDevice<$t>>> {
                prepare(device, taps, algorithm)
            }
        }
        impl FilterElement for $t {}
    )*};
}
filter_elements!(f32 f64 i32);
