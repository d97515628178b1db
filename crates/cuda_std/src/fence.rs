//! Order between a thread's accesses, as other threads see them.
//!
//! A fence orders the accesses before it against those after it (acquire and release). It makes no thread wait.

use crate::atomic::Scope;
use crate::machine::thread::fence;

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
