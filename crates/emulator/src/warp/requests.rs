//! Assembles the requests of a warp.
//!
//! Lanes run one after another here. On the device, lanes access a place in the source together
//! unless they have diverged. Here, the `k`-th visits of all lanes since the warp last met form
//! a request, unless the addresses contradict that; see `Ambiguous` and `settle`.

use super::ambiguous::{Ambiguous, Suspicion};
use super::costs::Request;
use super::settling::settle;
use crate::report::{Counts, Sites};
use cuda_std::host::banks::Banks;
use std::collections::VecDeque;

/// Maximum number of pending requests at a site. A lane that is farther ahead waits for the other lanes. The number is small
/// so that the requests stay in the cache.
const MAX_PENDING: usize = 32;

/// Requests of a warp at a site that not all lanes have visited yet.
#[derive(Debug)]
struct Queue {
    /// Number of each lane's visits.
    times: [u32; 32],
    /// Number of requests that have left the queue.
    done: u32,
    pending: VecDeque<Request>,
    ambiguous: Ambiguous,
}

impl Queue {
    fn new() -> Self {
        let pending = VecDeque::with_capacity(MAX_PENDING);
        Queue { times: [0; 32], done: 0, pending, ambiguous: Ambiguous::default() }
    }

    /// Returns the next request of `lane`, and how far ahead of the slowest lane it is.
    #[inline]
    fn next(&mut self, lane: u32) -> (&mut Request, usize) {
        // A lane that lags too far behind joins the oldest pending request.
        let time = self.times[lane as usize].max(self.done);
        self.times[lane as usize] = time + 1;
        let place = (time - self.done) as usize;
        if place == self.pending.len() {
            self.pending.push_back(Request::EMPTY);
        }
        (&mut self.pending[place], place)
    }
}

/// Pending requests, and the counts of finished ones.
#[derive(Debug)]
pub(crate) struct Requests {
    banks: Banks,
    /// By warp and site.
    queues: Vec<Vec<Queue>>,
    /// By warp.
    suspicions: Vec<Suspicion>,
    /// By thread: number of visits to any site since its warp last met.
    clocks: Vec<u32>,
    /// By warp and site, summed over all blocks.
    counts: Vec<Vec<Counts>>,
}

impl Requests {
    pub(crate) fn new(warps: usize, banks: Banks) -> Self {
        Requests {
            banks,
            queues: (0..warps).map(|_| Vec::new()).collect(),
            suspicions: (0..warps).map(|_| Suspicion::default()).collect(),
            clocks: vec![0; 32 * warps],
            counts: vec![Vec::new(); warps],
        }
    }

    /// Records that `lane` of `warp` visits `site`, with the `address` of its access if it makes one. `all` has the warp's
    /// lanes. Returns whether the lane must wait for the others.
    #[inline(always)]
    pub(crate) fn record_visit(
        &mut self,
        [warp, lane]: [u32; 2],
        all: u32,
        site: u16,
        address: Option<u64>,
        sites: &Sites,
    ) -> bool {
        let queues = &mut self.queues[warp as usize];
        if queues.len() <= site as usize {
            queues.resize_with(site as usize + 1, Queue::new);
        }
        let queue = &mut queues[site as usize];
        let (request, ahead) = queue.next(lane);
        let clock = &mut self.clocks[(32 * warp + lane) as usize];
        *clock += 1;
        request.clocks[lane as usize] = *clock;
        request.visited |= 1 << lane;
        if let Some(address) = address {
            request.accessed |= 1 << lane;
            request.addresses[lane as usize] = address;
        }
        if request.visited == all {
            self.finish(warp, all, site, sites);
            return false;
        }
        ahead + 1 >= MAX_PENDING
    }

    /// Finishes the requests that all lanes have visited.
    #[inline(never)]
    fn finish(&mut self, warp: u32, all: u32, site: u16, sites: &Sites) {
        let queue = &mut self.queues[warp as usize][site as usize];
        let counts = counts_of(&mut self.counts[warp as usize], site);
        let suspicion = &mut self.suspicions[warp as usize];
        while let Some(request) = queue.pending.front().filter(|request| request.visited == all) {
            let count = |request: &Request| request.count(sites.get(site), self.banks);
            *counts += queue.ambiguous.add(request, all, suspicion, count);
            queue.pending.pop_front();
            queue.done += 1;
        }
    }

