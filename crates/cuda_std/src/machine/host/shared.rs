//! Accesses to shared memory.

use super::atomic::Place;
use super::memory::{load, store};
use crate::host::{Access, Space, installed, machine};
use crate::{Shared, Value};
use std::panic::Location;

/// Returns the address and the size of the block's shared memory.
pub(crate) fn of_block() -> (u32, u32) {
    (0, machine().shared_bytes())
}

/// Is told of each split of an arena, and tells the machine, if there is one. Arenas are numbers, so they can be split without
/// a machine.
#[track_caller]
pub(crate) fn split(base: u32, bytes: u32) {
    if let Some(machine) = installed() {
        machine.split(base, bytes, Location::caller());
    }
}

/// Ends the kernel, because a window does not fit into its arena.
#[track_caller]
pub(crate) fn too_small(requested: u64, available: u64) -> ! {
    panic!("a window of {requested} bytes does not fit into the {available} bytes of shared memory that are left")
}

/// Waits until all threads of the block have finished with these bytes.
#[track_caller]
pub(crate) fn reuse(base: u32, bytes: u32) {
    machine().reuse(base, bytes, Location::caller());
}

#[track_caller]
pub(super) fn access<T: Value>(window: &Shared<'_, T>, i: u32, elements: u32) -> Access {
    Access {
        space: Space::Shared,
        base: window.address.into(),
        index: i.into(),
        len: window.len.into(),
        elements,
        element_bytes: size_of::<T>() as u32,
        at: Location::caller(),
    }
}

#[inline(always)]
#[track_caller]
pub(crate) fn get<T: Value>(window: &Shared<'_, T>, i: u32) -> T {
    load::<_, 1>(&access(window, i, 1))[0]
}

#[inline(always)]
#[track_caller]
pub(crate) fn get_pack<T: Value, const N: usize>(window: &Shared<'_, T>, i: u32) -> [T; N] {
    load(&access(window, i, N as u32))
}

#[inline(always)]
#[track_caller]
pub(crate) fn set<T: Value>(window: &Shared<'_, T>, i: u32, value: T) {
    store(&access(window, i, 1), [value]);
}

#[inline(always)]
#[track_caller]
pub(crate) fn set_pack<T: Value, const N: usize>(window: &Shared<'_, T>, i: u32, values: [T; N]) {
    store(&access(window, i, N as u32), values);
}

/// Returns the place of an element, for atomic operations.
#[inline(always)]
#[track_caller]
pub(crate) fn place<T: Value>(window: &Shared<'_, T>, i: u32) -> Place {
    access(window, i, 1)
}
