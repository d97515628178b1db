//! Conversions of `binary16`.

use core::arch::asm;

/// Returns the bits of the `binary16` nearest to `x`, which must not be a NaN.
#[inline(always)]
pub(crate) fn narrow_f16(x: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic without preconditions.
    unsafe {
        asm!("cvt.rn.f16.f32 {bits}, {x};", bits = out(reg16) bits, x = in(reg32) x, options(pure, nomem, nostack))
    }
    bits
}

/// Returns the `binary16` with these bits, which must not be a NaN.
#[inline(always)]
pub(crate) fn widen_f16(bits: u16) -> f32 {
    let x: f32;
    // SAFETY: arithmetic without preconditions.
    unsafe { asm!("cvt.f32.f16 {x}, {bits};", x = out(reg32) x, bits = in(reg16) bits, options(pure, nomem, nostack)) }
    x
}
