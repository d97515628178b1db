//! Constants: the second parameter of a launch.

use crate::host::{Access, Space, machine};
use crate::{Constants, Table, Value};
use core::marker::PhantomData;
use std::panic::Location;

/// Where a kernel's table is: it has a copy.
pub(crate) type Source<T, const N: usize> = Table<T, N>;

impl<T: Value, const N: usize> Constants<'_, T, N> {
    /// Returns the constants in `table`. Only for [`kernel!`](crate::kernel).
    #[doc(hidden)]
    #[must_use]
    pub fn of(table: Table<T, N>) -> Self {
        Constants { source: table, marker: PhantomData }
    }
}

/// Returns pack `k`, or the last one if `k` is beyond it.
#[track_caller]
pub(crate) fn pack<T: Value, const N: usize, const P: usize>(source: &Source<T, N>, k: u32) -> [T; P] {
    let access = Access {
        space: Space::Constant,
        base: 0,
        index: u64::from(k) * P as u64,
        len: N as u64,
        elements: P as u32,
        element_bytes: size_of::<T>() as u32,
        at: Location::caller(),
    };
    machine().constant(&access);
    let packs = source.0.as_chunks::<P>().0;
    packs[(k as usize).min(packs.len() - 1)]
}
