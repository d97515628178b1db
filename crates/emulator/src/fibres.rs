//! A fibre for each thread of a block.
//!
//! A fibre runs its thread of one block after another, so that nothing is allocated per block.

// Fibres reach what suspends them through a pointer to their own stacks.
#![allow(unsafe_code)]

use crate::panics::end_thread;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

/// Bytes of a fibre's stack. Address space, most of it: what is not touched takes no memory.
const STACK_BYTES: usize = 256 << 10;

thread_local! {
    /// Stacks for the next launches.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Why a fibre gave way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Its thread waits.
    Pause,
    /// Its thread has ended.
    End,
}

/// What a fibre shares with those that resume it.
pub(crate) struct Reins {
    suspenders: Vec<Cell<*const Yielder<(), Step>>>,
    /// The thread whose fibre runs.
    running: Cell<Option<usize>>,
    /// Threads that wait are to end.
    ending: Cell<bool>,
    /// There are no more blocks.
    closing: Cell<bool>,
}

impl Reins {
    pub(crate) fn new(threads: usize) -> Rc<Self> {
        let suspenders = (0..threads).map(|_| Cell::new(ptr::null())).collect();
        let running = Cell::new(None);
        Rc::new(Reins { suspenders, running, ending: Cell::new(false), closing: Cell::new(false) })
    }

    /// The thread whose fibre runs.
    #[inline]
    pub(crate) fn thread(&self) -> usize {
        self.running.get().expect("kernel code runs in a fibre")
    }

    /// Suspends the running fibre, whose thread is not unwinding. Does not return if threads are to end.
    pub(crate) fn pause(&self) {
        if !self.ending.get() {
            let suspender = self.suspenders[self.thread()].get();
            // SAFETY: `Fibres::run` says that this fibre runs, so it has begun, and set its suspender as its first act. That
            // lies on the fibre's stack, in a frame below the running one.
            unsafe { (*suspender).suspend(Step::Pause) };
        }
        if self.ending.get() {
            end_thread();
        }
    }
}

/// The fibres of a block's threads.
pub(crate) struct Fibres {
    fibres: Vec<Coroutine<(), Step, ()>>,
    /// Those whose thread has begun and not ended.
    busy: Vec<bool>,
    reins: Rc<Reins>,
}

impl Fibres {
    /// Fibres that run `thread`, which does not unwind; `None` if there is no memory for their stacks.
    pub(crate) fn new(reins: Rc<Reins>, thread: Rc<dyn Fn()>) -> Option<Self> {
        let count = reins.suspenders.len();
        let mut fibres = Fibres { fibres: Vec::with_capacity(count), busy: vec![false; count], reins };
        for number in 0..count {
            let stack = STACKS.with_borrow_mut(Vec::pop).or_else(|| DefaultStack::new(STACK_BYTES).ok())?;
            let (reins, thread) = (fibres.reins.clone(), thread.clone());
            fibres.fibres.push(Coroutine::with_stack(stack, move |suspender, ()| {
                reins.suspenders[number].set(suspender);
                while !reins.closing.get() {
                    thread();
                    suspender.suspend(Step::End);
                }
            }));
        }
        Some(fibres)
    }

    /// Runs `thread` until it waits or ends; tells whether it has ended.
    pub(crate) fn run(&mut self, thread: usize) -> bool {
        self.reins.running.set(Some(thread));
        let ended = !matches!(self.fibres[thread].resume(()), CoroutineResult::Yield(Step::Pause));
        self.reins.running.set(None);
        self.busy[thread] = !ended;
        ended
    }

    /// Ends all threads that have begun, wherever they are.
    pub(crate) fn end(&mut self) {
        self.reins.ending.set(true);
        for thread in 0..self.fibres.len() {
            if self.busy[thread] {
                self.run(thread);
            }
        }
        self.reins.ending.set(false);
    }
}

impl Drop for Fibres {
    fn drop(&mut self) {
        self.end();
        self.reins.closing.set(true);
        for mut fibre in self.fibres.drain(..) {
            if let CoroutineResult::Return(()) = fibre.resume(()) {
                STACKS.with_borrow_mut(|stacks| stacks.push(fibre.into_stack()));
            }
        }
    }
}
