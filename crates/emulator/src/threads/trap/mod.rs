//! Fibres that are abandoned, because their stack overflows or because they do not end.
//!
//! Both cases are signals: SIGSEGV or SIGBUS from the guard page below the stack, and SIGURG from the watchdog. The handler
//! makes the fibre continue in a function that returns from it. The values on its stack are neither dropped nor used again,
//! as if they had been forgotten. This is sound because the abandoned code is a kernel's that can reach neither `std` nor
//! anything that allocates (`cuda_std::build::kernel_crate`). So it holds no lock, and outside of its stack it changes only
//! atomic variables and a reference count of its machine, which is then never freed. Code of the emulator (`Watch`) is never
//! abandoned, and neither are panics, with the hook and the destructors that they run.

// Signal handlers need `unsafe` throughout.
#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "linux.rs"]
mod system;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "none.rs"]
mod system;

pub(crate) use system::{Target, install};

use crate::threads::watch::Watch;
use corosensei::trap::CoroutineTrapHandler;
use std::cell::Cell;
use std::ptr;

/// Reason why a fibre was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// Its stack overflowed.
    StackOverflow,
    /// It called no accessor for too long.
    NoAccess,
}

/// How a fibre ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It has nothing more to run.
    Closed,
    /// It was abandoned.
    Abandoned(Trap),
}

/// State of the running fibre that a signal handler needs.
pub(crate) struct Hosted {
    pub(crate) handler: CoroutineTrapHandler<Ending>,
    /// Lowest address of its stack, where the guard page begins.
    pub(crate) lowest: usize,
    pub(crate) watch: *const Watch,
}

thread_local! {
    /// Fibre that this OS thread runs; null if there is none.
    static HOSTED: Cell<*const Hosted> = const { Cell::new(ptr::null()) };
}

/// Runs `resume`, which resumes the fibre and returns when the fibre yields.
#[inline]
pub(crate) fn hosted<R>(fibre: &Hosted, resume: impl FnOnce() -> R) -> R {
    struct Restore(*const Hosted);
    impl Drop for Restore {
        fn drop(&mut self) {
            HOSTED.set(self.0);
        }
    }
    let _restore = Restore(HOSTED.replace(fibre));
    resume()
}
