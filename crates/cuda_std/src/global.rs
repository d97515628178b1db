//! Windows on global memory, checked on the device.
//!
//! A window is the address and length of memory that the host took from one of its buffers, for one launch: its lifetime `'l` is
//! that of the launch, and a kernel, which is generic over it, cannot keep it. Its indices are 64-bit.
//! `at(base)` returns the part from element `base` on, with 32-bit indices: the position of a tile needs 64 bits, a position
//! inside the tile does not, and 32-bit arithmetic is cheaper.
//!
//! An access out of range does nothing; a load then returns zero. A machine on the host can report it, except for the masked
//! forms (`get_or`, `get_if`, `get_masked`, `get_pack_masked`, `get_pack_or`, `get4_strided`, `set_if`, `set_pack_if`,
//! `set_pack_masked`, `set4_strided`), which are for accesses that may be outside on purpose.
//!
//! `get_pack` and `set_pack` move a *pack* of `N` elements in one access: 1, 2, 4, 8 or 16 elements in at most 16 bytes. The
//! *address* must be a multiple of the pack's size; `is_aligned` checks that of the window. A misaligned access, or one that
//! is partly out of range, does nothing either, and can be reported.
//!
//! The accessors here check what is known at compile time. Each side of [`machine`](crate::machine) defines their accesses, as
//! methods `load…` and `store…`.

mod rows;
mod tail;

pub use rows::{GlobalIn2, GlobalInOut2, GlobalOut2};

use crate::Value;
use crate::argument::{Window, WindowKind};
use crate::atomic::atomic_methods;
use crate::machine::global::anchored;
use crate::value::check_pack;
use core::marker::PhantomData;

/// The index type of a window: `u64`, or `u32` for a part of a window.
pub trait Position: Copy + Into<u64> + sealed::Position {}
impl Position for u64 {}
impl Position for u32 {}

pub(crate) mod sealed {
    pub trait Position: Sized {
        /// Returns whether the element `offset` positions after this one is inside a window of `len` elements.
        fn in_range(self, offset: Self, len: Self) -> bool;
        /// Returns `n` as an index.
        fn of(n: u32) -> Self;
        /// Returns how many of the `limit` elements from this one on are inside a window of `len` elements.
        fn left(self, len: Self, limit: u32) -> u32;
        /// Returns the index `offset` positions after this one, wrapping.
        fn wrapping_add(self, offset: u32) -> Self;
    }

    macro_rules! positions {
        ($($t:ty),*) => {$(
            impl Position for $t {
                // The right side does not depend on the index, so a loop computes it once.
                #[inline(always)]
                fn in_range(self, offset: $t, len: $t) -> bool {
                    self < len.saturating_sub(offset)
                }
                #[inline(always)]
                fn of(n: u32) -> $t {
                    n as $t
                }
                #[inline(always)]
                fn left(self, len: $t, limit: u32) -> u32 {
                    len.saturating_sub(self).min(limit as $t) as u32
                }
                #[inline(always)]
                fn wrapping_add(self, offset: u32) -> $t {
                    <$t>::wrapping_add(self, offset as $t)
                }
            }
        )*};
    }
    positions!(u64, u32);
}

/// Checks at compile time that the offsets of a strided form fit into its instructions: they are signed 32-bit numbers, in
/// bytes.
///
/// ```
/// # use cuda_std::GlobalIn;
/// let far: fn(GlobalIn<f32>) -> [f32; 4] = |window| window.get4_strided::<{ (1 << 31) / 12 }>(0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::GlobalIn;
/// let too_far: fn(GlobalIn<f32>) -> [f32; 4] = |window| window.get4_strided::<{ (1 << 31) / 12 + 1 }>(0);
/// ```
///
/// ```compile_fail,E0080
/// # use cuda_std::GlobalOut;
/// let too_far: fn(GlobalOut<f64>) = |window| window.set4_strided::<{ 1 << 31 }>(0, [0.0; 4]);
/// ```
#[inline(always)]
fn check_stride<T, const STRIDE: u32>() {
    const { assert!(3 * STRIDE as u64 * size_of::<T>() as u64 <= i32::MAX as u64, "the stride is too long") };
}

