//! Panics of kernel code, which are caught with their location and not printed.

use crate::report::Line;
use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, forget};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, panicking};

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    /// Whether the running thread of the kernel unwinds. Further panics are those of its destructors.
    static UNWINDING: Cell<bool> = const { Cell::new(false) };
    /// Never dropped, so that destructors of `thread_local!`s can use it.
    static PLACE: ManuallyDrop<RefCell<Option<Line>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

/// Payload of the panic that ends a thread after its launch has ended.
struct Ended;

/// Message and location of a panic.
#[derive(Debug)]
pub(crate) struct Panic {
    pub(crate) message: String,
    pub(crate) at: Option<Line>,
}

/// Whether panics unwind, so that those of kernels can be caught, and threads can be ended.
pub(crate) const UNWIND: bool = cfg!(panic = "unwind");

/// State of the process's panic hook.
struct Hooks {
    /// Address of the hook that the emulator set last, which lives while it is set; 0 before.
    ours: usize,
    /// Number of launches in progress that need the hook.
    launches: usize,
}

static HOOKS: Mutex<Hooks> = Mutex::new(Hooks { ours: 0, launches: 0 });

/// Keeps the panics of kernels until it is dropped.
#[derive(Debug)]
pub(crate) struct Kept {
    is_counted: bool,
}

/// Sets a panic hook that keeps the locations of kernels' panics instead of printing them. Other panics go to the previous
/// hook. So do panics of destructors that run during a panic, because they abort, and all panics if panics abort.
///
/// Called before every launch: if the program has set another hook since the last one, that becomes the previous hook.
pub(crate) fn keep_panics() -> Kept {
    // A panicking thread, which launches a kernel from a destructor or a hook, cannot change the hook. Another thread does.
    // If there can be none, panics are printed, and findings lack their locations.
    let is_counted = UNWIND && !panicking();
    if is_counted {
        let mut hooks = hooks();
        hooks.set();
        hooks.launches += 1;
    } else if UNWIND && hooks().ours == 0 {
        drop(Builder::new().spawn(|| hooks().set()).map(JoinHandle::join));
    }
    Kept { is_counted }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.is_counted {
            hooks().launches -= 1;
        }
    }
}

fn hooks() -> MutexGuard<'static, Hooks> {
    HOOKS.lock().unwrap_or_else(PoisonError::into_inner)
}

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

impl Hooks {
    /// Sets the hook, unless it is set. The current hook can only be compared by taking it, so the default one is set for a
    /// moment, in which no kernel may panic.
    fn set(&mut self) {
        if self.launches > 0 {
            return;
        }
        let address = |hook: &Hook| ptr::from_ref(&**hook).cast::<()>() as usize;
        let current = take_hook();
        let hook = if self.ours == address(&current) {
            current
        } else {
            Box::new(move |panic: &PanicHookInfo<'_>| keep(panic, &current))
        };
        self.ours = address(&hook);
        set_hook(hook);
    }
}

/// Keeps the location of a kernel's panic.
fn keep(panic: &PanicHookInfo<'_>, previous: &Hook) {
    let is_first = IN_KERNEL.get() && !UNWINDING.replace(true);
    match is_first {
        true => drop(PLACE.with(|place| place.replace(panic.location().map(Line::from)))),
        false => previous(panic),
    }
}

/// Runs a thread's code. Returns its panic, unless the thread was only ended.
pub(crate) fn catch(work: impl FnOnce()) -> Option<Panic> {
    let result = catch_unwind(AssertUnwindSafe(work));
    UNWINDING.set(false);
    let payload = result.err()?;
    if payload.is::<Ended>() {
        return None;
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = text.unwrap_or_else(|| {
        // A payload of the kernel's own type may panic when it is dropped, and so may the payload of that panic.
        forget(payload);
        "with a payload that is not text".to_owned()
    });
    Some(Panic { message, at: PLACE.with(|place| place.take()) })
}

/// Returns whether the running thread of a kernel unwinds, so that destructors run,
/// or the panic hook, which may be any code. `panicking` is reliable here: a thread
/// is not suspended while it unwinds, and launches during a panic use OS threads.
#[inline]
pub(crate) fn unwinds() -> bool {
    let unwinds = panicking();
    if !unwinds && UNWINDING.get() {
        // The thread has caught its panic.
        UNWINDING.set(false);
    }
    unwinds
}

/// Ends the running thread because its launch has ended.
pub(crate) fn end_thread() -> ! {
    UNWINDING.set(true);
    resume_unwind(Box::new(Ended))
}

/// Runs `work`, whose panics are a kernel's.
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
