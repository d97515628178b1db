//! Ctrl-C: a program ends its work early and writes what it has.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit status of a program that Ctrl-C has ended: 128 and the number of the signal.
pub(crate) const STATUS: u8 = 130;

static HAS_COME: AtomicBool = AtomicBool::new(false);

/// From now on, the first Ctrl-C does not end the program. The second one does.
pub(crate) fn expect() {
    let handler = || {
        if HAS_COME.swap(true, Ordering::Relaxed) {
            process::exit(STATUS.into());
        }
    };
    // Without a handler, the first Ctrl-C ends the program, as usual.
    let _ = ctrlc::set_handler(handler);
}

/// Returns whether Ctrl-C was pressed.
pub(crate) fn has_come() -> bool {
    HAS_COME.load(Ordering::Relaxed)
}
