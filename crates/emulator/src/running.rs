//! A launch in progress: its blocks, and what their threads wait for.

use crate::blocks::{Block, Blocks, SplitOff};
use crate::launch::Launch;
use crate::memory::{Allocations, Outputs, Reach, Unwritten};
use crate::profile::Profile;
use crate::race::Order;
use crate::random::{Pace, Random};
use crate::report::{Action, Counts, Finding, Findings, Line, Problem, Site, SiteCounts, Sites, Split};
use crate::threads::{Panic, Paths, STACK_BYTES, Stray, Trap};
use cuda_std::host::Scope;
use std::panic::Location;

/// Maximum number of steps in a thread's turn.
const MAX_STEPS: u64 = 4096;

/// Maximum number of atomic operations until one before which another thread may run.
const MAX_ATOMICS: u64 = 32;

/// State of a launch and its machine.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) kernel: &'static str,
    pub(crate) launch: Launch,
    /// Maximum number of steps per block.
    budget: u64,
    pub(crate) memory: Allocations,
    pub(crate) reach: Reach,
    pub(crate) outputs: Outputs,
    pub(crate) order: Order,
    pub(crate) sites: Sites,
    pub(crate) findings: Findings,
    blocks: Blocks,
    /// The running block, and those in the other slots.
    pub(crate) block: Block,
    parked: Vec<Block>,
    /// The running thread, and the index of each thread.
    pub(crate) thread: u32,
    pub(crate) indices: Vec<[u32; 3]>,
    pub(crate) paths: Paths,
    random: Random,
    /// Number of turns of threads until another block may run.
    turns_left: u64,
    turns: Pace,
    /// Value of the block's `steps_left` at which another thread may run.
    turn_ends: u64,
    steps: Pace,
    /// Number of atomic operations until the next one before which another thread may run.
    atomics_left: u64,
    atomics: Pace,
    /// Whether the running thread must yield.
    pub(crate) pause: bool,
    /// Whether the launch must end.
    pub(crate) stopped: bool,
}

/// The thread that runs next.
pub(crate) struct Turn {
    /// Slot of its block.
    pub(crate) slot: usize,
    /// Index of its block in the grid.
    pub(crate) block: [u32; 3],
    /// Number of the thread in the block.
    pub(crate) thread: u32,
}

impl Running {
    pub(crate) fn new(
        kernel: &'static str,
        launch: Launch,
        budget: u64,
        resident: usize,
        (reach, outputs): (Reach, Outputs),
        profile: &Profile,
        mut memory: Allocations,
    ) -> Self {
        let [x, y, z] = launch.block;
        let threads = x * y * z;
        let mut random = Random::new(launch.seed);
        let order = Order::new(memory.intervals, memory.max_intervals);
        let seeds = (0..resident).map(|_| random.next()).collect::<Vec<_>>();
        let slots = seeds.into_iter().enumerate();
        let mut parked: Vec<Block> =
            slots.map(|(slot, seed)| Block::new(slot, &launch, profile, &order, seed)).collect();
        outputs.begin(&mut memory);
        Running {
            kernel,
            launch,
            budget,
            memory,
            reach,
            outputs,
            order,
            sites: Sites::new(),
            findings: Findings::default(),
            blocks: Blocks::new(launch.grid, &mut random),
            block: parked.remove(0),
            parked,
            thread: 0,
            indices: (0..threads).map(|t| [t % x, t / x % y, t / x / y]).collect(),
            random,
            turns_left: 0,
            turns: Pace::up_to(2 * u64::from(threads) + 6),
            paths: Paths::default(),
            turn_ends: 0,
            steps: Pace::up_to(MAX_STEPS),
            atomics_left: 1,
            atomics: Pace::up_to(MAX_ATOMICS),
            pause: false,
            stopped: false,
        }
    }

    /// Chooses the thread that runs next. Returns `None` if all threads or the launch have ended.
    pub(crate) fn next_turn(&mut self) -> Option<Turn> {
        loop {
            if (self.turns_left == 0 || !self.block.in_progress) && !self.change_block() || self.stopped {
                return None;
            }
            if let Some(thread) = self.block.schedule.next() {
                self.thread = thread;
                self.turns_left -= 1;
                self.turn_ends = self.block.steps_left.saturating_sub(self.steps.next(&mut self.random));
                return Some(Turn { slot: self.block.slot, block: self.block.index, thread });
            }
            if self.block.ended as usize == self.indices.len() {
                self.count_requests();
                self.block.in_progress = false;
                self.blocks.end();
            } else {
                self.end_waiting();
            }
        }
    }

