//! Launches in progress in this process, and the watchdog that monitors them.
//!
//! A thread that calls no accessor never yields, so only another OS thread can notice that it does not end. The process has
//! one watchdog, which starts with the first launch and sleeps while there is none.

use super::hosting::Hosting;
use super::trap;
use super::watch::Watch;
use cuda_std::host::observe_strays;
use std::cell::Cell;
use std::panic::Location;
use std::process::abort;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Maximum number of requests to end a fibre. After these, the process is ended.
const MAX_REQUESTS: u32 = 100;

thread_local! {
    /// Launch whose kernel code this OS thread runs; 0 if there is none.
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

    /// Returns whether the caller is a kernel that this emulator runs, directly
    /// or through nested launches. Waiting for the emulator would then never end.
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

/// Accessor calls at a place on OS threads that run no kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    pub(crate) at: &'static Location<'static>,
    /// The thread of the launch that ran at the first call, and its block.
    pub(crate) thread: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) times: u64,
}

/// Records an accessor call on an OS thread that runs no kernel, for all launches that may have caused it. Kernels that cannot
/// reach `std` cannot use other OS threads.
fn record_stray(at: &'static Location<'static>) {
    for entry in launches().iter_mut().filter(|entry| entry.hosting == Hosting::OsThreads) {
        let (thread, block) = entry.watch.place();
        match entry.strays.iter_mut().find(|stray| stray.at == at) {
            Some(stray) => stray.times += 1,
            None => entry.strays.push(Stray { at, thread, block, times: 1 }),
        }
    }
}

/// A launch in progress.
#[derive(Debug)]
struct Entry {
    launch: u64,
    /// Launch whose kernel started this one; 0 if there is none.
    parent: u64,
    emulator: EmulatorId,
    kernel: &'static str,
    hosting: Hosting,
    limit: Duration,
    watch: Arc<Watch>,
    strays: Vec<Stray>,
    /// OS thread that can be asked to end the running thread.
    target: Option<trap::Target>,
    /// Number of visits at the last look, and the time since when it has not changed.
    seen: u64,
    since: Instant,
    requests: u32,
}

/// Registers a launch until it is dropped.
#[derive(Debug)]
pub(crate) struct LaunchGuard {
    launch: u64,
}

impl LaunchGuard {
    /// Registers a launch of `kernel`, whose threads may run for `limit` without an access. Beyond it, the watchdog asks
    /// `target` to end the thread; without a target it ends the process.
    pub(crate) fn new(
        emulator: EmulatorId,
        kernel: &'static str,
        hosting: Hosting,
        limit: Duration,
        watch: &Arc<Watch>,
        target: Option<trap::Target>,
    ) -> Self {
        start_watchdog();
        observe_strays(record_stray);
        let (launch, parent, watch) = (next(), LAUNCH.get(), watch.clone());
        let (strays, seen, since, requests) = (Vec::new(), 0, Instant::now(), 0);
        let entry =
            Entry { launch, parent, emulator, kernel, hosting, limit, watch, strays, target, seen, since, requests };
        let mut launches = launches();
        launches.push(entry);
        if launches.len() == 1 || limit < Duration::from_secs(8) {
            ADDED.notify_one();
        }
        LaunchGuard { launch }
    }

    /// Runs `work`, the code of an OS thread that belongs to a kernel of the launch.
    pub(crate) fn in_thread(launch: u64, work: impl FnOnce()) {
        LAUNCH.set(launch);
        work();
    }

    pub(crate) fn launch(&self) -> u64 {
        self.launch
    }

    /// Returns the accessor calls so far on OS threads that run no kernel, as far as this launch may have caused them.
    pub(crate) fn strays(&self) -> Vec<Stray> {
        let launches = launches();
        let own = launches.iter().find(|entry| entry.launch == self.launch);
        own.map_or(Vec::new(), |entry| entry.strays.clone())
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

/// If the process cannot start another thread, there is no watchdog, and loops without accesses never end.
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
            entry.check(parents.contains(&entry.launch));
        }
    }
}

impl Entry {
    /// Ends a thread that has run for too long without an access. A kernel that `waits` for a nested launch is exempt.
    fn check(&mut self, waits: bool) {
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
