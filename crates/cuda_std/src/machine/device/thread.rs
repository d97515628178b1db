//! Thread indices, the clock, barriers and fences.

use crate::atomic::Scope;
use core::arch::{asm, nvptx};

macro_rules! indices {
    ($($name:ident, $register:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            // SAFETY: reads a special register.
            unsafe { nvptx::$register() as u32 }
        }
    )*};
}
indices! {
    thread_idx_x, _thread_idx_x;
    thread_idx_y, _thread_idx_y;
    thread_idx_z, _thread_idx_z;
    block_idx_x, _block_idx_x;
    block_idx_y, _block_idx_y;
    block_idx_z, _block_idx_z;
    block_dim_x, _block_dim_x;
    block_dim_y, _block_dim_y;
    block_dim_z, _block_dim_z;
    grid_dim_x, _grid_dim_x;
    grid_dim_y, _grid_dim_y;
    grid_dim_z, _grid_dim_z;
}

/// Returns the multiprocessor's clock in cycles. Neither `pure` nor `nomem`, so the reading keeps its place among the
/// accesses.
#[inline(always)]
pub(crate) fn clock() -> u64 {
    let cycles: u64;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nostack)) }
    cycles
}

// SAFETY: the declaration matches LLVM's intrinsic of this name (`IntrinsicsNVVM.td`): it takes the number of a barrier for
// all threads of the block.
unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.all"]
    fn barrier_sync_all(barrier: u32);
}

#[inline(always)]
pub(crate) fn sync_threads() {
    super::in_one_place();
    // SAFETY: a barrier has no memory effects of its own.
    unsafe { barrier_sync_all(0) }
}

#[inline(always)]
pub(crate) fn fence(scope: Scope) {
    // SAFETY: a fence accesses no memory.
    unsafe {
        match scope {
            Scope::Block => asm!("fence.acq_rel.cta;", options(nostack)),
            Scope::Device => asm!("fence.acq_rel.gpu;", options(nostack)),
        }
    }
}
