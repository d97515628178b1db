//! The element types that have kernels for lines.

use super::Taps;
use super::algorithm::Method;
use super::details::Rounding;
use super::fft::Transforms;
use super::kernels::FilterKernels;
use super::line_filter::OwnKernels;
use super::method::{on_cpu, on_gpu};
use super::time::Timed;
use crate::cpu::multiply_add::MultiplyAdd;
use crate::device::on_device::OnDevice;
use crate::filter::fold::Foldable;
use crate::filter::signal::SharedWeights;
use crate::{Device, FilterSample, FilterWeight, Result};

/// A type of samples and of taps for filters that have both of one type: `f32`, `f64` or `i32`. The trait is sealed.
pub trait FilterElement: FilterSample + FilterWeight {}

impl FilterElement for i32 {}
impl FilterElement for f32 {}
impl FilterElement for f64 {}

/// Traits that the code of an element type requires.
#[expect(private_bounds, reason = "other modules only name the trait")]
pub(crate) trait Number:
    FilterElement + MultiplyAdd + FilterKernels + Foldable + Transforms + Timed + Rounding
{
}

impl<T: FilterElement + MultiplyAdd + FilterKernels + Foldable + Transforms + Timed + Rounding> Number for T {}

/// The code for filters of lines whose taps have the type of the samples.
pub(crate) trait LineKernels: Sized {
    /// Returns the filter, or `None` if the taps have another type, or if there is no such code for this one.
    fn own_kernels<W: FilterWeight>(
        device: &Device,
        taps: &Taps<Self, W>,
        method: Method,
    ) -> Result<Option<OwnKernels<Self>>>
    where
        Self: FilterSample;
}

macro_rules! own_kernels {
    ($($t:ident: $shared:ident;)*) => {$(
        impl LineKernels for $t {
            fn own_kernels<W: FilterWeight>(
                device: &Device,
                taps: &Taps<$t, W>,
                method: Method,
            ) -> Result<Option<OwnKernels<$t>>> {
                /// Not generic, so that all of this code is in this crate, and optimised if this crate is.
                fn of(device: &Device, taps: &Taps<$t>, method: Method) -> Result<OwnKernels<$t>> {
                    OnDevice::new(device, || on_cpu(taps, method), |gpu| on_gpu(&gpu, taps, method))
                }
                let &Taps { ref taps, source, border, outside, reach } = taps;
                let SharedWeights::$shared(taps) = W::shared(taps) else { return Ok(None) };
                of(device, &Taps { taps, source, border, outside, reach }, method).map(Some)
            }
        }
    )*};
}
own_kernels! {
    i32: I32;
    f32: F32;
    f64: F64;
}

macro_rules! without_own_kernels {
    ($($t:ident)*) => {$(
        impl LineKernels for $t {
            fn own_kernels<W: FilterWeight>(
                _: &Device,
                _: &Taps<$t, W>,
                _: Method,
            ) -> Result<Option<OwnKernels<$t>>> {
                Ok(None)
            }
        }
    )*};
}
without_own_kernels!(u8 u16 i16);
