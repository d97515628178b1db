//! The registers that hold elements.

use super::words::{Byte, Pack};
use crate::{Bf16, F16};

/// Conversion between a value and the register that loads write and stores read.
pub(crate) trait Bits: Sized {
    type Word: Pack;
    fn to_word(self) -> Self::Word;
    fn from_word(word: Self::Word) -> Self;
}

/// Implements `Bits` for `$t`. Its register is `$word`; `$to` and `$from` convert.
macro_rules! bits {
    ($($t:ty, $word:ty, $to:expr, $from:expr;)*) => {$(
        impl Bits for $t {
            type Word = $word;
            #[inline(always)]
            fn to_word(self) -> $word {
                let to: fn($t) -> $word = $to;
                to(self)
            }
            #[inline(always)]
            fn from_word(word: $word) -> $t {
                let from: fn($word) -> $t = $from;
                from(word)
            }
        }
    )*};
}
bits! {
    u8, Byte, |v| Byte(v as u16), |w| w.0 as u8;
    i8, Byte, |v| Byte(v as u8 as u16), |w| w.0 as i8;
    u16, u16, |v| v, |w| w;
    i16, u16, |v| v as u16, |w| w as i16;
    F16, u16, |v| v.to_bits(), |w| F16::from_bits(w);
    Bf16, u16, |v| v.to_bits(), |w| Bf16::from_bits(w);
    u32, u32, |v| v, |w| w;
    i32, u32, |v| v as u32, |w| w as i32;
    f32, u32, |v| v.to_bits(), |w| f32::from_bits(w);
    u64, u64, |v| v, |w| w;
    i64, u64, |v| v as u64, |w| w as i64;
    f64, u64, |v| v.to_bits(), |w| f64::from_bits(w);
}
