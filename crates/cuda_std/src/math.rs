//! Arithmetic that `core` lacks, or for which it needs more instructions than the hardware.
//!
//! [`fma`], [`sqrt`], [`floor`], [`ceil`], [`trunc`], [`round_ties_even`], [`abs`], [`copysign`], [`min`] and [`max`] return
//! the same bits on the host and on the device, for `f32` and `f64`, including subnormal numbers. If the result is a NaN on
//! one side, it is one on the other side too, with an unspecified sign and payload.
//!
//! The functions that end in `_approx` are the hardware's approximations, for `f32` only. Host and device differ within the
//! stated error.

mod approximate;
mod ieee;

pub use approximate::{cos_approx, exp2_approx, log2_approx, rsqrt_approx, sin_approx};
pub use ieee::{Float, abs, ceil, copysign, floor, max, min, round_ties_even, sqrt, trunc};

// Intrinsics, because `f32::mul_add` is not in `core`, and LLVM cannot optimise the contents of an `asm!` block.
//
// SAFETY: the declarations match LLVM's intrinsics of these names ("Floating-Point Intrinsics" of its language reference,
// and "Floating Point Intrinsics" of its guide to NVPTX).
#[cfg(target_os = "cuda")]
unsafe extern "C" {
    #[link_name = "llvm.fma.f32"]
    fn fma_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.fma.f64"]
    fn fma_f64(a: f64, b: f64, c: f64) -> f64;
    #[link_name = "llvm.nvvm.fma.rm.f"]
    fn fma_down_f32(a: f32, b: f32, c: f32) -> f32;
    #[link_name = "llvm.nvvm.fma.rm.d"]
    fn fma_down_f64(a: f64, b: f64, c: f64) -> f64;
    #[link_name = "llvm.nvvm.add.rm.d"]
    fn add_down_f64(a: f64, b: f64) -> f64;
}

/// Sums with this number have no bits for a fraction: their low bits are an integer.
#[cfg(target_os = "cuda")]
const ROUNDER_F32: f32 = 1.5 * (1u32 << 23) as f32;
/// The same for `f64`.
#[cfg(target_os = "cuda")]
const ROUNDER_F64: f64 = 1.5 * (1u64 << 52) as f64;

/// The bits of 2^23, the smallest number without bits for a fraction.
#[cfg(target_os = "cuda")]
const EXPONENT: u32 = ((1 << 23) as f32).to_bits();

/// A float with a fused multiply-add.
pub trait Fma: crate::Value {
    /// Returns `a * b + c`, rounded once.
    #[must_use]
    fn fma(a: Self, b: Self, c: Self) -> Self;

    /// See [`floor_product`].
    #[must_use]
    fn floor_product(a: Self, b: Self) -> u32;
}

macro_rules! fma {
    ($($t:ty, $intrinsic:ident $down:ident $rounder:ident;)*) => {$(
        impl Fma for $t {
            #[inline(always)]
            fn fma(a: Self, b: Self, c: Self) -> Self {
                #[cfg(target_os = "cuda")]
                // SAFETY: arithmetic without preconditions.
                return unsafe { $intrinsic(a, b, c) };
                #[cfg(not(target_os = "cuda"))]
                return a.mul_add(b, c);
            }

            #[inline(always)]
            fn floor_product(a: Self, b: Self) -> u32 {
                #[cfg(target_os = "cuda")]
                {
                    // SAFETY: arithmetic without preconditions.
                    let sum = unsafe { $down(a, b, $rounder) };
                    return (sum.to_bits() as u32).wrapping_sub($rounder.to_bits() as u32);
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    let floor = (a * b).floor();
                    // The product may have been rounded up to this integer, even to zero.
                    let is_below = match floor == 0.0 {
                        true => a < 0.0 && b > 0.0 || a > 0.0 && b < 0.0,
                        false => a.mul_add(b, -floor) < 0.0,
                    };
                    (floor as i64 as u32).wrapping_sub(is_below as u32)
                }
            }
        }
    )*};
}
fma! {
    f32, fma_f32 fma_down_f32 ROUNDER_F32;
    f64, fma_f64 fma_down_f64 ROUNDER_F64;
}

/// Returns `a * b + c`, rounded once (IEEE 754 `fusedMultiplyAdd`).
#[inline(always)]
#[must_use]
pub fn fma<T: Fma>(a: T, b: T, c: T) -> T {
    T::fma(a, b, c)
}

