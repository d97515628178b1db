//! What is known of running kernel code outside of the launch: whether it makes progress, and whether it may be left.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// One thread of the kernel runs at a time, so there is one of these for a launch.
///
/// What it says is read by signal handlers of the OS thread that wrote it, for which the order of the program counts, and by
/// the watchdog, to which it is no more than a hint.
#[derive(Debug)]
pub(crate) struct Watch {
    /// What runs is the emulator, which must not be left half-way.
    inside: AtomicBool,
    /// Goes up with every access, and when another thread runs.
    visits: AtomicU64,
    /// The number of visits behind which the running thread is to end.
    last: AtomicU64,
    /// The running thread and its block, each along x, y and z.
    place: [AtomicU32; 6],
}

/// The emulator runs until this is dropped.
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

    /// Kernel code calls the emulator.
    #[inline]
    pub(crate) fn enter(&self) -> Inside<'_> {
        let before = self.is_inside();
        self.set(true);
        Inside { watch: self, before }
    }

    /// Runs kernel code.
    pub(crate) fn leave(&self, code: impl FnOnce()) {
        let _inside = Inside { watch: self, before: true };
        self.set(false);
        code();
    }

    /// The running code was left, or another thread runs: the emulator continues.
    pub(crate) fn come_back(&self) {
        self.set(true);
    }

    #[inline]
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn visit(&self) {
        // One OS thread at a time writes it.
        self.visits.store(self.visits() + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// The running thread is to end unless it makes another visit.
    pub(crate) fn end_after(&self, visits: u64) {
        self.last.store(visits, Ordering::Relaxed);
    }

    /// Whether the running thread has made no visit since it was to end.
    pub(crate) fn is_to_end(&self) -> bool {
        self.last.load(Ordering::Relaxed) == self.visits()
    }

    /// This thread runs.
    pub(crate) fn run(&self, thread: [u32; 3], block: [u32; 3]) {
        self.visit();
        for (place, index) in self.place.iter().zip(thread.into_iter().chain(block)) {
            place.store(index, Ordering::Relaxed);
        }
    }

    /// The running thread and its block.
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
