//! The device's side: its instructions, as LLVM's intrinsics and `asm!` blocks.
//!
//! `asm!` blocks are not convergent: an optimisation could move them into a branch. So barriers, and what lanes exchange, are
//! intrinsics, which are convergent.

pub(crate) mod atomic;
pub(crate) mod constants;
pub(crate) mod copy;
pub(crate) mod global;
pub(crate) mod half;
pub(crate) mod math;
pub(crate) mod shared;
pub(crate) mod thread;
pub(crate) mod value;
pub(crate) mod warp;
mod words;

use core::arch::asm;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    trap()
}

/// Ends the kernel with an error.
fn trap() -> ! {
    // SAFETY: stops the grid; nothing runs afterwards.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}

/// Keeps rustc from duplicating the barrier or exchange that follows.
///
/// rustc's pass JumpThreading duplicates the code between two tests of the same condition, once for each path. (Without this
/// pass, arrays that are now in registers would be in memory.) A duplicated barrier is no longer one instruction that all
/// threads reach. The pass does not duplicate code across inline assembly, even if that is empty, and LLVM knows which
/// operations it must not duplicate.
#[inline(always)]
fn in_one_place() {
    // SAFETY: there are no instructions.
    unsafe { asm!("", options(nomem, nostack, preserves_flags)) }
}
