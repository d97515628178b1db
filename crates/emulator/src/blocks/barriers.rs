//! Barriers of a block.

use super::block::Arrival;
use crate::report::{Action, Line, Problem, Site, Threads};
use crate::running::Running;
use crate::threads::TwoPlaces;
use std::collections::BTreeMap;
use std::panic::Location;

impl Running {
    /// Waits at a barrier that leaves the contents of some shared memory unspecified.
    pub(crate) fn reuse(&mut self, base: u32, bytes: u32, at: &'static Location<'static>, path: u32) {
        if !self.block.reused.contains(&(base, bytes)) {
            self.block.reused.push((base, bytes));
        }
        self.sync_threads(at, path);
    }

    /// Makes the running thread wait at the barrier `at`, which it reached by the path with number `path`.
    pub(crate) fn sync_threads(&mut self, at: &'static Location<'static>, path: u32) {
        let site = self.sites.number_of(Site::of_wait(at, Action::Barrier));
        self.block.waiting.push(Arrival { thread: self.thread, site, path });
        self.stop_thread();
        self.pause = true;
        if self.block.waiting.len() == self.indices.len() {
            self.end_barrier();
        }
    }

    /// Ends the barriers of all waiting threads. All other threads have ended.
    #[inline(never)]
    pub(crate) fn end_barrier(&mut self) {
        let mut waiting = std::mem::take(&mut self.block.waiting);
        let first = waiting[0].site;
        if self.block.ended > 0 || waiting.iter().any(|arrival| arrival.site != first) {
            waiting.sort_unstable_by_key(|arrival| arrival.thread);
            self.find_divergence(&waiting);
        } else {
            self.compare_paths(&waiting);
        }
        self.count_requests();
        for (base, bytes) in self.block.reused.drain(..) {
            self.block.shared.poison_part(base as usize, bytes as usize);
        }
        self.block.order.barrier(&mut self.order);
        if self.order.exhausted {
            self.end_exhausted(self.line(first));
        }
        for Arrival { thread, site, .. } in waiting.drain(..) {
            self.block.requests.meet((thread / 32) as usize, site, 1, u64::from(thread % 32 == 0));
            self.block.schedule.wake(thread);
        }
        self.block.waiting = waiting;
    }

    /// Reports threads that reached one barrier by different paths.
    fn compare_paths(&mut self, waiting: &[Arrival]) {
        let Arrival { thread, site, .. } = waiting[0];
        let met = waiting.iter().map(|arrival| (arrival.thread, arrival.path));
        if let Some(TwoPlaces { calls, threads, other_calls, others }) = self.paths.two_places(met) {
            self.thread = thread;
            self.find(self.line(site), Problem::BarrierFromTwoPlaces { calls, threads, other_calls, others });
        }
    }

    pub(crate) fn count_requests(&mut self) {
        for warp in 0..self.block.warps.len() {
            self.block.requests.end_interval(warp, self.block.schedule.lanes(warp as u32), &self.sites);
        }
    }

    /// Reports that the threads in `waiting`, which is sorted, are not all threads at one barrier.
    #[cold]
    fn find_divergence(&mut self, waiting: &[Arrival]) {
        let Arrival { thread, site, .. } = waiting[0];
        let ended = self.ended_threads(waiting);
        let problem = Problem::BarrierDivergence { waiting: self.threads_by_barrier(waiting), ended };
        self.thread = thread;
        self.find(self.line(site), problem);
    }

    fn threads_by_barrier(&self, waiting: &[Arrival]) -> Vec<(Line, Threads)> {
        let mut barriers: BTreeMap<Line, Vec<u32>> = BTreeMap::new();
        for Arrival { thread, site, .. } in waiting {
            barriers.entry(self.line(*site)).or_default().push(*thread);
        }
        barriers.into_iter().map(|(at, threads)| (at, Threads::new(threads))).collect()
    }

    fn ended_threads(&self, waiting: &[Arrival]) -> Threads {
        let is_waiting = |thread: &u32| waiting.binary_search_by_key(thread, |arrival| arrival.thread).is_ok();
        Threads::new((0..self.indices.len() as u32).filter(|thread| !is_waiting(thread)))
    }
}
