//! The element types.

use super::kernels::FilterKernels;
use super::{FilterAlgorithm, Lines, Plan, Taps, cpu, gpu};
use crate::multiply_add::MultiplyAdd;
use crate::{Buffer, Device, Element, FilterSample, FilterWeight, Result};
use slm_kernels::signal::Output;

/// A type of samples and of taps for filters that have both of one type: `f32`, `f64` or `i32`. The trait is sealed.
pub trait FilterElement: FilterSample + FilterWeight {}

/// Operations per type of samples, compiled once in this crate and not again in every dependent crate.
pub(crate) trait Prepare: Element {
    /// Returns the filter with these valid taps on a device, or `None` if there are no kernels for the type.
    fn prepare(
        device: &Device,
        taps: &Taps<Self>,
        algorithm: FilterAlgorithm,
    ) -> Option<Result<Box<dyn OnDevice<Self>>>>;

    /// Returns the number that is stored for a sum.
    fn of_sum(sum: f64) -> Self;
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

macro_rules! samples {
    ($($t:ty: |$device:pat_param, $taps:pat_param, $algorithm:pat_param| $prepared:expr;)*) => {$(
        impl Prepare for $t {
            fn prepare(
                $device: &Device,
                $taps: &Taps<$t>,
                $algorithm: FilterAlgorithm,
            ) -> Option<Result<Box<dyn OnDevice<$t>>>> {
                $prepared
            }

            fn of_sum(sum: f64) -> $t {
                Output::of_sum(sum)
            }
        }
    )*};
}
samples! {
    u8: |_, _, _| None;
    u16: |_, _, _| None;
    i16: |_, _, _| None;
    i32: |device, taps, algorithm| Some(prepare(device, taps, algorithm));
    f32: |device, taps, algorithm| Some(prepare(device, taps, algorithm));
    f64: |device, taps, algorithm| Some(prepare(device, taps, algorithm));
}

impl FilterElement for i32 {}
impl FilterElement for f32 {}
impl FilterElement for f64 {}
