//! Requests whose lanes may not go together.

use crate::counts::{Counts, Request};
use cuda_std::host::banks::lanes_of;
use std::collections::{BTreeMap, HashMap};

/// The most requests at a place that are remembered since the warp last met: beyond it they are counted as they came.
const MOST_DOUBTFUL: usize = 512;

/// The most anchors at a place since the warp last met: the later ones do not divide anything.
const MOST_ANCHORS: usize = 1024;

/// How often each lane had come by anything.
pub(crate) type Clocks = [u32; 32];

/// The requests that all lanes of a warp have come to for certain, in turn: whatever a lane did before, it did not do
/// together with what another one did after.
#[derive(Debug, Default)]
pub(crate) struct Anchors(Vec<Clocks>);

impl Anchors {
    /// Those of the lanes `all`; none if not all lanes have come to them in the same order, as then some are none.
    pub(crate) fn new(mut anchors: Vec<Clocks>, all: u32) -> Self {
        let first = all.trailing_zeros() as usize;
        anchors.sort_unstable_by_key(|clocks| clocks[first]);
        let ascends = |pair: &[Clocks]| lanes_of(all).all(|lane| pair[0][lane as usize] < pair[1][lane as usize]);
        if anchors.windows(2).all(ascends) { Anchors(anchors) } else { Anchors::default() }
    }

    /// Whether one of them is behind some of a request's lanes and before others.
    fn divide(&self, request: &Request) -> bool {
        let ascends =
            |one: &Clocks, other: &Clocks| lanes_of(request.came).all(|lane| one[lane as usize] < other[lane as usize]);
        let first = self.before(request, request.came.trailing_zeros());
        let (before, after) = self.0.split_at(first);
        !(before.last().is_none_or(|anchor| ascends(anchor, &request.clocks))
            && after.first().is_none_or(|anchor| ascends(&request.clocks, anchor)))
    }

    /// How many the lane of a request had come to before.
    fn before(&self, request: &Request, lane: u32) -> usize {
        let lane = lane as usize;
        self.0.partition_point(|clocks| clocks[lane] < request.clocks[lane])
    }
}

/// Requests at a place since the warp last met that may have to be put together in another way.
///
/// Where lanes run an inner loop for different numbers of times, those that leave it early are ahead from then on, although
/// on the device they wait. It shows in how often they come by, and in the addresses: as long as all lanes move alike, the
/// way that each has gone from its first address is the same in all of a request. Such a request of all lanes is certain.
/// Others are kept until the warp meets, unless their lanes have come by equally many places before.
///
/// If by then the lanes have come by equally often, the certain ones are anchors: of what is kept, here and at other
/// places, lanes do not go together if one came by before an anchor and the other one behind it. Of those left, if the lanes
/// have come by equally often, all is well. If not, those that have gone the same way are put together. Where that makes many
/// more requests, the addresses depend on data, and tell nothing.
#[derive(Debug, Default)]
pub(crate) struct Doubtful {
    origins: Origins,
    /// Of certain requests, but not those of the same way as the last one, which went this way.
    anchors: Vec<Clocks>,
    way: u64,
    /// The lanes that have come by.
    came: u32,
    requests: Vec<Request>,
    /// There were too many.
    overflown: bool,
}

impl Doubtful {
    /// Takes the next request: what is certain by now, by `count`.
    #[inline]
    pub(crate) fn add(&mut self, request: &Request, all: u32, count: impl Fn(&Request) -> Counts) -> Counts {
        self.came |= request.came;
        if self.overflown {
            return count(request);
        }
        self.origins.add(request);
        if request.came != all || !self.origins.is_one_way(request) {
            return self.keep(request, count);
        }
        let way = self.origins.way_of_any(request);
        let moved = request.made != 0 && way != self.way;
        if moved && self.anchors.len() < MOST_ANCHORS {
            self.way = way;
            self.anchors.push(request.clocks);
        }
        if moved || request.is_in_step() { count(request) } else { self.keep(request, count) }
    }

    /// Keeps a request. If they are too many, all are counted as they came.
    fn keep(&mut self, request: &Request, count: impl Fn(&Request) -> Counts) -> Counts {
        self.requests.push(*request);
        self.overflown = self.requests.len() > MOST_DOUBTFUL;
        if self.overflown { sum(self.requests.drain(..), count) } else { Counts::default() }
    }