    /// Lets a random block run for some turns: one in progress, or
    /// the next one if a slot is free. Returns whether there is one.
    #[inline(never)]
    fn change_block(&mut self) -> bool {
        let can_run = |block: &Block| block.in_progress || self.blocks.has_more();
        let choice: Vec<usize> = (0..self.parked.len()).filter(|k| can_run(&self.parked[*k])).collect();
        let stay = can_run(&self.block);
        let count = choice.len() + usize::from(stay);
        if count == 0 {
            return false;
        }
        if let Some(place) = choice.get(self.random.below(count as u64) as usize) {
            std::mem::swap(&mut self.block, &mut self.parked[*place]);
        }
        self.turns_left = self.turns.next(&mut self.random);
        if !self.block.in_progress {
            self.begin_block();
        }
        true
    }

    /// Begins the next block in the running slot.
    fn begin_block(&mut self) {
        self.block.begin(&mut self.order, self.budget);
        if self.order.exhausted {
            return self.end_exhausted(Line::NOWHERE);
        }
        self.block.index = self.blocks.begin(self.block.order.interval());
    }

    /// Ends the launch because the interval numbers have run out.
    #[cold]
    pub(crate) fn end_exhausted(&mut self, at: Line) {
        self.stopped = true;
        self.pause = true;
        self.find(at, Problem::TooManyIntervals { intervals: self.memory.max_intervals });
    }

    /// Counts a step of the running thread.
    #[inline]
    pub(crate) fn step(&mut self, at: &'static Location<'static>) {
        self.block.steps_left = self.block.steps_left.saturating_sub(1);
        if self.block.steps_left <= self.turn_ends {
            self.end_turn(at);
        }
    }

    /// Ends the turn of the running thread, and the launch if no steps are left.
    #[cold]
    fn end_turn(&mut self, at: &'static Location<'static>) {
        self.pause = true;
        self.turn_ends = 0;
        if self.block.steps_left == 0 && !self.stopped {
            self.stopped = true;
            self.find(at.into(), Problem::OutOfSteps { budget: self.budget, blocks: self.blocks.states() });
        }
    }

    /// Returns whether another thread runs before the next atomic operation, so that the operation may happen at any time.
    #[inline]
    pub(crate) fn yields_before_atomic(&mut self) -> bool {
        self.atomics_left -= 1;
        if self.atomics_left > 0 {
            return false;
        }
        self.atomics_left = self.atomics.next(&mut self.random);
        true
    }

    /// Records that the running thread has ended, by a `panic` if there was one.
    pub(crate) fn end_thread(&mut self, panic: Option<Panic>) {
        if self.stopped {
            return;
        }
        self.block.ended += 1;
        self.stop_thread();
        if let Some(Panic { message, at }) = panic {
            self.find(at.unwrap_or(Line::NOWHERE), Problem::Panic { message });
            self.stopped = true;
        }
    }

    /// Records that the running thread has been abandoned. `at` is the location of its last accessor call, if there was one.
    pub(crate) fn abandon_thread(&mut self, trap: Trap, at: Option<&'static Location<'static>>) {
        if self.stopped {
            return;
        }
        let problem = match trap {
            Trap::StackOverflow => Problem::StackOverflow { bytes: STACK_BYTES },
            Trap::NoAccess => Problem::NoAccess { limit: self.launch.time_limit },
        };
        self.find(at.map_or(Line::NOWHERE, Line::from), problem);
        self.stopped = true;
    }

    /// Suspends the running thread until it is woken.
    pub(crate) fn stop_thread(&mut self) {
        let woken = self.block.schedule.stop(self.thread);
        self.finish_stuck_requests(woken);
    }

    /// Finishes requests for which the lanes `woken` of the running thread's warp would wait in vain.
    fn finish_stuck_requests(&mut self, woken: u32) {
        if woken != 0 {
            let warp = self.thread / 32;
            self.block.requests.finish_stuck(warp as usize, self.block.schedule.lanes(warp), woken, &self.sites);
        }
    }

    /// Records that the running thread visits `site`, with the `address` of its access if it makes one.
    #[inline(always)]
    pub(crate) fn record_visit(&mut self, site: u16, address: Option<u64>) {
        let (warp, lane) = (self.thread / 32, self.thread % 32);
        let all = self.block.schedule.lanes(warp);
        if self.block.requests.record_visit([warp, lane], all, site, address, &self.sites) {
            self.wait_for_warp();
        }
    }

