//! Systems without handlers: a stack overflow ends the process, and so does the watchdog.

use crate::threads::watch::Watch;

/// No OS thread can be asked to end a fibre.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {}

impl Target {
    pub(crate) fn current() -> Option<Self> {
        None
    }

    pub(crate) fn ask_to_end(self, _watch: &Watch, _visits: u64) {
        match self {}
    }
}

pub(crate) fn install() {}
