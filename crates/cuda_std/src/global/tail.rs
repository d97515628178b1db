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
                self.load_pack_or(i, outside)
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
                self.store_pack_if(condition, i, values);
            }
        }
    )*};
}
stores!(GlobalOut GlobalInOut);
