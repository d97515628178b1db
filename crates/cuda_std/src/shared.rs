//! Shared memory: the arena that a kernel receives and the typed windows made from it.

use crate::atomic::atomic_methods;
use crate::machine::{atomic::Place, shared};
use crate::value::check_pack;
use crate::{Atomic, Value};
use core::marker::PhantomData;

/// Alignment of windows in bytes, so that 16-byte accesses to their start are aligned.
const ALIGNMENT: u64 = 16;

/// Returns the bytes of shared memory that a window of `len` elements of `T` takes from its arena.
///
/// The host adds these up for a launch, and the kernel splits its arena in the same way. Returns `u64::MAX`, which no launch
/// can have, if the number does not fit into a `u64`.
#[must_use]
pub const fn shared_bytes<T: Value>(len: u64) -> u64 {
    match len.checked_mul(size_of::<T>() as u64) {
        Some(bytes) if bytes <= u64::MAX - ALIGNMENT => bytes.next_multiple_of(ALIGNMENT),
        _ => u64::MAX,
    }
}

/// The part of the block's shared memory that belongs to no window yet.
///
/// A kernel receives all of it. Windows are split off, and neither an arena nor a window can be copied, so two windows never
/// overlap at the same time. [`Shared::reuse`] makes the memory of a window available again.
#[derive(Debug)]
pub struct Arena<'l> {
    next: u32,
    end: u32,
    marker: PhantomData<&'l ()>,
}

impl<'l> Arena<'l> {
    /// Returns all of the block's shared memory. Only for [`kernel!`](crate::kernel), once per thread.
    ///
    /// # Safety
    ///
    /// On the device a thread must call this at most once, because windows of two arenas would overlap. On the host any
    /// number of arenas is harmless: windows are numbers there, and the machine holds the memory and makes every access.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub unsafe fn of_block() -> Self {
        let (next, bytes) = shared::of_block();
        Arena { next, end: next + bytes, marker: PhantomData }
    }

    /// Returns a window of `len` elements, whose contents are unspecified, and the rest of the arena.
    ///
    /// Every thread of the block must split in the same way. A window that does not fit into the arena ends the kernel with
    /// an error.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn split<T: Value>(self, len: u32) -> (Shared<'l, T>, Arena<'l>) {
        let bytes = shared_bytes::<T>(len as u64);
        if bytes > (self.end - self.next) as u64 {
            shared::too_small(bytes, (self.end - self.next) as u64);
        }
        shared::split(self.next, bytes as u32);
        let next = self.next + bytes as u32;
        (Shared { address: self.next, len, marker: PhantomData }, Arena { next, ..self })
    }
}

/// A window on shared memory: `len` elements of `T`, visible to all threads of the block.
///
/// The device does not check indices (see the crate's documentation); a machine on the host can report an index beyond the
/// window. `get_pack` and `set_pack` move up to 16 bytes in one access; their index must be a multiple of the number of
/// elements.
#[derive(Debug)]
pub struct Shared<'l, T> {
    pub(crate) address: u32,
    pub(crate) len: u32,
    marker: PhantomData<(&'l (), fn(T) -> T)>,
}

impl<'l, T: Value> Shared<'l, T> {
    /// Returns the number of elements.
    #[allow(clippy::len_without_is_empty)] // an empty window has no use
    #[inline(always)]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns element `i`.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn get(&self, i: u32) -> T {
        shared::get(self, i)
    }

    /// Returns elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes); `i` must be a multiple of `N`.
    ///
    /// ```
    /// use cuda_std::{GlobalOut, kernel, thread};
    ///
    /// kernel! {
    ///     /// A thread stores 16 bytes in one access, and another one adds up eight of them.
    ///     pub fn sum_of_eight<'l>(arena, output: GlobalOut<'l, u32>) {
    ///         let (bytes, _) = arena.array::<u8, 16>();
    ///         if thread::thread_idx_x() == 0 {
    ///             bytes.set_pack(0, [3; 16]);
    ///         }
    ///         thread::sync_threads();
    ///         let sum = bytes.get_pack::<8>(8).into_iter().map(u32::from).sum();
    ///         output.set_if(thread::thread_idx_x() == 1, 0, sum);
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn get_pack<const N: usize>(&self, i: u32) -> [T; N] {
        check_pack::<T, N>();
        shared::get_pack(self, i)
    }

    /// Sets element `i` to `value`.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, i: u32, value: T) {
        shared::set(self, i, value);
    }

    /// Sets elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes) to `values`; `i` must be a multiple
    /// of `N`.
    #[inline(always)]
    #[track_caller]
    pub fn set_pack<const N: usize>(&self, i: u32, values: [T; N]) {
        check_pack::<T, N>();
        shared::set_pack(self, i, values);
    }

    /// Waits until every thread of the block has finished with the window, and returns its memory as an arena.
    ///
    /// This is a barrier like [`thread::sync_threads`](crate::thread::sync_threads): every thread of the block must reach
    /// it. The contents of the memory are unspecified afterwards.
    #[inline(always)]
    #[must_use]
    #[track_caller]
    pub fn reuse(self) -> Arena<'l> {
        let bytes = shared_bytes::<T>(self.len as u64) as u32;
        shared::reuse(self.address, bytes);
        Arena { next: self.address, end: self.address + bytes, marker: PhantomData }
    }

    /// Returns the same memory, with its contents, as elements of another type. The length is rounded down to whole
    /// elements.
    ///
    /// ```
    /// use cuda_std::{GlobalOut, kernel, thread};
    ///
    /// kernel! {
    ///     /// A thread writes a pair, and another one reads its upper half.
    ///     pub fn upper_half<'l>(arena, output: GlobalOut<'l, u32>) {
    ///         let (pairs, _) = arena.split::<u64>(1);
    ///         if thread::thread_idx_x() == 0 {
    ///             pairs.set(0, 5 << 32);
    ///         }
    ///         thread::sync_threads();
    ///         output.set_if(thread::thread_idx_x() == 1, 0, pairs.cast::<u32>().get(1));
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    #[inline(always)]
    #[must_use]
    pub fn cast<U: Value>(self) -> Shared<'l, U> {
        let len = self.len as u64 * size_of::<T>() as u64 / size_of::<U>() as u64;
        Shared { address: self.address, len: len as u32, marker: PhantomData }
    }
}

impl<T: Atomic> Shared<'_, T> {
    #[inline(always)]
    #[track_caller]
    fn place(&self, i: u32) -> Place {
        shared::place(self, i)
    }
}

atomic_methods!(Shared<'_, T>, u32,);
