//! Floats of 16 bits: for memory, while arithmetic is done in `f32`.
//!
//! | | sign | exponent | fraction | largest | smallest above zero |
//! |---|---|---|---|---|---|
//! | [`F16`] (IEEE 754 `binary16`) | 1 | 5 | 10 | 65,504 | 2^-24 |
//! | [`Bf16`] (the high half of an `f32`) | 1 | 8 | 7 | about 3.39e38 | 2^-133 |
//!
//! Conversions give the same bits on the host and on the device. From an `f32` they round to nearest even: numbers beyond the
//! largest one by half a step or more become infinite, small ones subnormal or zero, and any NaN becomes the one with the
//! bits `0x7fff`. To an `f32` they are exact; any NaN becomes the one with the bits `0x7fffffff`.

/// The bits of the NaN that conversions to 16 bits give.
const NAN: u16 = 0x7fff;

/// The bits of the NaN that conversions to 32 bits give.
const NAN_32: u32 = 0x7fff_ffff;

/// Defines a type: its name, and the bits of infinity.
macro_rules! halves {
    ($($(#[$doc:meta])* $name:ident, $infinity:literal, $narrow:ident, $widen:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Default)]
        pub struct $name(u16);

        impl $name {
            /// Returns the number nearest to `x`, of two the one whose last bit is 0; a NaN for a NaN.
            #[inline(always)]
            #[must_use]
            pub fn from_f32(x: f32) -> Self {
                $name(if x.is_nan() { NAN } else { $narrow(x) })
            }

            /// Returns the number itself; a NaN for a NaN.
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
    /// A float of 16 bits with 11 significant ones: IEEE 754 `binary16`, CUDA's `half`.
    F16, 0x7c00, narrow_f16, widen_f16;
    /// A float of 16 bits with 8 significant ones and the range of `f32`: CUDA's `__nv_bfloat16`.
    Bf16, 0x7f80, narrow_bf16, widen_bf16;
}

/// The bits of the `binary16` nearest to `x`, which is no NaN.
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

/// The `binary16` with these bits, which is no NaN.
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

/// The bits of the `binary16` nearest to `x`, which is no NaN.
#[cfg(not(target_os = "cuda"))]
fn narrow_f16(x: f32) -> u16 {
    const INFINITY: u32 = 0x7c00;
    let (sign, magnitude) = ((x.to_bits() >> 16) as u16 & 0x8000, x.to_bits() & 0x7fff_ffff);
    // The exponent of an f32 counts from -127, that of a binary16 from -15.
    let rounded = match (magnitude >> 23) as i32 - 127 + 15 {
        exponent if exponent > 0 => round(magnitude - (112 << 23), 13).min(INFINITY),
        // Subnormal: multiples of 2^-24. Below a quarter of that, nothing is left to shift.
        exponent if exponent > -12 => round(magnitude & 0x7f_ffff | 0x80_0000, (14 - exponent) as u32),
        _ => 0,
    };
    sign | rounded as u16
}

/// The `binary16` with these bits, which is no NaN.
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

/// `n / 2^bits`, rounded to nearest even; a carry propagates to the higher bits.
#[inline(always)]
fn round(n: u32, bits: u32) -> u32 {
    let odd = n >> bits & 1;
    (n + (1 << (bits - 1)) - 1 + odd) >> bits
}

/// The bits of the `Bf16` nearest to `x`, which is no NaN: the same code on both sides, since not every device has an
/// instruction for it.
#[inline(always)]
fn narrow_bf16(x: f32) -> u16 {
    round(x.to_bits(), 16) as u16
}

/// The `Bf16` with these bits.
#[inline(always)]
fn widen_bf16(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}
