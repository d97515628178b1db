//! Fibres that are left where they are: by an overflow of their stacks, or because they do not end.
//!
//! Both come as signals: SIGSEGV or SIGBUS from the page below the stack, which nobody may touch, and SIGURG from the
//! watchdog. The handler has the fibre go on in a function that returns from it. What was on its stack is neither dropped
//! nor used again, as if it had been forgotten; this is sound because the code that is left is a kernel's that cannot reach
//! `std`, nor what allocates (`cuda_std::build::kernel_crate`): it holds no lock, and what it changes outside of its stack are
//! atomic variables, and a reference count of its machine, which is then never freed. Code of the emulator (`Watch`) and
//! panics under way, with the hook and the destructors that they run, are not left.

// Signal handlers are unsafe all over.
#![allow(unsafe_code)]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "trap/linux.rs"]
mod system;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "trap/none.rs"]
mod system;

pub(crate) use system::{Target, install};

use crate::watch::Watch;
use corosensei::trap::CoroutineTrapHandler;
use std::cell::Cell;
use std::ptr;

/// Why a fibre was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trap {
    /// Its stack is full.
    StackOverflow,
    /// It made no access for too long.
    NoAccess,
}

/// How a fibre ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It has nothing more to run.
    Closed,
    /// It was left.
    Left(Trap),
}

/// What a signal handler has to know of the fibre that runs.
pub(crate) struct Hosted {
    pub(crate) handler: CoroutineTrapHandler<Ending>,
    /// The lowest address of its stack, where a page begins that nobody may touch.
    pub(crate) lowest: usize,
    pub(crate) watch: *const Watch,
}

thread_local! {
    /// The fibre that this OS thread runs; null if it runs none.
    static HOSTED: Cell<*const Hosted> = const { Cell::new(ptr::null()) };
}

/// Runs `resume`, which resumes the fibre and returns when that gives way.
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
