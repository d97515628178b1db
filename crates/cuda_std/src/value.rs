//! The element types that memory can hold.

/// A number for which every bit pattern is valid, so that any memory can be read as it.
///
/// Implemented for the integers of 8 to 64 bits, `f32`, `f64`, [`F16`](crate::F16) and [`Bf16`](crate::Bf16); it cannot be
/// implemented elsewhere.
pub trait Value: Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static + sealed::Bits {}

/// A value of at most four bytes, so that one access can move four of them.
pub trait Vector4: Value + sealed::Bits4 {}

pub(crate) mod sealed {
    #[cfg(target_os = "cuda")]
    use crate::device::{Byte, Word, Word4};
    use crate::half::{Bf16, F16};

    /// A value as the bits that memory holds.
    pub trait Bits: Sized {
        /// The type's name.
        const VALUE_NAME: &'static str;
        /// The register that a load fills and a store empties.
        #[cfg(target_os = "cuda")]
        type Word: Word;
        #[cfg(target_os = "cuda")]
        fn to_word(self) -> Self::Word;
        #[cfg(target_os = "cuda")]
        fn from_word(word: Self::Word) -> Self;

        /// The bits in the low end, zeros above.
        #[cfg(not(target_os = "cuda"))]
        fn to_bits64(self) -> u64;
        /// The value with these low bits.
        #[cfg(not(target_os = "cuda"))]
        fn from_bits64(bits: u64) -> Self;
    }

    #[cfg(target_os = "cuda")]
    pub trait Bits4: Bits<Word: Word4> {}
    #[cfg(not(target_os = "cuda"))]
    pub trait Bits4: Bits {}

    /// `$t` is held in `$word`, which `$to` and `$from` convert; `$unsigned` has its width.
    macro_rules! bits {
        ($($t:ty, $unsigned:ty, $word:ty, $to:expr, $from:expr;)*) => {$(
            impl Bits for $t {
                const VALUE_NAME: &'static str = stringify!($t);
                #[cfg(target_os = "cuda")]
                type Word = $word;
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn to_word(self) -> $word {
                    let to: fn($t) -> $word = $to;
                    to(self)
                }
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn from_word(word: $word) -> $t {
                    let from: fn($word) -> $t = $from;
                    from(word)
                }
                #[cfg(not(target_os = "cuda"))]
                fn to_bits64(self) -> u64 {
                    <$unsigned>::from_ne_bytes(self.to_ne_bytes()).into()
                }
                #[cfg(not(target_os = "cuda"))]
                fn from_bits64(bits: u64) -> $t {
                    <$t>::from_ne_bytes((bits as $unsigned).to_ne_bytes())
                }
            }
            impl super::Value for $t {}
        )*};
    }
    bits! {
        u8, u8, Byte, |v| Byte(v as u16), |w| w.0 as u8;
        i8, u8, Byte, |v| Byte(v as u8 as u16), |w| w.0 as i8;
        u16, u16, u16, |v| v, |w| w;
        i16, u16, u16, |v| v as u16, |w| w as i16;
        u32, u32, u32, |v| v, |w| w;
        i32, u32, u32, |v| v as u32, |w| w as i32;
        f32, u32, u32, |v| v.to_bits(), |w| f32::from_bits(w);
        u64, u64, u64, |v| v, |w| w;
        i64, u64, u64, |v| v as u64, |w| w as i64;
        f64, u64, u64, |v| v.to_bits(), |w| f64::from_bits(w);
    }

    macro_rules! halves {
        ($($t:ident),*) => {$(
            impl Bits for $t {
                const VALUE_NAME: &'static str = stringify!($t);
                #[cfg(target_os = "cuda")]
                type Word = u16;
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn to_word(self) -> u16 {
                    self.to_bits()
                }
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn from_word(word: u16) -> $t {
                    $t::from_bits(word)
                }
                #[cfg(not(target_os = "cuda"))]
                fn to_bits64(self) -> u64 {
                    self.to_bits().into()
                }
                #[cfg(not(target_os = "cuda"))]
                fn from_bits64(bits: u64) -> $t {
                    $t::from_bits(bits as u16)
                }
            }
            impl super::Value for $t {}
        )*};
    }
    halves!(F16, Bf16);

    macro_rules! bits4 {
        ($($t:ty),*) => {$(
            impl Bits4 for $t {}
            impl super::Vector4 for $t {}
        )*};
    }
    bits4!(u8, i8, u16, i16, F16, Bf16, u32, i32, f32);
}
