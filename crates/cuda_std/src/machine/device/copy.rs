//! Asynchronous copies: `cp.async` in modules for `sm_80` and later, ordinary loads and stores in others.

use super::shared;
use crate::copy::bytes;
use crate::global::Position;
use crate::{GlobalIn, GlobalInOut, Shared, Value};

#[inline(always)]
pub(crate) fn commit() {
    #[cfg(target_feature = "sm_80")]
    // SAFETY: the instruction has no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.commit_group;", options(nostack))
    }
}

#[inline(always)]
pub(crate) fn wait_group<const LATEST: u32>() {
    #[cfg(target_feature = "sm_80")]
    // SAFETY: the instruction has no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.wait_group {latest};", latest = const LATEST, options(nostack))
    }
}

#[inline(always)]
pub(crate) fn wait_all() {
    #[cfg(target_feature = "sm_80")]
    // SAFETY: the instruction has no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.wait_all;", options(nostack))
    }
}

/// Begins a copy of `$bytes` bytes, which reads the first `$present` of them and sets the others to zero.
#[cfg(target_feature = "sm_80")]
macro_rules! begin {
    ($level:literal, $bytes:literal, $to:ident, $from:ident, $present:ident) => {
        // SAFETY: writes the block's own memory, and the hardware faults beyond it. Reads only bytes inside a window that
        // the host made from a live buffer. If the address was rounded, `present` is 0 (`begin_copy`), and it reads nothing.
        unsafe {
            core::arch::asm!(concat!("cp.async.", $level, ".shared.global [{to}], [{from}], ", $bytes, ", {present};"),
                to = in(reg32) $to, from = in(reg64) $from, present = in(reg32) $present, options(nostack))
        }
    };
}

#[cfg(target_feature = "sm_80")]
#[inline(always)]
fn begin<T, const N: u32>(to: u32, from: u64, present: u32) {
    match bytes::<T, N>() {
        4 => begin!("ca", "4", to, from, present),
        8 => begin!("ca", "8", to, from, present),
        // Not kept in the first-level cache, because the data is not read from there.
        _ => begin!("cg", "16", to, from, present),
    }
}

macro_rules! copies {
    ($($name:ident, $load:ident, $load_pack:ident;)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Begins a copy of `N` elements, whether it is a masked form or not.
            #[cfg(target_feature = "sm_80")]
            #[inline(always)]
            pub(crate) fn begin_copy<const N: u32>(&self, j: I, to: &Shared<'_, T>, i: u32, _masked: bool) {
                let (address, size) = (self.address_of(j), bytes::<T, N>() as u64);
                let present = j.left(self.len, N) * size_of::<T>() as u32;
                let is_aligned = address & (size - 1) == 0;
                begin::<T, N>(shared::address_of(to, i), address & !(size - 1), if is_aligned { present } else { 0 });
            }

            /// Copies `N` elements, whether it is a masked form or not.
            #[cfg(not(target_feature = "sm_80"))]
            #[inline(always)]
            pub(crate) fn begin_copy<const N: u32>(&self, j: I, to: &Shared<'_, T>, i: u32, _masked: bool) {
                use super::words::{Pack, Word};
                let (from, size, place) = (self.address_of(j), bytes::<T, N>(), shared::address_of(to, i));
                let is_aligned = from & (size as u64 - 1) == 0;
                if is_aligned && j.left(self.len, N) == N {
                    match size {
                        4 => u32::store_shared(place, u32::$load::<0, 0>(from, 1)),
                        8 => u32::store_pack_shared(place, u32::$load_pack::<2>(from, 1)),
                        _ => u32::store_pack_shared(place, u32::$load_pack::<4>(from, 1)),
                    }
                    return;
                }
                for k in 0..N {
                    let is_present = is_aligned && j.in_range(I::of(k), self.len);
                    shared::set(to, i.wrapping_add(k), self.load_if(is_present, j.wrapping_add(k), T::default()));
                }
            }
        }
    )*};
}
copies! {
    GlobalIn, load_constant, load_pack_constant;
    GlobalInOut, load_global, load_pack_global;
}
