//! 16-bit floats for memory. Compute in `f32`.
//!
//! | | sign | exponent | fraction | largest | smallest above zero |
//! |---|---|---|---|---|---|
//! | [`F16`] (IEEE 754 `binary16`) | 1 | 5 | 10 | 65,504 | 2^-24 |
//! | [`Bf16`] (the high half of an `f32`) | 1 | 8 | 7 | about 3.39e38 | 2^-133 |
//!
//! Conversions give the same bits on the host and on the device. Conversions from `f32` round to nearest even. Numbers that
//! exceed the largest one by half a step or more become infinite, small numbers become subnormal or zero, and every NaN
//! becomes the NaN with the bits `0x7fff`. Conversions to `f32` are exact; every NaN becomes the NaN with the bits
//! `0x7fffffff`.

use crate::machine::half::{narrow_f16, widen_f16};

/// The bits of the NaN that conversions to 16 bits return.
const NAN: u16 = 0x7fff;

/// The bits of the NaN that conversions to 32 bits return.
const NAN_32: u32 = 0x7fff_ffff;

/// Defines types: name, bits of infinity, and conversions.
macro_rules! halves {
    ($($(#[$doc:meta])* $name:ident, $infinity:literal, $narrow:ident, $widen:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Default)]
        pub struct $name(u16);

        impl $name {
            /// Returns the number nearest to `x`, with ties to even, or a NaN if `x` is a NaN.
            #[inline(always)]
            #[must_use]
            pub fn from_f32(x: f32) -> Self {
                $name(if x.is_nan() { NAN } else { $narrow(x) })
            }

            /// Returns the same number as an `f32`, or a NaN if it is a NaN.
            #[inline(always)]
            #[must_use]
            pub fn to_f32(self) -> f32 {
                if self.is_nan() { f32::from_bits(NAN_32) } else { $widen(self.0) }
            }

            /// Returns the number with these bits.
            #[inline(always)]
            #[must_use]
            pub const fn from_bits(bits: u16) -> Self {
                $name(bits)
            }

            /// Returns the bits.
            #[inline(always)]
            #[must_use]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// Returns whether it is a NaN.
            #[inline(always)]
            #[must_use]
            pub const fn is_nan(self) -> bool {
                self.0 & 0x7fff > $infinity
            }
        }

        impl PartialEq for $name {
            /// Compares as floats: the zeros are equal, and a NaN equals nothing.
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            #[inline(always)]
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl From<$name> for f32 {
            #[inline(always)]
            fn from(half: $name) -> f32 {
                half.to_f32()
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    )*};
}
halves! {
    /// A 16-bit float with 11 significant bits: IEEE 754 `binary16`, CUDA's `half`.
    F16, 0x7c00, narrow_f16, widen_f16;
    /// A 16-bit float with 8 significant bits and the range of `f32`: CUDA's `__nv_bfloat16`.
    Bf16, 0x7f80, narrow_bf16, widen_bf16;
}

/// Returns `n / 2^bits`, rounded to nearest even; a carry propagates to the higher bits.
#[inline(always)]
pub(crate) fn round(n: u32, bits: u32) -> u32 {
    let odd = n >> bits & 1;
    (n + (1 << (bits - 1)) - 1 + odd) >> bits
}

/// Returns the bits of the `Bf16` nearest to `x`, which must not be a NaN. The code is the same on both sides, because not
/// every device has an instruction for it.
#[inline(always)]
fn narrow_bf16(x: f32) -> u16 {
    round(x.to_bits(), 16) as u16
}

/// Returns the `Bf16` with these bits.
#[inline(always)]
fn widen_bf16(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}
