//! Windows on samples and outputs for kernels whose types are known at compile time, or at run time only.

use super::accumulator::Accumulator;
use super::element::{BufferMut, BufferRef, Scalar};
use crate::Windows;
use crate::any::Erase;
use cuda_std::Argument;
use slm_kernels::filter2d::{Any, Typed};
use slm_kernels::signal::Types;

/// Samples and outputs of a kernel.
pub(super) trait Windowed<'l>: Argument {
    /// Returns the windows. The buffers have the types of the kernel.
    fn new<'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>, outputs: BufferMut<'b>, outside: Scalar) -> Self;
}

impl<'l, F: Types<Sample: Erase, Output: Erase>> Windowed<'l> for Typed<'l, F> {
    fn new<'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>, outputs: BufferMut<'b>, outside: Scalar) -> Self {
        let (Some(samples), Some(outputs), Some(outside)) =
            (F::Sample::typed_buffer(samples), F::Output::typed_buffer_mut(outputs), F::Sample::typed_scalar(outside))
        else {
            unreachable!("the rule has been checked for the types of the kernel")
        };
        Typed { input: windows.input(samples), output: windows.output(outputs), outside }
    }
}

impl<'l, A: Accumulator> Windowed<'l> for Any<'l, A> {
    fn new<'b>(windows: &mut Windows<'l, 'b>, samples: BufferRef<'b>, outputs: BufferMut<'b>, outside: Scalar) -> Self {
        Any { input: samples.window(windows), output: outputs.window(windows), outside: A::of_scalar(outside) }
    }
}
