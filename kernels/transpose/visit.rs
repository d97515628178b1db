//! From a kernel that was chosen to its entry point, and from windows on bytes to its arguments.
//!
//! A window that does not begin at a multiple of what a kernel moves becomes an empty one.

use super::{
    Args, Geometry, Kernel, Layout, Part, PermuteArgs, Region, SkewedArgs, SwapArgs, Unit, transpose_naive,
    transpose_shared, visit_packed, visit_skewed,
};
use cuda_std::{Entry, GlobalIn, GlobalInOut, GlobalOut, Value};

/// What a launch that writes another matrix works on.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// How the kernel is launched.
    pub geometry: Geometry,
    /// Which of the launches this is.
    pub part: Part,
    /// The matrices.
    pub input: GlobalIn<u8>,
    /// Receives the transposed ones.
    pub output: GlobalOut<u8>,
}

impl<U: Value> From<Work> for Args<U> {
    fn from(Work { geometry, part, input, output }: Work) -> Self {
        Args { input: of_input(input), output: of_output(output), layout: geometry.layout(part) }
    }
}

impl<U: Unit> From<Work> for SkewedArgs<U> {
    fn from(Work { geometry, part, input, output }: Work) -> Self {
        SkewedArgs {
            input: of_input(input),
            output: of_output(output),
            input_words: of_input(input),
            output_words: of_output(output),
            layout: geometry.layout(part),
            places: geometry.skewed,
        }
    }
}

/// The matrices, and where they are.
impl<U: Value> From<(GlobalInOut<u8>, Layout)> for SwapArgs<U> {
    fn from((matrices, layout): (GlobalInOut<u8>, Layout)) -> Self {
        SwapArgs { matrices: of_both(matrices), layout }
    }
}

/// The matrices and the part of one, and which part that is.
impl<U: Value> From<([GlobalInOut<u8>; 2], Region)> for PermuteArgs<U> {
    fn from((memory, region): ([GlobalInOut<u8>; 2], Region)) -> Self {
        let [matrices, part] = memory.map(of_both);
        PermuteArgs { matrices, part, region }
    }
}

fn of_input<U: Value>(window: GlobalIn<u8>) -> GlobalIn<U> {
    window.cast().unwrap_or(GlobalIn::empty())
}

fn of_output<U: Value>(window: GlobalOut<u8>) -> GlobalOut<U> {
    window.cast().unwrap_or(GlobalOut::empty())
}

fn of_both<U: Value>(window: GlobalInOut<u8>) -> GlobalInOut<U> {
    window.cast().unwrap_or(GlobalInOut::empty())
}

/// Does something with the entry point of a [`Kernel`].
pub trait Visitor {
    /// What it makes of it.
    type Output;

    /// Called with the entry point.
    fn visit<E: Entry<Args: From<Work>, Constants = ()>>(self) -> Self::Output;
}

impl Kernel {
    /// Shows `visitor` the entry point.
    ///
    /// # Panics
    ///
    /// For [`Kernel::Swap`], which has other arguments.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            Kernel::Naive(1) => visitor.visit::<transpose_naive<u8>>(),
            Kernel::Naive(2) => visitor.visit::<transpose_naive<u16>>(),
            Kernel::Naive(_) => visitor.visit::<transpose_naive<u32>>(),
            Kernel::Shared { unit: 1, .. } => visitor.visit::<transpose_shared<u8>>(),
            Kernel::Shared { unit: 2, .. } => visitor.visit::<transpose_shared<u16>>(),
            Kernel::Shared { .. } => visitor.visit::<transpose_shared<u32>>(),
            Kernel::Packed(packed) => visit_packed(packed, visitor),
            Kernel::Skewed(skewed) => visit_skewed(skewed, visitor),
            Kernel::Swap(_) => unreachable!("what works in place has other arguments"),
        }
    }
}
