//! A block in progress, and the slot that blocks use one after another.

use super::schedule::Schedule;
use crate::launch::Launch;
use crate::memory::Region;
use crate::profile::Profile;
use crate::race::{BlockOrder, Order};
use crate::warp::{Answer, Meeting, Requests};
use std::panic::Location;

/// A thread that waits at a barrier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) thread: u32,
    pub(crate) site: u16,
    /// Number of the path by which the thread reached the barrier.
    pub(crate) path: u32,
}

/// State of a slot and its block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) slot: usize,
    /// Index in the grid.
    pub(crate) index: [u32; 3],
    /// Whether it has begun and not ended.
    pub(crate) in_progress: bool,
    pub(crate) shared: Region,
    pub(crate) order: BlockOrder,
    /// Requests of all blocks that have used the slot.
    pub(crate) requests: Requests,
    pub(crate) schedule: Schedule,
    /// Threads that wait at a barrier.
    pub(crate) waiting: Vec<Arrival>,
    /// First byte and number of bytes of shared memory that is unwritten after the barrier.
    pub(crate) reused: Vec<(u32, u32)>,
    pub(crate) warps: Vec<Meeting>,
    /// Each thread's result of the last operation of its warp.
    pub(crate) answers: Vec<Answer>,
    pub(crate) splits: Splits,
    pub(crate) ended: u32,
    pub(crate) steps_left: u64,
}

impl Block {
    /// Returns a slot for a launch's blocks.
    pub(crate) fn new(slot: usize, launch: &Launch, profile: &Profile, order: &Order, seed: u64) -> Self {
        let threads = launch.threads() as u32;
        let warps = threads.div_ceil(32) as usize;
        Block {
            slot,
            index: [0; 3],
            in_progress: false,
            shared: Region::new(launch.shared_bytes as usize, warps),
            order: BlockOrder::new(slot, threads as usize, order),
            requests: Requests::new(warps, profile.shape_of_banks()),
            schedule: Schedule::new(threads, seed),
            waiting: Vec::new(),
            reused: Vec::new(),
            warps: vec![Meeting::default(); warps],
            answers: vec![[0; 4]; threads as usize],
            splits: Splits { first: Vec::new(), done: vec![0; threads as usize] },
            ended: 0,
            steps_left: 0,
        }
    }

    /// Begins the next block in the slot.
    pub(crate) fn begin(&mut self, order: &mut Order, budget: u64) {
        self.order.begin(order);
        self.shared.poison();
        self.schedule.begin_block();
        self.splits.first.clear();
        self.splits.done.fill(0);
        (self.in_progress, self.ended, self.steps_left) = (true, 0, budget);
    }
}

/// How a block's threads split their arenas.
#[derive(Debug)]
pub(crate) struct Splits {
    /// By number: the first split that a thread made with this number.
    first: Vec<SplitOff>,
    /// By thread: number of its splits.
    done: Vec<u32>,
}

/// Shared memory that a thread split off: `bytes` bytes from byte `base` on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitOff {
    pub(crate) thread: u32,
    pub(crate) base: u32,
    pub(crate) bytes: u32,
    pub(crate) at: &'static Location<'static>,
}

impl Splits {
    /// Adds a thread's next split. Returns another thread's split with the same number if it differs.
    pub(crate) fn add(&mut self, split: SplitOff) -> Option<SplitOff> {
        let done = &mut self.done[split.thread as usize];
        let number = *done as usize;
        *done += 1;
        match self.first.get(number) {
            Some(first) => (split.base, split.bytes).ne(&(first.base, first.bytes)).then_some(*first),
            None => {
                self.first.push(split);
                None
            }
        }
    }
}
