//! Windows on matrices with a row pitch. Each access is checked against its row.

use super::{GlobalIn, GlobalInOut, GlobalOut, Position};
use crate::argument::{Window, layout_of};
use crate::digest::Digest;
use crate::{Argument, ArgumentOf, Value};

/// Defines the matrix type `$name` on a window of type `$window`.
macro_rules! matrix {
    ($(#[$doc:meta])* $name:ident, $window:ident) => {
        $(#[$doc])*
        ///
        /// Element (`row`, `column`) is element `row * pitch + column` of the window that the matrix was made from. An index
        /// beyond the end of its row is out of range even if the window continues there, so an access never reaches the next
        /// row or the gap between rows. [`row`](Self::row) returns a window on one row, with 32-bit indices and all other
        /// accesses.
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name<'l, T> {
            pub(crate) window: $window<'l, T>,
            pub(crate) rows: u32,
            pub(crate) columns: u32,
            pub(crate) pitch: u32,
        }

        impl<T> Clone for $name<'_, T> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<'_, T> {}

        // SAFETY: `repr(C)` with an argument and numbers; `windows` reports the window, which contains all rows (`new`).
        unsafe impl<T: Value> Argument for $name<'_, T> {
            const LAYOUT: Digest = layout_of::<Self>(stringify!($name)).add_digest(<$window<'_, T>>::LAYOUT).finish();

            fn windows(&self, name: &'static str, visit: &mut dyn FnMut(&'static str, Window)) {
                self.window.windows(name, visit);
            }
        }

        // SAFETY: the only window is this one.
        unsafe impl<'l, T: Value> ArgumentOf<'l> for $name<'l, T> {}

        impl<'l, T: Value> $name<'l, T> {
            /// Returns the number of rows.
            #[inline(always)]
            #[must_use]
            pub fn rows(&self) -> u32 {
                self.rows
            }

            /// Returns the number of columns: the elements of a row.
            #[inline(always)]
            #[must_use]
            pub fn columns(&self) -> u32 {
                self.columns
            }

            /// Returns the window on row `row`, which is empty if there is no such row.
            #[inline(always)]
            #[must_use]
            pub fn row<R: Position>(&self, row: R) -> $window<'l, T, u32> {
                self.line(row)
            }

            /// Returns the window on a row, with indices of type `C`.
            #[inline(always)]
            fn line<C: Position>(&self, row: impl Position) -> $window<'l, T, C> {
                let row: u64 = row.into();
                let columns = if row < self.rows as u64 { self.columns } else { 0 };
                // The row is inside the window (`new` checks this), or `columns` is 0.
                let first = row.wrapping_mul(self.pitch as u64).wrapping_mul(size_of::<T>() as u64);
                let address = self.window.address.wrapping_add(first);
                $window::of(address, C::of(columns))
            }
        }
    };
}
matrix! {
    /// A read-only matrix: nothing writes it while the kernel runs.
    GlobalIn2, GlobalIn
}
matrix! {
    /// A matrix that the kernel writes.
    GlobalOut2, GlobalOut
}
matrix! {
    /// A matrix that the kernel reads and writes, for in-place work.
    GlobalInOut2, GlobalInOut
}

macro_rules! loads {
    ($($name:ident)*) => {$(
        impl<T: Value> $name<'_, T> {
            /// Returns the element at this row and column.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get<R: Position, C: Position>(&self, row: R, column: C) -> T {
                self.line::<C>(row).get(column)
            }

            /// Returns the element at this row and column, or `outside` if there is no such element. A masked form.
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn get_or<R: Position, C: Position>(&self, row: R, column: C, outside: T) -> T {
                self.line::<C>(row).get_if(true, column, outside)
            }
        }
    )*};
}
loads!(GlobalIn2 GlobalInOut2);

macro_rules! stores {
    ($($name:ident)*) => {$(
        impl<T: Value> $name<'_, T> {
            /// Sets the element at this row and column to `value`.
            #[inline(always)]
            #[track_caller]
            pub fn set<R: Position, C: Position>(&self, row: R, column: C, value: T) {
                self.line::<C>(row).set(column, value);
            }

            /// Sets the element at this row and column to `value` if `condition` holds and there is such an element. A
            /// masked form.
            #[inline(always)]
            #[track_caller]
            pub fn set_if<R: Position, C: Position>(&self, condition: bool, row: R, column: C, value: T) {
                self.line::<C>(row).set_if(condition, column, value);
            }
        }
    )*};
}
stores!(GlobalOut2 GlobalInOut2);
