//! A launch under way: the block that runs, and what its threads wait for.

use crate::fibres::STACK_BYTES;
use crate::finding::{Findings, Problem};
use crate::launch::Launch;
use crate::memory::Memory;
use crate::order::Order;
use crate::panics::Panic;
use crate::paths::Paths;
use crate::profile::Profile;
use crate::random::Random;
use crate::region::Region;
use crate::requests::Requests;
use crate::schedule::Schedule;
use crate::site::{Action, Line, Site, Sites};
use crate::threads::Threads;
use crate::trap::Trap;
use crate::warp::{Answer, Call, Meeting, Part, answer};
use crate::{Finding, SiteCounts};
use cuda_std::host::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;

/// The most accesses that a thread makes before another one runs.
const MOST_STEPS: u64 = 4096;

/// The most atomic operations before one for which another thread may run.
const MOST_ATOMICS: u64 = 32;

/// The launch and its machine's state.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) kernel: &'static str,
    pub(crate) launch: Launch,
    /// The most steps of a block.
    budget: u64,
    pub(crate) memory: Memory,
    /// Of the block.
    pub(crate) shared: Region,
    pub(crate) order: Order,
    pub(crate) sites: Sites,
    pub(crate) requests: Requests,
    pub(crate) findings: Findings,
    schedule: Schedule,
    blocks: Blocks,
    /// The running thread, and each one's index.
    pub(crate) thread: u32,
    indices: Vec<[u32; 3]>,
    /// Threads that wait at a barrier, and where.
    waiting: Vec<(u32, u16)>,
    /// By which calls each of them came there.
    arrivals: Vec<(u32, u32)>,
    pub(crate) paths: Paths,
    warps: Vec<Meeting>,
    /// What an operation of its warp gave each thread.
    answers: Vec<Answer>,
    ended: u32,
    /// Of the block; and what is left of them when another thread may run.
    steps_left: u64,
    turn_ends: u64,
    /// Atomic operations until the next one for which another thread may run.
    atomics_left: u32,
    /// The running thread is to give way.
    pub(crate) pause: bool,
    /// The launch is to end.
    pub(crate) stopped: bool,
}

impl Running {
    pub(crate) fn new(kernel: &'static str, launch: Launch, budget: u64, profile: &Profile, memory: Memory) -> Self {
        let [x, y, z] = launch.block;
        let threads = x * y * z;
        let warps = threads.div_ceil(32) as usize;
        let mut schedule = Schedule::new(threads, launch.seed);
        Running {
            kernel,
            launch,
            budget,
            order: Order::new(threads as usize, memory.interval),
            memory,
            shared: Region::new(launch.shared_bytes as usize, warps),
            sites: Sites::new(),
            requests: Requests::new(warps, profile.shape_of_banks()),
            findings: Findings::default(),
            blocks: Blocks::new(launch.grid, &mut schedule.random),
            schedule,
            thread: 0,
            indices: (0..threads).map(|t| [t % x, t / x % y, t / x / y]).collect(),
            waiting: Vec::new(),
            arrivals: Vec::new(),
            paths: Paths::default(),
            warps: vec![Meeting::default(); warps],
            answers: vec![[0; 2]; threads as usize],
            ended: 0,
            steps_left: 0,
            turn_ends: 0,
            atomics_left: 1,
            pause: false,
            stopped: false,
        }
    }

    /// Begins the next block, if there is one left: its index.
    pub(crate) fn begin_block(&mut self) -> Option<[u32; 3]> {
        self.order.begin_block();
        let block = self.blocks.begin(self.order.interval())?;
        self.shared.poison();
        self.schedule.begin_block();
        self.ended = 0;
        self.steps_left = self.budget;
        Some(block)
    }

    /// Chooses the thread that runs next, or none if all have ended.
    pub(crate) fn next_thread(&mut self) -> Option<u32> {
        loop {
            if let Some(thread) = self.schedule.next() {
                self.thread = thread;
                self.turn_ends = self.steps_left.saturating_sub(1 + self.schedule.random.below(MOST_STEPS));
                return Some(thread);
            }
            if self.ended as usize == self.indices.len() {
                self.count_requests();
                return None;
            }
            self.end_waiting();
        }
    }

