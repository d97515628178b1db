//! The choice of a device for each element type.

use super::cpu::{self, Tally};
use super::element::Prepare;
use super::fitted::Fitted;
use super::kernels::HistogramKernels;
use super::on_device::OnDevice;
use super::{HistogramAlgorithm, PreparedHistogram, Rule, gpu};
use crate::{Device, Result};

fn prepare<T: Tally + HistogramKernels>(
    device: &Device,
    rule: Rule<T>,
    algorithm: HistogramAlgorithm,
) -> Result<PreparedHistogram<T>> {
    rule.check()?;
    let edges = rule.edges()?;
    let fitted = Fitted::new(&rule, &edges);
    let on_device = match device.info().shared_memory {
        None => OnDevice::Cpu(Box::new(cpu::Histogram::new(fitted, &edges))),
        Some(shared) => OnDevice::Gpu(gpu::prepare(device, shared, fitted, &edges, algorithm)?),
    };
    Ok(PreparedHistogram::new(device, rule, edges, algorithm, on_device))
}

macro_rules! elements {
    ($($t:ty)*) => {$(
        impl Prepare for $t {
            fn prepare(device: &Device, rule: Rule<$t>, algorithm: HistogramAlgorithm) -> Result<PreparedHistogram<$t>> {
                prepare(device, rule, algorithm)
            }
        }
    )*};
}
elements!(u8 u16 u32 i32 f32 f64);
