//! Windows on global memory, checked on the device.
//!
//! A window is an address and a length that the host took from a buffer it owns. Its index is 64-bit; `at(base)`
//! gives the window that begins at `base`, whose indices are 32-bit: a tile's place needs 64 bits, the way inside a
//! tile does not, and 32-bit arithmetic is cheaper.
//!
//! An access out of range does nothing, and a load then gives zero. A machine on the host reports it, but for the masked
//! forms (`get_or`, `get_if`, `get_masked`, `get_pack_masked`, `get_pack_or`, `set_if`, `set_pack_if`, `get4_strided`,
//! `set4_strided`), where being outside is intended.
//!
//! `get_pack` and its likes move a *pack* of `N` elements in one access: 1, 2, 4, 8 or 16 of them, 16 bytes at the most. The
//! *address* must be a multiple of their size, and `is_aligned` tells whether it can be. A misaligned access does nothing
//! either, and is reported, and so is one that is partly out of range.

mod rows;
mod tail;

pub use rows::{GlobalIn2, GlobalInOut2, GlobalOut2};

use crate::atomic::{Operation, atomic_methods};
use crate::value::check_pack;
use crate::{Atomic, Ordering, Value};
use core::marker::PhantomData;

/// The index type of a window: `u64`, or `u32` for a part of one.
pub trait Position: Copy + Into<u64> + sealed::Position {}
impl Position for u64 {}
impl Position for u32 {}

pub(crate) mod sealed {
    pub trait Position: Sized {
        /// Whether the element `further` ones beyond this one is inside a window of `len`.
        fn in_range(self, further: Self, len: Self) -> bool;
        /// As an index.
        fn of(n: u32) -> Self;
        /// How many of the `most` elements from this one on are inside a window of `len`.
        #[cfg(target_os = "cuda")]
        fn left(self, len: Self, most: u32) -> u32;
        /// The index of the element `further` ones beyond this one, or another one if there is no such index.
        #[cfg(target_os = "cuda")]
        fn wrapping_add(self, further: u32) -> Self;
    }

    macro_rules! positions {
        ($($t:ty),*) => {$(
            impl Position for $t {
                // The right side does not depend on the index, so a loop computes it once.
                #[inline(always)]
                fn in_range(self, further: $t, len: $t) -> bool {
                    self < len.saturating_sub(further)
                }
                #[inline(always)]
                fn of(n: u32) -> $t {
                    n as $t
                }
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn left(self, len: $t, most: u32) -> u32 {
                    len.saturating_sub(self).min(most as $t) as u32
                }
                #[cfg(target_os = "cuda")]
                #[inline(always)]
                fn wrapping_add(self, further: u32) -> $t {
                    <$t>::wrapping_add(self, further as $t)
                }
            }
        )*};
    }
    positions!(u64, u32);
}

/// The elements of a strided form are at constant distances, which become part of the instructions: checked when
/// compiling that they fit, which is a signed offset of 32 bits, in bytes.
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

