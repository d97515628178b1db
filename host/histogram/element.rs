//! The element types.

use super::cpu::Tally;
use super::kernels::HistogramKernels;
use super::prepared::OnDevice;
use super::{Histogram, Plan, PreparedHistogram};
use crate::{Buffer, Device, Element, LaunchPlan, Result};
use slm_kernels::histogram::{Countable, Quantum};

/// An element type that can be counted: `u8`, `u16`, `u32`, `i32`, `f32` or `f64`. The trait is sealed.
pub trait HistogramElement: Dispatch + Countable + Tally + Into<f64> + HistogramKernels {}

/// Functions of generic code that are compiled once per element type in this crate, not in every crate that counts.
pub trait Dispatch: Element {
    /// [`Histogram::prepare`].
    fn prepare(histogram: &Histogram<Self>, device: &Device) -> Result<PreparedHistogram<Self>>
    where
        Self: HistogramElement;

    /// Counts samples, and adds to `counts`; both are on the histogram's device.
    fn run(histogram: &PreparedHistogram<Self>, samples: &Buffer<Self>, counts: &mut Buffer<u64>) -> Result<()>
    where
        Self: HistogramElement;

    /// Counts samples of the host.
    fn run_on_host(histogram: &PreparedHistogram<Self>, samples: &[Self]) -> Result<Vec<u64>>
    where
        Self: HistogramElement;

    /// The sums of the weights, in multiples of the quantum; samples and weights are on the histogram's device.
    fn weigh(
        histogram: &PreparedHistogram<Self>,
        samples: &Buffer<Self>,
        weights: &Buffer<f32>,
    ) -> Result<(Vec<i64>, Quantum)>
    where
        Self: HistogramElement;

    /// The same for samples and weights of the host.
    fn weigh_on_host(
        histogram: &PreparedHistogram<Self>,
        samples: &[Self],
        weights: &[f32],
    ) -> Result<(Vec<i64>, Quantum)>
    where
        Self: HistogramElement;

    /// Returns the plan for `samples` samples.
    fn plan(histogram: &PreparedHistogram<Self>, samples: usize) -> Plan
    where
        Self: HistogramElement;

    /// [`PreparedHistogram::weighted_plan`].
    fn weighted_plan(histogram: &PreparedHistogram<Self>, samples: usize) -> Vec<LaunchPlan>
    where
        Self: HistogramElement;
}

macro_rules! histogram_elements {
    ($($t:ty)*) => {$(
        impl Dispatch for $t {
            fn prepare(histogram: &Histogram<$t>, device: &Device) -> Result<PreparedHistogram<$t>> {
                PreparedHistogram::new(device, histogram.rule(), histogram.algorithm)
            }

            fn run(histogram: &PreparedHistogram<$t>, samples: &Buffer<$t>, counts: &mut Buffer<u64>) -> Result<()> {
                match &histogram.on_device {
                    OnDevice::Cpu(cpu) => cpu.run(samples, counts),
                    OnDevice::Gpu(gpu) => gpu.run(samples, counts),
                }
            }

            fn run_on_host(histogram: &PreparedHistogram<$t>, samples: &[$t]) -> Result<Vec<u64>> {
                match &histogram.on_device {
                    OnDevice::Cpu(cpu) => cpu.run_on_host(samples, histogram.counts_len()),
                    OnDevice::Gpu(gpu) => gpu.run_on_host(samples, histogram.counts_len()),
                }
            }

            fn weigh(
                histogram: &PreparedHistogram<$t>,
                samples: &Buffer<$t>,
                weights: &Buffer<f32>,
            ) -> Result<(Vec<i64>, Quantum)> {
                match &histogram.on_device {
                    OnDevice::Cpu(cpu) => cpu.weigh(samples, weights),
                    OnDevice::Gpu(gpu) => gpu.weigh(samples, weights),
                }
            }

            fn weigh_on_host(
                histogram: &PreparedHistogram<$t>,
                samples: &[$t],
                weights: &[f32],
            ) -> Result<(Vec<i64>, Quantum)> {
                match &histogram.on_device {
                    OnDevice::Cpu(cpu) => cpu.weigh_on_host(samples, weights),
                    OnDevice::Gpu(gpu) => gpu.weigh_on_host(samples, weights),
                }
            }

            fn plan(histogram: &PreparedHistogram<$t>, samples: usize) -> Plan {
                match &histogram.on_device {
                    OnDevice::Cpu(cpu) => cpu.plan(&histogram.device, samples),
                    OnDevice::Gpu(gpu) => gpu.plan(samples),
                }
            }

            fn weighted_plan(histogram: &PreparedHistogram<$t>, samples: usize) -> Vec<LaunchPlan> {
                match &histogram.on_device {
                    OnDevice::Cpu(_) => Vec::new(),
                    OnDevice::Gpu(gpu) => gpu.weighted_plan(samples),
                }
            }
        }
        impl HistogramElement for $t {}
    )*};
}
histogram_elements!(u8 u16 u32 i32 f32 f64);