    /// Whether no requests are kept.
    pub(crate) fn is_certain(&self) -> bool {
        self.requests.is_empty()
    }

    /// The certain requests, to which all lanes have come equally often.
    pub(crate) fn take_anchors(&mut self) -> impl Iterator<Item = Clocks> {
        self.anchors.drain(..)
    }

    /// The warp has met: what the requests cost by `count`.
    pub(crate) fn end(&mut self, anchors: &Anchors, count: impl Fn(&Request) -> Counts) -> Counts {
        let (requests, origins) = (std::mem::take(&mut self.requests), std::mem::take(&mut self.origins));
        let came = std::mem::take(&mut self.came);
        self.anchors.clear();
        (self.way, self.overflown) = (0, false);
        if !requests.iter().any(|request| anchors.divide(request)) {
            return put_together(requests, came, origins, count);
        }
        divide(&requests, anchors).map(|part| put_together(part, came, Origins::default(), &count)).sum()
    }
}

/// The parts of requests that are between two anchors.
fn divide(requests: &[Request], anchors: &Anchors) -> impl Iterator<Item = Vec<Request>> {
    let mut parts: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
    for request in requests {
        for lane in lanes_of(request.came) {
            join(parts.entry(anchors.before(request, lane)).or_default(), &request.only(1 << lane));
        }
    }
    parts.into_values()
}

/// What requests cost by `count`, of lanes that `came` and may not go together.
fn put_together(requests: Vec<Request>, came: u32, origins: Origins, count: impl Fn(&Request) -> Counts) -> Counts {
    let uneven = requests.iter().any(|request| request.came != came);
    let by_way = uneven.then(|| sum(by_way(&requests, origins), &count));
    let by_time = sum(requests.into_iter(), &count);
    match by_way {
        Some(by_way) if by_way.requests <= 2 * by_time.requests => Counts { left_out: by_time.left_out, ..by_way },
        _ => by_time,
    }
}

/// The same accesses, in requests of lanes that have gone the same way.
fn by_way(requests: &[Request], mut origins: Origins) -> impl Iterator<Item = Request> {
    let mut by_way: HashMap<u64, Vec<Request>> = HashMap::new();
    for request in requests {
        origins.add(request);
        for lane in request.lanes() {
            join(by_way.entry(origins.way(request, lane)).or_default(), &request.only(1 << lane));
        }
    }
    by_way.into_values().flatten()
}

/// Has a lane's part join the first request that the lane has not come to.
fn join(requests: &mut Vec<Request>, part: &Request) {
    match requests.iter_mut().find(|request| request.came & part.came == 0) {
        Some(request) => request.join(part),
        None => requests.push(*part),
    }
}

fn sum(requests: impl Iterator<Item = Request>, count: impl Fn(&Request) -> Counts) -> Counts {
    requests.map(|request| count(&request)).sum()
}

/// Each lane's first address, of those `started`.
#[derive(Debug, Default)]
struct Origins {
    addresses: [u64; 32],
    started: u32,
}

impl Origins {
    fn add(&mut self, request: &Request) {
        let starting = request.made & !self.started;
        self.started |= starting;
        for lane in lanes_of(starting) {
            self.addresses[lane as usize] = request.addresses[lane as usize];
        }
    }

    /// The way that a lane which makes an access has gone.
    fn way(&self, request: &Request, lane: u32) -> u64 {
        request.addresses[lane as usize].wrapping_sub(self.addresses[lane as usize])
    }

    /// That of the first one.
    fn way_of_any(&self, request: &Request) -> u64 {
        request.lanes().next().map_or(0, |lane| self.way(request, lane))
    }

    #[inline]
    fn is_one_way(&self, request: &Request) -> bool {
        let way = self.way_of_any(request);
        if request.made != u32::MAX {
            return request.lanes().all(|lane| self.way(request, lane) == way);
        }
        // Without branches, because most requests are like this.
        let pairs = request.addresses.iter().zip(&self.addresses);
        pairs.fold(0, |off, (address, origin)| off | (address.wrapping_sub(*origin) ^ way)) == 0
    }
}
