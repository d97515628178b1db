//! Who is ordered before whom: intervals between barriers, clocks within them.
//!
//! README.md of this crate explains the protocol.

use crate::clocks::{Knowledge, Known, join, with, without_block};
use crate::marks::Mark;
use cuda_std::host::Scope;
use std::collections::HashMap;

/// What a thread knows and has made known.
#[derive(Debug, Default)]
struct Thread {
    /// Counts what makes the thread's accesses known to others, within an interval.
    clock: u32,
    known: Knowledge,
    /// What was known at the last fence, for the block's threads and for all: an atomic operation hands it on.
    released: [Knowledge; 2],
    /// What atomic operations have picked up, from the block's threads and from all: a fence makes it known.
    picked_up: [Knowledge; 2],
}

/// What has been handed on through a place in memory.
#[derive(Debug)]
struct Meeting {
    /// The block that the first of `released` is about.
    first: u32,
    released: [Knowledge; 2],
}

/// The place in `released` and `picked_up` of what holds in a scope.
fn of(scope: Scope) -> usize {
    match scope {
        Scope::Block => 0,
        Scope::Device => 1,
    }
}

/// The order of a launch's accesses so far, as the running block sees it.
#[derive(Debug)]
pub(crate) struct Order {
    /// The number of the interval between two barriers: in the whole life of the memory, no two are the same.
    interval: u32,
    /// The block's first interval, and the launch's.
    first: u32,
    launch_first: u32,
    threads: Vec<Thread>,
    meetings: HashMap<u64, Meeting>,
}

/// The running thread's place in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// What its access leaves behind.
    pub(crate) mark: Mark,
    pub(crate) thread: u16,
    /// The first interval of its block, and the first one whose accesses matter.
    pub(crate) first: u32,
    pub(crate) launch_first: u32,
    known: &'a Knowledge,
}

impl Order {
    /// For a launch of blocks of so many threads; `interval` is the memory's last one.
    pub(crate) fn new(threads: usize, interval: u32) -> Self {
        let threads = (0..threads).map(|_| Thread::default()).collect();
        Order { interval, first: 0, launch_first: interval + 1, threads, meetings: HashMap::new() }
    }

    pub(crate) fn interval(&self) -> u32 {
        self.interval
    }

    /// The next block begins.
    pub(crate) fn begin_block(&mut self) {
        self.interval += 1;
        self.first = self.interval;
        self.threads.fill_with(Thread::default);
    }

    /// The present access of `thread`, at `site`.
    #[inline]
    pub(crate) fn moment(&self, thread: u16, site: u16) -> Moment<'_> {
        let Thread { clock, known, .. } = &self.threads[thread as usize];
        let (warp, lanes) = (thread / 32, 1 << (thread % 32));
        let mark = Mark { interval: self.interval, clock: *clock, lanes, warp, site };
        Moment { mark, thread, first: self.first, launch_first: self.launch_first, known }
    }

    /// All threads of the block have met.
    pub(crate) fn barrier(&mut self) {
        self.interval += 1;
        // Of the block itself the new interval says all; of other blocks each knows what any knew.
        let known = self.threads.iter().fold(None, |known, thread| join(&known, &thread.known));
        let known = without_block(&known, self.first);
        for thread in &mut self.threads {
            thread.clock = 0;
            thread.known.clone_from(&known);
        }
    }

    /// These threads, in the order of their numbers, have met.
    pub(crate) fn meet(&mut self, threads: &[u16]) {
        let known = threads.iter().fold(None, |known, t| join(&known, &self.threads[*t as usize].known));
        let all = with(&known, threads.iter().map(|t| self.next_clock(*t)).collect());
        for t in threads {
            self.threads[*t as usize].known.clone_from(&all);
        }
    }

    /// Ends what the thread has done so far: it can become known.
    fn next_clock(&mut self, thread: u16) -> Known {
        let clock = &mut self.threads[thread as usize].clock;
        *clock += 1;
        Known { first: self.first, interval: self.interval, thread, clock: *clock }
    }

    /// The thread's fence.
    pub(crate) fn fence(&mut self, thread: u16, scope: Scope) {
        self.acquire(thread, scope);
        let own = self.next_clock(thread);
        let thread = &mut self.threads[thread as usize];
        let released = with(&thread.known, vec![own]);
        if scope == Scope::Device {
            thread.released[of(Scope::Device)].clone_from(&released);
        }
        thread.released[of(Scope::Block)] = released;
    }

    /// What atomic operations have picked up becomes known.
    pub(crate) fn acquire(&mut self, thread: u16, scope: Scope) {
        let Thread { known, picked_up, .. } = &mut self.threads[thread as usize];
        *known = join(known, &picked_up[of(Scope::Block)]);
        if scope == Scope::Device {
            *known = join(known, &picked_up[of(Scope::Device)]);
        }
    }

    /// The thread's atomic operation at `address`, whose space is seen by the threads in `scope`: hands on what the
    /// last fence released, if it `writes`, and picks up what others have handed on.
    pub(crate) fn atomic(&mut self, thread: u16, address: u64, scope: Scope, writes: bool) {
        let thread = &mut self.threads[thread as usize];
        let released = thread.released.iter().any(Option::is_some);
        if self.meetings.is_empty() && !released {
            return;
        }
        let none = Meeting { first: self.first, released: [None, None] };
        let meeting = self.meetings.entry(address).or_insert(none);
        if meeting.first != self.first {
            meeting.first = self.first;
            meeting.released[of(Scope::Block)] = None;
            if scope == Scope::Block {
                meeting.released[of(Scope::Device)] = None;
            }
        }
        for (picked_up, handed_on) in thread.picked_up.iter_mut().zip(&meeting.released) {
            *picked_up = join(picked_up, handed_on);
        }
        if writes {
            for (handed_on, released) in meeting.released.iter_mut().zip(&thread.released) {
                *handed_on = join(handed_on, released);
            }
        }
    }
}

impl Moment<'_> {
    /// Whether the access of `thread` at `clock` in `interval` is over for this thread; for one of this block's
    /// accesses in this interval, or one of another block's.
    #[inline]
    pub(crate) fn knows(&self, interval: u32, thread: u16, clock: u32) -> bool {
        self.known.as_ref().is_some_and(|known| known.know(interval, thread, clock))
    }
}
