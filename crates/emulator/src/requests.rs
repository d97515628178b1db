//! Puts together what the lanes of a warp do together.
//!
//! Lanes run one after another here. On the device those that come by the same place in the source do so together,
//! unless they have diverged. Here, those that come by it for the same time since the warp last met are taken to; see
//! `Doubtful` for lanes that run a loop for different numbers of times.

use crate::counts::{Counts, Request, lanes_of};
use crate::site::Sites;
use std::collections::{HashMap, VecDeque};

/// The most requests at a place that wait for the other lanes: beyond it, a lane has to wait for them too. Few, so that
/// they stay in the cache.
const MOST_PENDING: usize = 32;

/// The most requests that are remembered since the warp last met: beyond it they are counted as they came.
const MOST_DOUBTFUL: usize = 512;

/// The requests of a warp at a site that not all lanes have come to yet.
#[derive(Debug)]
struct Queue {
    /// How often each lane has come by.
    times: [u32; 32],
    /// Requests that are no longer here.
    done: u32,
    pending: VecDeque<Request>,
    doubtful: Doubtful,
}

impl Queue {
    fn new() -> Self {
        let pending = VecDeque::with_capacity(MOST_PENDING);
        Queue { times: [0; 32], done: 0, pending, doubtful: Doubtful::default() }
    }

    /// The request that `lane` comes to next, and how far ahead of the slowest lane it is.
    #[inline]
    fn next(&mut self, lane: u32) -> (&mut Request, usize) {
        // A lane that lags too far behind joins what is left.
        let time = self.times[lane as usize].max(self.done);
        self.times[lane as usize] = time + 1;
        let place = (time - self.done) as usize;
        if place == self.pending.len() {
            self.pending.push_back(Request::EMPTY);
        }
        (&mut self.pending[place], place)
    }
}

/// Requests since the warp last met that may have to be put together in another way.
///
/// Where lanes run an inner loop for different numbers of times, those that leave it early are ahead from then on, although
/// on the device they wait. It shows in how often they come by, and in the addresses: as long as all lanes move alike, the
/// way that each has gone from its first address is the same in all of a request. So a request that not all lanes have come
/// to, or whose lanes have gone different ways, is kept until the warp meets. If by then the lanes have come by equally
/// often, all is well. If not, those that have gone the same way are put together. Where that makes many more requests, the
/// addresses depend on data, and tell nothing.
#[derive(Debug, Default)]
struct Doubtful {
    /// Each lane's first address, of those `started`.
    origins: [u64; 32],
    started: u32,
    /// The lanes that have come by.
    came: u32,
    requests: Vec<Request>,
    /// There were too many.
    overflown: bool,
}

impl Doubtful {
    /// Takes the next request: what is certain by now, by `count`.
    #[inline]
    fn add(&mut self, request: &Request, all: u32, count: impl Fn(&Request) -> Counts) -> Counts {
        self.came |= request.came;
        if self.overflown {
            return count(request);
        }
        self.start(request);
        if request.came == all && self.is_one_way(request) { count(request) } else { self.keep(request, count) }
    }

    fn start(&mut self, request: &Request) {
        let starting = request.made & !self.started;
        self.started |= starting;
        for lane in lanes_of(starting) {
            self.origins[lane as usize] = request.addresses[lane as usize];
        }
    }

    /// The way that a lane which makes an access has gone.
    fn way(&self, request: &Request, lane: u32) -> u64 {
        request.addresses[lane as usize].wrapping_sub(self.origins[lane as usize])
    }

    #[inline]
    fn is_one_way(&self, request: &Request) -> bool {
        let Some(way) = request.lanes().next().map(|lane| self.way(request, lane)) else { return true };
        if request.made != u32::MAX {
            return request.lanes().all(|lane| self.way(request, lane) == way);
        }
        // Without branches, because most requests are like this.
        let pairs = request.addresses.iter().zip(&self.origins);
        pairs.fold(0, |off, (address, origin)| off | (address.wrapping_sub(*origin) ^ way)) == 0
    }

    /// Keeps a request. If they are too many, all are counted as they came.
    fn keep(&mut self, request: &Request, count: impl Fn(&Request) -> Counts) -> Counts {
        self.requests.push(*request);
        self.overflown = self.requests.len() > MOST_DOUBTFUL;
        if self.overflown { sum(self.requests.drain(..), count) } else { Counts::default() }
    }

    /// The warp has met: what the requests cost by `count`.
    fn end(&mut self, count: impl Fn(&Request) -> Counts) -> Counts {
        let uneven = self.requests.iter().any(|request| request.came != self.came);
        let by_way = uneven.then(|| sum(self.by_way(), &count));
        let by_time = sum(self.requests.drain(..), &count);
        (self.started, self.came, self.overflown) = (0, 0, false);
        match by_way {
            Some(by_way) if by_way.requests <= 2 * by_time.requests => Counts { left_out: by_time.left_out, ..by_way },
            _ => by_time,
        }
    }

