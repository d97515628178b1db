//! The entry point of a chosen kernel, and its arguments for windows of bytes.

use super::{Geometry, MatrixPart, TransposeKernel};
use crate::transpose::{
    Args, Cycles, CyclesArgs, Group, Panel, PanelArgs, PermuteArgs, Region, ShuffleArgs, Shuffled, SkewedArgs, Squares,
    SwapArgs, Unit, WholeArgs, transpose_naive, transpose_shared, transpose_swap, visit_packed, visit_skewed,
    visit_swap, visit_whole,
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

impl<'l, U: Unit> TryFrom<Work<'l>> for WholeArgs<'l, U> {
    type Error = Misaligned;

    fn try_from(Work { geometry, part, input, output }: Work<'l>) -> Result<Self, Misaligned> {
        Ok(WholeArgs {
            input: cast(input, 1)?,
            output: cast(output, 1)?,
            input_words: cast(input, 1)?,
            output_words: cast(output, 1)?,
            group: Group { first_matrix: part.first_matrix, ..geometry.group },
        })
    }
}

/// A launch that transposes square matrices in place.
#[derive(Clone, Copy, Debug)]
pub struct SwapWork<'l> {
    /// The launch parameters of the kernel.
    pub geometry: Geometry,
    /// The matrices of this launch.
    pub part: MatrixPart,
    /// The matrices.
    pub matrices: GlobalInOut<'l, u8>,
    /// Positions of the matrices, with distances in bytes.
    pub squares: Squares,
}

impl<'l, U: Value> TryFrom<SwapWork<'l>> for SwapArgs<'l, U> {
    type Error = Misaligned;

    fn try_from(SwapWork { geometry, part, matrices, squares }: SwapWork<'l>) -> Result<Self, Misaligned> {
        let [beside, below] = [squares.beside, squares.below].map(|bytes| bytes / size_of::<U>() as u64);
        let squares = Squares { beside, below, ..squares };
        Ok(SwapArgs { matrices: cast(matrices, geometry.at_once)?, layout: geometry.layout(part), squares })
    }
}

/// Converts the matrices, the memory of a part, and the part's position.
impl<'l, U: Value> TryFrom<([GlobalInOut<'l, u8>; 2], Region)> for PermuteArgs<'l, U> {
    type Error = Misaligned;

    fn try_from(([matrices, part], region): ([GlobalInOut<'l, u8>; 2], Region)) -> Result<Self, Misaligned> {
        Ok(PermuteArgs { matrices: cast(matrices, 1)?, part: cast(part, 1)?, region })
    }
}

/// Converts the matrices, the memory of a panel, the panel, and the number of units that an access moves.
impl<'l, U: Value> TryFrom<([GlobalInOut<'l, u8>; 2], Panel, u32)> for PanelArgs<'l, U> {
    type Error = Misaligned;

    fn try_from(
        ([matrices, part], panel, at_once): ([GlobalInOut<'l, u8>; 2], Panel, u32),
    ) -> Result<Self, Misaligned> {
        Ok(PanelArgs { matrices: cast(matrices, at_once)?, part: cast(part, at_once)?, panel })
    }
}

/// Converts the matrices, and their rows.
impl<'l, U: Value> TryFrom<(GlobalInOut<'l, u8>, Shuffled)> for ShuffleArgs<'l, U> {
    type Error = Misaligned;

    fn try_from((matrices, shape): (GlobalInOut<'l, u8>, Shuffled)) -> Result<Self, Misaligned> {
        Ok(ShuffleArgs { matrices: cast(matrices, 1)?, shape })
    }
}

/// Converts the matrix, the saved chunks, and the table: the chunks of all cycles, then the first chunks.
impl<'l> TryFrom<([GlobalInOut<'l, u8>; 2], GlobalIn<'l, u32>, Cycles)> for CyclesArgs<'l> {
    type Error = Misaligned;

    fn try_from(
        ([matrix, saved], table, cycles): ([GlobalInOut<'l, u8>; 2], GlobalIn<'l, u32>, Cycles),
    ) -> Result<Self, Misaligned> {
        let first_chunks = u64::from(cycles.chunks);
        let (chunks, first_chunks) = (table.slice(0, first_chunks), table.slice(first_chunks, cycles.segments.into()));
        Ok(CyclesArgs { matrix: cast(matrix, 4)?, saved: cast(saved, 4)?, chunks, first_chunks, cycles })
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

/// A generic function of the entry point of a [`TransposeKernel`] that works in place.
pub trait SwapVisitor {
    /// Result of the function.
    type Output;

    /// Calls the function for the entry point `E`.
    fn visit<E>(self) -> Self::Output
    where
        E: Entry<Constants = ()>,
        for<'l> E::Args<'l>: TryFrom<SwapWork<'l>, Error = Misaligned>;
}

impl TransposeKernel {
    /// Calls `visitor` with the kernel's entry point, and returns its result.
    ///
    /// # Panics
    ///
    /// If this kernel works in place: it has other arguments.
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
            TransposeKernel::Whole(whole) => visit_whole(whole, visitor),
            TransposeKernel::Swap(_) | TransposeKernel::SwapPacked(_) => {
                unreachable!("what works in place has other arguments")
            }
        }
    }

    /// Calls `visitor` with the entry point of a kernel that works in place, and returns its result.
    ///
    /// # Panics
    ///
    /// If this kernel does not work in place.
    pub fn visit_in_place<V: SwapVisitor>(self, visitor: V) -> V::Output {
        match self {
            TransposeKernel::Swap(1) => visitor.visit::<transpose_swap<u8>>(),
            TransposeKernel::Swap(2) => visitor.visit::<transpose_swap<u16>>(),
            TransposeKernel::Swap(_) => visitor.visit::<transpose_swap<u32>>(),
            TransposeKernel::SwapPacked(packed) => visit_swap(packed, visitor),
            other => unreachable!("{other:?} does not work in place"),
        }
    }
}