    /// Finishes requests when every lane of the warp waits, and the lanes `woken` wait only for the others. Only full queues
    /// are affected, and requests that a woken lane has yet to visit stay, unless the queue is four times as long.
    pub(crate) fn finish_stuck(&mut self, warp: usize, all: u32, woken: u32, sites: &Sites) {
        self.finish_first(warp, all, sites, |queue| match queue.pending.len() {
            0..MAX_PENDING => 0,
            len if len >= 4 * MAX_PENDING => len,
            _ => queue.pending.iter().take_while(|request| !request.visited & woken == 0).count(),
        });
    }

    /// Finishes the first `number(queue)` pending requests of each site without waiting for more lanes.
    fn finish_first(&mut self, warp: usize, all: u32, sites: &Sites, number: impl Fn(&Queue) -> usize) {
        for (site, queue) in self.queues[warp].iter_mut().enumerate() {
            let ending = number(queue);
            let counts = counts_of(&mut self.counts[warp], site as u16);
            queue.done += ending as u32;
            for request in queue.pending.drain(..ending) {
                let count = |request: &Request| request.count(sites.get(site as u16), self.banks);
                *counts += queue.ambiguous.add(&request, all, &mut self.suspicions[warp], count);
            }
        }
    }

    /// Finishes all requests of a warp whose lanes, `all`, have met. Counting starts again.
    pub(crate) fn end_interval(&mut self, warp: usize, all: u32, sites: &Sites) {
        self.finish_first(warp, all, sites, |queue| queue.pending.len());
        self.settle(warp, all, sites);
        for queue in self.queues[warp].iter_mut().filter(|queue| queue.done > 0) {
            queue.ambiguous.clear();
            queue.times = [0; 32];
            queue.done = 0;
        }
        self.suspicions[warp].clear();
        self.clocks[32 * warp..][..32].fill(0);
    }

    /// Counts the requests that were kept.
    fn settle(&mut self, warp: usize, all: u32, sites: &Sites) {
        let count = |site: u16, request: &Request| request.count(sites.get(site), self.banks);
        let queues = &mut self.queues[warp];
        if queues.iter().all(|queue| queue.ambiguous.is_settled(all)) {
            for (site, queue) in queues.iter().enumerate() {
                for request in queue.ambiguous.kept() {
                    *counts_of(&mut self.counts[warp], site as u16) += count(site as u16, request);
                }
            }
            return;
        }
        let visited = queues.iter_mut().enumerate().filter(|(_, queue)| queue.done > 0);
        let visited = visited.map(|(site, queue)| (site as u16, queue.times, &mut queue.ambiguous));
        for (site, counts) in settle(visited, all, count) {
            *counts_of(&mut self.counts[warp], site) += counts;
        }
    }

    /// Records that lanes of a warp have met at a barrier, exchange or product, with their number of requests.
    #[inline]
    pub(crate) fn meet(&mut self, warp: usize, site: u16, lanes: u32, requests: u64) {
        let counts = counts_of(&mut self.counts[warp], site);
        counts.requests += requests;
        counts.lanes += u64::from(lanes);
    }

    /// Returns the number of passes of shared memory so far, over all warps and blocks.
    pub(crate) fn passes(&self) -> u64 {
        self.counts.iter().flatten().map(|counts| counts.passes).sum()
    }

    /// Returns the counts at a site, by warp.
    pub(crate) fn counts_at(&self, site: usize) -> Vec<Counts> {
        self.counts.iter().map(|counts| counts.get(site).copied().unwrap_or_default()).collect()
    }
}

