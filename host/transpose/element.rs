//! The element types.

use super::{PreparedTranspose, PreparedTransposeInPlace, Transpose, TransposeAlgorithm};
use crate::device::data::{Elements, Target};
use crate::element::raw::Raw;
use crate::{BufferSliceMut, Device, Element, Plan, Result};

/// A type whose matrices can be transposed: every [`Element`] except `F16` and `Bf16`. The trait is sealed.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Dispatch` in their generic code")]
pub trait TransposeElement: Element + Dispatch {}

/// Operations per element type, compiled once in this crate and not again in every dependent crate.
pub(crate) trait Dispatch: Raw {
    /// Returns the result of [`Transpose::prepare`].
    fn prepare(transpose: &Transpose<Self>, device: &Device) -> Result<PreparedTranspose<Self>>;

    /// Returns the result of [`Transpose::prepare_in_place`].
    fn prepare_in_place(transpose: &Transpose<Self>, device: &Device) -> Result<PreparedTransposeInPlace<Self>>;

    fn run(transpose: &PreparedTranspose<Self>, input: &Elements<'_, Self>, output: Target<'_, Self>) -> Result<()>;

    /// Returns the plan for matrices with these row pitches.
    fn plan(transpose: &PreparedTranspose<Self>, pitches: [usize; 2]) -> Result<Plan<TransposeAlgorithm>>;

    /// Transposes the matrices in `data`, which is on the device, with the given row pitch in elements.
    fn run_in_place(
        transpose: &PreparedTransposeInPlace<Self>,
        data: BufferSliceMut<'_, Self>,
        pitch: usize,
    ) -> Result<()>;

    /// Transposes the matrices in `data`, which is on the host.
    fn run_in_place_on_host(transpose: &PreparedTransposeInPlace<Self>, data: &mut [Self]) -> Result<()>;
}

macro_rules! transpose_elements {
    ($($t:ty)*) => {$(
        impl Dispatch for $t {
            fn prepare(transpose: &Transpose<$t>, device: &Device) -> Result<PreparedTranspose<$t>> {
                PreparedTranspose::new(device, transpose.matrices, transpose.algorithm)
            }

            fn prepare_in_place(transpose: &Transpose<$t>, device: &Device) -> Result<PreparedTransposeInPlace<$t>> {
                PreparedTransposeInPlace::new(device, transpose.matrices)
            }

            fn run(transpose: &PreparedTranspose<$t>, input: &Elements<'_, $t>, output: Target<'_, $t>) -> Result<()> {
                transpose.run(input, output)
            }

            fn plan(transpose: &PreparedTranspose<$t>, pitches: [usize; 2]) -> Result<Plan<TransposeAlgorithm>> {
                transpose.plan_of(pitches)
            }

            fn run_in_place(
                transpose: &PreparedTransposeInPlace<$t>,
                data: BufferSliceMut<'_, $t>,
                pitch: usize,
            ) -> Result<()> {
                transpose.run(data, pitch)
            }

            fn run_in_place_on_host(transpose: &PreparedTransposeInPlace<$t>, data: &mut [$t]) -> Result<()> {
                transpose.run_on_host(data)
            }
        }
        impl TransposeElement for $t {}
    )*};
}
transpose_elements!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);
