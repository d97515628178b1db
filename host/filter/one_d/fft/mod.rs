//! Filters by Fourier transforms.
//!
//! | file | contents |
//! |---|---|
//! | `kernels.rs` | the kernels for each type and number of points |
//! | `spectrum.rs` | spectra of taps |
//! | `cpu.rs` | the filter on the CPU |
//! | `gpu.rs` | the filter on a GPU |

mod cpu;
mod gpu;
mod kernels;
mod spectrum;

use super::line_filter::{CpuLines, GpuLines};
use super::{Lines, Taps};
use crate::device::gpu::Gpu;
use crate::device::info::SharedMemory;
use crate::{FilterSample, Result};
use cpu::CpuFft;
pub(crate) use cpu::points as points_on_cpu;
use gpu::{GpuFft, time};

/// The filters by transforms of a type of elements.
#[derive(Clone, Copy)]
pub(super) struct ByTransforms<T: FilterSample> {
    /// Gets the number of outputs of a line, if it is known and small, and the reason for the choice, as does the next one.
    pub(super) on_cpu: fn(&Taps<T>, usize, &'static str) -> Result<Box<dyn CpuLines<T>>>,
    pub(super) on_gpu: fn(&Gpu, &Taps<T>, &'static str) -> Result<Box<dyn GpuLines<T>>>,
    /// Returns the time on a GPU with this number of taps, in picoseconds, or `None` if it cannot filter.
    pub(super) time: fn(SharedMemory, usize, &Lines) -> Option<f64>,
}

/// A type of elements, with its filters by transforms if there are any.
pub(super) trait Transforms: FilterSample {
    const BY_TRANSFORMS: Option<ByTransforms<Self>>;
}

impl Transforms for i32 {
    const BY_TRANSFORMS: Option<ByTransforms<i32>> = None;
}

macro_rules! transforms {
    ($($t:ident)*) => {$(
        impl Transforms for $t {
            const BY_TRANSFORMS: Option<ByTransforms<$t>> = Some(ByTransforms {
                on_cpu: |taps, outputs, reason| {
                    Ok(Box::new(CpuFft::new(taps, outputs, reason, |number| number as $t)?))
                },
                on_gpu: |gpu, taps, reason| Ok(Box::new(GpuFft::new(gpu, taps, reason)?)),
                time: time::<$t>,
            });
        }
    )*};
}
transforms!(f32 f64);
