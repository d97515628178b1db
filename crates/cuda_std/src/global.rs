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

mod rows;
mod tail;

pub use rows::{GlobalIn2, GlobalInOut2, GlobalOut2};

use crate::atomic::{Operation, atomic_methods};
use crate::value::check_pack;
use crate::{Atomic, Ordering, Value};
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
        #[cfg(target_os = "cuda")]
        fn left(self, len: Self, limit: u32) -> u32;
        /// Returns the index `offset` positions after this one, wrapping.
        #[cfg(target_os = "cuda")]
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
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn left(self, len: $t, limit: u32) -> u32 {
                    len.saturating_sub(self).min(limit as $t) as u32
                }
                #[cfg(target_os = "cuda")]
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
    ($(#[$doc:meta])* $name:ident, $space:ident, $kind:ident) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name<'l, T, I = u64> {
            address: u64,
            len: I,
            marker: PhantomData<(&'l (), fn(T) -> T)>,
        }

        impl<T, I: Copy> Clone for $name<'_, T, I> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, I: Copy> Copy for $name<'_, T, I> {}

        impl<'l, T: Value> $name<'l, T> {
            /// Returns the window of `len` elements from `address` on, for a launch.
            ///
            /// # Safety
            ///
            /// The address must be aligned for `T`. Whoever launches a kernel with the window, or with a copy of it, must
            /// ensure that the elements lie inside one live allocation of the launch's device until the kernel has ended,
            /// and that nothing writes the elements of a [`GlobalIn`] in that time. Safe code that could make the window's
            /// lifetime an argument of a kernel must be generic over it, so that no kernel can keep the window.
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            pub unsafe fn from_raw_parts(address: u64, len: u64) -> Self {
                $name { address, len, marker: PhantomData }
            }

            /// Returns an empty window.
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            pub fn empty() -> Self {
                $name { address: 0, len: 0, marker: PhantomData }
            }

            /// Returns a window on the same memory with elements of another type. Its length is rounded down to whole
            /// elements. Returns `None` if the window does not begin at a multiple of their size.
            ///
            /// ```
            /// let window = cuda_std::GlobalIn::<u8>::empty().cast::<u32>();
            /// assert_eq!(window.map(|window| window.len()), Some(0));
            /// ```
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            pub fn cast<U: Value>(self) -> Option<$name<'l, U>> {
                let aligned = self.address.is_multiple_of(size_of::<U>() as u64);
                let len = self.description().bytes / size_of::<U>() as u64;
                aligned.then_some($name { address: self.address, len, marker: PhantomData })
            }

            /// Returns the host's description of the window.
            #[cfg(not(target_os = "cuda"))]
            pub(crate) fn description(&self) -> crate::host::Window {
                crate::host::Window {
                    kind: crate::host::WindowKind::$kind,
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
                $name {
                    address: self.address.wrapping_add(base.wrapping_mul(size_of::<T>() as u64)),
                    len,
                    marker: PhantomData,
                }
            }
        }

        impl<T: Value> $name<'_, T, u32> {
            /// Returns the window on the first `len` elements, or on all if there are fewer.
            #[inline(always)]
            #[must_use]
            pub fn first(&self, len: u32) -> Self {
                $name { len: self.len.min(len), ..*self }
            }

            /// Returns the same window, but hides from the compiler how its address was computed. Otherwise the compiler may
            /// add the 64-bit position in the larger window and the index again for each access.
            #[inline(always)]
            #[must_use]
            pub fn anchored(&self) -> Self {
                #[cfg(target_os = "cuda")]
                return $name { address: crate::device::opaque(self.address), ..*self };
                #[cfg(not(target_os = "cuda"))]
                *self
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

            #[cfg(target_os = "cuda")]
            #[inline(always)]
            fn bytes(elements: I) -> u64 {
                let elements: u64 = elements.into();
                elements.wrapping_mul(size_of::<T>() as u64)
            }

            #[cfg(target_os = "cuda")]
            #[inline(always)]
            pub(crate) fn address_of(&self, i: I) -> u64 {
                self.address.wrapping_add(Self::bytes(i))
            }

            /// Returns 1 if elements `i` to `i + offset` are in range, otherwise 0. This guard makes every global access
            /// safe.
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            pub(crate) fn guard(&self, i: I, offset: u32) -> u32 {
                i.in_range(I::of(offset), self.len) as u32
            }

            /// Returns 1 if a pack of `N` elements is in range and its address is a multiple of its size, otherwise 0. A
            /// single element is always aligned, because the window is.
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            pub(crate) fn guard_pack<const N: usize>(&self, i: I) -> u32 {
                if N == 1 {
                    return self.guard(i, 0);
                }
                let misaligned = self.address_of(i) & (N as u64 * size_of::<T>() as u64 - 1);
                self.guard(i, N as u32 - 1) & (misaligned == 0) as u32
            }

            /// Returns the access to the element `offset` positions after `i`.
            #[cfg(not(target_os = "cuda"))]
            #[track_caller]
            pub(crate) fn access_beyond(&self, i: I, offset: u32) -> crate::host::Access {
                let index: u64 = i.into();
                crate::host::Access { index: index.saturating_add(offset.into()), ..self.access(i, 1) }
            }

            #[cfg(not(target_os = "cuda"))]
            #[track_caller]
            pub(crate) fn access(&self, i: I, elements: u32) -> crate::host::Access {
                crate::host::Access {
                    space: crate::host::Space::$space,
                    base: self.address,
                    index: i.into(),
                    len: self.len.into(),
                    elements,
                    element_bytes: size_of::<T>() as u32,
                    at: core::panic::Location::caller(),
                }
            }
        }
    };
}