    /// The same accesses, in requests of lanes that have gone the same way.
    fn by_way(&self) -> impl Iterator<Item = Request> {
        let mut by_way: HashMap<u64, Vec<Request>> = HashMap::new();
        for request in &self.requests {
            for lane in request.lanes() {
                let same = by_way.entry(self.way(request, lane)).or_default();
                let lane_of = request.only(1 << lane);
                match same.iter_mut().find(|other| other.made & lane_of.made == 0) {
                    Some(other) => other.join(&lane_of),
                    None => same.push(lane_of),
                }
            }
        }
        by_way.into_values().flatten()
    }
}

fn sum(requests: impl Iterator<Item = Request>, count: impl Fn(&Request) -> Counts) -> Counts {
    requests.map(|request| count(&request)).sum()
}

/// Requests under way, and the counts of those done.
#[derive(Debug)]
pub(crate) struct Requests {
    banks: u32,
    /// By warp and site.
    queues: Vec<Vec<Queue>>,
    /// By warp and site, of all blocks together.
    counts: Vec<Vec<Counts>>,
}

impl Requests {
    pub(crate) fn new(warps: usize, banks: u32) -> Self {
        Requests { banks, queues: (0..warps).map(|_| Vec::new()).collect(), counts: vec![Vec::new(); warps] }
    }

    /// `lane` of `warp`, which has the lanes `all`, comes by `site` and makes an access at `address`, or none. Tells
    /// whether it should wait for the other lanes.
    #[inline]
    pub(crate) fn come(
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
        request.came |= 1 << lane;
        if let Some(address) = address {
            request.made |= 1 << lane;
            request.addresses[lane as usize] = address;
        }
        if request.came == all {
            self.finish(warp, all, site, sites);
            return false;
        }
        ahead + 1 >= MOST_PENDING
    }

    /// Ends the requests that all lanes have come to.
    fn finish(&mut self, warp: u32, all: u32, site: u16, sites: &Sites) {
        let queue = &mut self.queues[warp as usize][site as usize];
        let counts = counts_of(&mut self.counts[warp as usize], site);
        while let Some(request) = queue.pending.front().filter(|request| request.came == all) {
            *counts += queue.doubtful.add(request, all, |request| request.count(sites.get(site), self.banks));
            queue.pending.pop_front();
            queue.done += 1;
        }
    }

    /// All lanes of the warp wait; those `coming` only for the other ones. Ends the requests that they wait for in
    /// vain, but none that one of them is still to come to.
    pub(crate) fn finish_stuck(&mut self, warp: usize, all: u32, coming: u32, sites: &Sites) {
        self.finish_first(warp, all, sites, |queue| match queue.pending.len() {
            0..MOST_PENDING => 0,
            len if len >= 4 * MOST_PENDING => len,
            _ => queue.pending.iter().take_while(|request| !request.came & coming == 0).count(),
        });
    }

    /// Ends requests that are under way as they are: as many of each site as `number` says.
    fn finish_first(&mut self, warp: usize, all: u32, sites: &Sites, number: impl Fn(&Queue) -> usize) {
        for (site, queue) in self.queues[warp].iter_mut().enumerate() {
            let ending = number(queue);
            let counts = counts_of(&mut self.counts[warp], site as u16);
            queue.done += ending as u32;
            for request in queue.pending.drain(..ending) {
                let site = sites.get(site as u16);
                *counts += queue.doubtful.add(&request, all, |request| request.count(site, self.banks));
            }
        }
    }

    /// All lanes of the warp, which are `all`, have met: counting begins anew.
    pub(crate) fn begin_anew(&mut self, warp: usize, all: u32, sites: &Sites) {
        self.finish_first(warp, all, sites, |queue| queue.pending.len());
        for (site, queue) in self.queues[warp].iter_mut().enumerate().filter(|(_, queue)| queue.done > 0) {
            let counts = counts_of(&mut self.counts[warp], site as u16);
            *counts += queue.doubtful.end(|request| request.count(sites.get(site as u16), self.banks));
            queue.times = [0; 32];
            queue.done = 0;
        }
    }

    /// So many lanes of a warp have met at a barrier or exchange, in so many requests.
    pub(crate) fn meet(&mut self, warp: usize, site: u16, lanes: u32, requests: u64) {
        *counts_of(&mut self.counts[warp], site) += Counts { requests, lanes: lanes.into(), ..Counts::default() };
    }

    /// The counts at a site, by warp.
    pub(crate) fn counts_at(&self, site: usize) -> Vec<Counts> {
        self.counts.iter().map(|counts| counts.get(site).copied().unwrap_or_default()).collect()
    }
}

fn counts_of(counts: &mut Vec<Counts>, site: u16) -> &mut Counts {
    if counts.len() <= site as usize {
        counts.resize(site as usize + 1, Counts::default());
    }
    &mut counts[site as usize]
}
