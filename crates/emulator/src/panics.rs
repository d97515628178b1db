//! Panics of kernel code: caught, with their place, and not printed.

use crate::site::Line;
use std::cell::{Cell, RefCell};
use std::mem::{ManuallyDrop, forget};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, resume_unwind, set_hook, take_hook};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, panicking};

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
    /// The running thread of the kernel has begun to unwind: further panics are its destructors'.
    static UNWINDING: Cell<bool> = const { Cell::new(false) };
    /// Never dropped, so that it is there in destructors of `thread_local!`s as well.
    static PLACE: ManuallyDrop<RefCell<Option<Line>>> = const { ManuallyDrop::new(RefCell::new(None)) };
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

/// The process's panic hook, as far as it is ours.
struct Hooks {
    /// The address of the hook that was set last, which lives as long as it is set; 0 before.
    ours: usize,
    /// The launches under way, whose panics the hook has to keep.
    launches: usize,
}

static HOOKS: Mutex<Hooks> = Mutex::new(Hooks { ours: 0, launches: 0 });

/// Kernels' panics are kept until this is dropped.
#[derive(Debug)]
pub(crate) struct Kept {
    is_counted: bool,
}

/// Has the hook of this process keep the places of kernels' panics instead of printing them. Other panics go where they
/// went before, and so do those of destructors that a panic runs, because they abort; where any panic aborts, all do.
///
/// Called before every launch: a hook that the program has set since the last one becomes what other panics go to.
pub(crate) fn keep_panics() -> Kept {
    // A destructor or a hook launches a kernel, and whoever unwinds may not change the hook. Without another thread panics
    // are printed, and lack their places.
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
    /// Sets the hook, unless it is set. One can look at the present hook only by taking it, so that for a moment there is the
    /// default one: no kernel may panic then.
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

/// Keeps the place of a kernel's panic.
fn keep(panic: &PanicHookInfo<'_>, previous: &Hook) {
    let is_first = IN_KERNEL.get() && !UNWINDING.replace(true);
    match is_first {
        true => drop(PLACE.with(|place| place.replace(panic.location().map(Line::from)))),
        false => previous(panic),
    }
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
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let message = text.unwrap_or_else(|| {
        // What a kernel has made up may panic when it is dropped, and so may what that panics with.
        forget(payload);
        "with a payload that is no text".to_owned()
    });
    Some(Panic { message, at: PLACE.with(|place| place.take()) })
}

/// Whether the running thread of a kernel unwinds: what runs are destructors, or the panic hook, which may be any code. It was
/// not suspended since that began, and began without a panic: a launch in a destructor that a panic runs has OS threads.
#[inline]
pub(crate) fn unwinds() -> bool {
    let unwinds = panicking();
    if !unwinds && UNWINDING.get() {
        // It has caught its panic.
        UNWINDING.set(false);
    }
    unwinds
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