    /// The running thread makes a step.
    #[inline]
    pub(crate) fn step(&mut self, at: &'static Location<'static>) {
        self.steps_left = self.steps_left.saturating_sub(1);
        if self.steps_left <= self.turn_ends {
            self.end_turn(at);
        }
    }

    /// Another thread may run, unless there are no more steps.
    #[cold]
    fn end_turn(&mut self, at: &'static Location<'static>) {
        self.pause = true;
        self.turn_ends = 0;
        if self.steps_left == 0 && !self.stopped {
            self.stopped = true;
            self.find(at.into(), Problem::OutOfSteps { budget: self.budget });
        }
    }

    /// Before an atomic operation another thread may run, so that it happens at any time.
    #[inline]
    pub(crate) fn may_give_way(&mut self) -> bool {
        self.atomics_left -= 1;
        if self.atomics_left > 0 {
            return false;
        }
        self.atomics_left = 1 + self.schedule.random.below(MOST_ATOMICS) as u32;
        true
    }

    /// The running thread has ended, of itself or because the launch has.
    pub(crate) fn end_thread(&mut self, panic: Option<Panic>) {
        if self.stopped {
            return;
        }
        self.ended += 1;
        self.stop_thread();
        if let Some(Panic { message, at }) = panic {
            let nowhere = Line { file: String::new(), line: 0, column: 0 };
            self.find(at.unwrap_or(nowhere), Problem::Panic { message });
            self.stopped = true;
        }
    }

    /// The running thread has been left for good; the last accessor that it called
    /// was at `at`, if it has called one.
    pub(crate) fn leave_thread(&mut self, trap: Trap, at: Option<&'static Location<'static>>) {
        if self.stopped {
            return;
        }
        let nowhere = Line { file: String::new(), line: 0, column: 0 };
        let problem = match trap {
            Trap::StackOverflow => Problem::StackOverflow { bytes: STACK_BYTES },
            Trap::NoAccess => Problem::NoAccess { limit: self.launch.time_limit },
        };
        self.find(at.map_or(nowhere, Line::from), problem);
        self.stopped = true;
    }

    /// The running thread has to wait.
    fn stop_thread(&mut self) {
        let woken = self.schedule.stop(self.thread);
        self.go_on(woken);
    }

    /// These lanes of the running thread's warp no longer wait for others to catch up.
    fn go_on(&mut self, woken: u32) {
        if woken != 0 {
            let warp = self.thread / 32;
            self.requests.finish_stuck(warp as usize, self.schedule.lanes(warp), woken, &self.sites);
        }
    }

    /// The running thread has come by `site`, with or without making an access.
    #[inline]
    pub(crate) fn come(&mut self, site: u16, address: Option<u64>) {
        let (warp, lane) = (self.thread / 32, self.thread % 32);
        let all = self.schedule.lanes(warp);
        if self.requests.come([warp, lane], all, site, address, &self.sites) {
            self.wait_for_warp();
        }
    }

    /// The running thread is ahead of its warp's other lanes.
    #[cold]
    fn wait_for_warp(&mut self) {
        self.pause = true;
        let woken = self.schedule.stop_ahead(self.thread);
        self.go_on(woken);
    }

    /// The running thread has come to the barrier `at` by the calls that `path` is the number of.
    pub(crate) fn sync_threads(&mut self, at: &'static Location<'static>, path: u32) {
        let site = self.sites.number_of(Site::of_wait(at, Action::Barrier));
        self.arrivals.push((self.thread, path));
        self.waiting.push((self.thread, site));
        self.stop_thread();
        self.pause = true;
        if self.waiting.len() == self.indices.len() {
            self.end_barrier();
        }
    }

    /// All threads that there are wait at a barrier.
    fn end_barrier(&mut self) {
        let first = self.waiting[0].1;
        if self.ended > 0 || self.waiting.iter().any(|(_, site)| *site != first) {
            self.waiting.sort_unstable();
            self.find_divergence();
        } else {
            self.compare_paths(first);
        }
        self.arrivals.clear();
        self.count_requests();
        for (thread, site) in &self.waiting {
            self.requests.meet((thread / 32) as usize, *site, 1, u64::from(thread % 32 == 0));
        }
        self.order.barrier();
        for (thread, _) in self.waiting.drain(..) {
            self.schedule.wake(thread);
        }
    }

