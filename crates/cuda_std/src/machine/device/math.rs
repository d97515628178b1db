//! Arithmetic.

use crate::machine::Ieee;
use crate::math::Fma;
use core::arch::asm;

// Intrinsics where there are any, because LLVM cannot optimise the contents of an `asm!` block.
//
// SAFETY: the declarations match LLVM's intrinsics of these names ("Standard C/C++ Library Intrinsics" and "Floating-Point
// Intrinsics" of its language reference, and "Floating Point Intrinsics" of its guide to NVPTX), which have no preconditions.
unsafe extern "C" {
    #[link_name = "llvm.fma.f32"]
    safe fn fma_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.fma.f64"]
    safe fn fma_f64(a: f64, b: f64, c: f64) -> f64;
    #[link_name = "llvm.nvvm.fma.rm.f"]
    safe fn fma_down_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.nvvm.fma.rm.d"]
    safe fn fma_down_f64(a: f64, b: f64, c: f64) -> f64;
    #[link_name = "llvm.nvvm.add.rm.d"]
    safe fn add_down_f64(a: f64, b: f64) -> f64;
    #[link_name = "llvm.sqrt.f32"]
    safe fn sqrt_f32(x: f32) -> f32;
    #[link_name = "llvm.sqrt.f64"]
    safe fn sqrt_f64(x: f64) -> f64;
    #[link_name = "llvm.floor.f32"]
    safe fn floor_f32(x: f32) -> f32;
    #[link_name = "llvm.floor.f64"]
    safe fn floor_f64(x: f64) -> f64;
    #[link_name = "llvm.ceil.f32"]
    safe fn ceil_f32(x: f32) -> f32;
    #[link_name = "llvm.ceil.f64"]
    safe fn ceil_f64(x: f64) -> f64;
    #[link_name = "llvm.trunc.f32"]
    safe fn trunc_f32(x: f32) -> f32;
    #[link_name = "llvm.trunc.f64"]
    safe fn trunc_f64(x: f64) -> f64;
    #[link_name = "llvm.roundeven.f32"]
    safe fn round_f32(x: f32) -> f32;
    #[link_name = "llvm.roundeven.f64"]
    safe fn round_f64(x: f64) -> f64;
    #[link_name = "llvm.nvvm.prmt"]
    safe fn prmt(low: u32, high: u32, selector: u32) -> u32;
}

/// Sums with this number have no bits for a fraction: their low bits are an integer.
const ROUNDER_F32: f32 = 1.5 * (1u32 << 23) as f32;
/// The same for `f64`.
const ROUNDER_F64: f64 = 1.5 * (1u64 << 52) as f64;

/// The bits of 2^23, the smallest number without bits for a fraction.
const EXPONENT: u32 = ((1 << 23) as f32).to_bits();

macro_rules! fma {
    ($($t:ty, $intrinsic:ident $down:ident $rounder:ident;)*) => {$(
        impl Fma for $t {
            #[inline(always)]
            fn fma(a: Self, b: Self, c: Self) -> Self {
                $intrinsic(a, b, c)
            }

            #[inline(always)]
            fn floor_product(a: Self, b: Self) -> u32 {
                let sum = $down(a, b, $rounder);
                (sum.to_bits() as u32).wrapping_sub($rounder.to_bits() as u32)
            }
        }
    )*};
}
fma! {
    f32, fma_f32 fma_down_f32 ROUNDER_F32;
    f64, fma_f64 fma_down_f64 ROUNDER_F64;
}

#[inline(always)]
pub(crate) fn floor_bits(value: f64) -> u32 {
    // The low bits of `ROUNDER_F64` are zeros.
    add_down_f64(value, ROUNDER_F64).to_bits() as u32
}

#[inline(always)]
pub(crate) fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    let bits: u32;
    // SAFETY: a logic operation without preconditions.
    unsafe {
        asm!(
            "lop3.b32 {bits}, {a}, {b}, {c}, {table};",
            bits = out(reg32) bits, a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, table = const TABLE,
            options(pure, nomem, nostack)
        );
    }
    bits
}

#[inline(always)]
pub(crate) fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    prmt(low, high, selector)
}