/// Defines a window type with what all of them have.
macro_rules! window {
    ($(#[$doc:meta])* $name:ident, $space:ident, $kind:ident) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name<T, I = u64> {
            address: u64,
            len: I,
            marker: PhantomData<fn(T) -> T>,
        }

        impl<T, I: Copy> Clone for $name<T, I> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, I: Copy> Copy for $name<T, I> {}

        impl<T: Value> $name<T> {
            /// The window of `len` elements from `address` on, for a launch.
            ///
            /// # Safety
            ///
            /// The address is aligned for `T`. Whoever launches a kernel with the window or a copy of it sees to it that
            /// until the kernel has ended the elements are inside one live allocation of the launch's device, and that
            /// for a [`GlobalIn`] nothing writes them meanwhile.
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            pub unsafe fn from_raw_parts(address: u64, len: u64) -> Self {
                $name { address, len, marker: PhantomData }
            }

            /// The window without elements.
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            pub fn empty() -> Self {
                $name { address: 0, len: 0, marker: PhantomData }
            }

            /// The same memory as elements of another type, as many as there are whole ones of. `None` if it does not begin
            /// at a multiple of their size.
            ///
            /// ```
            /// let window = cuda_std::GlobalIn::<u8>::empty().cast::<u32>();
            /// assert_eq!(window.map(|window| window.len()), Some(0));
            /// ```
            #[cfg(not(target_os = "cuda"))]
            #[must_use]
            pub fn cast<U: Value>(self) -> Option<$name<U>> {
                let aligned = self.address.is_multiple_of(size_of::<U>() as u64);
                let len = self.description().bytes / size_of::<U>() as u64;
                aligned.then_some($name { address: self.address, len, marker: PhantomData })
            }

            /// What the host has to know of it.
            #[cfg(not(target_os = "cuda"))]
            pub(crate) fn description(&self) -> crate::host::Window {
                crate::host::Window {
                    kind: crate::host::WindowKind::$kind,
                    address: self.address,
                    bytes: self.len.saturating_mul(size_of::<T>() as u64),
                    element_bytes: size_of::<T>() as u32,
                }
            }

            /// The part from element `base` on, with 32-bit indices; empty if `base` is beyond the window. Of a part
            /// longer than 2^32 - 1 elements the first 2^32 - 1 are in reach.
            #[inline(always)]
            #[must_use]
            pub fn at(&self, base: u64) -> $name<T, u32> {
                let left = self.len.saturating_sub(base);
                let len = if left > u32::MAX as u64 { u32::MAX } else { left as u32 };
                $name {
                    address: self.address.wrapping_add(base.wrapping_mul(size_of::<T>() as u64)),
                    len,
                    marker: PhantomData,
                }
            }
        }

        impl<T: Value> $name<T, u32> {
            /// The first `len` elements, or all if there are fewer.
            #[inline(always)]
            #[must_use]
            pub fn first(&self, len: u32) -> Self {
                $name { len: self.len.min(len), ..*self }
            }

            /// Returns the same window, but the compiler no longer knows how its address was computed: otherwise it may add up
            /// the 64-bit place in the larger window and the index anew for each access.
            #[inline(always)]
            #[must_use]
            pub fn anchored(&self) -> Self {
                #[cfg(target_os = "cuda")]
                return $name { address: crate::device::opaque(self.address), ..*self };
                #[cfg(not(target_os = "cuda"))]
                *self
            }
        }

        impl<T: Value, I: Position> $name<T, I> {
            /// The number of elements.
            #[allow(clippy::len_without_is_empty)]
            #[inline(always)]
            #[must_use]
            pub fn len(&self) -> I {
                self.len
            }

            /// Whether the window begins at a multiple of the size of `elements` elements, a power of two: then accesses
            /// of `elements` elements are possible at the indices that are multiples of `elements`. This holds for 0 elements.
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

            /// 1 if the elements from `i` to the one `further` ones beyond may be accessed: what makes every global
            /// access safe.
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            pub(crate) fn guard(&self, i: I, further: u32) -> u32 {
                i.in_range(I::of(further), self.len) as u32
            }

            /// The same for a pack of `N` elements, whose address has to be a multiple of their size. A single element's is,
            /// as the window's is.
            #[cfg(target_os = "cuda")]
            #[inline(always)]
            pub(crate) fn guard_pack<const N: usize>(&self, i: I) -> u32 {
                if N == 1 {
                    return self.guard(i, 0);
                }
                let misaligned = self.address_of(i) & (N as u64 * size_of::<T>() as u64 - 1);
                self.guard(i, N as u32 - 1) & (misaligned == 0) as u32
            }

            /// The access to the element `further` ones beyond `i`.
            #[cfg(not(target_os = "cuda"))]
            #[track_caller]
            pub(crate) fn access_beyond(&self, i: I, further: u32) -> crate::host::Access {
                let index: u64 = i.into();
                crate::host::Access { index: index.saturating_add(further.into()), ..self.access(i, 1) }
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
    /// A window that the kernel reads and nothing writes while it runs.
    GlobalIn, GlobalConstant, In
}
window! {
    /// A window that the kernel writes: stores and atomics.
    GlobalOut, Global, Out
}
window! {
    /// A window that the kernel reads and writes, for work in place.
    GlobalInOut, Global, InOut
}

macro_rules! loads {
    ($name:ident, $load:ident, $load_pack:ident) => {
        impl<T: Value, I: Position> $name<T, I> {
            /// Element `i`.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get(&self, i: I) -> T {
                #[cfg(target_os = "cuda")]
                return T::from_word(crate::device::Word::$load::<0, 0>(self.address_of(i), self.guard(i, 0)));
                #[cfg(not(target_os = "cuda"))]
                return crate::host::load::<T, 1>(&self.access(i, 1))[0];
            }

            /// Element `i`, or `outside` if there is no such element.
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

            /// Element `i` if `condition` holds and there is such an element, otherwise `otherwise`. A masked form without a
            /// branch; if `condition` does not hold, `i` may be anything.
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

            /// Element `i`, or zero if there is no such element. A masked form, without the branch of `get_or`.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_masked(&self, i: I) -> T {
                #[cfg(target_os = "cuda")]
                return self.get(i);
                #[cfg(not(target_os = "cuda"))]
                crate::host::load_masked(&self.access(i, 1)).map_or(T::default(), |[value]| value)
            }

            /// The elements `i`, `i + STRIDE`, `i + 2 STRIDE` and `i + 3 STRIDE`; zero where there is no such element.
            /// A masked form, and cheaper than four separate ones: the address is computed once.
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
                    // A loop, not a closure, which would itself be the caller that the accesses are reported with.
                    let mut values = [T::default(); 4];
                    for (k, value) in values.iter_mut().enumerate() {
                        let access = self.access_beyond(i, k as u32 * STRIDE);
                        [*value] = crate::host::load_masked(&access).unwrap_or_default();
                    }
                    values
                }
            }

            /// Returns elements `i` to `i + N - 1`, 1, 2, 4, 8 or 16 of them in at most 16 bytes, if all are in range, otherwise
            /// zeros. Their address is a multiple of their size.
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

            /// Returns what [`get_pack`](Self::get_pack) does where elements out of range are intended: zeros unless all are in
            /// range. A masked form.
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
        impl<T: Value, I: Position> $name<T, I> {
            /// Makes element `i` the given value.
            #[inline(always)]
            #[track_caller]
            pub fn set(&self, i: I, value: T) {
                #[cfg(target_os = "cuda")]
                crate::device::Word::store_global::<0, 0>(self.address_of(i), value.to_word(), self.guard(i, 0));
                #[cfg(not(target_os = "cuda"))]
                crate::host::store(&self.access(i, 1), [value]);
            }

            /// Makes element `i` the given value if `condition` holds.
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

            /// Makes the elements `i`, `i + STRIDE`, `i + 2 STRIDE` and `i + 3 STRIDE` the given values, where there is
            /// such an element. A masked form, and cheaper than four separate ones.
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

            /// Makes elements `i` to `i + N - 1` the given values, 1, 2, 4, 8 or 16 of them in at most 16 bytes, if all are in
            /// range. Their address is a multiple of their size.
            #[inline(always)]
            #[track_caller]
            pub fn set_pack<const N: usize>(&self, i: I, values: [T; N]) {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                crate::device::Pack::store_pack_global(self.address_of(i), values.map(T::to_word), self.guard_pack::<N>(i));
                #[cfg(not(target_os = "cuda"))]
                crate::host::store(&self.access(i, N as u32), values);
            }
        }

        impl<T: Atomic, I: Position> $name<T, I> {
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

        atomic_methods!($name<T, I>, I, I: Position);
    };
}
stores!(GlobalOut);
stores!(GlobalInOut);