    /// All threads are at one barrier; they may have come there from different places.
    fn compare_paths(&mut self, site: u16) {
        let (thread, first) = self.arrivals[0];
        let others = self.arrivals.iter().map(|(_, path)| *path).filter(|path| *path != first);
        let others: BTreeSet<u32> = others.collect();
        let Some(lines) = others.into_iter().find_map(|other| self.paths.different(first, other).cloned()) else {
            return;
        };
        let (mut same, mut differ) = (Vec::new(), Vec::new());
        for (thread, path) in std::mem::take(&mut self.arrivals) {
            let is_same = path == first || self.paths.different(first, path).is_none();
            if is_same { same.push(thread) } else { differ.push(thread) }
        }
        let [calls, other_calls] = lines;
        let [threads, others] = [same, differ].map(|mut threads: Vec<u32>| {
            threads.sort_unstable();
            Threads::new(threads)
        });
        self.thread = thread;
        self.find(self.line(site), Problem::BarrierFromTwoPlaces { calls, threads, other_calls, others });
    }

    fn count_requests(&mut self) {
        for warp in 0..self.warps.len() {
            self.requests.begin_anew(warp, self.schedule.lanes(warp as u32), &self.sites);
        }
    }

    /// The threads that wait, sorted, are not all threads at one barrier: the others have ended.
    #[cold]
    fn find_divergence(&mut self) {
        let (thread, site) = self.waiting[0];
        let problem = Problem::BarrierDivergence { waiting: self.threads_by_barrier(), ended: self.ended_threads() };
        self.thread = thread;
        self.find(self.line(site), problem);
    }

    fn threads_by_barrier(&self) -> Vec<(Line, Threads)> {
        let mut barriers: BTreeMap<Line, Vec<u32>> = BTreeMap::new();
        for (thread, site) in &self.waiting {
            barriers.entry(self.line(*site)).or_default().push(*thread);
        }
        barriers.into_iter().map(|(at, threads)| (at, Threads::new(threads))).collect()
    }

    fn ended_threads(&self) -> Threads {
        let is_waiting = |thread: &u32| self.waiting.binary_search_by_key(thread, |(thread, _)| *thread).is_ok();
        Threads::new((0..self.indices.len() as u32).filter(|thread| !is_waiting(thread)))
    }

    pub(crate) fn meet(&mut self, part: Part, mask: u32, at: &'static Location<'static>) {
        let site = self.sites.number_of(Site::of_wait(at, part.action()));
        let (warp, lane) = (self.thread / 32, self.thread % 32);
        if mask & 1 << lane == 0 {
            self.find(at.into(), Problem::NotInMask { mask, lane });
            self.answers[self.thread as usize] = part.own();
            return;
        }
        let call = Call { site, mask, part };
        self.warps[warp as usize].come(lane, call);
        self.stop_thread();
        self.pause = true;
        if self.warps[warp as usize].with(&call) == mask {
            self.end_meeting(warp, &call);
        }
    }

    /// The lanes of `warp` that are at `call` go on.
    fn end_meeting(&mut self, warp: u32, call: &Call) {
        let meeting = &mut self.warps[warp as usize];
        let lanes = meeting.with(call);
        let calls = meeting.end(lanes);
        self.requests.meet(warp as usize, call.site, lanes.count_ones(), 1);
        if lanes == self.schedule.lanes(warp) {
            self.requests.begin_anew(warp as usize, lanes, &self.sites);
        }
        let threads: Vec<u16> =
            (0..32).filter(|lane| lanes & 1 << lane != 0).map(|lane| (32 * warp + lane) as u16).collect();
        if call.part == Part::Wait {
            self.order.meet(&threads);
        }
        for (thread, call) in threads.into_iter().zip(calls.iter().flatten()) {
            self.thread = thread.into();
            let (answer, foreign) = answer(&calls, self.thread % 32, &call.part);
            self.answers[self.thread as usize] = answer;
            if let Some(lane) = foreign {
                self.find(self.line(call.site), Problem::ForeignLane { mask: call.mask, lane });
            }
            self.schedule.wake(self.thread);
        }
    }

    /// What the last operation of its warp gave the thread.
    pub(crate) fn answer(&self, thread: usize) -> Answer {
        self.answers[thread]
    }

