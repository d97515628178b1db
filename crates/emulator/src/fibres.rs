//! A fibre for each thread of a block.
//!
//! A fibre runs its thread of one block after another, so that nothing is allocated per block.

// Fibres reach what suspends them through a pointer to their own stacks.
#![allow(unsafe_code)]

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::ptr;
use std::rc::Rc;

/// Bytes of a fibre's stack. Address space, most of it: what is not touched takes no memory.
const STACK_BYTES: usize = 256 << 10;

thread_local! {
    /// Stacks for the next launches.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The payload of the panic that ends a thread whose launch has ended.
pub(crate) struct Ended;

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
    /// Threads that wait are to end.
    ending: Cell<bool>,
    /// There are no more blocks.
    closing: Cell<bool>,
}

impl Reins {
    pub(crate) fn new(threads: usize) -> Rc<Self> {
        let suspenders = (0..threads).map(|_| Cell::new(ptr::null())).collect();
        Rc::new(Reins { suspenders, ending: Cell::new(false), closing: Cell::new(false) })
    }

    /// Suspends the fibre of `thread`, which is the running one.
    pub(crate) fn pause(&self, thread: usize) {
        let suspender = self.suspenders[thread].get();
        assert!(!suspender.is_null(), "only a fibre can pause");
        // SAFETY: set by the fibre when it began; it lies on the fibre's stack, in a frame below the running one.
        unsafe { (*suspender).suspend(Step::Pause) };
        if self.ending.get() {
            resume_unwind(Box::new(Ended));
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
        let ended = !matches!(self.fibres[thread].resume(()), CoroutineResult::Yield(Step::Pause));
        self.busy[thread] = !ended;
        ended
    }

    /// Ends all threads that have begun, wherever they are.
    pub(crate) fn end(&mut self) {
        self.reins.ending.set(true);
        for thread in 0..self.fibres.len() {
            while self.busy[thread] {
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
