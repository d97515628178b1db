//! Accessor calls on OS threads without a machine.

use std::panic::Location;
use std::sync::OnceLock;

/// Receives the place of an accessor call.
type Observer = fn(&'static Location<'static>);

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Has `observer` called with the place of each accessor call on an OS thread without a machine, before that call panics. So a
/// machine learns that a kernel uses other OS threads, whose panics nobody may see.
///
/// A process has one observer, the first one.
pub fn observe_strays(observer: fn(&'static Location<'static>)) {
    OBSERVER.get_or_init(|| observer);
}

/// Panics in an accessor call on an OS thread without a machine.
#[cold]
#[track_caller]
pub(super) fn stray_call() -> ! {
    if let Some(observer) = OBSERVER.get() {
        observer(Location::caller());
    }
    panic!("this is GPU code: on the host it runs only inside a machine (cuda_std::host::with), and none is installed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::sync::Mutex;

    static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// The place is the accessor's call, and a later observer is not called.
    #[test]
    fn the_observer_learns_the_place() {
        observe_strays(|at| SEEN.lock().unwrap().push(at.to_string()));
        observe_strays(|_| unreachable!());
        let place = format!("{}:{}:", file!(), line!() + 1);
        assert!(catch_unwind(|| crate::thread::sync_threads()).is_err());
        assert!(SEEN.lock().unwrap().iter().any(|seen| seen.starts_with(&place)));
    }
}
