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

/// Returns the bits of the `binary16` nearest to `x`, which must not be a NaN.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn narrow_f16(x: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic without preconditions.
    unsafe {
        core::arch::asm!("cvt.rn.f16.f32 {bits}, {x};", bits = out(reg16) bits, x = in(reg32) x,
            options(pure, nomem, nostack))
    }
    bits
}

/// Returns the `binary16` with these bits, which must not be a NaN.
#[cfg(target_os = "cuda")]
#[inline(always)]
fn widen_f16(bits: u16) -> f32 {
    let x: f32;
    // SAFETY: arithmetic without preconditions.
    unsafe {
        core::arch::asm!("cvt.f32.f16 {x}, {bits};", x = out(reg32) x, bits = in(reg16) bits,
            options(pure, nomem, nostack))
    }
    x
}

/// Returns the bits of the `binary16` nearest to `x`, which must not be a NaN.
#[cfg(not(target_os = "cuda"))]
fn narrow_f16(x: f32) -> u16 {
    const INFINITY: u32 = 0x7c00;
    let (sign, magnitude) = ((x.to_bits() >> 16) as u16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    // The exponent of an f32 counts from -127, that of a binary16 from -15.
    let rounded = match (magnitude >> 23) as i32 - 127 + 15 {
        exponent if exponent > 0 => round(magnitude - (112 << 23), 13).min(INFINITY),
        // Subnormal: multiples of 2^-24. Numbers below a quarter of that become zero.
        exponent if exponent > -12 => round(magnitude & 0x7f_ffff | 0x80_0000, (14 - exponent) as u32),
        _ => 0,
    };
    sign | rounded as u16
}

/// Returns the `binary16` with these bits, which must not be a NaN.
#[cfg(not(target_os = "cuda"))]
fn widen_f16(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits) >> 10 & 0x1f, u32::from(bits) & 0x3ff);
    let magnitude = match exponent {
        0 => fraction as f32 * f32::from_bits((127 - 24) << 23),
        0x1f => f32::INFINITY,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// Returns `n / 2^bits`, rounded to nearest even; a carry propagates to the higher bits.
#[inline(always)]
fn round(n: u32, bits: u32) -> u32 {
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
