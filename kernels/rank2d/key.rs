//! Samples as unsigned integers in the order of the samples.
//!
//! Integers with a sign have the sign bit inverted. Floats have all bits inverted if they are negative, otherwise the sign bit. So
//! `-0.0` comes before `+0.0`, and infinities are at both ends. All NaNs are one key, the greatest: no other float has it, nor the key 0.

use super::packing::{Floats, Narrow, Packing, Single};
use core::ops::{BitOr, BitXor};
use cuda_std::Value;

/// An unsigned integer that kernels compare.
pub trait Key: Value + Ord + BitOr<Output = Self> + BitXor<Output = Self> {
    /// The least key.
    const ZERO: Self;
    /// The greatest key.
    const MAX: Self;

    /// Returns the key with this bit set.
    #[must_use]
    fn with_bit(self, bit: u32) -> Self;

    /// Returns the key with all bits inverted.
    #[must_use]
    fn inverted(self) -> Self;

    /// Returns a digit of 8 bits, from the least one on.
    #[must_use]
    fn digit(self, number: u32) -> u32;
}

macro_rules! keys {
    ($($t:ident)*) => {$(
        impl Key for $t {
            const ZERO: Self = 0;
            const MAX: Self = $t::MAX;

            #[inline(always)]
            fn with_bit(self, bit: u32) -> Self {
                self | 1 << bit
            }

            #[inline(always)]
            fn inverted(self) -> Self {
                !self
            }

            #[inline(always)]
            fn digit(self, number: u32) -> u32 {
                (self >> (8 * number)) as u32 & 0xff
            }
        }
    )*};
}
keys!(u32 u64);

/// A type of samples whose ranks are found.
pub trait Ranked: Value {
    /// Type of the keys.
    type Key: Key;
    /// The words that extremes are found of.
    type Extremes: Packing<Sample = Self>;
    /// The words that medians are found of.
    type Medians: Packing<Sample = Self>;

    /// Bits of a key that may be set.
    const BITS: u32;
    /// Whether there are NaNs.
    const IS_FLOAT: bool;
    /// What outputs without a sample are: NaN, or 0 of integers.
    const NONE: Self;

    /// Returns whether it is a NaN.
    #[must_use]
    fn is_nan(self) -> bool;

    /// Returns the key of a sample that is no NaN.
    #[must_use]
    fn ordered(self) -> Self::Key;

    /// Returns the sample of a key that is not that of a NaN.
    #[must_use]
    fn of_ordered(key: Self::Key) -> Self;

    /// Returns the key.
    #[inline(always)]
    #[must_use]
    fn key(self) -> Self::Key {
        let key = self.ordered();
        if self.is_nan() { Self::Key::MAX } else { key }
    }

    /// Returns the sample of a key.
    #[inline(always)]
    #[must_use]
    fn of_key(key: Self::Key) -> Self {
        let sample = Self::of_ordered(key);
        if Self::IS_FLOAT && key == Self::Key::MAX { Self::NONE } else { sample }
    }

    /// Returns the sum, which saturates for integers.
    #[must_use]
    fn raised(self, height: Self) -> Self;

    /// Returns the difference, which saturates for integers.
    #[must_use]
    fn lowered(self, height: Self) -> Self;
}

macro_rules! integers {
    ($($t:ident: $key:ident, $packing:ident, $bits:literal, $sign:literal;)*) => {$(
        impl Ranked for $t {
            type Key = $key;
            type Extremes = $packing<$t>;
            type Medians = $packing<$t>;

            const BITS: u32 = $bits;
            const IS_FLOAT: bool = false;
            const NONE: Self = 0;

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }

            #[inline(always)]
            fn ordered(self) -> $key {
                (self as i32 as $key).wrapping_add($sign)
            }

            #[inline(always)]
            fn of_ordered(key: $key) -> $t {
                key.wrapping_sub($sign) as $t
            }

            #[inline(always)]
            fn raised(self, height: $t) -> $t {
                self.saturating_add(height)
            }

            #[inline(always)]
            fn lowered(self, height: $t) -> $t {
                self.saturating_sub(height)
            }
        }
    )*};
}
integers! {
    u8: u32, Narrow, 8, 0;
    u16: u32, Narrow, 16, 0;
    i16: u32, Narrow, 16, 0x8000;
    i32: u32, Single, 32, 0x8000_0000;
}

macro_rules! floats {
    ($($t:ident: $key:ident, $medians:ty, $bits:literal;)*) => {$(
        impl Ranked for $t {
            type Key = $key;
            type Extremes = Single<$t>;
            type Medians = $medians;

            const BITS: u32 = $bits;
            const IS_FLOAT: bool = true;
            const NONE: Self = $t::NAN;

            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }

            // Without branches: one would keep several loads from being under way together.
            #[inline(always)]
            fn ordered(self) -> $key {
                const SIGN: $key = 1 << ($bits - 1);
                let bits = self.to_bits();
                bits ^ ((bits.cast_signed() >> ($bits - 1)).cast_unsigned() | SIGN)
            }

            #[inline(always)]
            fn of_ordered(key: $key) -> $t {
                const SIGN: $key = 1 << ($bits - 1);
                $t::from_bits(key ^ ((!key.cast_signed() >> ($bits - 1)).cast_unsigned() | SIGN))
            }

            #[inline(always)]
            fn raised(self, height: $t) -> $t {
                self + height
            }

            #[inline(always)]
            fn lowered(self, height: $t) -> $t {
                self - height
            }
        }
    )*};
}
floats! {
    f32: u32, Floats, 32;
    f64: u64, Single<f64>, 64;
}

/// How keys of an extreme are compared: as a minimum, with inverted keys for a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// Whether it is the maximum.
    pub greatest: bool,
    /// Whether NaNs are left out.
    pub omit: bool,
}

impl Extreme {
    /// Returns the key of a sample. A NaN has the least or the greatest one.
    #[inline(always)]
    #[must_use]
    pub fn key<T: Ranked>(self, sample: T) -> T::Key {
        let (key, nan) = (sample.ordered(), if self.omit { T::Key::MAX } else { T::Key::ZERO });
        let key = if self.greatest { key.inverted() } else { key };
        if sample.is_nan() { nan } else { key }
    }

    /// Returns the sum of a sample and a height for a maximum, and the difference for a minimum.
    #[inline(always)]
    #[must_use]
    pub fn moved<T: Ranked>(self, sample: T, height: T) -> T {
        if self.greatest { sample.raised(height) } else { sample.lowered(height) }
    }

    /// Returns the sample of the least key.
    #[inline(always)]
    #[must_use]
    pub fn sample<T: Ranked>(self, key: T::Key) -> T {
        let sample = T::of_ordered(if self.greatest { key.inverted() } else { key });
        if T::IS_FLOAT && (key == T::Key::MAX || key == T::Key::ZERO) { T::NONE } else { sample }
    }
}
