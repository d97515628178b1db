//! Asynchronous copies from global to shared memory: the thread continues while they are in progress.
//!
//! [`GlobalIn::copy_async`] begins a copy. [`commit`] closes a group: the copies begun since the last group. [`wait_group`]
//! waits for groups, [`wait_all`] for all copies. After the wait, the copied elements are visible to the thread that copied;
//! a barrier makes them visible to the others. Before it, no thread may access the elements that are copied to, or write
//! those that are copied from. This includes the copying thread. A machine on the host can report violations.
//!
//! ```
//! use cuda_std::{GlobalIn, GlobalOut, arguments, copy, kernel, thread};
//!
//! arguments! {
//!     /// Arguments of `smooth`.
//!     pub struct Smoothing<'l> {
//!         /// The samples.
//!         pub input: GlobalIn<'l, f32>,
//!         /// Receives the smoothed samples.
//!         pub output: GlobalOut<'l, f32>,
//!     }
//! }
//!
//! kernel! {
//!     /// A block of 64 threads; each copies four samples.
//!     pub fn smooth<'l>(arena, args: Smoothing<'l>) {
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
//! In modules for `sm_80` and later, a copy is the instruction `cp.async`, which bypasses the registers. In modules for
//! earlier GPUs it is an ordinary load and store, and waiting does nothing.

use crate::global::Position;
use crate::{GlobalIn, GlobalInOut, Shared, Value};

/// Closes a group: the thread's copies since the last group. A group may be empty.
#[inline(always)]
#[track_caller]
pub fn commit() {
    #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
    // SAFETY: the instruction has no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.commit_group;", options(nostack))
    }
    #[cfg(not(target_os = "cuda"))]
    crate::host::machine().commit_copies(core::panic::Location::caller());
}

/// Waits until at most the latest `LATEST` groups of the thread are in progress. It does not wait for copies since the last
/// [`commit`].
#[inline(always)]
#[track_caller]
pub fn wait_group<const LATEST: u32>() {
    #[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
    // SAFETY: the instruction has no memory effects of its own.
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
    // SAFETY: the instruction has no memory effects of its own.
    unsafe {
        core::arch::asm!("cp.async.wait_all;", options(nostack))
    }
    #[cfg(not(target_os = "cuda"))]
    crate::host::machine().wait_copies(None, core::panic::Location::caller());
}

/// Returns the size of `N` elements in bytes. Sizes without a copy instruction do not compile.
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

/// Begins a copy of `$bytes` bytes, which reads the first `$present` of them and sets the others to zero.
#[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
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

#[cfg(all(target_os = "cuda", target_feature = "sm_80"))]
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
    ($name:ident, $load:ident, $load_pack:ident) => {
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Begins an asynchronous copy ([`copy`](crate::copy)) of elements `j` to `j + N - 1` to the elements of `to`
            /// from `i` on: 4, 8 or 16 bytes.
            ///
            /// Both addresses must be multiples of the copy's size. Elements beyond this window become zero, and all do if
            /// the address in this window is misaligned. `to` is not checked on the device.
            #[inline(always)]
            #[track_caller]
            pub fn copy_async<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                #[cfg(target_os = "cuda")]
                self.begin_copy::<N>(j, to, i);
                #[cfg(not(target_os = "cuda"))]
                self.report_copy::<N>(j, to, i, false);
            }

            /// Like [`copy_async`](Self::copy_async), for copies that may exceed this window on purpose. A masked form.
            #[inline(always)]
            #[track_caller]
            pub fn copy_async_masked<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                #[cfg(target_os = "cuda")]
                self.begin_copy::<N>(j, to, i);
                #[cfg(not(target_os = "cuda"))]
                self.report_copy::<N>(j, to, i, true);
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
            fn report_copy<const N: u32>(&self, j: I, to: &Shared<T>, i: u32, masked: bool) {
                bytes::<T, N>();
                let (from, to) = (self.access(j, N), to.access(i, N));
                crate::host::machine().copy_async(&crate::host::AsyncCopy { from, to, masked });
            }
        }
    };
}
copies!(GlobalIn, load_constant, load_pack_constant);
copies!(GlobalInOut, load_global, load_pack_global);
