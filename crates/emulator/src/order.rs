//! Who is ordered before whom: intervals between barriers, clocks within them.
//!
//! README.md of this crate explains the protocol.

use crate::clocks::{Knowledge, Known, join, with, without_block};
use crate::moment::{Mark, Moment, SLOT_SHIFT, slot_of};
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
    acquired: [Knowledge; 2],
}

/// What the threads of a block have handed on through a place in memory, to each other.
#[derive(Debug)]
struct BlockChannel {
    /// The block's first interval.
    first: u32,
    released: Knowledge,
}

/// What has been handed on through a place in memory.
#[derive(Debug, Default)]
struct Channel {
    /// For the threads of one block, by the block: those that run.
    blocks: Vec<BlockChannel>,
    /// For all threads.
    device: Knowledge,
}

/// The place in `released` and `picked_up` of what holds in a scope.
fn of(scope: Scope) -> usize {
    match scope {
        Scope::Block => 0,
        Scope::Device => 1,
    }
}

/// The order of a launch's accesses so far, as far as it is not one block's alone.
#[derive(Debug)]
pub(crate) struct Order {
    /// Counts the intervals between barriers, of all blocks: in the whole life of the memory, no two are the same.
    intervals: u32,
    /// The most of them.
    max: u32,
    /// The launch's first one.
    launch_first: u32,
    channels: HashMap<u64, Channel>,
    /// No more intervals can be told apart: the launch has to end.
    pub(crate) exhausted: bool,
}

/// The order of a running block's accesses so far.
#[derive(Debug)]
pub(crate) struct BlockOrder {
    slot: u32,
    interval: u32,
    /// The block's first interval, and the launch's.
    first: u32,
    launch_first: u32,
    threads: Vec<Thread>,
}

impl Order {
    /// For a launch; `intervals` are those of the memory so far, of `most` that there can be.
    pub(crate) fn new(intervals: u32, max: u32) -> Self {
        Order { intervals, max, launch_first: intervals + 1, channels: HashMap::new(), exhausted: false }
    }

    /// The intervals so far.
    pub(crate) fn intervals(&self) -> u32 {
        self.intervals
    }

    /// The number of the next interval of a slot's block.
    fn next_interval(&mut self, slot: u32) -> u32 {
        match self.intervals < self.max {
            true => self.intervals += 1,
            false => self.exhausted = true,
        }
        slot << SLOT_SHIFT | self.intervals
    }

    /// What has been handed on at `address`, which a thread of the block accesses whose first interval this is.
    fn channel(&mut self, address: u64, first: u32) -> (&mut Knowledge, &mut Knowledge) {
        let Channel { blocks, device } = self.channels.entry(address).or_default();
        let place = blocks.iter().position(|block| slot_of(block.first) == slot_of(first)).unwrap_or_else(|| {
            blocks.push(BlockChannel { first, released: None });
            blocks.len() - 1
        });
        let block = &mut blocks[place];
        if block.first != first {
            *block = BlockChannel { first, released: None };
        }
        (&mut block.released, device)
    }
}

impl BlockOrder {
    /// Returns the order for blocks of this number of threads in a slot.
    pub(crate) fn new(slot: usize, threads: usize, order: &Order) -> Self {
        let threads = (0..threads).map(|_| Thread::default()).collect();
        BlockOrder { slot: slot as u32, interval: 0, first: 0, launch_first: order.launch_first, threads }
    }

    pub(crate) fn interval(&self) -> u32 {
        self.interval
    }

    /// The slot's next block begins.
    pub(crate) fn begin(&mut self, order: &mut Order) {
        self.interval = order.next_interval(self.slot);
        self.first = self.interval;
        self.threads.fill_with(Thread::default);
    }

    /// The present access of `thread`, at `site`.
    #[inline]
    pub(crate) fn moment(&self, thread: u16, site: u16) -> Moment<'_> {
        let Thread { clock, known, .. } = &self.threads[thread as usize];
        let (warp, lanes) = ((thread / 32) as u8, 1 << (thread % 32));
        let mark = Mark { interval: self.interval, clock: *clock, lanes, warp, atomic_bytes: 0, site };
        let (first, launch_first) = (self.first, self.launch_first);
        Moment { mark, thread, first, launch_first, unordered_first: launch_first, known }
    }

    /// All threads of the block have met.
    pub(crate) fn barrier(&mut self, order: &mut Order) {
        self.interval = order.next_interval(self.slot);
        // Of the block itself the new interval says all; of other blocks each knows what any knew.
        let all_known = self.threads.iter().map(|thread| &thread.known).filter(|known| known.is_some());
        let known = all_known.fold(None, |all, known| join(&all, known));
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
        // Once a step at the most, and a block has fewer than 2^32 steps.
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
        let Thread { known, acquired, .. } = &mut self.threads[thread as usize];
        *known = join(known, &acquired[of(Scope::Block)]);
        if scope == Scope::Device {
            *known = join(known, &acquired[of(Scope::Device)]);
        }
    }

    /// The thread's atomic operation at `address`, whose space is seen by the threads in `scope`: hands on what the
    /// last fence released, if it `writes`, and picks up what others have handed on.
    #[inline]
    pub(crate) fn atomic(&mut self, thread: u16, address: u64, scope: Scope, writes: bool, order: &mut Order) {
        let released = self.threads[thread as usize].released.iter().any(Option::is_some);
        if released || !order.channels.is_empty() {
            self.pass_on(thread, address, scope, writes, order);
        }
    }

    #[inline(never)]
    fn pass_on(&mut self, thread: u16, address: u64, scope: Scope, writes: bool, order: &mut Order) {
        let place = self.place(address, scope);
        let thread = &mut self.threads[thread as usize];
        let (block, device) = order.channel(place, self.first);
        // Nobody but the block is at shared memory, so that what is for the device is for the block there.
        let device = if scope == Scope::Block { None } else { Some(device) };
        for (k, passed_on) in [Some(block), device].into_iter().flatten().enumerate() {
            thread.acquired[k] = join(&thread.acquired[k], passed_on);
            if writes {
                *passed_on = join(passed_on, &thread.released[k]);
            }
        }
    }

    /// What an address is known by among all blocks.
    fn place(&self, address: u64, scope: Scope) -> u64 {
        match scope {
            // Each block has shared memory of its own, with addresses of less than 32 bits.
            Scope::Block => address | u64::from(self.slot) << 32,
            Scope::Device => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::{MAX_INTERVALS, SLOTS};

    /// The last interval that can be told apart is given out once.
    #[test]
    fn intervals_run_out() {
        let mut order = Order::new(MAX_INTERVALS - 2, MAX_INTERVALS);
        let mut block = BlockOrder::new(SLOTS - 1, 1, &order);
        block.begin(&mut order);
        block.barrier(&mut order);
        assert_eq!((order.exhausted, block.interval()), (false, u32::MAX - 1));
        block.barrier(&mut order);
        assert!(order.exhausted);
    }
}
