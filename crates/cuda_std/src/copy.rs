//! Asynchronous copies from global to shared memory: the thread continues while they are in progress.
//!
//! [`GlobalIn::copy_async`] begins one. [`commit`] closes a group of those begun since the last one, and [`wait_group`] or [`wait_all`]
//! waits for groups. Then the copied elements are there for the thread that copied; a barrier makes them visible to the others.
//! Until the thread has waited, nobody may access the elements that are copied to, nor write those that are copied from, the
//! thread itself included; a machine on the host reports it.
//!
//! ```
//! use cuda_std::{GlobalIn, GlobalOut, arguments, copy, kernel, thread};
//!
//! arguments! {
//!     /// What `smooth` works on.
//!     pub struct Smoothing {
//!         /// The samples.
//!         pub input: GlobalIn<f32>,
//!         /// Receives as many.
//!         pub output: GlobalOut<f32>,
//!     }
//! }
//!
//! kernel! {
//!     /// A block of 64 threads; each copies four samples.
//!     pub fn smooth(arena, args: Smoothing) {
//!         let (tile, _) = arena.array::<f32, 256>();
//!         let t = thread::thread_linear();
//!         args.input.copy_async_masked::<4>(thread::block_linear() * 256 + 4 * u64::from(t), &tile, 4 * t);
//!         copy::commit();
//!         // … work on something else …
//!         copy::wait_all();
//!         thread::sync_threads();
//!         let i = thread::block_linear() * 256 + u64::from(t);
//!         args.output.set_if(true, i, 0.5 * (tile.get(t) + tile.get(t + 1)));
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! On `sm_80` and later a copy is the instruction `cp.async`, without a way through registers. In modules for GPUs before, it is
//! an ordinary load and store, which are over at once, and waiting does nothing.

use crate::global::Position;
use crate::{GlobalIn, GlobalInOut, Shared, Value};

/// Closes a group: the thread's copies since the last one. A group may be empty.
#[inline(always)]
#[track_caller]
pub fn commit() {
    #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
    // SAFETY: no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.commit_group;", options(nostack))
    }
    #[cfg(not(target_os = "cuda"))]
    crate::host::machine().commit_copies(core::panic::Location::caller());
}

/// Waits until no more than the latest `LATEST` groups of the thread are under way. Copies that no [`commit`] has put into a
/// group are not waited for.
#[inline(always)]
#[track_caller]
pub fn wait_group<const LATEST: u32>() {
    #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
    // SAFETY: no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.wait_group {latest};", latest = const LATEST, options(nostack))
    }
    #[cfg(not(target_os = "cuda"))]
    crate::host::machine().wait_copies(Some(LATEST), core::panic::Location::caller());
}

/// Waits for all copies of the thread, in groups or not.
#[inline(always)]
#[track_caller]
pub fn wait_all() {
    #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
    // SAFETY: no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.wait_all;", options(nostack))
    }
    #[cfg(not(target_os = "cuda"))]
    crate::host::machine().wait_copies(None, core::panic::Location::caller());
}

/// The bytes of `N` elements, for which there is an instruction: checked when compiling.
///
/// ```
/// # use cuda_std::{GlobalIn, Shared};
/// let eight: fn(GlobalIn<u16>, Shared<u16>) = |from, to| from.copy_async::<4>(0, &to, 0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::{GlobalIn, Shared};
/// let two: fn(GlobalIn<u16>, Shared<u16>) = |from, to| from.copy_async::<1>(0, &to, 0);
/// ```
#[inline(always)]
const fn bytes<T, const N: u32>() -> u32 {
    const { assert!(matches!(N as usize * size_of::<T>(), 4 | 8 | 16), "a copy has 4, 8 or 16 bytes") };
    N * size_of::<T>() as u32
}

