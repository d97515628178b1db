//! Samples on a GPU, whose type is known at run time only.

use crate::histogram::weights::WeightBuffer;
use crate::{BufferSlice, Result, Windows};
use cuda_std::GlobalIn;
use slm_kernels::cast;

/// A buffer that begins with samples of any type.
#[derive(Clone, Copy)]
pub(crate) enum SampleBuffer<'a> {
    U8(BufferSlice<'a, u8>),
    U16(BufferSlice<'a, u16>),
    U32(BufferSlice<'a, u32>),
    I32(BufferSlice<'a, i32>),
    F32(BufferSlice<'a, f32>),
    F64(BufferSlice<'a, f64>),
}

impl<'a> SampleBuffer<'a> {
    /// Returns a window on the bytes of all elements.
    pub(super) fn window<'l>(self, windows: &mut Windows<'l, 'a>) -> Result<GlobalIn<'l, u8>> {
        Ok(match self {
            SampleBuffer::U8(buffer) => windows.input_slice(buffer),
            SampleBuffer::U16(buffer) => cast(windows.input_slice(buffer), 1)?,
            SampleBuffer::U32(buffer) => cast(windows.input_slice(buffer), 1)?,
            SampleBuffer::I32(buffer) => cast(windows.input_slice(buffer), 1)?,
            SampleBuffer::F32(buffer) => cast(windows.input_slice(buffer), 1)?,
            SampleBuffer::F64(buffer) => cast(windows.input_slice(buffer), 1)?,
        })
    }
}

/// Samples and their weights, at the beginnings of their buffers.
#[derive(Clone, Copy)]
pub(crate) struct WeightedSamples<'a> {
    pub(in crate::histogram) samples: SampleBuffer<'a>,
    pub(in crate::histogram) weights: WeightBuffer<'a>,
    /// Number of samples.
    pub(in crate::histogram) len: usize,
}
