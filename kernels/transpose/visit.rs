//! From a kernel that was chosen to its entry point, and from windows on bytes to its arguments.

use super::{
    Args, Geometry, Kernel, Part, SkewedArgs, Unit, transpose_naive, transpose_shared, visit_packed, visit_skewed,
};
use cuda_std::{Argument, Entry, GlobalIn, GlobalOut, Value};

/// The arguments of a kernel that writes another matrix, made from windows on bytes.
pub trait Arguments: Argument {
    /// Returns those for `part`. A window that does not begin at a multiple of what the kernel moves is empty.
    #[must_use]
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Self;
}

impl<U: Value> Arguments for Args<U> {
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Self {
        Args { input: in_units(input), output: out_units(output), layout: geometry.layout(part) }
    }
}

impl<U: Unit> Arguments for SkewedArgs<U>
where
    SkewedArgs<U>: Argument,
{
    fn new(geometry: &Geometry, part: Part, input: GlobalIn<u8>, output: GlobalOut<u8>) -> Self {
        SkewedArgs {
            input: in_units(input),
            output: out_units(output),
            input_words: in_units(input),
            output_words: out_units(output),
            layout: geometry.layout(part),
            places: geometry.skewed,
        }
    }
}

fn in_units<U: Value>(window: GlobalIn<u8>) -> GlobalIn<U> {
    window.cast().unwrap_or(GlobalIn::empty())
}

fn out_units<U: Value>(window: GlobalOut<u8>) -> GlobalOut<U> {
    window.cast().unwrap_or(GlobalOut::empty())
}

/// Does something with the entry point of a [`Kernel`].
pub trait Visitor {
    /// What it makes of it.
    type Output;

    /// Called with the entry point.
    fn visit<E: Entry<Args: Arguments, Constants = ()>>(self) -> Self::Output;
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
