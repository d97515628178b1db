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

use crate::machine;

/// A float with a fused multiply-add.
pub trait Fma: crate::Value {
    /// Returns `a * b + c`, rounded once.
    #[must_use]
    fn fma(a: Self, b: Self, c: Self) -> Self;

    /// See [`floor_product`].
    #[must_use]
    fn floor_product(a: Self, b: Self) -> u32;
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
    machine::math::floor_bits(value)
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
    machine::math::lop3::<TABLE>(a, b, c)
}

/// Returns four bytes of two words: each hexadecimal digit of `selector`, from the lowest one on, is the number of a byte, 0 to 3
/// for those of `low` and 4 to 7 for those of `high`, from the lowest one on. Other digits, and bits above four digits, are unspecified.
///
/// This is one instruction (`prmt`).
///
/// ```
/// assert_eq!(cuda_std::math::permute_bytes(0x3322_1100, 0x7766_5544, 0x0527), 0x0055_2277);
/// ```
#[inline(always)]
#[must_use]
pub fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    machine::math::permute_bytes(low, high, selector)
}

/// Returns the minima of the low halves and of the high halves of two words, as unsigned integers of 16 bits.
///
/// This is one instruction, which GPUs before `sm_90` lack. So modules for these do not have this function, nor [`max_u16x2`].
///
/// ```
/// use cuda_std::math::{max_u16x2, min_u16x2};
///
/// let (a, b) = (0x0001_ffff, 0x8000_0002);
/// assert_eq!([min_u16x2(a, b), max_u16x2(a, b)], [0x0001_0002, 0x8000_ffff]);
/// ```
#[cfg(any(not(target_os = "cuda"), target_feature = "sm_90"))]
#[inline(always)]
#[must_use]
pub fn min_u16x2(a: u32, b: u32) -> u32 {
    machine::math::min_u16x2(a, b)
}

/// Returns the maxima of the low halves and of the high halves of two words, as [`min_u16x2`] the minima.
#[cfg(any(not(target_os = "cuda"), target_feature = "sm_90"))]
#[inline(always)]
#[must_use]
pub fn max_u16x2(a: u32, b: u32) -> u32 {
    machine::math::max_u16x2(a, b)
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
    machine::math::byte_to_f32::<K>(word)
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
pub fn round_to_bytes(numbers: [f32; 4]) -> u32 {
    machine::math::round_to_bytes(numbers)
}

/// Returns `value`, about which the compiler then makes no assumptions.
///
/// In a loop, the compiler computes the multiples of an invariant number beforehand, and keeps each in a register. If
/// registers are scarcer than additions, `opaque(step)` inside the loop makes it add `step` in each iteration instead.
#[inline(always)]
#[must_use]
pub fn opaque(value: u32) -> u32 {
    machine::math::opaque(value)
}
