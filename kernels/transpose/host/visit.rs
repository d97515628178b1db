//! The entry point of a chosen kernel, and its arguments for windows of bytes.

use super::{Geometry, MatrixPart, TransposeKernel};
use crate::transpose::{
    Args, Layout, PermuteArgs, Region, SkewedArgs, SwapArgs, Unit, transpose_naive, transpose_shared, visit_packed,
    visit_skewed,
};
use crate::{Misaligned, cast};
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut, Value};

/// A launch that does not work in place.
#[derive(Clone, Copy, Debug)]
pub struct Work<'l> {
    /// The launch parameters of the kernel.
    pub geometry: Geometry,
    /// The matrices of this launch.
    pub part: MatrixPart,
    /// The matrices.
    pub input: GlobalIn<'l, u8>,
    /// Receives the transposed matrices.
    pub output: GlobalOut<'l, u8>,
}

impl<'l, U: Value> TryFrom<Work<'l>> for Args<'l, U> {
    type Error = Misaligned;

    fn try_from(Work { geometry, part, input, output }: Work<'l>) -> Result<Self, Misaligned> {
        let at_once = geometry.at_once;
        Ok(Args { input: cast(input, at_once)?, output: cast(output, at_once)?, layout: geometry.layout(part) })
    }
}

impl<'l, U: Unit> TryFrom<Work<'l>> for SkewedArgs<'l, U> {
    type Error = Misaligned;

    fn try_from(Work { geometry, part, input, output }: Work<'l>) -> Result<Self, Misaligned> {
        Ok(SkewedArgs {
            input: cast(input, 1)?,
            output: cast(output, 1)?,
            input_words: cast(input, 1)?,
            output_words: cast(output, 1)?,
            layout: geometry.layout(part),
            places: geometry.skewed,
        })
    }
}

/// Converts the matrices and their layout.
impl<'l, U: Value> TryFrom<(GlobalInOut<'l, u8>, Layout)> for SwapArgs<'l, U> {
    type Error = Misaligned;

    fn try_from((matrices, layout): (GlobalInOut<'l, u8>, Layout)) -> Result<Self, Misaligned> {
        Ok(SwapArgs { matrices: cast(matrices, 1)?, layout })
    }
}

/// Converts the matrices, the memory of a part, and the part's position.
impl<'l, U: Value> TryFrom<([GlobalInOut<'l, u8>; 2], Region)> for PermuteArgs<'l, U> {
    type Error = Misaligned;

    fn try_from(([matrices, part], region): ([GlobalInOut<'l, u8>; 2], Region)) -> Result<Self, Misaligned> {
        Ok(PermuteArgs { matrices: cast(matrices, 1)?, part: cast(part, 1)?, region })
    }
}

/// A generic function of the entry point of a [`TransposeKernel`].
pub trait Visitor {
    /// Result of the function.
    type Output;

    /// Calls the function for the entry point `E`.
    fn visit<E>(self) -> Self::Output
    where
        E: Entry<Constants = ()>,
        for<'l> E::Args<'l>: TryFrom<Work<'l>, Error = Misaligned>;
}

impl TransposeKernel {
    /// Calls `visitor` with the kernel's entry point, and returns its result.
    ///
    /// # Panics
    ///
    /// If this is [`TransposeKernel::Swap`], which has other arguments.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            TransposeKernel::Naive(1) => visitor.visit::<transpose_naive<u8>>(),
            TransposeKernel::Naive(2) => visitor.visit::<transpose_naive<u16>>(),
            TransposeKernel::Naive(_) => visitor.visit::<transpose_naive<u32>>(),
            TransposeKernel::Shared { unit: 1, .. } => visitor.visit::<transpose_shared<u8>>(),
            TransposeKernel::Shared { unit: 2, .. } => visitor.visit::<transpose_shared<u16>>(),
            TransposeKernel::Shared { .. } => visitor.visit::<transpose_shared<u32>>(),
            TransposeKernel::Packed(packed) => visit_packed(packed, visitor),
            TransposeKernel::Skewed(skewed) => visit_skewed(skewed, visitor),
            TransposeKernel::Swap(_) => unreachable!("what works in place has other arguments"),
        }
    }
}