    /// Makes the running thread wait, because it is ahead of the other lanes of its warp.
    #[cold]
    fn wait_for_warp(&mut self) {
        self.pause = true;
        let woken = self.block.schedule.stop_ahead(self.thread);
        self.finish_stuck_requests(woken);
    }

    /// Records that the running thread splits shared memory off its arena.
    pub(crate) fn split(&mut self, base: u32, bytes: u32, at: &'static Location<'static>) {
        let split = SplitOff { thread: self.thread, base, bytes, at };
        if let Some(other) = self.block.splits.add(split) {
            let [split, other] = [split, other].map(|SplitOff { thread, base, bytes, at }| Split {
                thread: self.indices[thread as usize],
                base,
                bytes,
                at: at.into(),
            });
            self.find(at.into(), Problem::SplitDivergence { split, other });
        }
    }

    /// Lets some threads continue when none can run: they wait for threads that never arrive, which is a finding.
    fn end_waiting(&mut self) {
        let stuck = |warp: usize| Some((warp as u32, self.block.warps[warp].any()?));
        let Some((warp, (lane, call))) = (0..self.block.warps.len()).find_map(stuck) else {
            return self.end_barrier();
        };
        self.thread = 32 * warp + lane;
        let missing = call.mask & !self.block.warps[warp as usize].with(&call);
        self.find(self.line(call.site), Problem::MissingLanes { mask: call.mask, missing });
        self.end_meeting(warp, &call);
    }

    pub(crate) fn fence(&mut self, scope: Scope, at: &'static Location<'static>) {
        let site = self.sites.number_of(Site::of_wait(at, Action::Fence));
        self.record_visit(site, Some(0));
        self.block.order.fence(self.thread as u16, scope);
    }

    pub(crate) fn line(&self, site: u16) -> Line {
        self.sites.get(site).at.into()
    }

    /// Reports unwritten outputs of a launch that has ended normally.
    pub(crate) fn check_outputs(&mut self) {
        let launch_first = self.order.launch_first();
        for Unwritten { window, first, count, len, whole, left_out } in
            self.outputs.unwritten(&mut self.memory, launch_first)
        {
            let left_out = left_out.map(|site| self.line(site));
            let (kernel, at) = (self.kernel, left_out.clone().unwrap_or(Line::NOWHERE));
            let problem = Problem::UnwrittenOutput { window, first, count, len, whole, left_out };
            self.findings.add(Finding { kernel, block: [0; 3], thread: [0; 3], at, problem, times: 1 });
        }
    }

    /// Reports accessor calls on OS threads that run no kernel.
    pub(crate) fn add_stray(&mut self, stray: Stray) {
        let Stray { at, thread, block, times } = stray;
        let (kernel, at) = (self.kernel, at.into());
        self.findings.add(Finding { kernel, block, thread, at, problem: Problem::ForeignThread, times });
    }

    /// Reports a problem of the running thread.
    #[cold]
    pub(crate) fn find(&mut self, at: Line, problem: Problem) {
        let (kernel, block, thread) = (self.kernel, self.block.index, self.indices[self.thread as usize]);
        self.findings.add(Finding { kernel, block, thread, at, problem, times: 1 });
    }

    /// Returns the block of an earlier access in `interval`.
    pub(crate) fn block_of(&self, interval: u32) -> [u32; 3] {
        self.blocks.of_interval(interval)
    }

    /// Returns a thread's index.
    pub(crate) fn index_of(&self, thread: u16) -> [u32; 3] {
        self.indices[thread as usize]
    }

    /// Returns the counts of all sites.
    pub(crate) fn counts(&self) -> Vec<SiteCounts> {
        let numbered = self.sites.iter().enumerate();
        let counts = numbered.map(|(number, site)| SiteCounts::new(site, self.counts_at(number)));
        let mut sites: Vec<SiteCounts> = counts.collect();
        sites.sort_by(|a, b| (&a.at, a.action).cmp(&(&b.at, b.action)));
        sites
    }

    /// Returns the counts at a site, by warp, summed over all blocks.
    fn counts_at(&self, site: usize) -> Vec<Counts> {
        let mut sum = self.block.requests.counts_at(site);
        for block in &self.parked {
            sum.iter_mut().zip(block.requests.counts_at(site)).for_each(|(sum, counts)| *sum += counts);
        }
        sum
    }
}
