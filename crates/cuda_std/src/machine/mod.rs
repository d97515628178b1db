//! The seam between the device and the host: everything that the two do differently.
//!
//! The rest of the crate is written once, and calls one of two sides. Both sides have the modules below, with equal names and
//! signatures. Those in `device/` execute instructions; those in `host/` call the [`Machine`](crate::host::Machine) that is
//! installed for the OS thread.
//!
//! | what | defined by a side as |
//! |---|---|
//! | accesses to global memory | methods of the window types: `load…`, `store…`, `place`, `begin_copy` |
//! | accesses to shared memory, and its arena | functions of `shared` |
//! | atomic operations, at a `Place` | [`Atomics`] |
//! | arithmetic | [`Ieee`], [`Fma`](crate::math::Fma), functions of `math` and `half` |
//! | operations of a warp | [`Reductions`], functions of `warp` |
//! | indices, the clock, barriers and fences | functions of `thread` |
//! | waiting for asynchronous copies | functions of `copy` |
//! | where constants are | `constants::Source` |
//! | how elements become bits | `value::Bits`, whose methods only its own side uses |
//!
//! All functions of the device are `#[inline(always)]`, so each accessor becomes its instruction. Those of the host have
//! `#[track_caller]`, so a machine learns the place in the kernel.

#[cfg(target_os = "cuda")]
#[path = "device/mod.rs"]
mod side;
#[cfg(not(target_os = "cuda"))]
#[path = "host/mod.rs"]
mod side;

pub(crate) use side::{atomic, constants, copy, global, half, math, shared, thread, value, warp};

use crate::Ordering;
use crate::atomic::Operation;
use atomic::Place;

/// The atomic operations of a type of elements. `place` is an element of shared or global memory.
pub(crate) trait Atomics: Sized {
    /// Applies `operation` and returns the old value, or zero if `place` is out of range.
    #[track_caller]
    fn update(place: Place, operation: Operation, operand: Self, ordering: Ordering) -> Self;
    /// Stores `new` if the value is `current`. Returns the old value, or zero if `place` is out of range.
    #[track_caller]
    fn compare_exchange(place: Place, current: Self, new: Self, ordering: Ordering) -> Self;
    /// Adds `operand`.
    #[track_caller]
    fn add(place: Place, operand: Self, ordering: Ordering);
    /// Adds `operand` if `condition` holds.
    #[track_caller]
    fn add_if(condition: bool, place: Place, operand: Self, ordering: Ordering);
}

/// Operations of floats that IEEE 754 defines to the last bit.
pub(crate) trait Ieee: Copy {
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
}

/// Reductions of an integer over the lanes in `mask`.
pub(crate) trait Reductions: Sized {
    #[track_caller]
    fn add(mask: u32, value: Self) -> Self;
    #[track_caller]
    fn min(mask: u32, value: Self) -> Self;
    #[track_caller]
    fn max(mask: u32, value: Self) -> Self;
    #[track_caller]
    fn and(mask: u32, value: Self) -> Self;
    #[track_caller]
    fn or(mask: u32, value: Self) -> Self;
}
