//! Filters by Fourier transforms.
//!
//! | file | contents |
//! |---|---|
//! | `kernels.rs` | the kernels for each type and number of points |
//! | `spectrum.rs` | spectra of taps |
//! | `choose.rs` | when a GPU transforms |
//! | `cpu.rs` | the filter on the CPU |
//! | `gpu.rs` | the filter on a GPU |

mod choose;
mod cpu;
mod gpu;
mod kernels;
mod spectrum;

use super::line_filter::{CpuLines, GpuLines};
use super::{Lines, Taps};
use crate::device::gpu::Gpu;
use crate::{FilterSample, Result};
use cpu::CpuFft;
use gpu::{GpuFft, work};

/// Types of elements, most of which can be filtered by transforms.
pub(super) trait Transforms: FilterSample {
    const HAS_TRANSFORMS: bool;

    /// Returns the filter on the CPU, or `None` if this type has no transforms.
    fn on_cpu(taps: &Taps<Self>) -> Result<Option<Box<dyn CpuLines<Self>>>>;

    /// Returns whether a GPU filters these lines in less time by transforms.
    fn are_faster(gpu: &Gpu, taps: usize, lines: &Lines) -> bool;

    /// Returns the filter on a GPU, or `None` if this type has no transforms. The reason is that of the choice.
    fn on_gpu(gpu: &Gpu, taps: &Taps<Self>, reason: &'static str) -> Result<Option<Box<dyn GpuLines<Self>>>>;
}

/// Returns the filter of lines of at most this number of outputs on the CPU.
pub(crate) fn cpu_transforms(taps: &Taps<f64>, outputs: usize) -> Result<Box<dyn CpuLines<f64>>> {
    Ok(Box::new(CpuFft::new(taps, outputs, |number| number)?))
}

impl Transforms for i32 {
    const HAS_TRANSFORMS: bool = false;

    fn on_cpu(_: &Taps<i32>) -> Result<Option<Box<dyn CpuLines<i32>>>> {
        Ok(None)
    }

    fn are_faster(_: &Gpu, _: usize, _: &Lines) -> bool {
        false
    }

    fn on_gpu(_: &Gpu, _: &Taps<i32>, _: &'static str) -> Result<Option<Box<dyn GpuLines<i32>>>> {
        Ok(None)
    }
}

macro_rules! transforms {
    ($($t:ident: $times:ident;)*) => {$(
        impl Transforms for $t {
            const HAS_TRANSFORMS: bool = true;

            fn on_cpu(taps: &Taps<$t>) -> Result<Option<Box<dyn CpuLines<$t>>>> {
                Ok(Some(Box::new(CpuFft::new(taps, usize::MAX, |number| number as $t)?)))
            }

            fn are_faster(gpu: &Gpu, taps: usize, lines: &Lines) -> bool {
                choose::$times.prefer_transforms(&work::<$t>(gpu, taps, lines))
            }

            fn on_gpu(gpu: &Gpu, taps: &Taps<$t>, reason: &'static str) -> Result<Option<Box<dyn GpuLines<$t>>>> {
                Ok(Some(Box::new(GpuFft::new(gpu, taps, reason)?)))
            }
        }
    )*};
}
transforms! {
    f32: F32;
    f64: F64;
}
