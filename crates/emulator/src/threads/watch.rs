//! State of running kernel code that signal handlers and the watchdog
//! read: whether it makes progress, and whether it may be abandoned.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// One thread of the kernel runs at a time, so a launch has one watch.
///
/// Signal handlers of the OS thread that writes the watch read it,
/// in program order. The watchdog reads it too, but only as a hint.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Whether the emulator runs, which must not be interrupted for good.
    inside: AtomicBool,
    /// Number of accesses and of turns of threads.
    visits: AtomicU64,
    /// Number of visits after which the running thread must end.
    last: AtomicU64,
    /// Running thread and its block, each along x, y and z.
    place: [AtomicU32; 6],
}

/// Restores the state `before` when it is dropped.
#[derive(Debug)]
pub(crate) struct Inside<'a> {
    watch: &'a Watch,
    before: bool,
}

impl Watch {
    pub(crate) fn new() -> Self {
        let place = [0; 6].map(AtomicU32::new);
        Watch { inside: AtomicBool::new(true), visits: AtomicU64::new(0), last: AtomicU64::new(u64::MAX), place }
    }

    #[inline]
    fn set(&self, inside: bool) {
        compiler_fence(Ordering::SeqCst);
        self.inside.store(inside, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Enters the emulator from kernel code.
    #[inline]
    pub(crate) fn enter(&self) -> Inside<'_> {
        let before = self.is_inside();
        self.set(true);
        Inside { watch: self, before }
    }

    /// Runs kernel code.
    pub(crate) fn run_kernel(&self, code: impl FnOnce()) {
        let _inside = Inside { watch: self, before: true };
        self.set(false);
        code();
    }

    /// Returns to the emulator, after the running thread has yielded or been abandoned.
    pub(crate) fn return_to_emulator(&self) {
        self.set(true);
    }

    #[inline]
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn visit(&self) {
        // Only one OS thread writes it at a time.
        self.visits.store(self.visits() + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Requests that the running thread ends, unless it makes another visit.
    pub(crate) fn end_after(&self, visits: u64) {
        self.last.store(visits, Ordering::Relaxed);
    }

    /// Returns whether the running thread must end, and has made no visit since that was requested.
    pub(crate) fn must_end(&self) -> bool {
        self.last.load(Ordering::Relaxed) == self.visits()
    }

    /// Records the thread that runs now.
    pub(crate) fn run(&self, thread: [u32; 3], block: [u32; 3]) {
        self.visit();
        for (place, index) in self.place.iter().zip(thread.into_iter().chain(block)) {
            place.store(index, Ordering::Relaxed);
        }
    }

    /// Returns the running thread and its block.
    pub(crate) fn place(&self) -> ([u32; 3], [u32; 3]) {
        let index = |k: usize| self.place[k].load(Ordering::Relaxed);
        ([index(0), index(1), index(2)], [index(3), index(4), index(5)])
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.watch.set(self.before);
    }
}
