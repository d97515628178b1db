//! The allocator, and the limits that a call is given.

use cap::Cap;
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// The lowest limit, in bytes. Calls make small allocations before the first large one.
pub(crate) const LEAST: usize = 32 << 10;

/// How often the interval between a limit that was too low and one that was enough is halved.
const HALVINGS: usize = 4;

/// Calls `suffices` with limits in bytes that grow until it returns `true`, and then with some between the last two.
pub(crate) fn each(least: usize, mut suffices: impl FnMut(usize) -> bool) {
    let (mut low, mut high) = (0, least);
    while !suffices(high) {
        (low, high) = (high, above(high));
    }
    for _ in 0..HALVINGS {
        let middle = low.midpoint(high);
        if middle < least {
            break;
        }
        *(if suffices(middle) { &mut high } else { &mut low }) = middle;
    }
}

/// Returns the limit that comes after another one.
pub(crate) fn above(limit: usize) -> usize {
    limit + limit / 2
}

/// Returns the result of `call`, which may allocate `limit` bytes.
pub(crate) fn with<R>(limit: usize, call: impl FnOnce() -> R) -> R {
    set(allocated() + limit);
    let result = call();
    set(usize::MAX);
    result
}

/// Returns the number of bytes that are allocated.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.allocated()
}

fn set(limit: usize) {
    ALLOCATOR.set_limit(limit).expect("no more than the limit is allocated");
}
