//! An OS thread for each thread of a block. One of them runs at a time.
//!
//! The launch and its threads hand a turn to each other: whoever has it runs, all others are parked. So what they share
//! need not be made for several OS threads, and the order is the seed's, as with fibres. Switching takes microseconds.

// What they share is sent to other OS threads.
#![allow(unsafe_code)]

use crate::fibres::{STACK_BYTES, Step};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Thread, current, park};

/// How often a thread that catches the unwinding which is to end it is ended again.
const MAX_ENDS: u32 = 100;

/// What an OS thread gives with the turn.
enum Given {
    Step(Step),
    /// The payload of a panic that is no kernel's.
    Panic(Box<dyn Any + Send>),
}

/// Whose turn it is.
pub(crate) struct Turns {
    launch: Thread,
    launch_runs: AtomicBool,
    given: Mutex<Option<Given>>,
    threads: Vec<Turn>,
    closing: AtomicBool,
}

#[derive(Default)]
struct Turn {
    runs: AtomicBool,
    /// How often the thread was ended.
    ends: AtomicU32,
    /// It does not end, and never runs again.
    abandoned: AtomicBool,
}

impl Turn {
    fn hand_to(&self, thread: &JoinHandle<()>) {
        self.runs.store(true, Ordering::Release);
        thread.thread().unpark();
    }
}

/// Sends to an OS thread what only the one whose turn it is uses.
struct Shared<T>(T);

// SAFETY: turns are handed over by an atomic variable that is released and acquired, so what one OS thread does to the
// value comes before all that the next one does; nobody touches it out of turn, and it is dropped in turn, too.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(self) -> T {
        self.0
    }
}

/// Waits for the turn that `runs` is.
fn wait_for(runs: &AtomicBool) {
    while !runs.swap(false, Ordering::Acquire) {
        park();
    }
}

impl Turns {
    /// Returns the threads of a launch that this OS thread makes.
    pub(crate) fn new(threads: usize) -> Arc<Self> {
        Arc::new(Turns {
            launch: current(),
            launch_runs: AtomicBool::new(false),
            given: Mutex::new(None),
            threads: (0..threads).map(|_| Turn::default()).collect(),
            closing: AtomicBool::new(false),
        })
    }

    /// Hands the turn from `thread` to the launch, and waits for the next one.
    pub(crate) fn give_way(&self, thread: usize, step: Step) {
        self.give(Given::Step(step));
        wait_for(&self.threads[thread].runs);
    }

    fn give(&self, given: Given) {
        *self.given.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
        self.launch_runs.store(true, Ordering::Release);
        self.launch.unpark();
    }

    /// `thread` is to be ended. If it repeatedly catches that and continues, it is suspended for good instead, with all
    /// that it has.
    pub(crate) fn end_once_more(&self, thread: usize) {
        let turn = &self.threads[thread];
        if turn.ends.fetch_add(1, Ordering::Relaxed) < MAX_ENDS {
            return;
        }
        turn.abandoned.store(true, Ordering::Relaxed);
        self.give(Given::Step(Step::End));
        loop {
            park();
        }
    }

    /// What OS thread `number` does.
    fn serve(&self, number: usize, thread: Rc<dyn Fn()>) {
        loop {
            wait_for(&self.threads[number].runs);
            if self.closing.load(Ordering::Relaxed) {
                return;
            }
            let result = catch_unwind(AssertUnwindSafe(|| thread()));
            self.give(result.map_or_else(Given::Panic, |()| Given::Step(Step::End)));
        }
    }
}

/// The OS threads of a block's threads.
pub(crate) struct OsThreads {
    turns: Arc<Turns>,
    handles: Vec<JoinHandle<()>>,
}

impl OsThreads {
    /// OS threads that run `thread`; `None` if the system does not allow as many.
    pub(crate) fn new(turns: &Arc<Turns>, thread: Rc<dyn Fn()>) -> Option<Self> {
        let mut all = OsThreads { turns: turns.clone(), handles: Vec::with_capacity(turns.threads.len()) };
        for number in 0..turns.threads.len() {
            let (turns, shared) = (turns.clone(), Shared(thread.clone()));
            let serve = move || turns.serve(number, shared.get());
            // std names it if its stack overflows.
            let builder = Builder::new().name(format!("thread {number} of an emulated kernel")).stack_size(STACK_BYTES);
            all.handles.push(builder.spawn(serve).ok()?);
        }
        Some(all)
    }

    /// Hands the turn to `thread`, and waits until it gives it back: why it did.
    pub(crate) fn run(&self, thread: usize) -> Step {
        self.turns.threads[thread].hand_to(&self.handles[thread]);
        wait_for(&self.turns.launch_runs);
        match self.turns.given.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Given::Step(step)) => step,
            Some(Given::Panic(payload)) => resume_unwind(payload),
            None => unreachable!("who gives the turn says why"),
        }
    }
}

impl Drop for OsThreads {
    /// Ends the OS threads, one after another: the destructors of their `thread_local!`s run in turn, too.
    fn drop(&mut self) {
        self.turns.closing.store(true, Ordering::Relaxed);
        for (turn, handle) in self.turns.threads.iter().zip(self.handles.drain(..)) {
            if !turn.abandoned.load(Ordering::Relaxed) {
                turn.hand_to(&handle);
                // It does not panic: what it runs is caught.
                let _ = handle.join();
            }
        }
    }
}
