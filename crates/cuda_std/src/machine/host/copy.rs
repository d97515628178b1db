//! Asynchronous copies.

use super::shared;
use crate::copy::bytes;
use crate::global::Position;
use crate::host::{AsyncCopy, machine};
use crate::{GlobalIn, GlobalInOut, Shared, Value};
use std::panic::Location;

#[track_caller]
pub(crate) fn commit() {
    machine().commit_copies(Location::caller());
}

#[track_caller]
pub(crate) fn wait_group<const LATEST: u32>() {
    machine().wait_copies(Some(LATEST), Location::caller());
}

#[track_caller]
pub(crate) fn wait_all() {
    machine().wait_copies(None, Location::caller());
}

macro_rules! copies {
    ($($name:ident)*) => {$(
        impl<T: Value, I: Position> $name<'_, T, I> {
            /// Begins a copy of `N` elements, which is a masked form or not.
            #[inline(always)]
            #[track_caller]
            pub(crate) fn begin_copy<const N: u32>(&self, j: I, to: &Shared<'_, T>, i: u32, masked: bool) {
                bytes::<T, N>();
                let (from, to) = (self.access(j, N), shared::access(to, i, N));
                machine().copy_async(&AsyncCopy { from, to, masked });
            }
        }
    )*};
}
copies!(GlobalIn GlobalInOut);
