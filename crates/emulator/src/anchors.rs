//! What divides the time of a warp's lanes, whose clocks differ, into turns of all.

use crate::counts::Request;
use cuda_std::host::banks::lanes_of;

/// How often each lane had come by anything.
pub(crate) type Clocks = [u32; 32];

/// The requests that all lanes of a warp have come to for certain, in turn: whatever a lane did before, it did not do
/// together with what another one did after.
#[derive(Debug, Default)]
pub(crate) struct Anchors(Vec<Clocks>);

impl Anchors {
    /// These and those; `None` if not all of the lanes `all` have come to them in the same order.
    pub(crate) fn with(&self, others: &[Clocks], all: u32) -> Option<Self> {
        let first = all.trailing_zeros() as usize;
        let mut anchors = [&self.0, others].concat();
        anchors.sort_unstable_by_key(|clocks| clocks[first]);
        let ascends = |pair: &[Clocks]| lanes_of(all).all(|lane| pair[0][lane as usize] < pair[1][lane as usize]);
        anchors.windows(2).all(ascends).then_some(Anchors(anchors))
    }

    /// How many the lane of a request had come to before.
    pub(crate) fn before(&self, request: &Request, lane: u32) -> usize {
        let lane = lane as usize;
        self.0.partition_point(|clocks| clocks[lane] < request.clocks[lane])
    }
}

/// The turns of a loop, as told by the requests at one of its sites, which lanes may leave out.
#[derive(Debug)]
pub(crate) struct Turns {
    /// For each lane the clock of each visit, and the number of the turn.
    visits: Vec<Vec<(u32, usize)>>,
}

impl Turns {
    /// Each request is of a turn.
    pub(crate) fn new<'a>(requests: impl Iterator<Item = (u32, &'a Clocks)>) -> Self {
        let mut visits = vec![Vec::new(); 32];
        for (turn, (lanes, clocks)) in requests.enumerate() {
            for lane in lanes_of(lanes) {
                visits[lane as usize].push((clocks[lane as usize], turn));
            }
        }
        visits.iter_mut().for_each(|visits| visits.sort_unstable());
        Turns { visits }
    }

    /// Each of these requests is of one.
    pub(crate) fn of(requests: &[Request]) -> Self {
        Turns::new(requests.iter().map(|request| (request.came, &request.clocks)))
    }

    /// How often the lane has visited the site.
    pub(crate) fn times(&self) -> impl Iterator<Item = u32> {
        self.visits.iter().map(|visits| visits.len() as u32)
    }

    /// How often the lane of a request had visited the site before.
    fn before(&self, request: &Request, lane: u32) -> usize {
        let visits = &self.visits[lane as usize];
        visits.partition_point(|(clock, _)| *clock < request.clocks[lane as usize])
    }

    /// How often the lane of a request visits the site, from the request on.
    pub(crate) fn since(&self, request: &Request, lane: u32) -> usize {
        self.visits[lane as usize].len() - self.before(request, lane)
    }

    /// The turn of the lane's visit that has `number - 1` visits behind it, if there is one.
    pub(crate) fn turn_from(&self, lane: u32, number: usize) -> Option<usize> {
        let visits = &self.visits[lane as usize];
        visits.get(visits.len().checked_sub(number)?).map(|(_, turn)| *turn)
    }

    /// Whether the site of these requests is in the loop: some visits are between two of one lane.
    pub(crate) fn contain(&self, requests: &[Request]) -> bool {
        requests.iter().any(|request| {
            lanes_of(request.came)
                .any(|lane| (1..self.visits[lane as usize].len()).contains(&self.before(request, lane)))
        })
    }

    /// The turn of each lane of requests in the loop. Their site comes before the loop's own one in each turn if a lane
    /// comes by it first.
    pub(crate) fn turn_of(&self, requests: &[Request]) -> impl Fn(&Request, u32) -> Option<usize> {
        let is_first = |request: &Request| lanes_of(request.came).any(|lane| self.before(request, lane) == 0);
        let behind = usize::from(!requests.iter().any(is_first));
        move |request, lane| {
            let visit = self.before(request, lane) - behind;
            self.visits[lane as usize].get(visit).map(|(_, turn)| *turn)
        }
    }
}