/// Defines a window type with the methods that all window types have.
macro_rules! window {
    ($(#[$doc:meta])* $name:ident, $kind:ident) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name<'l, T, I = u64> {
            pub(crate) address: u64,
            pub(crate) len: I,
            marker: PhantomData<(&'l (), fn(T) -> T)>,
        }

        impl<T, I: Copy> Clone for $name<'_, T, I> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, I: Copy> Copy for $name<'_, T, I> {}

        impl<'l, T, I> $name<'l, T, I> {
            /// Returns the window with this address and length, for which the contract of `from_raw_parts` holds.
            #[inline(always)]
            pub(crate) fn of(address: u64, len: I) -> Self {
                $name { address, len, marker: PhantomData }
            }
        }

        impl<'l, T: Value> $name<'l, T> {
            /// Returns the window's description for the host.
            pub(crate) fn description(&self) -> Window {
                Window {
                    kind: WindowKind::$kind,
                    address: self.address,
                    bytes: self.len.saturating_mul(size_of::<T>() as u64),
                    element_bytes: size_of::<T>() as u32,
                }
            }

            /// Returns the part from element `base` on, with 32-bit indices. It is empty if `base` is beyond the window, and
            /// has at most 2^32 - 1 elements.
            #[inline(always)]
            #[must_use]
            pub fn at(&self, base: u64) -> $name<'l, T, u32> {
                let left = self.len.saturating_sub(base);
                let len = if left > u32::MAX as u64 { u32::MAX } else { left as u32 };
                let address = self.address.wrapping_add(base.wrapping_mul(size_of::<T>() as u64));
                $name::of(address, len)
            }
        }

        impl<'l, T: Value> $name<'l, T, u32> {
            /// Returns the window on the first `len` elements, or on all if there are fewer.
            #[inline(always)]
            #[must_use]
            pub fn first(&self, len: u32) -> Self {
                $name { len: self.len.min(len), ..*self }
            }

            /// Returns the same memory as elements of another type. The length is rounded down to whole elements, and is 0 if the window
            /// does not begin at a multiple of an element's size.
            ///
            /// The alignment is checked once, here, while that of packs is checked for each access.
            ///
            /// ```
            /// use cuda_std::{GlobalIn, GlobalOut, arguments, kernel, thread};
            ///
            /// arguments! {
            ///     /// Arguments of `copy`.
            ///     pub struct Args<'l> {
            ///         /// The bytes.
            ///         pub input: GlobalIn<'l, u8>,
            ///         /// Receives them.
            ///         pub output: GlobalOut<'l, u8>,
            ///     }
            /// }
            ///
            /// kernel! {
            ///     /// Copies bytes, four at a time.
            ///     pub fn copy<'l>(_arena, args: Args<'l>) {
            ///         let (from, to) = (args.input.at(0).cast::<u32>(), args.output.at(0).cast::<u32>());
            ///         let i = thread::thread_idx_x();
            ///         if i < from.len() {
            ///             to.set(i, from.get(i));
            ///         }
            ///     }
            /// }
            /// # fn main() {}
            /// ```
            #[inline(always)]
            #[must_use]
            pub fn cast<U: Value>(&self) -> $name<'l, U, u32> {
                let is_aligned = self.address & (size_of::<U>() as u64 - 1) == 0;
                let len = self.len as u64 * size_of::<T>() as u64 / size_of::<U>() as u64;
                let len = if len > u32::MAX as u64 { u32::MAX } else { len as u32 };
                $name::of(self.address, if is_aligned { len } else { 0 })
            }

            /// Returns the same window, but hides from the compiler how its address was computed. Otherwise the compiler may
            /// add the 64-bit position in the larger window and the index again for each access.
            #[inline(always)]
            #[must_use]
            pub fn anchored(&self) -> Self {
                $name { address: anchored(self.address), ..*self }
            }
        }

        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Returns the number of elements.
            #[allow(clippy::len_without_is_empty)]
            #[inline(always)]
            #[must_use]
            pub fn len(&self) -> I {
                self.len
            }

            /// Returns whether the window begins at a multiple of the size of `elements` elements, a power of two. If it
            /// does, packs of `elements` elements are aligned at indices that are multiples of `elements`. Returns `true`
            /// for 0 elements.
            #[inline(always)]
            #[must_use]
            pub fn is_aligned(&self, elements: u32) -> bool {
                self.address & (elements as u64 * size_of::<T>() as u64).saturating_sub(1) == 0
            }
        }
    };
}

