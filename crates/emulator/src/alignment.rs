//! Which visits of a site's lanes go together.
//!
//! To begin with, the k-th visits of all lanes are a request. If lanes run an inner loop for different numbers of times, or
//! leave an access out in some turns, that is wrong: on the device they wait for each other. It shows in the addresses.

use crate::colours;
use crate::counts::Request;
use cuda_std::host::banks::lanes_of;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The most visits of a lane that its stride is looked for in.
const MOST_COMPARED: usize = 16;

/// The most strides that are tried.
const MOST_STRIDES: usize = 8;

/// The most turns that a lane leaves out before its first one, on average.
const MOST_LEFT_OUT_FIRST: usize = 2;

/// Requests whose lanes go together.
#[derive(Debug)]
pub(crate) struct Aligned {
    pub(crate) requests: Vec<Request>,
    /// Whether the addresses speak for it.
    pub(crate) is_shown: bool,
}

/// Determines which lanes belong together in requests of the k-th visits, for lanes with these first addresses; before, all lanes have
/// gone as far as `last` says.
pub(crate) fn align(requests: Vec<Request>, origins: &Origins, last: Option<u64>) -> Aligned {
    let colours = colours::of_turns(&requests);
    if colours.is_none() && go_on(&requests, origins, last) {
        return Aligned { requests, is_shown: true };
    }
    match colours.or_else(|| by_address(&requests, origins)) {
        Some(requests) => Aligned { requests, is_shown: true },
        None => Aligned { requests, is_shown: false },
    }
}

/// Whether the lanes of each request have moved by the same distance, which is another one each time.
fn go_on(requests: &[Request], origins: &Origins, last: Option<u64>) -> bool {
    let distances = requests.iter().map(|request| origins.distance(request).filter(|_| request.made != 0));
    let distances: Vec<Option<u64>> = last.map(Some).into_iter().chain(distances).collect();
    distances.len() > 1 && distances.windows(2).all(|pair| pair[0] != pair[1]) && !distances.contains(&None)
}

/// Another alignment, if addresses speak for it.
fn by_address(requests: &[Request], origins: &Origins) -> Option<Vec<Request>> {
    let came = requests.first().map_or(0, |request| request.came);
    let even = requests.iter().all(|request| request.came == came);
    by_place(requests).or_else(|| if even { None } else { by_distance(requests, origins) })
}

/// The requests of lanes that make the turns of a loop in which addresses go on evenly from lane to lane, but leave out some.
/// `None` if that would only part lanes, as where some of them are in the next row already: then they make the same turns.
fn by_place(requests: &[Request]) -> Option<Vec<Request>> {
    let visits = visits(requests)?;
    let most = visits.iter().map(Vec::len).max()?;
    let all: usize = visits.iter().map(Vec::len).sum();
    if !visits.iter().any(|visits| is_irregular(visits)) || !are_monotone(&visits) {
        return None;
    }
    let place = |stride: i64| {
        move |request: &Request, lane: u32| {
            (request.addresses[lane as usize] as i64).wrapping_sub(stride.wrapping_mul(lane.into()))
        }
    };
    let places = |stride| (stride, grouped(requests, place(stride)));
    let (stride, places) = strides(&visits).into_iter().map(places).min_by_key(|(_, places)| places.len())?;
    let few = places.len() <= 2 * most && all >= 3 * places.len();
    let are_turns = few && meet_again(requests, place(stride)) && begin_together(&places);
    are_turns.then(|| places.into_values().flatten().collect())
}

/// Whether lanes begin with one of the first turns, as they do if they leave out every other one, rather than one lane after
/// another. Those only seem to: they make all turns, and a lane is about as far from the next one as from its own next visit.
fn begin_together(turns: &BTreeMap<i64, Vec<Request>>) -> bool {
    let made: Vec<u32> = turns.values().map(|turn| turn.iter().fold(0, |made, part| made | part.made)).collect();
    let all = made.iter().fold(0, |all, made| all | made);
    let left_out_by = |lane: u32| made.iter().position(move |made| made >> lane & 1 == 1);
    let left_out_behind_by = |lane: u32| made.iter().rev().position(move |made| made >> lane & 1 == 1);
    let before: usize = lanes_of(all).filter_map(left_out_by).sum();
    // Lanes that go down begin there.
    let behind: usize = lanes_of(all).filter_map(left_out_behind_by).sum();
    before.min(behind) <= MOST_LEFT_OUT_FIRST * all.count_ones() as usize
}

/// The addresses of each lane's visits, unless some make no access.
fn visits(requests: &[Request]) -> Option<Vec<Vec<i64>>> {
    let mut visits = vec![Vec::new(); 32];
    for request in requests {
        if request.made != request.came {
            return None;
        }
        request.lanes().for_each(|lane| visits[lane as usize].push(request.addresses[lane as usize] as i64));
    }
    Some(visits)
}

/// Whether a lane moves now farther and now less far.
fn is_irregular(visits: &[i64]) -> bool {
    visits.windows(3).any(|visits| visits[1].wrapping_sub(visits[0]) != visits[2].wrapping_sub(visits[1]))
}

/// Whether all lanes move in the same direction.
fn are_monotone(visits: &[Vec<i64>]) -> bool {
    let all = |ascends: fn(i64, i64) -> bool| {
        visits.iter().all(|visits| visits.windows(2).all(|pair| ascends(pair[0], pair[1])))
    };
    all(|one, other| one < other) || all(|one, other| one > other)
}

