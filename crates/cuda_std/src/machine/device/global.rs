//! Accesses to global memory, each with the guard that makes it safe.

use super::atomic::Place;
use super::words::{Pack, Word};
use crate::global::{GlobalIn, GlobalInOut, GlobalOut, Position};
use crate::{Atomic, Value};
use core::arch::asm;

/// Returns the same address, but the compiler does not know that.
#[inline(always)]
pub(crate) fn anchored(mut address: u64) -> u64 {
    // SAFETY: there are no instructions.
    unsafe { asm!("// {number}", number = inout(reg64) address, options(pure, nomem, nostack)) }
    address
}

macro_rules! windows {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            #[inline(always)]
            fn bytes(elements: I) -> u64 {
                let elements: u64 = elements.into();
                elements.wrapping_mul(size_of::<T>() as u64)
            }

            #[inline(always)]
            pub(super) fn address_of(&self, i: I) -> u64 {
                self.address.wrapping_add(Self::bytes(i))
            }

            /// Returns 1 if elements `i` to `i + offset` are in range, otherwise 0. This guard makes every global access
            /// safe.
            #[inline(always)]
            fn guard(&self, i: I, offset: u32) -> u32 {
                i.in_range(I::of(offset), self.len) as u32
            }

            /// Returns 1 if a pack of `N` elements is in range and its address is a multiple of its size, otherwise 0. A
            /// single element is always aligned, because the window is.
            #[inline(always)]
            fn guard_pack<const N: usize>(&self, i: I) -> u32 {
                if N == 1 {
                    return self.guard(i, 0);
                }
                let misaligned = self.address_of(i) & (N as u64 * size_of::<T>() as u64 - 1);
                self.guard(i, N as u32 - 1) & (misaligned == 0) as u32
            }
        }
    )*};
}
windows!(GlobalIn GlobalOut GlobalInOut);

macro_rules! loads {
    ($($name:ident, $load:ident, $load_pack:ident;)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            #[inline(always)]
            pub(crate) fn load(&self, i: I) -> T {
                T::from_word(Word::$load::<0, 0>(self.address_of(i), self.guard(i, 0)))
            }

            #[inline(always)]
            pub(crate) fn load_or(&self, i: I, outside: T) -> T {
                if !i.in_range(I::of(0), self.len) {
                    return outside;
                }
                T::from_word(Word::$load::<0, 0>(self.address_of(i), self.guard(i, 0)))
            }

            #[inline(always)]
            pub(crate) fn load_if(&self, condition: bool, i: I, otherwise: T) -> T {
                let guard = self.guard(i, 0) & condition as u32;
                let value = T::from_word(Word::$load::<0, 0>(self.address_of(i), guard));
                if guard == 1 { value } else { otherwise }
            }

            #[inline(always)]
            pub(crate) fn load_masked(&self, i: I) -> T {
                self.load(i)
            }

            #[inline(always)]
            pub(crate) fn load4_strided<const STRIDE: u32>(&self, i: I) -> [T; 4] {
                let (at, guard) = (self.address_of(i), |k| self.guard(i, k * STRIDE));
                let words = [
                    Word::$load::<0, STRIDE>(at, guard(0)),
                    Word::$load::<1, STRIDE>(at, guard(1)),
                    Word::$load::<2, STRIDE>(at, guard(2)),
                    Word::$load::<3, STRIDE>(at, guard(3)),
                ];
                words.map(T::from_word)
            }

            #[inline(always)]
            pub(crate) fn load_pack<const N: usize>(&self, i: I) -> [T; N] {
                Pack::$load_pack(self.address_of(i), self.guard_pack::<N>(i)).map(T::from_word)
            }

            #[inline(always)]
            pub(crate) fn load_pack_masked<const N: usize>(&self, i: I) -> [T; N] {
                self.load_pack(i)
            }

            #[inline(always)]
            pub(crate) fn load_pack_or<const N: usize>(&self, i: I, outside: T) -> [T; N] {
                if self.guard_pack::<N>(i) == 1 {
                    return self.load_pack(i);
                }
                let mut values = [outside; N];
                for (k, value) in values.iter_mut().enumerate() {
                    let k = k as u32;
                    *value = self.load_if(i.in_range(I::of(k), self.len), i.wrapping_add(k), outside);
                }
                values
            }
        }
    )*};
}
loads! {
    GlobalIn, load_constant, load_pack_constant;
    GlobalInOut, load_global, load_pack_global;
}

macro_rules! stores {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            #[inline(always)]
            pub(crate) fn store(&self, i: I, value: T) {
                Word::store_global::<0, 0>(self.address_of(i), value.to_word(), self.guard(i, 0));
            }

            #[inline(always)]
            pub(crate) fn store_if(&self, condition: bool, i: I, value: T) {
                Word::store_global::<0, 0>(
                    self.address_of(i),
                    value.to_word(),
                    self.guard(i, 0) & condition as u32,
                );
            }

            #[inline(always)]
            pub(crate) fn store4_strided<const STRIDE: u32>(&self, i: I, values: [T; 4]) {
                let (at, guard) = (self.address_of(i), |k| self.guard(i, k * STRIDE));
                let [a, b, c, d] = values.map(T::to_word);
                Word::store_global::<0, STRIDE>(at, a, guard(0));
                Word::store_global::<1, STRIDE>(at, b, guard(1));
                Word::store_global::<2, STRIDE>(at, c, guard(2));
                Word::store_global::<3, STRIDE>(at, d, guard(3));
            }

            #[inline(always)]
            pub(crate) fn store_pack<const N: usize>(&self, i: I, values: [T; N]) {
                Pack::store_pack_global(self.address_of(i), values.map(T::to_word), self.guard_pack::<N>(i));
            }

            #[inline(always)]
            pub(crate) fn store_pack_masked<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                Pack::store_pack_global(
                    self.address_of(i),
                    values.map(T::to_word),
                    self.guard_pack::<N>(i) & condition as u32,
                );
            }

            #[inline(always)]
            pub(crate) fn store_pack_if<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                if !condition {
                    return;
                }
                if self.guard_pack::<N>(i) == 1 {
                    return self.store_pack(i, values);
                }
                for (k, value) in values.into_iter().enumerate() {
                    let k = k as u32;
                    self.store_if(i.in_range(I::of(k), self.len), i.wrapping_add(k), value);
                }
            }
        }

        impl<T: Atomic, I: Position> $name<'_, T, I> {
            /// Returns the place of an element, for atomic operations.
            #[inline(always)]
            pub(crate) fn place(&self, i: I) -> Place {
                Place::Global(self.address_of(i), self.guard(i, 0))
            }
        }
    )*};
}
stores!(GlobalOut GlobalInOut);
