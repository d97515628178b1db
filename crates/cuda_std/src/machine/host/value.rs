//! The bits of elements.

use crate::{Bf16, F16};

/// Conversion between a value and its bits in memory.
pub(crate) trait Bits: Sized {
    /// Returns the bits in the low end, with zeros above.
    fn to_bits64(self) -> u64;
    /// Returns the value with these low bits.
    fn from_bits64(bits: u64) -> Self;
}

/// Implements `Bits` for `$t`. `$unsigned` has the same width.
macro_rules! bits {
    ($($t:ty, $unsigned:ty;)*) => {$(
        impl Bits for $t {
            fn to_bits64(self) -> u64 {
                <$unsigned>::from_ne_bytes(self.to_ne_bytes()).into()
            }
            fn from_bits64(bits: u64) -> $t {
                <$t>::from_ne_bytes((bits as $unsigned).to_ne_bytes())
            }
        }
    )*};
}
bits! {
    u8, u8;
    i8, u8;
    u16, u16;
    i16, u16;
    u32, u32;
    i32, u32;
    f32, u32;
    u64, u64;
    i64, u64;
    f64, u64;
}

macro_rules! halves {
    ($($t:ident),*) => {$(
        impl Bits for $t {
            fn to_bits64(self) -> u64 {
                self.to_bits().into()
            }
            fn from_bits64(bits: u64) -> $t {
                $t::from_bits(bits as u16)
            }
        }
    )*};
}
halves!(F16, Bf16);