/// The distances from lane to lane that most visits of neighbours have, but not 0.
fn strides(visits: &[Vec<i64>]) -> Vec<i64> {
    let mut found: BTreeMap<i64, usize> = BTreeMap::new();
    for pair in visits.windows(2) {
        for one in pair[0].iter().take(MOST_COMPARED) {
            for other in pair[1].iter().take(MOST_COMPARED) {
                *found.entry(other - one).or_default() += 1;
            }
        }
    }
    let mut found: Vec<(i64, usize)> = found.into_iter().filter(|(stride, _)| *stride != 0).collect();
    found.sort_by_key(|(stride, times)| (Reverse(*times), stride.abs()));
    found.into_iter().take(MOST_STRIDES).map(|(stride, _)| stride).collect()
}

/// The requests of lanes that are equally far from their first address. `None` if these are not so because some lanes have
/// come by more often than others, but because lanes move differently: then lanes of different visits are hardly ever
/// equally far.
fn by_distance(requests: &[Request], origins: &Origins) -> Option<Vec<Request>> {
    let distance = |request: &Request, lane| origins.distance_of(request, lane) as i64;
    let mut lanes_at: BTreeMap<i64, u32> = BTreeMap::new();
    for request in requests {
        for lane in request.lanes() {
            let lanes = lanes_at.entry(distance(request, lane)).or_default();
            if *lanes & 1 << lane != 0 {
                return None;
            }
            *lanes |= 1 << lane;
        }
    }
    if lanes_at.len() > 2 * requests.len() || !meet_again(requests, distance) {
        return None;
    }
    let left_out = requests.iter().filter(|request| request.came != request.made);
    let left_out = left_out.map(|request| request.only(!request.made));
    Some(grouped(requests, distance).into_values().flatten().chain(left_out).collect())
}

/// Whether the lanes that are at other places than most of their request, by `place`, meet lanes of other requests at half as
/// many.
fn meet_again(requests: &[Request], place: impl Fn(&Request, u32) -> i64) -> bool {
    let mut visits_at: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    let mut parted = 0;
    for (visit, request) in requests.iter().enumerate() {
        let mut lanes_at: BTreeMap<i64, u32> = BTreeMap::new();
        for lane in request.lanes() {
            let place = place(request, lane);
            *lanes_at.entry(place).or_default() += 1;
            visits_at.entry(place).or_default().push(visit as u32);
        }
        parted += all_but_most(lanes_at.into_values());
    }
    let met: u32 = visits_at
        .into_values()
        .map(|visits| all_but_most(visits.chunk_by(|a, b| a == b).map(|same| same.len() as u32)))
        .sum();
    met > 0 && 2 * met >= parted
}

/// The sum without the largest.
fn all_but_most(numbers: impl Iterator<Item = u32>) -> u32 {
    let (sum, most) = numbers.fold((0, 0), |(sum, most), number| (sum + number, most.max(number)));
    sum - most
}

/// The accesses of requests in other ones, of lanes for which `of` is the same.
fn grouped(requests: &[Request], of: impl Fn(&Request, u32) -> i64) -> BTreeMap<i64, Vec<Request>> {
    let mut groups: BTreeMap<i64, Vec<Request>> = BTreeMap::new();
    for request in requests {
        for lane in request.lanes() {
            join(groups.entry(of(request, lane)).or_default(), &request.only(1 << lane));
        }
    }
    groups
}

/// Has a lane's part join the first request that the lane has not come to.
pub(crate) fn join(requests: &mut Vec<Request>, part: &Request) {
    match requests.iter_mut().find(|request| request.came & part.came == 0) {
        Some(request) => request.join(part),
        None => requests.push(*part),
    }
}

/// Each lane's first address, of those `started`.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    addresses: [u64; 32],
    started: u32,
}

impl Origins {
    /// Those of the first requests of each lane.
    pub(crate) fn of(requests: &[Request]) -> Self {
        let mut origins = Origins::default();
        requests.iter().for_each(|request| origins.add(request));
        origins
    }

    #[inline]
    pub(crate) fn add(&mut self, request: &Request) {
        let starting = request.made & !self.started;
        self.started |= starting;
        for lane in lanes_of(starting) {
            self.addresses[lane as usize] = request.addresses[lane as usize];
        }
    }

    /// How far a lane that makes an access is from its first one.
    fn distance_of(&self, request: &Request, lane: u32) -> u64 {
        request.addresses[lane as usize].wrapping_sub(self.addresses[lane as usize])
    }

    /// How far all lanes of a request are, if it is equally far; 0 if none makes an access.
    #[inline]
    pub(crate) fn distance(&self, request: &Request) -> Option<u64> {
        let distance = request.lanes().next().map_or(0, |lane| self.distance_of(request, lane));
        let all_are = if request.made == u32::MAX {
            // Without branches, because most requests are like this.
            let pairs = request.addresses.iter().zip(&self.addresses);
            pairs.fold(0, |off, (address, origin)| off | (address.wrapping_sub(*origin) ^ distance)) == 0
        } else {
            request.lanes().all(|lane| self.distance_of(request, lane) == distance)
        };
        all_are.then_some(distance)
    }
}
