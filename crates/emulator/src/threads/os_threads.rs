//! An OS thread for each thread of a block. One of them runs at a time.
//!
//! The launch and its threads pass a turn to each other: the one with the turn runs, all others are parked. So the data that
//! they share need not be thread-safe, and the seed decides the order, as with fibres. A switch takes microseconds.

// Shared data is sent to other OS threads.
#![allow(unsafe_code)]

use super::hosting::{STACK_BYTES, Step};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Thread, current, park};

/// Maximum number of times that a thread that catches the unwinding is ended.
const MAX_ENDS: u32 = 100;

/// What an OS thread passes with the turn.
enum Passed {
    Step(Step),
    /// Payload of a panic outside of kernel code.
    Panic(Box<dyn Any + Send>),
}

/// State that decides whose turn it is.
pub(crate) struct Turns {
    launch: Thread,
    launch_runs: AtomicBool,
    passed: Mutex<Option<Passed>>,
    threads: Vec<Turn>,
    closing: AtomicBool,
}

#[derive(Default)]
struct Turn {
    runs: AtomicBool,
    /// Number of times that the thread was ended.
    ends: AtomicU32,
    /// Whether the thread did not end, and never runs again.
    abandoned: AtomicBool,
}

impl Turn {
    fn pass_to(&self, thread: &JoinHandle<()>) {
        self.runs.store(true, Ordering::Release);
        thread.thread().unpark();
    }
}

/// Data sent to an OS thread, used only by the one whose turn it is.
struct Shared<T>(T);

// SAFETY: an atomic variable passes the turn with release and acquire, so everything that one OS thread does to the value
// happens before everything that the next one does. The value is used, and dropped, only by the OS thread whose turn it is.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(self) -> T {
        self.0
    }
}

/// Waits for the turn that `runs` signals.
fn wait_for(runs: &AtomicBool) {
    while !runs.swap(false, Ordering::Acquire) {
        park();
    }
}

impl Turns {
    /// Returns the turns of a launch that this OS thread makes.
    pub(crate) fn new(threads: usize) -> Arc<Self> {
        Arc::new(Turns {
            launch: current(),
            launch_runs: AtomicBool::new(false),
            passed: Mutex::new(None),
            threads: (0..threads).map(|_| Turn::default()).collect(),
            closing: AtomicBool::new(false),
        })
    }

    /// Passes the turn from `thread` to the launch, and waits for the next one.
    pub(crate) fn pass_to_launch(&self, thread: usize, step: Step) {
        self.pass(Passed::Step(step));
        wait_for(&self.threads[thread].runs);
    }

    fn pass(&self, passed: Passed) {
        *self.passed.lock().unwrap_or_else(PoisonError::into_inner) = Some(passed);
        self.launch_runs.store(true, Ordering::Release);
        self.launch.unpark();
    }

    /// Records that `thread` is ended again. If it repeatedly catches the unwinding
    /// and continues, it is suspended for good, with everything that it owns.
    pub(crate) fn end_again(&self, thread: usize) {
        let turn = &self.threads[thread];
        if turn.ends.fetch_add(1, Ordering::Relaxed) < MAX_ENDS {
            return;
        }
        turn.abandoned.store(true, Ordering::Relaxed);
        self.pass(Passed::Step(Step::End));
        loop {
            park();
        }
    }

    /// Runs threads on OS thread `number`, until the launch closes.
    fn serve(&self, number: usize, thread: Rc<dyn Fn()>) {
        loop {
            wait_for(&self.threads[number].runs);
            if self.closing.load(Ordering::Relaxed) {
                return;
            }
            let result = catch_unwind(AssertUnwindSafe(|| thread()));
            self.pass(result.map_or_else(Passed::Panic, |()| Passed::Step(Step::End)));
        }
    }
}

/// OS threads for the threads of a block.
pub(crate) struct OsThreads {
    turns: Arc<Turns>,
    handles: Vec<JoinHandle<()>>,
}

impl OsThreads {
    /// Returns OS threads that run `thread`, or `None` if the system does not allow as many.
    pub(crate) fn new(turns: &Arc<Turns>, thread: Rc<dyn Fn()>) -> Option<Self> {
        let mut all = OsThreads { turns: turns.clone(), handles: Vec::with_capacity(turns.threads.len()) };
        for number in 0..turns.threads.len() {
            let (turns, shared) = (turns.clone(), Shared(thread.clone()));
            let serve = move || turns.serve(number, shared.get());
            // `std` prints the name if the stack overflows.
            let builder = Builder::new().name(format!("thread {number} of an emulated kernel")).stack_size(STACK_BYTES);
            all.handles.push(builder.spawn(serve).ok()?);
        }
        Some(all)
    }

    /// Passes the turn to `thread`, and waits until it comes back. Returns why.
    pub(crate) fn run(&self, thread: usize) -> Step {
        self.turns.threads[thread].pass_to(&self.handles[thread]);
        wait_for(&self.turns.launch_runs);
        match self.turns.passed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Passed::Step(step)) => step,
            Some(Passed::Panic(payload)) => resume_unwind(payload),
            None => unreachable!("a turn is passed with a reason"),
        }
    }
}

impl Drop for OsThreads {
    /// Ends the OS threads one after another, so that the destructors of their `thread_local!`s do not run at the same time.
    fn drop(&mut self) {
        self.turns.closing.store(true, Ordering::Relaxed);
        for (turn, handle) in self.turns.threads.iter().zip(self.handles.drain(..)) {
            if !turn.abandoned.load(Ordering::Relaxed) {
                turn.pass_to(&handle);
                // It never panics, because it catches all panics.
                let _ = handle.join();
            }
        }
    }
}
