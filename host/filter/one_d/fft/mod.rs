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

/// The filters by transforms of a type of elements.
#[derive(Clone, Copy)]
pub(super) struct ByTransforms<T: FilterSample> {
    pub(super) on_cpu: fn(&Taps<T>) -> Result<Box<dyn CpuLines<T>>>,
    /// Gets the reason for the choice.
    pub(super) on_gpu: fn(&Gpu, &Taps<T>, &'static str) -> Result<Box<dyn GpuLines<T>>>,
    /// Returns whether a GPU filters lines in less time by transforms with this number of taps than by sums with another one.
    pub(super) are_faster: fn(&Gpu, [usize; 2], &Lines) -> bool,
}

/// A type of elements, with its filters by transforms if there are any.
pub(super) trait Transforms: FilterSample {
    const BY_TRANSFORMS: Option<ByTransforms<Self>>;
}

impl Transforms for i32 {
    const BY_TRANSFORMS: Option<ByTransforms<i32>> = None;
}

macro_rules! transforms {
    ($($t:ident: $times:ident;)*) => {$(
        impl Transforms for $t {
            const BY_TRANSFORMS: Option<ByTransforms<$t>> = Some(ByTransforms {
                on_cpu: |taps| Ok(Box::new(CpuFft::new(taps, |number| number as $t)?)),
                on_gpu: |gpu, taps, reason| Ok(Box::new(GpuFft::new(gpu, taps, reason)?)),
                are_faster: |gpu, taps, lines| choose::$times.prefer_transforms(&work::<$t>(gpu, taps, lines)),
            });
        }
    )*};
}
transforms! {
    f32: F32;
    f64: F64;
}