    /// No thread can run, and some have not ended: they wait for others that do not come. Lets some of them go on.
    fn end_waiting(&mut self) {
        let stuck = |warp: usize| Some((warp as u32, self.warps[warp].any()?));
        let Some((warp, (lane, call))) = (0..self.warps.len()).find_map(stuck) else {
            return self.end_barrier();
        };
        self.thread = 32 * warp + lane;
        let missing = call.mask & !self.warps[warp as usize].with(&call);
        self.find(self.line(call.site), Problem::MissingLanes { mask: call.mask, missing });
        self.end_meeting(warp, &call);
    }

    pub(crate) fn fence(&mut self, scope: Scope, at: &'static Location<'static>) {
        let site = self.sites.number_of(Site::of_wait(at, Action::Fence));
        self.come(site, Some(0));
        self.order.fence(self.thread as u16, scope);
    }

    pub(crate) fn line(&self, site: u16) -> Line {
        self.sites.get(site).at.into()
    }

    /// The running thread's problem.
    #[cold]
    pub(crate) fn find(&mut self, at: Line, problem: Problem) {
        let (kernel, block, thread) = (self.kernel, self.blocks.current(), self.indices[self.thread as usize]);
        self.findings.add(Finding { kernel, block, thread, at, problem, times: 1 });
    }

    /// The block of an earlier access in `interval`.
    pub(crate) fn block_of(&self, interval: u32) -> [u32; 3] {
        self.blocks.of_interval(interval)
    }

    /// A thread's index.
    pub(crate) fn index_of(&self, thread: u16) -> [u32; 3] {
        self.indices[thread as usize]
    }

    /// The counts of all sites.
    pub(crate) fn counts(&self) -> Vec<SiteCounts> {
        let numbered = self.sites.iter().enumerate();
        let counts = numbered.map(|(number, site)| SiteCounts::new(site, self.requests.counts_at(number)));
        let mut sites: Vec<SiteCounts> = counts.collect();
        sites.sort_by(|a, b| (&a.at, a.action).cmp(&(&b.at, b.action)));
        sites
    }
}

/// The order of a grid's blocks: each is as far from the one before as any other.
#[derive(Debug)]
struct Blocks {
    grid: [u32; 3],
    first: u64,
    step: u64,
    /// The first interval of each block that has begun.
    intervals: Vec<u32>,
}

impl Blocks {
    fn new(grid: [u32; 3], random: &mut Random) -> Self {
        let count = grid.iter().map(|n| u64::from(*n)).product();
        let mut step = 1 + random.below(count);
        // A step without a common divisor comes by all blocks.
        while gcd(step, count) != 1 {
            step = 1 + random.below(count);
        }
        Blocks { grid, first: random.below(count), step, intervals: Vec::new() }
    }

    fn begin(&mut self, interval: u32) -> Option<[u32; 3]> {
        if self.intervals.len() as u64 == self.count() {
            return None;
        }
        self.intervals.push(interval);
        Some(self.current())
    }

    fn count(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    fn current(&self) -> [u32; 3] {
        self.number(self.intervals.len().saturating_sub(1))
    }

    fn of_interval(&self, interval: u32) -> [u32; 3] {
        self.number(self.intervals.partition_point(|first| *first <= interval).saturating_sub(1))
    }

    fn number(&self, begun: usize) -> [u32; 3] {
        let number = (u128::from(self.first) + begun as u128 * u128::from(self.step)) % u128::from(self.count());
        let ([x, y, _], number) = (self.grid.map(u64::from), number as u64);
        [number % x, number / x % y, number / x / y].map(|index| index as u32)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_block_runs_once() {
        for (seed, grid) in [(0, [1, 1, 1]), (1, [12, 5, 3]), (2, [97, 1, 2])] {
            let mut blocks = Blocks::new(grid, &mut Random::new(seed));
            let begun: Vec<_> = (0..).map_while(|k| blocks.begin(10 + 3 * k)).collect();
            let different: BTreeSet<_> = begun.iter().copied().collect();
            assert_eq!(begun.len(), (grid[0] * grid[1] * grid[2]) as usize);
            assert_eq!(different.len(), begun.len());
            assert!(begun.iter().all(|block| block.iter().zip(grid).all(|(index, n)| *index < n)));
            for (k, block) in begun.iter().enumerate() {
                assert_eq!(blocks.of_interval(12 + 3 * k as u32), *block);
            }
        }
    }
}