#[inline(always)]
pub(crate) fn byte_to_f32<const K: u32>(word: u32) -> f32 {
    // The number 2^23, and the byte as its lowest bits.
    f32::from_bits(prmt(word, EXPONENT, 0x7650 + K)) - f32::from_bits(EXPONENT)
}

#[cfg(target_feature = "sm_75")]
#[inline(always)]
pub(crate) fn round_to_bytes([a, b, c, d]: [f32; 4]) -> u32 {
    round_pair(a, b, round_pair(c, d, 0))
}

/// Returns two floats as bytes, rounded and saturated, the first one in the lowest byte, and the low half of `word` above them.
///
/// In one block, because the assembler makes one instruction of the three if it finds them together.
#[cfg(target_feature = "sm_75")]
#[inline(always)]
fn round_pair(a: f32, b: f32, word: u32) -> u32 {
    let bytes: u32;
    // SAFETY: conversions without preconditions.
    unsafe {
        asm!(
            "{{ .reg .s32 a, b; cvt.rni.s32.f32 a, {a}; cvt.rni.s32.f32 b, {b};",
            "cvt.pack.sat.u8.s32.b32 {bytes}, b, a, {word}; }}",
            bytes = out(reg32) bytes, a = in(reg32) a, b = in(reg32) b, word = in(reg32) word,
            options(pure, nomem, nostack)
        );
    }
    bytes
}

/// Returns the same number, but the compiler does not know that. Not `pure`: for the compiler, each call may return another
/// one.
#[inline(always)]
pub(crate) fn opaque(mut number: u32) -> u32 {
    // SAFETY: there are no instructions.
    unsafe { asm!("// {number}", number = inout(reg32) number, options(nomem, nostack)) }
    number
}

macro_rules! approximations {
    ($($name:ident, $instruction:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(x: f32) -> f32 {
            let result: f32;
            // SAFETY: arithmetic without preconditions.
            unsafe {
                asm!(concat!($instruction, " {result}, {x};"), result = out(reg32) result, x = in(reg32) x,
                    options(pure, nomem, nostack))
            }
            result
        }
    )*};
}
approximations! {
    rsqrt_approx, "rsqrt.approx.f32";
    exp2_approx, "ex2.approx.f32";
    log2_approx, "lg2.approx.f32";
    sin_approx, "sin.approx.f32";
    cos_approx, "cos.approx.f32";
}

/// One instruction with two operands. Inline, because LLVM folds its own `minnum` of two zeros to either of them.
macro_rules! instruction {
    ($name:literal, $t:ty, $class:ident, $a:ident, $b:ident) => {{
        let result: $t;
        // SAFETY: arithmetic without preconditions.
        unsafe {
            asm!(concat!($name, " {result}, {a}, {b};"), result = out($class) result, a = in($class) $a,
                b = in($class) $b, options(pure, nomem, nostack))
        }
        result
    }};
}

/// Functions of the halves of two words, which LLVM makes of its own minima only if it keeps them as vectors.
#[cfg(target_feature = "sm_90")]
macro_rules! of_halves {
    ($($name:ident, $instruction:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(a: u32, b: u32) -> u32 {
            instruction!($instruction, u32, reg32, a, b)
        }
    )*};
}

#[cfg(target_feature = "sm_90")]
of_halves! {
    min_u16x2, "min.u16x2";
    max_u16x2, "max.u16x2";
}

macro_rules! floats {
    ($($t:ty, $class:ident, $min:literal, $max:literal, $sqrt:ident $floor:ident $ceil:ident $trunc:ident $round:ident;)*) => {$(
        impl Ieee for $t {
            #[inline(always)]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                $floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                $ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                $trunc(self)
            }
            #[inline(always)]
            fn round_ties_even(self) -> Self {
                $round(self)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                instruction!($min, $t, $class, self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                instruction!($max, $t, $class, self, other)
            }
        }
    )*};
}
floats! {
    f32, reg32, "min.f32", "max.f32", sqrt_f32 floor_f32 ceil_f32 trunc_f32 round_f32;
    f64, reg64, "min.f64", "max.f64", sqrt_f64 floor_f64 ceil_f64 trunc_f64 round_f64;
}
