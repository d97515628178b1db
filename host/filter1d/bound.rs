//! A filter on a device of some kind.

use super::{Algorithm, Filter1d, FilterElement, Lines, Plan, PreparedFilter1d, Taps};
use crate::backend::cpu;
use crate::backend::gpu;
use crate::{Buffer, Device, Element, Result};

/// What backends do for a filter.
pub(crate) trait Bound<T: Element>: Send + Sync {
    /// Filters `lines` of `samples` into `outputs`, both of which are on this device.
    fn run(&self, lines: &Lines, samples: &Buffer<T>, outputs: &mut Buffer<T>) -> Result<()>;

    /// Filters samples of the host into `len` outputs.
    fn run_on_host(&self, lines: &Lines, samples: &[T], len: usize) -> Result<Vec<T>>;

    /// How `lines` would be filtered.
    fn plan(&self, device: &Device, lines: &Lines) -> Plan;
}

/// An element type whose filters can be prepared. Not in generic code, so that the backends are compiled once, with this
/// crate, and not with every crate that filters.
pub trait Prepare: Element {
    /// [`Filter1d::prepare`].
    fn prepare(filter: &Filter1d<Self>, device: &Device) -> Result<PreparedFilter1d<Self>>;
}

macro_rules! filter_elements {
    ($($t:ty)*) => {$(
        impl Prepare for $t {
            fn prepare(filter: &Filter1d<$t>, device: &Device) -> Result<PreparedFilter1d<$t>> {
                PreparedFilter1d::new(device, filter.taps(), filter.algorithm)
            }
        }
        impl FilterElement for $t {}
    )*};
}
filter_elements!(f32 f64 i32);

/// Binds a filter to a device.
pub(super) fn bind<T: FilterElement>(
    device: &Device,
    taps: &Taps<T>,
    algorithm: Algorithm,
) -> Result<Box<dyn Bound<T>>> {
    Ok(match device.info().shared_memory {
        None => Box::new(cpu::Filter1d::new(taps, algorithm)),
        Some(shared) => Box::new(gpu::Filter1d::new(device, shared, taps, algorithm)?),
    })
}
