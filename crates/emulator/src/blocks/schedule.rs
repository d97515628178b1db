//! Chooses the thread of a block that runs next.

use crate::random::Random;

/// Average number of turns of a warp before another warp runs.
const TURNS_OF_WARP: u64 = 8;

/// State of a block's threads.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) random: Random,
    /// By warp: lanes that exist, lanes that can run, and lanes that wait only for the other lanes to catch up.
    all: Vec<u32>,
    ready: Vec<u32>,
    ahead: Vec<u32>,
    /// Warps with lanes that can run.
    warps: u32,
    warp: u32,
}

impl Schedule {
    pub(crate) fn new(threads: u32, seed: u64) -> Self {
        let lanes = |warp: u32| u32::MAX >> (32 - (threads - 32 * warp).min(32));
        let all: Vec<u32> = (0..threads.div_ceil(32)).map(lanes).collect();
        let none = vec![0; all.len()];
        Schedule { random: Random::new(seed), ready: none.clone(), ahead: none, all, warps: 0, warp: 0 }
    }

    /// Returns the lanes of a warp that exist.
    #[inline]
    pub(crate) fn lanes(&self, warp: u32) -> u32 {
        self.all[warp as usize]
    }

    /// Makes all threads of a new block ready.
    pub(crate) fn begin_block(&mut self) {
        self.ready.clone_from(&self.all);
        self.ahead.fill(0);
        self.warps = u32::MAX >> (32 - self.all.len());
    }

    /// Returns a random thread that can run, if there is one.
    pub(crate) fn next(&mut self) -> Option<u32> {
        if self.warps == 0 {
            return None;
        }
        if self.ready[self.warp as usize] == 0 || self.random.one_in(TURNS_OF_WARP) {
            self.warp = self.random.bit_of(self.warps);
        }
        Some(32 * self.warp + self.random.bit_of(self.ready[self.warp as usize]))
    }

    /// Makes the thread ready again.
    pub(crate) fn wake(&mut self, thread: u32) {
        self.ready[(thread / 32) as usize] |= 1 << (thread % 32);
        self.warps |= 1 << (thread / 32);
    }

    /// Makes the thread wait until it is woken. If no lane of its warp can run then, the lanes that wait only for others to
    /// catch up can run again. Returns those lanes.
    pub(crate) fn stop(&mut self, thread: u32) -> u32 {
        let warp = (thread / 32) as usize;
        self.ready[warp] &= !(1 << (thread % 32));
        if self.ready[warp] != 0 {
            return 0;
        }
        self.ready[warp] = std::mem::take(&mut self.ahead[warp]);
        if self.ready[warp] == 0 {
            self.warps &= !(1 << warp);
        }
        self.ready[warp]
    }

    /// Makes the thread wait until no lane of its warp can run. Returns the same as `stop`.
    pub(crate) fn stop_ahead(&mut self, thread: u32) -> u32 {
        self.ahead[(thread / 32) as usize] |= 1 << (thread % 32);
        self.stop(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_thread_runs_and_no_other() {
        let mut schedule = Schedule::new(70, 3);
        assert_eq!(schedule.next(), None);
        schedule.begin_block();
        let seen: BTreeSet<u32> = (0..3000).filter_map(|_| schedule.next()).collect();
        assert_eq!(seen, (0..70).collect());
        (0..70).filter(|thread| *thread != 33).for_each(|thread| assert_eq!(schedule.stop(thread), 0));
        assert!((0..10).all(|_| schedule.next() == Some(33)));
        schedule.stop(33);
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn a_thread_ahead_waits_for_its_warp() {
        let mut schedule = Schedule::new(34, 1);
        schedule.begin_block();
        (0..31).for_each(|thread| assert_eq!(schedule.stop_ahead(thread), 0));
        assert!((0..100).filter_map(|_| schedule.next()).all(|thread| thread > 30));
        assert_eq!(schedule.stop(31), u32::MAX >> 1);
        assert!((0..100).any(|_| schedule.next() == Some(7)));
    }
}
