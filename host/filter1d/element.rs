//! The element types.

use super::cpu::MultiplyAdd;
use super::kernels::FilterKernels;
use super::prepared::OnDevice;
use super::{Filter1d, Lines, Plan, PreparedFilter1d};
use crate::{Buffer, Device, Element, Result};
use slm_kernels::signal::Sample;

/// An element type that can be filtered: `f32`, `f64` or `i32`. The trait is sealed.
pub trait FilterElement: Dispatch + Sample + MultiplyAdd + FilterKernels {}

/// Functions of generic code that are compiled once per element type in this crate, not in every crate that filters.
pub trait Dispatch: Element {
    /// [`Filter1d::prepare`].
    fn prepare(filter: &Filter1d<Self>, device: &Device) -> Result<PreparedFilter1d<Self>>
    where
        Self: FilterElement;

    /// Filters `lines` of `samples` into `outputs`; both are on the filter's device.
    fn run(
        filter: &PreparedFilter1d<Self>,
        lines: &Lines,
        samples: &Buffer<Self>,
        outputs: &mut Buffer<Self>,
    ) -> Result<()>
    where
        Self: FilterElement;

    /// Returns `len` outputs for samples of the host.
    fn run_on_host(filter: &PreparedFilter1d<Self>, lines: &Lines, samples: &[Self], len: usize) -> Result<Vec<Self>>
    where
        Self: FilterElement;

    /// Returns the plan for `lines`.
    fn plan(filter: &PreparedFilter1d<Self>, lines: &Lines) -> Plan
    where
        Self: FilterElement;
}

macro_rules! filter_elements {
    ($($t:ty)*) => {$(
        impl Dispatch for $t {
            fn prepare(filter: &Filter1d<$t>, device: &Device) -> Result<PreparedFilter1d<$t>> {
                PreparedFilter1d::new(device, filter.taps(), filter.algorithm)
            }

            fn run(
                filter: &PreparedFilter1d<$t>,
                lines: &Lines,
                samples: &Buffer<$t>,
                outputs: &mut Buffer<$t>,
            ) -> Result<()> {
                match &filter.on_device {
                    OnDevice::Cpu(cpu) => cpu.run(lines, samples, outputs),
                    OnDevice::Gpu(gpu) => gpu.run(lines, samples, outputs),
                }
            }

            fn run_on_host(
                filter: &PreparedFilter1d<$t>,
                lines: &Lines,
                samples: &[$t],
                len: usize,
            ) -> Result<Vec<$t>> {
                match &filter.on_device {
                    OnDevice::Cpu(cpu) => cpu.run_on_host(lines, samples, len),
                    OnDevice::Gpu(gpu) => gpu.run_on_host(lines, samples, len),
                }
            }

            fn plan(filter: &PreparedFilter1d<$t>, lines: &Lines) -> Plan {
                match &filter.on_device {
                    OnDevice::Cpu(cpu) => cpu.plan(&filter.device, lines),
                    OnDevice::Gpu(gpu) => gpu.plan(lines),
                }
            }
        }
        impl FilterElement for $t {}
    )*};
}
filter_elements!(f32 f64 i32);
