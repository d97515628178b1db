//! Anchors, which divide the time of a warp's lanes, and iterations of loops.

use super::costs::Request;
use cuda_std::host::banks::lanes_of;

/// Each lane's clock: its number of visits to any site since the warp last met.
pub(crate) type Clocks = [u32; 32];

/// Requests that all lanes have certainly made together, in order. Nothing that a lane did before an anchor happened
/// together with anything that another lane did after it.
#[derive(Debug, Default)]
pub(crate) struct Anchors(Vec<Clocks>);

impl Anchors {
    /// Returns these anchors and `others`, or `None` if not all of the lanes `all` have visited them in the same order.
    pub(crate) fn with(&self, others: &[Clocks], all: u32) -> Option<Self> {
        let first = all.trailing_zeros() as usize;
        let mut anchors = [&self.0, others].concat();
        anchors.sort_unstable_by_key(|clocks| clocks[first]);
        let ascends = |pair: &[Clocks]| lanes_of(all).all(|lane| pair[0][lane as usize] < pair[1][lane as usize]);
        anchors.windows(2).all(ascends).then_some(Anchors(anchors))
    }

    /// Returns the number of anchors before the lane's visit.
    pub(crate) fn before(&self, request: &Request, lane: u32) -> usize {
        let lane = lane as usize;
        self.0.partition_point(|clocks| clocks[lane] < request.clocks[lane])
    }
}

/// Iterations of a loop, as shown by the requests at one of its sites, which lanes may leave out.
#[derive(Debug)]
pub(crate) struct Iterations {
    /// For each lane, the clock and the iteration of each visit.
    visits: Vec<Vec<(u32, usize)>>,
}

impl Iterations {
    /// Returns the iterations, one for each request.
    pub(crate) fn new<'a>(requests: impl Iterator<Item = (u32, &'a Clocks)>) -> Self {
        let mut visits = vec![Vec::new(); 32];
        for (iteration, (lanes, clocks)) in requests.enumerate() {
            for lane in lanes_of(lanes) {
                visits[lane as usize].push((clocks[lane as usize], iteration));
            }
        }
        visits.iter_mut().for_each(|visits| visits.sort_unstable());
        Iterations { visits }
    }

    /// Returns the iterations, one for each of these requests.
    pub(crate) fn of(requests: &[Request]) -> Self {
        Iterations::new(requests.iter().map(|request| (request.visited, &request.clocks)))
    }

    /// Returns the number of visits of each lane.
    pub(crate) fn times(&self) -> impl Iterator<Item = u32> {
        self.visits.iter().map(|visits| visits.len() as u32)
    }

    /// Returns the number of the lane's visits before the request.
    fn before(&self, request: &Request, lane: u32) -> usize {
        let visits = &self.visits[lane as usize];
        visits.partition_point(|(clock, _)| *clock < request.clocks[lane as usize])
    }

    /// Returns the number of the lane's visits from the request on.
    pub(crate) fn since(&self, request: &Request, lane: u32) -> usize {
        self.visits[lane as usize].len() - self.before(request, lane)
    }

    /// Returns the iteration of the lane's `number`-th visit from the end, if there is one.
    pub(crate) fn iteration_from_end(&self, lane: u32, number: usize) -> Option<usize> {
        let visits = &self.visits[lane as usize];
        visits.get(visits.len().checked_sub(number)?).map(|(_, iteration)| *iteration)
    }

    /// Returns whether the site of these requests is in the loop: whether any visit lies between two visits of one lane.
    pub(crate) fn contain(&self, requests: &[Request]) -> bool {
        requests.iter().any(|request| {
            lanes_of(request.visited)
                .any(|lane| (1..self.visits[lane as usize].len()).contains(&self.before(request, lane)))
        })
    }

    /// Returns the iteration of each lane's visit in these requests. Their site precedes the loop's own one in each
    /// iteration if a lane visits it first.
    pub(crate) fn iteration_of(&self, requests: &[Request]) -> impl Fn(&Request, u32) -> Option<usize> {
        let is_first = |request: &Request| lanes_of(request.visited).any(|lane| self.before(request, lane) == 0);
        let offset = usize::from(!requests.iter().any(is_first));
        move |request, lane| {
            let visit = self.before(request, lane) - offset;
            self.visits[lane as usize].get(visit).map(|(_, iteration)| *iteration)
        }
    }
}
