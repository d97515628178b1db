//! The launches under way in this process, and the watchdog that looks after them.
//!
//! A thread that calls no accessor gives way to nobody, so only another OS thread can notice that it does not end. The
//! watchdog is one for the process; it begins with the first launch and sleeps while there is none.

use crate::trap;
use crate::watch::Watch;
use std::cell::Cell;
use std::process::abort;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often a fibre is asked to end before the process is.
const MAX_REQUESTS: u32 = 100;

thread_local! {
    /// The launch whose kernel this OS thread runs a thread of; 0 if none.
    static LAUNCH: Cell<u64> = const { Cell::new(0) };
}

static LAUNCHES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
static ADDED: Condvar = Condvar::new();
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Identity of an [`Emulator`](crate::Emulator) in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EmulatorId(u64);

impl EmulatorId {
    pub(crate) fn new() -> Self {
        EmulatorId(next())
    }

    /// Returns whether the caller is a kernel that this emulator runs, directly or through nested launches. Waiting for the emulator
    /// would then never end.
    #[must_use]
    pub fn runs_the_caller(self) -> bool {
        let launches = launches();
        let mut launch = LAUNCH.get();
        while let Some(entry) = launches.iter().find(|entry| entry.launch == launch) {
            if entry.emulator == self {
                return true;
            }
            launch = entry.parent;
        }
        false
    }
}

/// A launch under way.
#[derive(Debug)]
struct Entry {
    launch: u64,
    /// The launch whose kernel has made this one, if any.
    parent: u64,
    emulator: EmulatorId,
    kernel: &'static str,
    limit: Duration,
    watch: Arc<Watch>,
    /// What can be asked to end the running thread.
    target: Option<trap::Target>,
    /// The accesses so far, and since when no more came.
    seen: u64,
    since: Instant,
    requests: u32,
}

/// A launch is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct LaunchGuard {
    launch: u64,
}

impl LaunchGuard {
    /// A launch of `kernel`, whose threads may be without an access for as long as `limit`. The watchdog asks `target`, if there
    /// is one, to end a thread that is without one for longer, and ends the process otherwise.
    pub(crate) fn new(
        emulator: EmulatorId,
        kernel: &'static str,
        limit: Duration,
        watch: &Arc<Watch>,
        target: Option<trap::Target>,
    ) -> Self {
        start_watchdog();
        let (launch, parent, watch, since) = (next(), LAUNCH.get(), watch.clone(), Instant::now());
        let entry = Entry { launch, parent, emulator, kernel, limit, watch, target, seen: 0, since, requests: 0 };
        let mut launches = launches();
        launches.push(entry);
        if launches.len() == 1 || limit < Duration::from_secs(8) {
            ADDED.notify_one();
        }
        LaunchGuard { launch }
    }

    /// Runs `work`, which is the OS thread of a thread of the launch's kernel.
    pub(crate) fn in_thread(launch: u64, work: impl FnOnce()) {
        LAUNCH.set(launch);
        work();
    }

    pub(crate) fn launch(&self) -> u64 {
        self.launch
    }
}

impl Drop for LaunchGuard {
    fn drop(&mut self) {
        launches().retain(|entry| entry.launch != self.launch);
    }
}

fn next() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn launches() -> MutexGuard<'static, Vec<Entry>> {
    LAUNCHES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Without it, which takes a process that cannot start threads, loops without accesses do not end.
fn start_watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(Builder::new().name("slm-emulator watchdog".to_owned()).spawn(watch_all)));
}

fn watch_all() {
    let mut launches = launches();
    loop {
        launches = match launches.iter().map(|entry| entry.limit).min() {
            None => ADDED.wait(launches).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let time = (limit / 8).clamp(Duration::from_millis(1), Duration::from_millis(500));
                ADDED.wait_timeout(launches, time).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        let parents: Vec<u64> = launches.iter().map(|entry| entry.parent).collect();
        for entry in launches.iter_mut() {
            entry.look(parents.contains(&entry.launch));
        }
    }
}

impl Entry {
    /// Ends what has run for too long without an access. A kernel that `waits` for a launch of its own is not meant.
    fn look(&mut self, waits: bool) {
        let visits = self.watch.visits();
        if visits != self.seen || waits || self.watch.is_inside() {
            (self.seen, self.since, self.requests) = (visits, Instant::now(), 0);
        }
        if self.since.elapsed() < self.limit {
            return;
        }
        match self.target {
            Some(target) if self.requests < MAX_REQUESTS => {
                self.requests += 1;
                target.ask_to_end(&self.watch, visits);
            }
            _ => self.end_process(),
        }
    }

    fn end_process(&self) {
        let (thread, block) = self.watch.place();
        eprintln!(
            "the kernel {} has called no accessor for {:?}, and cannot be ended: thread {thread:?} of block {block:?}; the \
             process ends (slm-emulator's `Launch::time_limit` allows more time)",
            self.kernel, self.limit
        );
        abort();
    }
}