window! {
    /// A read-only window: nothing writes it while the kernel runs.
    GlobalIn, In
}
window! {
    /// A window that the kernel writes, with stores and atomics.
    GlobalOut, Out
}
window! {
    /// A window that the kernel reads and writes, for in-place work.
    GlobalInOut, InOut
}

macro_rules! loads {
    ($name:ident) => {
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Returns element `i`.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get(&self, i: I) -> T {
                self.load(i)
            }

            /// Returns element `i`, or `outside` if there is no such element.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_or(&self, i: I, outside: T) -> T {
                self.load_or(i, outside)
            }

            /// Returns element `i` if `condition` holds and there is such an element, otherwise `otherwise`. A masked form
            /// without a branch. If `condition` does not hold, `i` may be anything.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_if(&self, condition: bool, i: I, otherwise: T) -> T {
                self.load_if(condition, i, otherwise)
            }

            /// Returns element `i`, or zero if there is no such element. A masked form, without the branch of `get_or`.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_masked(&self, i: I) -> T {
                self.load_masked(i)
            }

            /// Returns elements `i`, `i + STRIDE`, `i + 2 STRIDE` and `i + 3 STRIDE`, with zero for each that is out of
            /// range. A masked form, and cheaper than four separate ones: the address is computed once.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get4_strided<const STRIDE: u32>(&self, i: I) -> [T; 4] {
                check_stride::<T, STRIDE>();
                self.load4_strided::<STRIDE>(i)
            }

            /// Returns elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes) if all are in range,
            /// otherwise zeros. Their address must be a multiple of the pack's size.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_pack<const N: usize>(&self, i: I) -> [T; N] {
                check_pack::<T, N>();
                self.load_pack(i)
            }

            /// Like [`get_pack`](Self::get_pack), for packs that may be out of range on purpose. A masked form.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_pack_masked<const N: usize>(&self, i: I) -> [T; N] {
                check_pack::<T, N>();
                self.load_pack_masked(i)
            }
        }
    };
}
loads!(GlobalIn);
loads!(GlobalInOut);

macro_rules! stores {
    ($name:ident) => {
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Sets element `i` to `value`.
            #[inline(always)]
            #[track_caller]
            pub fn set(&self, i: I, value: T) {
                self.store(i, value);
            }

            /// Sets element `i` to `value` if `condition` holds and there is such an element. A masked form.
            #[inline(always)]
            #[track_caller]
            pub fn set_if(&self, condition: bool, i: I, value: T) {
                self.store_if(condition, i, value);
            }

            /// Sets elements `i`, `i + STRIDE`, `i + 2 STRIDE` and `i + 3 STRIDE` to `values`, except those out of range. A
            /// masked form, and cheaper than four separate ones.
            #[inline(always)]
            #[track_caller]
            pub fn set4_strided<const STRIDE: u32>(&self, i: I, values: [T; 4]) {
                check_stride::<T, STRIDE>();
                self.store4_strided::<STRIDE>(i, values);
            }

            /// Sets elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes) to `values` if all are in
            /// range. Their address must be a multiple of the pack's size.
            #[inline(always)]
            #[track_caller]
            pub fn set_pack<const N: usize>(&self, i: I, values: [T; N]) {
                check_pack::<T, N>();
                self.store_pack(i, values);
            }

            /// Like [`set_pack`](Self::set_pack), if `condition` holds and all elements are in range. A masked form without the
            /// branches of [`set_pack_if`](Self::set_pack_if).
            #[inline(always)]
            #[track_caller]
            pub fn set_pack_masked<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                check_pack::<T, N>();
                self.store_pack_masked(condition, i, values);
            }
        }

        atomic_methods!($name<'_, T, I>, I, I: Position);
    };
}
stores!(GlobalOut);
stores!(GlobalInOut);
