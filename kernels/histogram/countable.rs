//! The element types of histograms.

use cuda_std::Value;

/// A number that can be counted.
pub trait Countable: Value + PartialOrd {
    /// Calls `each` with the samples in these 16 bytes, in memory order.
    fn unpack(words: [u32; 4], each: impl FnMut(Self));

    /// Returns the next smaller number, which must exist.
    #[must_use]
    fn before(self) -> Self;
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Countable for $t {
            #[inline(always)]
            fn unpack(words: [u32; 4], mut each: impl FnMut(Self)) {
                const PER_WORD: u32 = 4 / size_of::<$t>() as u32;
                for word in words {
                    let mut k = 0;
                    while k < PER_WORD {
                        each((word >> (k * <$t>::BITS)) as $t);
                        k += 1;
                    }
                }
            }

            #[inline(always)]
            fn before(self) -> Self {
                self - 1
            }
        }
    )*};
}
integers!(u8 u16 u32 i32);

macro_rules! floats {
    ($($t:ty, $words:literal, |$word:ident| $from_words:expr;)*) => {$(
        impl Countable for $t {
            #[inline(always)]
            fn unpack(words: [u32; 4], mut each: impl FnMut(Self)) {
                for $word in words.as_chunks::<$words>().0 {
                    each($from_words);
                }
            }

            #[inline(always)]
            fn before(self) -> Self {
                self.next_down()
            }
        }
    )*};
}
floats! {
    f32, 1, |word| f32::from_bits(word[0]);
    f64, 2, |words| f64::from_bits(words[0] as u64 | (words[1] as u64) << 32);
}
