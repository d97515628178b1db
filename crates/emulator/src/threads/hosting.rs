//! What runs the threads of a kernel, and what they tell it.

use super::trap::Trap;
use std::thread::panicking;

/// Size of a thread's stack, in bytes. Untouched pages take no memory.
pub(crate) const STACK_BYTES: usize = 1 << 20;

/// What runs the threads of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hosting {
    /// Fibres, for kernels that cannot reach `std`.
    Fibres,
    /// OS threads. One of them runs at a time.
    OsThreads,
}

impl Hosting {
    /// Returns the hosting of a kernel. During a panic it is always OS threads: `panicking` is a property of the OS thread,
    /// so it could not show whether a fibre panics too, and such a fibre must not be suspended.
    pub(crate) fn of(without_std: bool) -> Self {
        if without_std && !panicking() { Hosting::Fibres } else { Hosting::OsThreads }
    }
}

/// Why a thread yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It waits.
    Pause,
    /// It has ended.
    End,
    /// It is abandoned.
    Abandoned(Trap),
}