#[inline]
fn counts_of(counts: &mut Vec<Counts>, site: u16) -> &mut Counts {
    if counts.len() <= site as usize {
        counts.resize(site as usize + 1, Counts::default());
    }
    &mut counts[site as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use crate::report::{Action, Site};
    use cuda_std::host::Space;
    use proptest::prelude::*;
    use std::panic::Location;

    /// A lane's visit: the site, and the address if it makes an access.
    type Visit = (u16, Option<u64>);

    fn visits(max: usize) -> impl Strategy<Value = Vec<Visit>> {
        prop::collection::vec((0u16..3, prop::option::weighted(0.9, (0u64..40).prop_map(|word| 4 * word))), 0..max)
    }

    /// Returns the counts at three sites of a warp whose lanes make these visits, one lane after another.
    fn counted(lanes: &[Vec<Visit>]) -> Vec<Counts> {
        let mut sites = Sites::new();
        for bytes in [1, 2, 4] {
            let (at, space) = (Location::caller(), Some(Space::Shared));
            sites.number_of(Site { at, action: Action::Load, space, bytes });
        }
        let all = u32::MAX >> (32 - lanes.len());
        let mut requests = Requests::new(1, Banks::new(32, 4).unwrap());
        for (lane, visits) in (0..).zip(lanes) {
            for (site, address) in visits {
                requests.record_visit([0, lane], all, *site, *address, &sites);
            }
        }
        requests.end_interval(0, all, &sites);
        (0..3).map(|site| requests.counts_at(site)[0]).collect()
    }

    proptest! {
        #![proptest_config(cases(256, 3))]

        /// However lanes are combined, every access is counted once, and no lane is in a request twice.
        #[test]
        fn no_access_is_lost(lanes in prop::collection::vec(visits(60), 1..=32)) {
            for (site, counts) in (0..).zip(counted(&lanes)) {
                let of_lane = |accessed: bool| {
                    let is_it = move |visit: &&Visit| visit.0 == site && visit.1.is_some() == accessed;
                    lanes.iter().map(move |visits| visits.iter().filter(is_it).count() as u64)
                };
                prop_assert_eq!((counts.lanes, counts.left_out), (of_lane(true).sum(), of_lane(false).sum()));
                prop_assert!(counts.requests >= of_lane(true).max().unwrap_or(0));
            }
        }

        /// Threads that traverse lines of units together, neighbouring threads at
        /// neighbouring units, make the same iterations. Lines are rows or columns, at
        /// any distance. Threads load up to four units at a time and then store them.
        #[test]
        fn lines_are_traversed_together(
            (width, gap) in (1u64..70, 0u64..9),
            (warps, warp) in (1u64..9, 0u64..9),
            units in 1u64..4000,
            at_once in 1usize..5,
            down in any::<bool>(),
        ) {
            let steps = if down { [1, units / width + gap] } else { [width + gap, 1] };
            let place = |unit: u64| unit / width * steps[0] + unit % width * steps[1];
            let units_of = |lane: u64| (32 * (warp % warps) + lane..units).step_by(32 * warps as usize).collect::<Vec<_>>();
            let iteration = |units: &[u64]| {
                let loads = units.iter().map(|unit| (1, Some(2 * unit)));
                loads.chain(units.iter().map(|unit| (0, Some(place(*unit))))).collect::<Vec<Visit>>()
            };
            let lanes: Vec<Vec<Visit>> =
                (0..32).map(|lane| units_of(lane).chunks(at_once).flat_map(iteration).collect()).collect();
            let iterations = units_of(0).len() as u64;
            let counted = counted(&lanes);
            prop_assert_eq!([counted[0].requests, counted[1].requests], [iterations, iterations]);
        }

        /// Lanes with the same control flow are never ambiguous.
        #[test]
        fn lanes_that_do_not_diverge_are_exact(visits in visits(60), stride in 0u64..5) {
            let at = |lane: u64| visits.iter().map(move |(site, address)| (*site, address.map(|at| at + 4 * stride * lane)));
            let lanes: Vec<Vec<Visit>> = (0..32).map(|lane| at(lane).collect()).collect();
            for (site, counts) in (0..).zip(counted(&lanes)) {
                let requests = visits.iter().filter(|visit| visit.0 == site && visit.1.is_some()).count() as u64;
                prop_assert_eq!((counts.requests, counts.approximate), (requests, false));
            }
        }
    }
}
