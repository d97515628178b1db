//! The types of elements in memory.

/// A type of numbers in which every bit pattern is valid, so any memory can be read as it.
///
/// Implemented for the integers of 8 to 64 bits, `f32`, `f64`, [`F16`](crate::F16) and [`Bf16`](crate::Bf16). Other crates
/// cannot implement it.
#[expect(private_bounds, reason = "sealed, and users do not meet the items of `Bits` in their generic code")]
pub trait Value: Copy + Default + PartialEq + core::fmt::Debug + Send + Sync + 'static + sealed::Bits {}

/// Checks at compile time that `N` elements are a *pack*, which one access moves: 1, 2, 4, 8 or 16 elements in at most 16
/// bytes.
///
/// ```
/// # use cuda_std::GlobalIn;
/// let sixteen: fn(GlobalIn<u8>) -> [u8; 16] = |window| window.get_pack(0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::GlobalIn;
/// let too_many: fn(GlobalIn<f64>) -> [f64; 4] = |window| window.get_pack(0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::Shared;
/// let three: fn(Shared<u32>) = |window| window.set_pack(0, [0; 3]);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::Constants;
/// let none: fn(Constants<f32, 12>) -> [f32; 0] = |table| table.pack(0);
/// ```
#[inline(always)]
pub(crate) const fn check_pack<T, const N: usize>() {
    const {
        assert!(
            N.is_power_of_two() && N * size_of::<T>() <= 16,
            "a pack has 1, 2, 4, 8 or 16 elements in at most 16 bytes"
        )
    };
}

pub(crate) mod sealed {
    #[cfg(target_os = "cuda")]
    use crate::device::{Byte, Pack};
    use crate::half::{Bf16, F16};

    /// Conversion between a value and its bits in memory.
    pub(crate) trait Bits: Sized {
        /// The type's name.
        const VALUE_NAME: &'static str;
        /// The type of the register that loads write and stores read.
        #[cfg(target_os = "cuda")]
        type Word: Pack;
        #[cfg(target_os = "cuda")]
        fn to_word(self) -> Self::Word;
        #[cfg(target_os = "cuda")]
        fn from_word(word: Self::Word) -> Self;

        /// Returns the bits in the low end, with zeros above.
        #[cfg(not(target_os = "cuda"))]
        fn to_bits64(self) -> u64;
        /// Returns the value with these low bits.
        #[cfg(not(target_os = "cuda"))]
        fn from_bits64(bits: u64) -> Self;
    }

    /// Implements `Bits` for `$t`. Its register is `$word`; `$to` and `$from` convert. `$unsigned` has the same width.
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
}
