//! Order between a thread's accesses, as other threads see them.
//!
//! A fence orders the accesses before it against those after it (acquire and release). It makes no thread wait.

use crate::atomic::Scope;

/// Orders this thread's accesses for the threads of its block.
#[inline(always)]
#[track_caller]
pub fn fence_block() {
    fence(Scope::Block);
}

/// Orders this thread's accesses for all threads of the device.
#[inline(always)]
#[track_caller]
pub fn fence_device() {
    fence(Scope::Device);
}

#[inline(always)]
#[track_caller]
fn fence(scope: Scope) {
    #[cfg(target_os = "cuda")]
    // SAFETY: a fence accesses no memory.
    unsafe {
        match scope {
            Scope::Block => core::arch::asm!("fence.acq_rel.cta;", options(nostack)),
            Scope::Device => core::arch::asm!("fence.acq_rel.gpu;", options(nostack)),
        }
    }
    #[cfg(not(target_os = "cuda"))]
    crate::host::machine().fence(scope, core::panic::Location::caller());
}
