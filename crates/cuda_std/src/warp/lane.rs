//! Conversion of values to the 32-bit words that lanes exchange.

use crate::Value;

/// A value that lanes can exchange: any [`Value`].
///
/// A value of 8, 16 or 32 bits is one word, so its exchange is one instruction. A 64-bit value is two words, and its
/// exchange is two instructions.
pub trait Lane: Value {
    /// Whether the value is two words.
    #[doc(hidden)]
    const IS_WIDE: bool;
    /// Returns the low word and the high word, which is 0 for values of one word.
    #[doc(hidden)]
    fn to_words(self) -> [u32; 2];
    #[doc(hidden)]
    fn from_words(words: [u32; 2]) -> Self;
}

macro_rules! narrow {
    ($($t:ty, $to:expr, $from:expr;)*) => {$(
        impl Lane for $t {
            const IS_WIDE: bool = false;
            #[inline(always)]
            fn to_words(self) -> [u32; 2] {
                let to: fn($t) -> u32 = $to;
                [to(self), 0]
            }
            #[inline(always)]
            fn from_words([word, _]: [u32; 2]) -> Self {
                let from: fn(u32) -> $t = $from;
                from(word)
            }
        }
    )*};
}
narrow! {
    u8, |v| v as u32, |w| w as u8;
    i8, |v| v as u8 as u32, |w| w as i8;
    u16, |v| v as u32, |w| w as u16;
    i16, |v| v as u16 as u32, |w| w as i16;
    crate::F16, |v| v.to_bits() as u32, |w| crate::F16::from_bits(w as u16);
    crate::Bf16, |v| v.to_bits() as u32, |w| crate::Bf16::from_bits(w as u16);
    u32, |v| v, |w| w;
    i32, |v| v as u32, |w| w as i32;
    f32, |v| v.to_bits(), |w| f32::from_bits(w);
}

macro_rules! wide {
    ($($t:ty, $to:expr, $from:expr;)*) => {$(
        impl Lane for $t {
            const IS_WIDE: bool = true;
            #[inline(always)]
            fn to_words(self) -> [u32; 2] {
                let to: fn($t) -> u64 = $to;
                let bits = to(self);
                [bits as u32, (bits >> 32) as u32]
            }
            #[inline(always)]
            fn from_words([low, high]: [u32; 2]) -> Self {
                let from: fn(u64) -> $t = $from;
                from((high as u64) << 32 | low as u64)
            }
        }
    )*};
}
wide! {
    u64, |v| v, |w| w;
    i64, |v| v as u64, |w| w as i64;
    f64, |v| v.to_bits(), |w| f64::from_bits(w);
}
