//! Accesses to global memory.

use super::atomic::Place;
use super::memory::{load, load_if, load_masked, store, store_if, store_masked};
use crate::global::{GlobalIn, GlobalInOut, GlobalOut, Position};
use crate::host::{Access, Space};
use crate::{Atomic, Value};
use std::panic::Location;

#[inline(always)]
pub(crate) fn anchored(address: u64) -> u64 {
    address
}

macro_rules! windows {
    ($($name:ident, $space:ident;)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            #[track_caller]
            pub(super) fn access(&self, i: I, elements: u32) -> Access {
                Access {
                    space: Space::$space,
                    base: self.address,
                    index: i.into(),
                    len: self.len.into(),
                    elements,
                    element_bytes: size_of::<T>() as u32,
                    at: Location::caller(),
                }
            }

            /// Returns the access to the element `offset` positions after `i`.
            #[track_caller]
            fn access_beyond(&self, i: I, offset: u32) -> Access {
                let index: u64 = i.into();
                Access { index: index.saturating_add(offset.into()), ..self.access(i, 1) }
            }
        }
    )*};
}
windows! {
    GlobalIn, GlobalConstant;
    GlobalOut, Global;
    GlobalInOut, Global;
}

macro_rules! loads {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            #[inline(always)]
            #[track_caller]
            pub(crate) fn load(&self, i: I) -> T {
                load::<T, 1>(&self.access(i, 1))[0]
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load_or(&self, i: I, outside: T) -> T {
                load_masked(&self.access(i, 1)).map_or(outside, |[value]| value)
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load_if(&self, condition: bool, i: I, otherwise: T) -> T {
                load_if(condition, &self.access(i, 1)).map_or(otherwise, |[value]| value)
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load_masked(&self, i: I) -> T {
                load_masked(&self.access(i, 1)).map_or(T::default(), |[value]| value)
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load4_strided<const STRIDE: u32>(&self, i: I) -> [T; 4] {
                // A loop, because a closure would be the caller in the accesses' source locations.
                let mut values = [T::default(); 4];
                for (k, value) in values.iter_mut().enumerate() {
                    let access = self.access_beyond(i, k as u32 * STRIDE);
                    [*value] = load_masked(&access).unwrap_or_default();
                }
                values
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load_pack<const N: usize>(&self, i: I) -> [T; N] {
                load(&self.access(i, N as u32))
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load_pack_masked<const N: usize>(&self, i: I) -> [T; N] {
                load_masked(&self.access(i, N as u32)).unwrap_or([T::default(); N])
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn load_pack_or<const N: usize>(&self, i: I, outside: T) -> [T; N] {
                let whole = self.access(i, N as u32);
                if let Some(values) = load_if(whole.is_aligned(), &whole) {
                    return values;
                }
                let mut values = [outside; N];
                for (k, value) in values.iter_mut().enumerate() {
                    let access = self.access_beyond(i, k as u32);
                    *value = load_masked(&access).map_or(outside, |[value]| value);
                }
                values
            }
        }
    )*};
}
loads!(GlobalIn GlobalInOut);

macro_rules! stores {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            #[inline(always)]
            #[track_caller]
            pub(crate) fn store(&self, i: I, value: T) {
                store(&self.access(i, 1), [value]);
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn store_if(&self, condition: bool, i: I, value: T) {
                store_masked(condition, &self.access(i, 1), value);
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn store4_strided<const STRIDE: u32>(&self, i: I, values: [T; 4]) {
                for (k, value) in values.into_iter().enumerate() {
                    store_masked(true, &self.access_beyond(i, k as u32 * STRIDE), value);
                }
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn store_pack<const N: usize>(&self, i: I, values: [T; N]) {
                store(&self.access(i, N as u32), values);
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn store_pack_masked<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                store_if(condition, &self.access(i, N as u32), values);
            }

            #[inline(always)]
            #[track_caller]
            pub(crate) fn store_pack_if<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                let whole = self.access(i, N as u32);
                if store_if(condition && whole.is_aligned(), &whole, values) || !condition {
                    return;
                }
                for (k, value) in values.into_iter().enumerate() {
                    store_masked(true, &self.access_beyond(i, k as u32), value);
                }
            }
        }

        impl<T: Atomic, I: Position> $name<'_, T, I> {
            /// Returns the place of an element, for atomic operations.
            #[inline(always)]
            #[track_caller]
            pub(crate) fn place(&self, i: I) -> Place {
                self.access(i, 1)
            }
        }
    )*};
}
stores!(GlobalOut GlobalInOut);
