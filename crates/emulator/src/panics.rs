//! Panics of kernel code: caught, with their place, and not printed.

use crate::fibres::Ended;
use crate::site::Line;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<Line>> = const { RefCell::new(None) };
}

/// A panic's message and place.
#[derive(Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) at: Option<Line>,
}

/// Has the hook of this process keep the places of kernels' panics instead of printing them. Other panics go where they
/// went before.
pub(crate) fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = take_hook();
        set_hook(Box::new(move |panic| match IN_KERNEL.get() {
            true => PLACE.set(panic.location().map(Line::from)),
            false => previous(panic),
        }));
    });
}

/// Runs a thread's code: how it panicked, unless it only had to end.
pub(crate) fn catch(work: impl FnOnce()) -> Option<Panic> {
    let payload = catch_unwind(AssertUnwindSafe(work)).err()?;
    if payload.is::<Ended>() {
        return None;
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    Some(Panic { message, at: PLACE.take() })
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
