//! Puts together what the lanes of a warp do together.
//!
//! Lanes run one after another here. On the device those that come by the same place in the source do so together,
//! unless they have diverged. Here, those that come by it for the same time since the last barrier are taken to; see
//! `Aligned` for lanes that run a loop for different numbers of times.

use crate::counts::{Counts, Request};
use crate::site::Sites;
use std::collections::VecDeque;

/// The most requests at a place that wait for the other lanes: beyond it, a lane has to wait for them too. Few, so that
/// they stay in the cache.
const MOST_PENDING: usize = 32;

/// The most parts of requests that wait for lanes that have fallen behind.
const MOST_PARTS: usize = 32;

/// The requests of a warp at a site that not all lanes have come to yet.
#[derive(Debug)]
struct Queue {
    /// How often each lane has come by.
    times: [u32; 32],
    /// Requests that are no longer here.
    done: u32,
    pending: VecDeque<Request>,
    aligned: Aligned,
}

impl Queue {
    fn new() -> Self {
        let pending = VecDeque::with_capacity(MOST_PENDING);
        Queue { times: [0; 32], done: 0, pending, aligned: Aligned::default() }
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

/// Requests in the order of time, with the lanes that have fallen behind brought together with the others.
///
/// Where lanes run an inner loop for different numbers of times, those that leave it early are one turn ahead from then
/// on, although on the device they wait. It shows in the addresses: as long as all lanes move alike, the way that each
/// has gone from its first address is the same in all of a request. If there are two ways in one request, it is taken
/// apart, and each part waits for all other lanes to go the same way. If there are more, addresses depend on data, and
/// tell nothing.
#[derive(Debug, Default)]
struct Aligned {
    /// Each lane's first address, of those `started`.
    origins: [u64; 32],
    started: u32,
    irregular: bool,
    parts: VecDeque<Part>,
    taken_apart: u32,
}

/// A part of a request that waits for the other lanes.
#[derive(Debug)]
struct Part {
    way: u64,
    lanes: Request,
    /// The number of the request that it is a part of.
    whole: u32,
}

impl Aligned {
    /// Takes the next request, and gives those that are complete to `count`.
    fn add(&mut self, request: &Request, all: u32, mut count: impl FnMut(&Request)) {
        if self.irregular {
            return count(request);
        }
        self.start(request);
        let Some(way) = self.ways(request).next() else { return count(request) };
        self.taken_apart += 1;
        if self.is_only_way(way, request) {
            return if request.came == all { count(request) } else { self.add_part(*request, way, all, count) };
        }
        let other = self.ways(request).find(|other| *other != way).unwrap_or(way);
        if self.ways(request).any(|third| third != way && third != other) {
            self.irregular = true;
            self.end(&mut count);
            return count(request);
        }
        let of_other = request.lanes().zip(self.ways(request)).filter(|(_, way)| *way == other);
        let of_other = of_other.fold(0, |lanes, (lane, _)| lanes | 1 << lane);
        self.add_part(request.only(request.came & !of_other), way, all, &mut count);
        self.add_part(request.only(of_other), other, all, &mut count);
    }

    fn start(&mut self, request: &Request) {
        let mut starting = request.made & !self.started;
        self.started |= starting;
        while starting != 0 {
            let lane = starting.trailing_zeros() as usize;
            self.origins[lane] = request.addresses[lane];
            starting &= starting - 1;
        }
    }

    /// The ways that the lanes which make an access have gone.
    fn ways(&self, request: &Request) -> impl Iterator<Item = u64> {
        request.lanes().map(|lane| request.addresses[lane as usize].wrapping_sub(self.origins[lane as usize]))
    }

    #[inline]
    fn is_only_way(&self, way: u64, request: &Request) -> bool {
        if request.made != u32::MAX {
            return self.ways(request).all(|other| other == way);
        }
        // Without branches, because most requests are like this.
        let pairs = request.addresses.iter().zip(&self.origins);
        pairs.fold(0, |off, (address, origin)| off | (address.wrapping_sub(*origin) ^ way)) == 0
    }

    fn add_part(&mut self, mut lanes: Request, way: u64, all: u32, mut count: impl FnMut(&Request)) {
        let rest = all & !lanes.came;
        match self.parts.iter().position(|part| part.way == way && part.lanes.came == rest) {
            Some(place) => {
                self.parts.remove(place).iter().for_each(|part| lanes.join(&part.lanes));
                count(&lanes);
            }
            None => self.parts.push_back(Part { way, lanes, whole: self.taken_apart }),
        }
        if self.parts.len() > MOST_PARTS {
            self.end_first(&mut count);
        }
    }

    /// The first part waits in vain. If the other part of its request does too, it was no use to take it apart.
    fn end_first(&mut self, count: &mut impl FnMut(&Request)) {
        let Some(mut part) = self.parts.pop_front() else { return };
        if let Some(other) = self.parts.pop_front_if(|other| other.whole == part.whole) {
            part.lanes.join(&other.lanes);
        }
        count(&part.lanes);
    }

    /// Nothing that waits will come.
    fn end(&mut self, count: &mut impl FnMut(&Request)) {
        while !self.parts.is_empty() {
            self.end_first(count);
        }
    }
}

/// Requests under way, and the counts of those done.
#[derive(Debug)]
pub(crate) struct Requests {
    banks: u32,
    /// By warp and site.
    queues: Vec<Vec<Queue>>,
    counts: Vec<Counts>,
}

impl Requests {
    pub(crate) fn new(warps: usize, banks: u32) -> Self {
        Requests { banks, queues: (0..warps).map(|_| Vec::new()).collect(), counts: Vec::new() }
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
        let counts = counts_of(&mut self.counts, site);
        while let Some(request) = queue.pending.front().filter(|request| request.came == all) {
            queue.aligned.add(request, all, |request| *counts += request.count(sites.get(site), self.banks));
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
            let counts = counts_of(&mut self.counts, site as u16);
            queue.done += ending as u32;
            for request in queue.pending.drain(..ending) {
                let site = sites.get(site as u16);
                queue.aligned.add(&request, all, |request| *counts += request.count(site, self.banks));
            }
        }
    }

    /// All threads of the warp, which has the lanes `all`, have met: counting begins anew.
    pub(crate) fn barrier(&mut self, warp: usize, all: u32, sites: &Sites) {
        self.finish_first(warp, all, sites, |queue| queue.pending.len());
        for (site, queue) in self.queues[warp].iter_mut().enumerate().filter(|(_, queue)| queue.done > 0) {
            let counts = counts_of(&mut self.counts, site as u16);
            queue.aligned.end(&mut |request| *counts += request.count(sites.get(site as u16), self.banks));
            queue.aligned.started = 0;
            queue.aligned.irregular = false;
            queue.times = [0; 32];
            queue.done = 0;
        }
    }

    /// So many lanes have met at a barrier or exchange, in so many requests.
    pub(crate) fn meet(&mut self, site: u16, lanes: u32, requests: u64) {
        *counts_of(&mut self.counts, site) += Counts { requests, lanes: lanes.into(), ..Counts::default() };
    }

    /// The counts by site.
    pub(crate) fn counts(&self) -> &[Counts] {
        &self.counts
    }
}

fn counts_of(counts: &mut Vec<Counts>, site: u16) -> &mut Counts {
    if counts.len() <= site as usize {
        counts.resize(site as usize + 1, Counts::default());
    }
    &mut counts[site as usize]
}
