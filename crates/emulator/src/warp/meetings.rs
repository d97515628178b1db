//! Lanes of a warp that wait for each other at an operation.

use super::operations::{Answer, Call, LaneInput, answer};
use crate::report::{Absence, Problem, Site};
use crate::running::Running;
use crate::threads::TwoPlaces;
use std::panic::Location;

impl Running {
    /// Makes the running thread wait for the other lanes of `mask` at the warp operation `at`, which it reached by the path with
    /// number `path`.
    pub(crate) fn meet(&mut self, input: LaneInput, mask: u32, at: &'static Location<'static>, path: u32) {
        let site = self.sites.number_of(Site::of_wait(at, input.action()));
        let (warp, lane) = (self.thread / 32, self.thread % 32);
        if mask & 1 << lane == 0 {
            self.find(at.into(), Problem::NotInMask { mask, lane });
            self.block.answers[self.thread as usize] = input.own();
            return;
        }
        let call = Call { site, path, mask, input };
        let is_complete = self.block.warps[warp as usize].arrive(lane, call);
        self.stop_thread();
        self.pause = true;
        if is_complete {
            self.end_meeting(warp, &call);
        }
    }

    /// Lets the lanes of `warp` that wait at `call` continue.
    pub(crate) fn end_meeting(&mut self, warp: u32, call: &Call) {
        let meeting = &mut self.block.warps[warp as usize];
        let lanes = meeting.with(call);
        let calls = meeting.end(lanes);
        self.block.requests.meet(warp as usize, call.site, lanes.count_ones(), 1);
        if lanes == self.block.schedule.lanes(warp) {
            self.block.requests.end_interval(warp as usize, lanes, &self.sites);
        }
        let threads: Vec<u16> =
            (0..32).filter(|lane| lanes & 1 << lane != 0).map(|lane| (32 * warp + lane) as u16).collect();
        self.compare_warp_paths(call.site, &threads, &calls);
        if call.input == LaneInput::Wait {
            self.block.order.meet(&threads);
        }
        for (thread, call) in threads.into_iter().zip(calls.iter().flatten()) {
            self.thread = thread.into();
            let (answer, foreign) = answer(&calls, self.thread % 32, &call.input);
            self.block.answers[self.thread as usize] = answer;
            if let Some(lane) = foreign {
                let absence = self.absence(call.mask, lane);
                self.find(self.line(call.site), Problem::ForeignLane { mask: call.mask, lane, absence });
            }
            self.block.schedule.wake(self.thread);
        }
    }

    /// Reports threads of a warp that reached the operation at `site` by different paths.
    fn compare_warp_paths(&mut self, site: u16, threads: &[u16], calls: &[Option<Call>; 32]) {
        let met = threads.iter().zip(calls.iter().flatten()).map(|(thread, call)| (u32::from(*thread), call.path));
        if let Some(TwoPlaces { calls, threads, other_calls, others }) = self.paths.two_places(met) {
            let Site { at, action, .. } = *self.sites.get(site);
            self.thread = threads.ranges().first().map_or(self.thread, |range| *range.start());
            self.find(at.into(), Problem::WarpFromTwoPlaces { action, calls, threads, other_calls, others });
        }
    }

    /// Returns why `lane` of the running thread's warp takes no part in an operation of the lanes in `mask`.
    #[cold]
    fn absence(&self, mask: u32, lane: u32) -> Absence {
        let (warp, bit) = (self.thread / 32, 1 << lane);
        let waits = self.block.warps[warp as usize].waits(lane)
            || self.block.waiting.iter().any(|arrival| arrival.thread == 32 * warp + lane);
        match (mask & bit != 0, self.block.schedule.lanes(warp) & bit != 0) {
            (false, _) => Absence::NotInMask,
            (_, false) => Absence::NotInBlock,
            _ if waits => Absence::WaitsElsewhere,
            _ => Absence::Ended,
        }
    }

    /// Returns the thread's result of the last operation of its warp.
    pub(crate) fn answer(&self, thread: usize) -> Answer {
        self.block.answers[thread]
    }
}
