//! Accesses in twos and fours that keep the elements which a window does have.
//!
//! At the end of a window, or at an address that is no multiple of their size, they fall back to single elements: a branch
//! that all warps but the last ones of a grid leave out.

use super::{GlobalIn, GlobalInOut, GlobalOut, Position};
use crate::{Value, Vector4};

macro_rules! load {
    ($name:ident, $bound:ident, $elements:literal, $vector:ident, $(#[$doc:meta])* $method:ident) => {
        impl<T: $bound, I: Position> $name<T, I> {
            $(#[$doc])*
            #[inline(always)]
            #[must_use]
            #[track_caller]
            pub fn $method(&self, i: I, outside: T) -> [T; $elements] {
                #[cfg(target_os = "cuda")]
                {
                    if self.guard_vector::<$elements>(i) == 1 {
                        return self.$vector(i);
                    }
                    let mut values = [outside; $elements];
                    for (k, value) in values.iter_mut().enumerate() {
                        let k = k as u32;
                        *value = self.get_if(i.in_range(I::of(k), self.len()), i.wrapping_add(k), outside);
                    }
                    values
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    let whole = self.access(i, $elements);
                    if let Some(values) = crate::host::load_if(whole.is_aligned(), &whole) {
                        return values;
                    }
                    let mut values = [outside; $elements];
                    for (k, value) in values.iter_mut().enumerate() {
                        let access = self.access_beyond(i, k as u32);
                        *value = crate::host::load_masked(&access).map_or(outside, |[value]| value);
                    }
                    values
                }
            }
        }
    };
}

macro_rules! loads {
    ($($name:ident)*) => {$(
        load! { $name, Value, 2, get2,
            /// Elements `i` and `i + 1`, `outside` for one that there is not. A masked form: one access if both are in range and
            /// their address is a multiple of their size, otherwise two single ones.
            get2_or
        }
        load! { $name, Vector4, 4, get4,
            /// Elements `i` to `i + 3`, `outside` for each that there is not. A masked form: one access if all are in range and
            /// their address is a multiple of their size, otherwise four single ones.
            get4_or
        }
    )*};
}
loads!(GlobalIn GlobalInOut);

macro_rules! store {
    ($name:ident, $bound:ident, $elements:literal, $vector:ident, $(#[$doc:meta])* $method:ident) => {
        impl<T: $bound, I: Position> $name<T, I> {
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $method(&self, condition: bool, i: I, values: [T; $elements]) {
                #[cfg(target_os = "cuda")]
                {
                    if !condition {
                        return;
                    }
                    if self.guard_vector::<$elements>(i) == 1 {
                        return self.$vector(i, values);
                    }
                    for (k, value) in values.into_iter().enumerate() {
                        let k = k as u32;
                        self.set_if(i.in_range(I::of(k), self.len()), i.wrapping_add(k), value);
                    }
                }
                #[cfg(not(target_os = "cuda"))]
                {
                    let whole = self.access(i, $elements);
                    if crate::host::store_if(condition && whole.is_aligned(), &whole, values) || !condition {
                        return;
                    }
                    for (k, value) in values.into_iter().enumerate() {
                        crate::host::store_masked(true, &self.access_beyond(i, k as u32), value);
                    }
                }
            }
        }
    };
}

macro_rules! stores {
    ($($name:ident)*) => {$(
        store! { $name, Value, 2, set2,
            /// Makes elements `i` and `i + 1` the given values, where there is such an element, if `condition` holds. A masked
            /// form: one access if both are in range and their address is a multiple of their size, otherwise two single ones.
            set2_if
        }
        store! { $name, Vector4, 4, set4,
            /// Makes elements `i` to `i + 3` the given values, where there is such an element, if `condition` holds. A masked
            /// form: one access if all are in range and their address is a multiple of their size, otherwise four single ones.
            set4_if
        }
    )*};
}
stores!(GlobalOut GlobalInOut);
