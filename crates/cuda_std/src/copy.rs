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
use crate::machine::copy;
use crate::{GlobalIn, GlobalInOut, Shared, Value};

/// Closes a group: the thread's copies since the last group. A group may be empty.
#[inline(always)]
#[track_caller]
pub fn commit() {
    copy::commit();
}

/// Waits until at most the latest `LATEST` groups of the thread are in progress. It does not wait for copies since the last
/// [`commit`].
#[inline(always)]
#[track_caller]
pub fn wait_group<const LATEST: u32>() {
    copy::wait_group::<LATEST>();
}

/// Waits for all copies of the thread, in groups or not.
#[inline(always)]
#[track_caller]
pub fn wait_all() {
    copy::wait_all();
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
pub(crate) const fn bytes<T, const N: u32>() -> u32 {
    const { assert!(matches!(N as usize * size_of::<T>(), 4 | 8 | 16), "a copy has 4, 8 or 16 bytes") };
    N * size_of::<T>() as u32
}

macro_rules! copies {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Begins an asynchronous copy ([`copy`](crate::copy)) of elements `j` to `j + N - 1` to the elements of `to`
            /// from `i` on: 4, 8 or 16 bytes.
            ///
            /// Both addresses must be multiples of the copy's size. Elements beyond this window become zero, and all do if
            /// the address in this window is misaligned. `to` is not checked on the device.
            #[inline(always)]
            #[track_caller]
            pub fn copy_async<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                self.begin_copy::<N>(j, to, i, false);
            }

            /// Like [`copy_async`](Self::copy_async), for copies that may exceed this window on purpose. A masked form.
            #[inline(always)]
            #[track_caller]
            pub fn copy_async_masked<const N: u32>(&self, j: I, to: &Shared<T>, i: u32) {
                self.begin_copy::<N>(j, to, i, true);
            }
        }
    )*};
}
copies!(GlobalIn GlobalInOut);
