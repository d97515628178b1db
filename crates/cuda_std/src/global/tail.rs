//! Pack accesses that keep the elements inside a window.
//!
//! At the end of a window, or at an address that is not a multiple of the pack's size, they access single elements. In
//! aligned windows only the last warps of a grid take this branch.

use super::{GlobalIn, GlobalInOut, GlobalOut, Position};
use crate::Value;
use crate::value::check_pack;

macro_rules! loads {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Returns elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes), with `outside` for each
            /// that is out of range. A masked form: one access if all elements are in range and their address is a multiple
            /// of the pack's size, otherwise `N` single accesses.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_pack_or<const N: usize>(&self, i: I, outside: T) -> [T; N] {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                {
                    if self.guard_pack::<N>(i) == 1 {
                        return self.get_pack(i);
                    }
                    let mut values = [outside; N];
                    for (k, value) in values.iter_mut().enumerate() {
                        let k = k as u32;
                        *value = self.get_if(i.in_range(I::of(k), self.len()), i.wrapping_add(k), outside);
                    }
                    values
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    let whole = self.access(i, N as u32);
                    if let Some(values) = crate::host::load_if(whole.is_aligned(), &whole) {
                        return values;
                    }
                    let mut values = [outside; N];
                    for (k, value) in values.iter_mut().enumerate() {
                        let access = self.access_beyond(i, k as u32);
                        *value = crate::host::load_masked(&access).map_or(outside, |[value]| value);
                    }
                    values
                }
            }
        }
    )*};
}
loads!(GlobalIn GlobalInOut);

macro_rules! stores {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Sets elements `i` to `i + N - 1` (1, 2, 4, 8 or 16 elements in at most 16 bytes) to `values` if `condition`
            /// holds, except those out of range. A masked form: one access if all elements are in range and their address is
            /// a multiple of the pack's size, otherwise `N` single accesses.
            #[inline(always)]
            #[track_caller]
            pub fn set_pack_if<const N: usize>(&self, condition: bool, i: I, values: [T; N]) {
                check_pack::<T, N>();
                #[cfg(target_os = "cuda")]
                {
                    if !condition {
                        return;
                    }
                    if self.guard_pack::<N>(i) == 1 {
                        return self.set_pack(i, values);
                    }
                    for (k, value) in values.into_iter().enumerate() {
                        let k = k as u32;
                        self.set_if(i.in_range(I::of(k), self.len()), i.wrapping_add(k), value);
                    }
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    let whole = self.access(i, N as u32);
                    if crate::host::store_if(condition && whole.is_aligned(), &whole, values) || !condition {
                        return;
                    }
                    for (k, value) in values.into_iter().enumerate() {
                        crate::host::store_masked(true, &self.access_beyond(i, k as u32), value);
                    }
                }
            }
        }
    )*};
}
stores!(GlobalOut GlobalInOut);
