//! Element types of buffers.

/// Number types that buffers can hold: the integers of 8 to 64 bits, `f32`, `f64`, and `F16` and `Bf16` of `cuda_std`.
///
/// The trait is sealed.
pub trait Element: cuda_std::Value + sealed::Sealed {}

use cuda_std::{Bf16, F16};

pub(crate) mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {}
    )*};
}
elements!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, F16, Bf16);