/// Begins the copy of `$bytes` bytes: `$present` of them are read, and the others are zero.
#[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
macro_rules! begin {
    ($level:literal, $bytes:literal, $to:ident, $from:ident, $present:ident) => {
        // SAFETY: writes the block's own memory, and the hardware faults beyond it. Reads as many bytes as are inside a
        // window that the host made from a live buffer; none of them if the address has been rounded.
        unsafe {
            core::arch::asm!(concat!("cp.async.", $level, ".shared.global [{to}], [{from}], ", $bytes, ", {present};"),
                to = in(reg32) $to, from = in(reg64) $from, present = in(reg32) $present, options(nostack))
        }
    };
}

#[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
#[inline(always)]
fn begin<T, const N: u32>(to: u32, from: u64, present: u32) {
    match bytes::<T, N>() {
        4 => begin!("ca", "4", to, from, present),
        8 => begin!("ca", "8", to, from, present),
        // Not kept in the first-level cache, where nobody looks for it.
        _ => begin!("cg", "16", to, from, present),
    }
}

macro_rules! copies {
    ($name:ident, $load:ident, $load_pack:ident) => {
        impl<T: Value, I: Position> $name<T, I> {
            /// Begins to copy the elements from `j` to `j + N - 1` to those of `to` from `i` on ([`copy`](crate::copy)): 4, 8 or 16
            /// bytes.
            ///
            /// Both addresses are multiples of the copy's size. Elements beyond this window become zero, and all of
            /// them if its address is misaligned; `to` is not checked on the device.
            #[inline(always)]
            #[track_caller]
            pub fn copy_async<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                #[cfg(target_os = "cuda")]
                self.begin_copy::<N>(j, to, i);
                #[cfg(not(target_os = "cuda"))]
                self.tell_copy::<N>(j, to, i, false);
            }

            /// As [`copy_async`](Self::copy_async) where elements beyond the window are intended: they become zero. A masked form.
            #[inline(always)]
            #[track_caller]
            pub fn copy_async_masked<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                #[cfg(target_os = "cuda")]
                self.begin_copy::<N>(j, to, i);
                #[cfg(not(target_os = "cuda"))]
                self.tell_copy::<N>(j, to, i, true);
            }

            #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
            #[inline(always)]
            fn begin_copy<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                let (address, size) = (self.address_of(j), bytes::<T, N>() as u64);
                let present = j.left(self.len(), N) * size_of::<T>() as u32;
                let is_aligned = address & (size - 1) == 0;
                begin::<T, N>(to.address_of(i), address & !(size - 1), if is_aligned { present } else { 0 });
            }

            #[cfg(all(target_os = "cuda", not(target_feature = "sm_80")))]
            #[inline(always)]
            fn begin_copy<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                use crate::device::{Pack, Word};
                let (from, size, place) = (self.address_of(j), bytes::<T, N>(), to.address_of(i));
                let is_aligned = from & (size as u64 - 1) == 0;
                if is_aligned && j.left(self.len(), N) == N {
                    match size {
                        4 => u32::store_shared(place, u32::$load::<0, 0>(from, 1)),
                        8 => u32::store_pack_shared(place, u32::$load_pack::<2>(from, 1)),
                        _ => u32::store_pack_shared(place, u32::$load_pack::<4>(from, 1)),
                    }
                    return;
                }
                for k in 0..N {
                    let is_present = is_aligned && j.in_range(I::of(k), self.len());
                    to.set(i.wrapping_add(k), self.get_if(is_present, j.wrapping_add(k), T::default()));
                }
            }

            #[cfg(not(target_os = "cuda"))]
            #[track_caller]
            fn tell_copy<const N: u32>(&self, j: I, to: &Shared<T>, i: u32, masked: bool) {
                bytes::<T, N>();
                let (from, to) = (self.access(j, N), to.access(i, N));
                crate::host::machine().copy_async(&crate::host::AsyncCopy { from, to, masked });
            }
        }
    };
}
copies!(GlobalIn, load_constant, load_pack_constant);
copies!(GlobalInOut, load_global, load_pack_global);