window! {
    /// A read-only window: nothing writes it while the kernel runs.
    GlobalIn, GlobalConstant, In
}
window! {
    /// A window that the kernel writes, with stores and atomics.
    GlobalOut, Global, Out
}
window! {
    /// A window that the kernel reads and writes, for in-place work.
    GlobalInOut, Global, InOut
}

macro_rules! loads {
    ($name:ident, $load:ident, $load_pack:ident) => {
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Returns element `i`.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get(&self, i: I) -> T {
                #[cfg(target_os = "cuda")]
                return T::from_word(crate::device::Word::$load::<0, 0>(self.address_of(i), self.guard(i, 0)));
                #[cfg(not(target_os = "cuda"))]
                return crate::host::load::<T, 1>(&self.access(i, 1))[0];
            }

            /// Returns element `i`, or `outside` if there is no such element.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_or(&self, i: I, outside: T) -> T {
                #[cfg(target_os = "cuda")]
                {
                    if !i.in_range(I::of(0), self.len) {
                        return outside;
                    }
                    T::from_word(crate::device::Word::$load::<0, 0>(self.address_of(i), self.guard(i, 0)))
                }
                #[cfg(not(target_os = "cuda"))]
                crate::host::load_masked(&self.access(i, 1)).map_or(outside, |[value]| value)
            }

            /// Returns element `i` if `condition` holds and there is such an element, otherwise `otherwise`. A masked form
            /// without a branch. If `condition` does not hold, `i` may be anything.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_if(&self, condition: bool, i: I, otherwise: T) -> T {
                #[cfg(target_os = "cuda")]
                {
                    let guard = self.guard(i, 0) & condition as u32;
                    let value = T::from_word(crate::device::Word::$load::<0, 0>(self.address_of(i), guard));
                    if guard == 1 { value } else { otherwise }
                }
                #[cfg(not(target_os = "cuda"))]
                crate::host::load_if(condition, &self.access(i, 1)).map_or(otherwise, |[value]| value)
            }

            /// Returns element `i`, or zero if there is no such element. A masked form, without the branch of `get_or`.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_masked(&self, i: I) -> T {
                #[cfg(target_os = "cuda")]
                return self.get(i);
                #[cfg(not(target_os = "cuda"))]
                crate::host::load_masked(&self.access(i, 1)).map_or(T::default(), |[value]| value)
            }

            /// Returns elements `i`, `i + STRIDE`, `i + 2 STRIDE` and `i + 3 STRIDE`, with zero for each that is out of
            /// range. A masked form, and cheaper than four separate ones: the address is computed once.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get4_strided<const STRIDE: u32>(&self, i: I) -> [T; 4] {
                check_stride::<T, STRIDE>();
                #[cfg(target_os = "cuda")]
                {
                    use crate::device::Word;
                    let (at, guard) = (self.address_of(i), |k| self.guard(i, k * STRIDE));
                    let words = [
                        Word::$load::<0, STRIDE>(at, guard(0)),
                        Word::$load::<1, STRIDE>(at, guard(1)),
                        Word::$load::<2, STRIDE>(at, guard(2)),
                        Word::$load::<3, STRIDE>(at, guard(3)),
                    ];
                    words.map(T::from_word)
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    // A loop, because a closure would be the caller in the accesses' source locations.
                    let mut values = [T::default(); 4];
                    for (k, value) in values.iter_mut().enumerate() {
                        let access = self.access_beyond(i, k as u32 * STRIDE);
                        [*value] = crate::host::load_masked(&access).unwrap_or_default();
                    }
                    values
                }
            }

            /// Returns elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes) if all are in range,
            /// otherwise zeros. Their address must be a multiple of the pack's size.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_pack<const N: usize>(&self, i: I) -> [T; N] {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                return crate::device::Pack::$load_pack(self.address_of(i), self.guard_pack::<N>(i)).map(T::from_word);
                #[cfg(not(target_os = "cuda"))]
                return crate::host::load(&self.access(i, N as u32));
            }

            /// Like [`get_pack`](Self::get_pack), for packs that may be out of range on purpose. A masked form.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_pack_masked<const N: usize>(&self, i: I) -> [T; N] {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                return self.get_pack(i);
                #[cfg(not(target_os = "cuda"))]
                return crate::host::load_masked(&self.access(i, N as u32)).unwrap_or([T::default(); N]);
            }
        }
    };
}
loads!(GlobalIn, load_constant, load_pack_constant);
loads!(GlobalInOut, load_global, load_pack_global);

