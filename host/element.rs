//! The element types.

/// A number that buffers can hold: the integers of 8 to 64 bits, `f32` and `f64`.
///
/// The trait is sealed.
pub trait Element: cuda_std::Value + sealed::Sealed {}

pub(crate) mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($t:ty),*) => {$(
        impl sealed::Sealed for $t {}
        impl Element for $t {}
    )*};
}
elements!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);
