//! Panics of kernel code: caught, with their place, and not printed.

use crate::site::Line;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;
use std::thread::{Builder, JoinHandle, panicking};

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    /// The running thread of the kernel has begun to unwind.
    static UNWINDING: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<Line>> = const { RefCell::new(None) };
}

/// The payload of the panic that ends a thread whose launch has ended.
struct Ended;

/// A panic's message and place.
#[derive(Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) at: Option<Line>,
}

/// Whether panics unwind, so that a kernel's can be caught and its threads ended.
pub(crate) const UNWIND: bool = cfg!(panic = "unwind");

/// Has the hook of this process keep the places of kernels' panics instead of printing them. Other panics go where they
/// went before, and so do those of destructors that a panic runs, because they abort; where any panic aborts, all do.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| match panicking() {
        _ if !UNWIND => {}
        // A destructor launches a kernel, and whoever unwinds may not change the hook. Without another thread panics are
        // printed, and lack their places.
        true => drop(Builder::new().spawn(replace_hook).map(JoinHandle::join)),
        false => replace_hook(),
    });
}

fn replace_hook() {
    let previous = take_hook();
    set_hook(Box::new(move |panic| match IN_KERNEL.get() && !UNWINDING.replace(true) {
        true => PLACE.set(panic.location().map(Line::from)),
        false => previous(panic),
    }));
}

/// Runs a thread's code: how it panicked, unless it only had to end.
pub(crate) fn catch(work: impl FnOnce()) -> Option<Panic> {
    let result = catch_unwind(AssertUnwindSafe(work));
    UNWINDING.set(false);
    let payload = result.err()?;
    if payload.is::<Ended>() {
        return None;
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    Some(Panic { message, at: PLACE.take() })
}

/// Whether the running thread of a kernel unwinds: what runs are destructors. It was not suspended since that began.
#[inline]
pub(crate) fn unwinds() -> bool {
    // The launch itself may be in a destructor that a panic runs, and kernels may catch their panics.
    UNWINDING.get() && panicking()
}

/// Ends the running thread because its launch has ended.
pub(crate) fn end_thread() -> ! {
    UNWINDING.set(true);
    resume_unwind(Box::new(Ended))
}

/// Panics in `work` are a kernel's.
pub(crate) fn in_kernel<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_KERNEL.set(self.0);
        }
    }
    let _restore = Restore(IN_KERNEL.replace(true));
    work()
}