/// Returns the low 32 bits of `floor(a · b)`, of the exact product.
///
/// The result is unspecified if the product's magnitude exceeds 2^22 (`f32`) or 2^51 (`f64`), or if it is a NaN. This is two
/// instructions without a conversion; conversions have an eighth of the throughput.
#[inline(always)]
#[must_use]
pub fn floor_product<T: Fma>(a: T, b: T) -> u32 {
    T::floor_product(a, b)
}

/// Returns the low 32 bits of `floor(value)`.
///
/// The result is unspecified if the value's magnitude exceeds 2^51, or if it is a NaN. This is one addition.
#[inline(always)]
#[must_use]
pub fn floor_bits(value: f64) -> u32 {
    #[cfg(target_os = "cuda")]
    {
        // SAFETY: arithmetic without preconditions.
        let sum = unsafe { add_down_f64(value, ROUNDER_F64) };
        // The low bits of `ROUNDER_F64` are zeros.
        return sum.to_bits() as u32;
    }
    #[cfg(not(target_os = "cuda"))]
    return value.floor() as i64 as u32;
}

/// Returns a function of three bits for each bit position: bit `4 a + 2 b + c` of `TABLE`.
///
/// This is one instruction (`lop3`). The compiler combines operators to such instructions too, but not always to the fewest.
///
/// ```
/// use cuda_std::math::lop3;
///
/// assert_eq!(lop3::<0x96>(0b1100, 0b1010, 0b1001), 0b1100 ^ 0b1010 ^ 0b1001);
/// ```
#[inline(always)]
#[must_use]
pub fn lop3<const TABLE: u8>(a: u32, b: u32, c: u32) -> u32 {
    #[cfg(target_os = "cuda")]
    return crate::device::lop3::<TABLE>(a, b, c);
    #[cfg(not(target_os = "cuda"))]
    (0..8).filter(|index| TABLE >> index & 1 == 1).fold(0, |bits, index| {
        let of = |operand: u32, shift: u32| if index >> shift & 1 == 1 { operand } else { !operand };
        bits | of(a, 2) & of(b, 1) & of(c, 0)
    })
}

/// Returns byte `K` of a word, 0 for the lowest one, as a float.
///
/// This is a permutation of bytes and an addition; conversions have an eighth of the throughput.
///
/// ```
/// assert_eq!(cuda_std::math::byte_to_f32::<1>(0xff03_80fe), 128.0);
/// ```
#[inline(always)]
#[must_use]
pub fn byte_to_f32<const K: u32>(word: u32) -> f32 {
    const { assert!(K < 4, "a word has 4 bytes") };
    #[cfg(target_os = "cuda")]
    // The number 2^23, and the byte as its lowest bits.
    return f32::from_bits(crate::device::low_byte::<K>(word, EXPONENT)) - f32::from_bits(EXPONENT);
    #[cfg(not(target_os = "cuda"))]
    return word.to_le_bytes()[K as usize] as f32;
}

/// Returns the nearest integers, ties to even, as the bytes of a word, the first one in the lowest byte. They saturate, and NaN
/// becomes 0.
///
/// This is one instruction for two numbers on GPUs from `sm_90` on, and three on others. Modules for GPUs before `sm_75` do not have
/// this function.
///
/// ```
/// use cuda_std::math::round_to_bytes;
///
/// assert_eq!(round_to_bytes([1.5, -1.0, f32::NAN, 1e9]), 0xff00_0002);
/// ```
#[cfg(any(not(target_os = "cuda"), target_feature = "sm_75"))]
#[inline(always)]
#[must_use]
pub fn round_to_bytes([a, b, c, d]: [f32; 4]) -> u32 {
    #[cfg(target_os = "cuda")]
    return crate::device::round_to_bytes(a, b, crate::device::round_to_bytes(c, d, 0));
    #[cfg(not(target_os = "cuda"))]
    u32::from_le_bytes([a, b, c, d].map(|number| number.round_ties_even() as u8))
}

/// Returns `value`, about which the compiler then makes no assumptions.
///
/// In a loop, the compiler computes the multiples of an invariant number beforehand, and keeps each in a register. If
/// registers are scarcer than additions, `opaque(step)` inside the loop makes it add `step` in each iteration instead.
#[inline(always)]
#[must_use]
pub fn opaque(value: u32) -> u32 {
    #[cfg(target_os = "cuda")]
    let value = crate::device::opaque_each_time(value);
    value
}
