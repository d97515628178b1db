//! Accesses to shared memory. It needs no guard: it belongs to the block, and the hardware faults beyond it.

use super::atomic::Place;
use super::words::{Pack, Word};
use crate::{Shared, Value};
use core::arch::{asm, global_asm};

// The block's dynamic shared memory. Modules have no other shared memory.
global_asm!(".extern .shared .align 16 .b8 slm_dynamic[];");

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident = $source:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        fn $name() -> u32 {
            let value: u32;
            // SAFETY: reads a value that is constant for the thread.
            unsafe { asm!(concat!("mov.u32 {}, ", $source, ";"), out(reg32) value, options(pure, nomem, nostack)) }
            value
        }
    )*};
}
constants! {
    /// Returns the address of the block's dynamic shared memory.
    dynamic_shared = "slm_dynamic";
    /// Returns the size of the block's dynamic shared memory, in bytes.
    dynamic_shared_bytes = "%dynamic_smem_size";
}

/// Returns the address and the size of the block's shared memory.
#[inline(always)]
pub(crate) fn of_block() -> (u32, u32) {
    (dynamic_shared(), dynamic_shared_bytes())
}

/// Is told of each split of an arena.
#[inline(always)]
pub(crate) fn split(_base: u32, _bytes: u32) {}

/// Ends the kernel, because a window does not fit into its arena.
#[inline(always)]
pub(crate) fn too_small(_requested: u64, _available: u64) -> ! {
    super::trap()
}

/// Waits until all threads of the block have finished with these bytes.
#[inline(always)]
pub(crate) fn reuse(_base: u32, _bytes: u32) {
    super::thread::sync_threads();
}

#[inline(always)]
pub(super) fn address_of<T: Value>(window: &Shared<'_, T>, i: u32) -> u32 {
    window.address.wrapping_add(i.wrapping_mul(size_of::<T>() as u32))
}

#[inline(always)]
pub(crate) fn get<T: Value>(window: &Shared<'_, T>, i: u32) -> T {
    T::from_word(Word::load_shared(address_of(window, i)))
}

#[inline(always)]
pub(crate) fn get_pack<T: Value, const N: usize>(window: &Shared<'_, T>, i: u32) -> [T; N] {
    Pack::load_pack_shared(address_of(window, i)).map(T::from_word)
}

#[inline(always)]
pub(crate) fn set<T: Value>(window: &Shared<'_, T>, i: u32, value: T) {
    Word::store_shared(address_of(window, i), value.to_word());
}

#[inline(always)]
pub(crate) fn set_pack<T: Value, const N: usize>(window: &Shared<'_, T>, i: u32, values: [T; N]) {
    Pack::store_pack_shared(address_of(window, i), values.map(T::to_word));
}

/// Returns the place of an element, for atomic operations.
#[inline(always)]
pub(crate) fn place<T: Value>(window: &Shared<'_, T>, i: u32) -> Place {
    Place::Shared(address_of(window, i))
}