macro_rules! stores {
    ($name:ident) => {
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Sets element `i` to `value`.
            #[inline(always)]
            #[track_caller]
            pub fn set(&self, i: I, value: T) {
                #[cfg(target_os = "cuda")]
                crate::device::Word::store_global::<0, 0>(self.address_of(i), value.to_word(), self.guard(i, 0));
                #[cfg(not(target_os = "cuda"))]
                crate::host::store(&self.access(i, 1), [value]);
            }

            /// Sets element `i` to `value` if `condition` holds and there is such an element. A masked form.
            #[inline(always)]
            #[track_caller]
            pub fn set_if(&self, condition: bool, i: I, value: T) {
                #[cfg(target_os = "cuda")]
                crate::device::Word::store_global::<0, 0>(
                    self.address_of(i),
                    value.to_word(),
                    self.guard(i, 0) & condition as u32,
                );
                #[cfg(not(target_os = "cuda"))]
                crate::host::store_masked(condition, &self.access(i, 1), value);
            }

            /// Sets elements `i`, `i + STRIDE`, `i + 2 STRIDE` and `i + 3 STRIDE` to `values`, except those out of range. A
            /// masked form, and cheaper than four separate ones.
            #[inline(always)]
            #[track_caller]
            pub fn set4_strided<const STRIDE: u32>(&self, i: I, values: [T; 4]) {
                check_stride::<T, STRIDE>();
                #[cfg(target_os = "cuda")]
                {
                    use crate::device::Word;
                    let (at, guard) = (self.address_of(i), |k| self.guard(i, k * STRIDE));
                    let [a, b, c, d] = values.map(T::to_word);
                    Word::store_global::<0, STRIDE>(at, a, guard(0));
                    Word::store_global::<1, STRIDE>(at, b, guard(1));
                    Word::store_global::<2, STRIDE>(at, c, guard(2));
                    Word::store_global::<3, STRIDE>(at, d, guard(3));
                }
                #[cfg(not(target_os = "cuda"))]
                for (k, value) in values.into_iter().enumerate() {
                    crate::host::store_masked(true, &self.access_beyond(i, k as u32 * STRIDE), value);
                }
            }

            /// Sets elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes) to `values` if all are in
            /// range. Their address must be a multiple of the pack's size.
            #[inline(always)]
            #[track_caller]
            pub fn set_pack<const N: usize>(&self, i: I, values: [T; N]) {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                crate::device::Pack::store_pack_global(self.address_of(i), values.map(T::to_word), self.guard_pack::<N>(i));
                #[cfg(not(target_os = "cuda"))]
                crate::host::store(&self.access(i, N as u32), values);
            }

            /// Like [`set_pack`](Self::set_pack), if `condition` holds and all elements are in range. A masked form without the
            /// branches of [`set_pack_if`](Self::set_pack_if).
            #[inline(always)]
            #[track_caller]
            pub fn set_pack_masked<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                crate::device::Pack::store_pack_global(
                    self.address_of(i),
                    values.map(T::to_word),
                    self.guard_pack::<N>(i) & condition as u32,
                );
                #[cfg(not(target_os = "cuda"))]
                crate::host::store_if(condition, &self.access(i, N as u32), values);
            }
        }

        impl<T: Atomic, I: Position> $name<'_, T, I> {
            #[inline(always)]
            #[track_caller]
            fn update(&self, i: I, operation: Operation, operand: T, ordering: Ordering) -> T {
                #[cfg(target_os = "cuda")]
                return T::read_modify_write(self.place(i), operation, operand, ordering);
                #[cfg(not(target_os = "cuda"))]
                return crate::host::update(&self.access(i, 1), operation, operand, ordering);
            }

            #[inline(always)]
            #[track_caller]
            fn swap_if(&self, i: I, current: T, new: T, ordering: Ordering) -> T {
                #[cfg(target_os = "cuda")]
                return T::compare_exchange(self.place(i), current, new, ordering);
                #[cfg(not(target_os = "cuda"))]
                return crate::host::swap_if(&self.access(i, 1), current, new, ordering);
            }

            #[cfg(target_os = "cuda")]
            #[inline(always)]
            fn place(&self, i: I) -> crate::atomic::Place {
                crate::atomic::Place::Global(self.address_of(i), self.guard(i, 0))
            }
        }

        atomic_methods!($name<'_, T, I>, I, I: Position);
    };
}
stores!(GlobalOut);
stores!(GlobalInOut);
