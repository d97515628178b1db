//! The happens-before order: intervals between barriers, and clocks within them.
//!
//! README.md of this crate explains the protocol.

use super::clocks::{Knowledge, Known, join, with, without_block};
use super::moment::{Mark, Moment, SLOT_SHIFT, slot_of};
use cuda_std::host::Scope;
use std::collections::HashMap;

/// What a thread knows and has released.
#[derive(Debug, Default)]
struct Thread {
    /// Number of events in the interval that made the thread's accesses known to other threads.
    clock: u32,
    known: Knowledge,
    /// Knowledge at the last fence, for the block's threads and for all threads. An atomic operation passes it on.
    released: [Knowledge; 2],
    /// Knowledge that atomic operations have acquired, from the
    /// block's threads and from all threads. A fence makes it known.
    acquired: [Knowledge; 2],
}

/// Knowledge that the threads of a block have passed on to each other through an address.
#[derive(Debug)]
struct BlockChannel {
    /// First interval of the block.
    first: u32,
    released: Knowledge,
}

/// Knowledge that has been passed on through an address.
#[derive(Debug, Default)]
struct Channel {
    /// For the threads of one block; one entry for each slot at most.
    blocks: Vec<BlockChannel>,
    /// For all threads.
    device: Knowledge,
}

/// Returns the index of a scope in `released` and `acquired`.
fn scope_index(scope: Scope) -> usize {
    match scope {
        Scope::Block => 0,
        Scope::Device => 1,
    }
}

/// The part of a launch's order that several blocks share.
#[derive(Debug)]
pub(crate) struct Order {
    /// Number of intervals of all blocks. No two intervals in the lifetime of the memory have the same number.
    intervals: u32,
    /// Maximum number of intervals.
    max: u32,
    /// First interval of the launch.
    launch_first: u32,
    channels: HashMap<u64, Channel>,
    /// Whether the interval numbers have run out, so that the launch must end.
    pub(crate) exhausted: bool,
}

/// The part of the order that belongs to a block in progress.
#[derive(Debug)]
pub(crate) struct BlockOrder {
    slot: u32,
    interval: u32,
    /// First interval of the block, and of the launch.
    first: u32,
    launch_first: u32,
    threads: Vec<Thread>,
}

impl Order {
    /// Returns the order for a launch. `intervals` is the number of intervals of the memory so far, `max` their maximum.
    pub(crate) fn new(intervals: u32, max: u32) -> Self {
        Order { intervals, max, launch_first: intervals + 1, channels: HashMap::new(), exhausted: false }
    }

    /// Returns the number of intervals so far.
    pub(crate) fn intervals(&self) -> u32 {
        self.intervals
    }

    /// Returns the number of the launch's first interval.
    pub(crate) fn launch_first(&self) -> u32 {
        self.launch_first
    }

    /// Returns the number of the next interval of a slot's block.
    fn next_interval(&mut self, slot: u32) -> u32 {
        match self.intervals < self.max {
            true => self.intervals += 1,
            false => self.exhausted = true,
        }
        slot << SLOT_SHIFT | self.intervals
    }

    /// Returns what has been passed on at `address`: within the block whose first interval is `first`, and on the device.
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

    /// Begins the slot's next block.
    pub(crate) fn begin(&mut self, order: &mut Order) {
        self.interval = order.next_interval(self.slot);
        self.first = self.interval;
        self.threads.fill_with(Thread::default);
    }

    /// Returns the moment of an access of `thread` at `site`.
    #[inline]
    pub(crate) fn moment(&self, thread: u16, site: u16) -> Moment<'_> {
        let Thread { clock, known, .. } = &self.threads[thread as usize];
        let (warp, lanes) = ((thread / 32) as u8, 1 << (thread % 32));
        let mark = Mark { interval: self.interval, clock: *clock, lanes, warp, atomic_bytes: 0, site };
        let (first, launch_first) = (self.first, self.launch_first);
        Moment { mark, thread, first, launch_first, unordered_first: launch_first, known }
    }

    /// Records that all threads of the block have met.
    pub(crate) fn barrier(&mut self, order: &mut Order) {
        self.interval = order.next_interval(self.slot);
        // The new interval covers the block itself. Of other blocks, each thread knows what any thread knew.
        let all_known = self.threads.iter().map(|thread| &thread.known).filter(|known| known.is_some());
        let known = all_known.fold(None, |all, known| join(&all, known));
        let known = without_block(&known, self.first);
        for thread in &mut self.threads {
            thread.clock = 0;
            thread.known.clone_from(&known);
        }
    }

    /// Records that these threads, sorted by number, have met.
    pub(crate) fn meet(&mut self, threads: &[u16]) {
        let known = threads.iter().fold(None, |known, t| join(&known, &self.threads[*t as usize].known));
        let all = with(&known, threads.iter().map(|t| self.next_clock(*t)).collect());
        for t in threads {
            self.threads[*t as usize].known.clone_from(&all);
        }
    }

    /// Advances the thread's clock, so that its accesses so far can become known. Returns the entry that makes them known.
    fn next_clock(&mut self, thread: u16) -> Known {
        let clock = &mut self.threads[thread as usize].clock;
        // At most once per step, and a block has fewer than 2^32 steps.
        *clock += 1;
        Known { first: self.first, interval: self.interval, thread, clock: *clock }
    }

    /// Records the thread's fence.
    pub(crate) fn fence(&mut self, thread: u16, scope: Scope) {
        self.acquire(thread, scope);
        let own = self.next_clock(thread);
        let thread = &mut self.threads[thread as usize];
        let released = with(&thread.known, vec![own]);
        if scope == Scope::Device {
            thread.released[scope_index(Scope::Device)].clone_from(&released);
        }
        thread.released[scope_index(Scope::Block)] = released;
    }

    /// Makes known what atomic operations have acquired.
    pub(crate) fn acquire(&mut self, thread: u16, scope: Scope) {
        let Thread { known, acquired, .. } = &mut self.threads[thread as usize];
        *known = join(known, &acquired[scope_index(Scope::Block)]);
        if scope == Scope::Device {
            *known = join(known, &acquired[scope_index(Scope::Device)]);
        }
    }

    /// Records the thread's atomic operation at `address`, in memory that the threads in `scope` share. The operation
    /// acquires what others have passed on and, if it `writes`, passes on what the last fence released.
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
        // Only the block accesses shared memory, so nothing is passed on to the device.
        let device = if scope == Scope::Block { None } else { Some(device) };
        for (k, passed_on) in [Some(block), device].into_iter().flatten().enumerate() {
            thread.acquired[k] = join(&thread.acquired[k], passed_on);
            if writes {
                *passed_on = join(passed_on, &thread.released[k]);
            }
        }
    }

    /// Returns an address that is unique among all blocks.
    fn place(&self, address: u64, scope: Scope) -> u64 {
        match scope {
            // Each block has its own shared memory, with addresses of less than 32 bits.
            Scope::Block => address | u64::from(self.slot) << 32,
            Scope::Device => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::moment::{MAX_INTERVALS, SLOTS};

    /// The last interval number is used once.
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
