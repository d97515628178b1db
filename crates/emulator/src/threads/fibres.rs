//! The threads of a block: a fibre or an OS thread for each.
//!
//! Fibres are fast, but they share the state that `std` keeps per OS thread, and safe code may rely on that state not being
//! shared: a `thread_local!` whose initialiser waits at a barrier would be dropped by one fibre while another uses it. So
//! fibres run only kernels that cannot reach `std`, and OS threads run all others. Either serves the same thread of one
//! block after another, so that nothing is allocated per block.

// Fibres reach their suspenders through pointers to their own stacks.
#![allow(unsafe_code)]

use super::hosting::{Hosting, STACK_BYTES, Step};
use super::os_threads::{OsThreads, Turns};
use super::panics::end_thread;
use super::trap::{Ending, Hosted, Trap, hosted};
use super::watch::Watch;
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use cuda_std::Entry;
use std::cell::{Cell, RefCell};
use std::mem::{forget, transmute};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of a fibre's stack that must be left for the emulator when an accessor is called.
const RESERVED_BYTES: usize = 128 << 10;

thread_local! {
    /// Stacks for later launches.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Returns a stack of an earlier launch, or a new one.
fn take_stack() -> Option<DefaultStack> {
    // There are none left once this OS thread has destroyed its `thread_local!`s.
    let used = STACKS.try_with(|stacks| stacks.borrow_mut().pop()).ok().flatten();
    used.or_else(|| DefaultStack::new(STACK_BYTES).ok())
}

fn return_stack(stack: DefaultStack) {
    let _ = STACKS.try_with(|stacks| stacks.borrow_mut().push(stack));
}

/// State that fibres share with the code that resumes them.
pub(crate) struct Control {
    hosting: Hosting,
    suspenders: Vec<Cell<*const Yielder<(), Step>>>,
    /// Turns of the threads, if they are OS threads.
    turns: Arc<Turns>,
    /// The running thread.
    running: Cell<Option<usize>>,
    /// Lowest address that kernel code may use of the running fibre's stack; 0 for OS threads.
    floor: Cell<usize>,
    /// Whether waiting threads must end.
    ending: Cell<bool>,
    /// Whether there are no more blocks.
    closing: Cell<bool>,
    pub(crate) watch: Arc<Watch>,
}

/// Returns code that runs the kernel `E` as one thread, and can be kept as long as threads need it.
pub(crate) fn kernel_code<E: Entry>(args: E::Args<'_>, constants: E::Constants) -> Box<dyn Fn()> {
    let code: Box<dyn Fn() + '_> = Box::new(move || E::run(args, constants));
    // SAFETY: the lifetime in the arguments is not that of a reference. Arguments contain no host addresses (contract of
    // `Argument`), so the code may be called, and dropped, at any time. The kernel cannot see the lifetime either: it accepts
    // any (`Entry::Args`).
    unsafe { transmute::<Box<dyn Fn() + '_>, Box<dyn Fn()>>(code) }
}

impl Control {
    pub(crate) fn new(threads: usize, hosting: Hosting) -> Rc<Self> {
        let suspenders = (0..threads).map(|_| Cell::new(ptr::null())).collect();
        // Fibres need no turns.
        let taking_turns = if hosting == Hosting::OsThreads { threads } else { 0 };
        Rc::new(Control {
            hosting,
            suspenders,
            turns: Turns::new(taking_turns),
            running: Cell::new(None),
            floor: Cell::new(0),
            ending: Cell::new(false),
            closing: Cell::new(false),
            watch: Arc::new(Watch::new()),
        })
    }

    pub(crate) fn hosting(&self) -> Hosting {
        self.hosting
    }

    /// Returns the running thread.
    #[inline]
    pub(crate) fn thread(&self) -> usize {
        self.running.get().expect("kernel code runs in a thread of the launch")
    }

    /// Returns whether waiting threads must end.
    pub(crate) fn ending(&self) -> bool {
        self.ending.get()
    }

    /// Suspends the running thread, which is not unwinding. Does not return if threads must end.
    #[inline]
    pub(crate) fn pause(&self) {
        if !self.ending.get() {
            self.suspend(Step::Pause);
        }
        if self.ending.get() {
            self.end();
        }
    }

    #[cold]
    fn end(&self) -> ! {
        if self.hosting == Hosting::OsThreads {
            self.turns.end_again(self.thread());
        }
        end_thread();
    }

    #[inline]
    fn suspend(&self, step: Step) {
        let thread = self.thread();
        if self.hosting == Hosting::OsThreads {
            return self.turns.pass_to_launch(thread, step);
        }
        let suspender = self.suspenders[thread].get();
        // SAFETY: `Fibres::run` has recorded that this fibre runs, so it has begun, and set its suspender first. The
        // suspender lies on the fibre's stack, in a frame that is still active.
        unsafe { (*suspender).suspend(step) };
    }

    /// Abandons the running fibre if its stack has no room for the emulator. The kernel's code is not unwinding.
    #[inline]
    pub(crate) fn check_stack(&self) {
        let here = 0u8;
        if (&raw const here as usize) < self.floor.get() {
            self.abandon();
        }
    }

    #[cold]
    fn abandon(&self) {
        self.suspend(Step::Abandoned(Trap::StackOverflow));
        unreachable!("an abandoned fibre is not resumed");
    }
}

/// Runs the threads of a block.
pub(crate) struct Fibres {
    threads: Threads,
    /// Whether each thread has begun and not ended.
    busy: Vec<bool>,
    /// Why the last thread that ran was abandoned.
    trap: Option<Trap>,
    control: Rc<Control>,
}

enum Threads {
    Fibres(Vec<Fibre>),
    OsThreads(OsThreads),
}

struct Fibre {
    coroutine: Coroutine<(), Step, Ending>,
    hosted: Hosted,
    /// Whether it was abandoned, so that it must not be resumed.
    is_abandoned: bool,
}

impl Fibres {
    /// Returns the threads, which run `thread`. That must not unwind. Returns
    /// `None` if there is no memory for the stacks, or too few OS threads.
    pub(crate) fn new(control: Rc<Control>, thread: Rc<dyn Fn()>) -> Option<Self> {
        let count = control.suspenders.len();
        let threads = match control.hosting {
            Hosting::Fibres => {
                let fibres: Option<Vec<Fibre>> = (0..count).map(|k| Fibre::new(&control, &thread, k)).collect();
                Threads::Fibres(fibres?)
            }
            Hosting::OsThreads => Threads::OsThreads(OsThreads::new(&control.turns, thread)?),
        };
        Some(Fibres { threads, busy: vec![false; count], trap: None, control })
    }

    /// Runs `thread` until it waits or ends. Returns whether it has ended.
    #[inline(always)]
    pub(crate) fn run(&mut self, thread: usize) -> bool {
        self.control.running.set(Some(thread));
        let step = match &mut self.threads {
            Threads::Fibres(fibres) => fibres[thread].run(&self.control),
            Threads::OsThreads(threads) => threads.run(thread),
        };
        self.control.watch.return_to_emulator();
        self.control.running.set(None);
        self.busy[thread] = step == Step::Pause;
        if let Step::Abandoned(trap) = step {
            self.trap = Some(trap);
        }
        !self.busy[thread]
    }

    /// Returns, once, why the last thread that ran was abandoned.
    #[inline]
    pub(crate) fn take_trap(&mut self) -> Option<Trap> {
        self.trap.take()
    }

    /// Ends all threads that have begun, wherever they are.
    pub(crate) fn end(&mut self) {
        self.control.ending.set(true);
        for thread in 0..self.busy.len() {
            if self.busy[thread] {
                self.run(thread);
            }
        }
        self.control.ending.set(false);
    }
}

impl Fibre {
    fn new(control: &Rc<Control>, thread: &Rc<dyn Fn()>, number: usize) -> Option<Self> {
        let stack = take_stack()?;
        let lowest = stack.limit().get();
        let watch = Arc::as_ptr(&control.watch);
        let (control, thread) = (control.clone(), thread.clone());
        let coroutine = Coroutine::with_stack(stack, move |suspender, ()| {
            control.suspenders[number].set(suspender);
            while !control.closing.get() {
                thread();
                suspender.suspend(Step::End);
            }
            Ending::Closed
        });
        let hosted = Hosted { handler: coroutine.trap_handler(), lowest, watch };
        Some(Fibre { coroutine, hosted, is_abandoned: false })
    }

    // Inlined, like all functions on the way to the fibre: processors mispredict returns after a switch of stacks.
    #[inline(always)]
    fn run(&mut self, control: &Control) -> Step {
        control.floor.set(self.hosted.lowest + RESERVED_BYTES);
        let step = match hosted(&self.hosted, || self.coroutine.resume(())) {
            CoroutineResult::Yield(step) => step,
            CoroutineResult::Return(Ending::Abandoned(trap)) => Step::Abandoned(trap),
            CoroutineResult::Return(Ending::Closed) => Step::End,
        };
        self.is_abandoned = matches!(step, Step::Abandoned(_));
        step
    }

    /// Ends the fibre, whose thread has ended or not begun, and returns its stack for later launches. An abandoned fibre is
    /// leaked, because the contents of its stack are unknown.
    fn close(mut self) {
        if self.is_abandoned {
            return forget(self.coroutine);
        }
        if let CoroutineResult::Return(Ending::Closed) = self.coroutine.resume(()) {
            return_stack(self.coroutine.into_stack());
        }
    }
}

impl Drop for Fibres {
    fn drop(&mut self) {
        self.end();
        self.control.closing.set(true);
        if let Threads::Fibres(fibres) = &mut self.threads {
            fibres.drain(..).for_each(Fibre::close);
        }
    }
}
