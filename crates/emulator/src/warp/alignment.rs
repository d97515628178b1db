//! Determines which visits of a site's lanes belong together.
//!
//! At first, the `k`-th visits of all lanes form a request. That is wrong if lanes run an inner loop different numbers of
//! times, or leave an access out in some iterations, because on the device they wait for each other. The addresses show it.

use super::colours;
use super::costs::{Request, grouped};
use cuda_std::host::banks::lanes_of;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum number of visits per lane that are compared to find the stride.
const MAX_COMPARED: usize = 16;

/// Maximum number of strides that are tried.
const MAX_STRIDES: usize = 8;

/// Maximum number of iterations that a lane leaves out before its first one, on average.
const MAX_LEFT_OUT_FIRST: usize = 2;

/// Requests, each with the lanes that access together.
#[derive(Debug)]
pub(crate) struct Aligned {
    pub(crate) requests: Vec<Request>,
    /// Whether the addresses confirm the grouping.
    pub(crate) is_shown: bool,
}

/// Determines which lanes belong together. `requests` has the `k`-th visits of all lanes, `origins` their first addresses,
/// and `last` the distance from these that all lanes had before.
pub(crate) fn align(requests: Vec<Request>, origins: &Origins, last: Option<u64>) -> Aligned {
    let colours = colours::of_iterations(&requests);
    if colours.is_none() && advance_evenly(&requests, origins, last) {
        return Aligned { requests, is_shown: true };
    }
    match colours.or_else(|| by_address(&requests, origins)) {
        Some(requests) => Aligned { requests, is_shown: true },
        None => Aligned { requests, is_shown: false },
    }
}

/// Returns whether the lanes of each request have moved by the same distance, and each time by another one.
fn advance_evenly(requests: &[Request], origins: &Origins, last: Option<u64>) -> bool {
    let distances = requests.iter().map(|request| origins.distance(request).filter(|_| request.accessed != 0));
    let distances: Vec<Option<u64>> = last.map(Some).into_iter().chain(distances).collect();
    distances.len() > 1 && distances.windows(2).all(|pair| pair[0] != pair[1]) && !distances.contains(&None)
}

/// Returns another grouping, if the addresses show one.
fn by_address(requests: &[Request], origins: &Origins) -> Option<Vec<Request>> {
    let visited = requests.first().map_or(0, |request| request.visited);
    let even = requests.iter().all(|request| request.visited == visited);
    by_place(requests).or_else(|| if even { None } else { by_distance(requests, origins) })
}

/// Regroups the requests of a loop whose addresses are evenly spaced from lane to lane, in which lanes leave out iterations.
///
/// Returns `None` if that would only split requests, for example if some lanes
/// are in the next row already: then all lanes make the same iterations.
fn by_place(requests: &[Request]) -> Option<Vec<Request>> {
    let visits = visits(requests)?;
    let longest = visits.iter().map(Vec::len).max()?;
    let all: usize = visits.iter().map(Vec::len).sum();
    if !visits.iter().any(|visits| is_irregular(visits)) || !are_monotone(&visits) {
        return None;
    }
    let place = |stride: i64| {
        move |request: &Request, lane: u32| {
            (request.addresses[lane as usize] as i64).wrapping_sub(stride.wrapping_mul(lane.into()))
        }
    };
    let counted = |stride| (stride, number_of_groups(requests, place(stride)));
    let (stride, count) = strides(&visits).into_iter().map(counted).min_by_key(|&(_, count)| count)?;
    if count > 2 * longest || all < 3 * count || !meet_again(requests, place(stride)) {
        return None;
    }
    let place = place(stride);
    let places = grouped(requests, |request| request.accessed, |_, request, lane| place(request, lane));
    begin_early(&places).then(|| places.into_values().flatten().collect())
}

/// Returns whether lanes begin within the first iterations, as they do if they leave out every
/// other one. If they begin one lane after another, they only seem to leave out iterations:
/// they make all, and a lane is about as far from the next lane as from its own next visit.
fn begin_early(iterations: &BTreeMap<i64, Vec<Request>>) -> bool {
    let accessed: Vec<u32> = iterations
        .values()
        .map(|iteration| iteration.iter().fold(0, |accessed, part| accessed | part.accessed))
        .collect();
    let all = accessed.iter().fold(0, |all, accessed| all | accessed);
    let left_out_before = |lane: u32| accessed.iter().position(move |accessed| accessed >> lane & 1 == 1);
    let left_out_after = |lane: u32| accessed.iter().rev().position(move |accessed| accessed >> lane & 1 == 1);
    let before: usize = lanes_of(all).filter_map(left_out_before).sum();
    // Lanes with descending addresses begin at the end.
    let after: usize = lanes_of(all).filter_map(left_out_after).sum();
    before.min(after) <= MAX_LEFT_OUT_FIRST * all.count_ones() as usize
}

/// Returns the addresses of each lane's visits, or `None` if some visits make no access.
fn visits(requests: &[Request]) -> Option<Vec<Vec<i64>>> {
    if requests.iter().any(|request| request.accessed != request.visited) {
        return None;
    }
    let mut visits: Vec<_> = (0..32).map(|_| Vec::with_capacity(requests.len())).collect();
    for request in requests {
        request.lanes().for_each(|lane| visits[lane as usize].push(request.addresses[lane as usize] as i64));
    }
    Some(visits)
}

/// Returns whether a lane moves by varying distances.
fn is_irregular(visits: &[i64]) -> bool {
    visits.windows(3).any(|visits| visits[1].wrapping_sub(visits[0]) != visits[2].wrapping_sub(visits[1]))
}

/// Returns whether all lanes move in the same direction.
fn are_monotone(visits: &[Vec<i64>]) -> bool {
    let all = |ascends: fn(i64, i64) -> bool| {
        visits.iter().all(|visits| visits.windows(2).all(|pair| ascends(pair[0], pair[1])))
    };
    all(|one, other| one < other) || all(|one, other| one > other)
}

/// Returns the most frequent distances between visits of neighbouring lanes, except 0.
fn strides(visits: &[Vec<i64>]) -> Vec<i64> {
    let mut found: BTreeMap<i64, usize> = BTreeMap::new();
    for pair in visits.windows(2) {
        for one in pair[0].iter().take(MAX_COMPARED) {
            for other in pair[1].iter().take(MAX_COMPARED) {
                *found.entry(other - one).or_default() += 1;
            }
        }
    }
    let mut found: Vec<(i64, usize)> = found.into_iter().filter(|(stride, _)| *stride != 0).collect();
    found.sort_by_key(|(stride, times)| (Reverse(*times), stride.abs()));
    found.into_iter().take(MAX_STRIDES).map(|(stride, _)| stride).collect()
}

/// Groups lanes that are equally far from their first address.
///
/// Returns `None` if lanes are at different distances because they move differently, rather than because some make more
/// visits: then lanes of different visits are hardly ever equally far.
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
    let left_out = requests.iter().filter(|request| request.visited != request.accessed);
    let left_out = left_out.map(|request| request.only(!request.accessed));
    let groups = grouped(requests, |request| request.accessed, |_, request, lane| distance(request, lane));
    Some(groups.into_values().flatten().chain(left_out).collect())
}

/// Returns whether lanes that are at another `place` than most of
/// their request meet lanes of other requests, at least half as often.
fn meet_again(requests: &[Request], place: impl Fn(&Request, u32) -> i64) -> bool {
    let mut visits_at: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    let mut divided = 0;
    for (visit, request) in requests.iter().enumerate() {
        let mut lanes_at: BTreeMap<i64, u32> = BTreeMap::new();
        for lane in request.lanes() {
            let place = place(request, lane);
            *lanes_at.entry(place).or_default() += 1;
            visits_at.entry(place).or_default().push(visit as u32);
        }
        divided += all_but_largest(lanes_at.into_values());
    }
    let met: u32 = visits_at
        .into_values()
        .map(|visits| all_but_largest(visits.chunk_by(|a, b| a == b).map(|same| same.len() as u32)))
        .sum();
    met > 0 && 2 * met >= divided
}

/// Returns the sum without the largest number.
fn all_but_largest(numbers: impl Iterator<Item = u32>) -> u32 {
    let (sum, largest) = numbers.fold((0, 0), |(sum, largest), number| (sum + number, largest.max(number)));
    sum - largest
}

/// Returns the number of groups that [`grouped`] makes of the accessing lanes, without making them.
fn number_of_groups(requests: &[Request], of: impl Fn(&Request, u32) -> i64) -> usize {
    let mut values: Vec<i64> = Vec::with_capacity(32 * requests.len());
    for request in requests {
        values.extend(request.lanes().map(|lane| of(request, lane)));
    }
    values.sort_unstable();
    values.dedup();
    values.len()
}

/// Each lane's first address, for the lanes `started`.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    addresses: [u64; 32],
    started: u32,
}

impl Origins {
    /// Returns the first address of each lane in `requests`.
    pub(crate) fn of(requests: &[Request]) -> Self {
        let mut origins = Origins::default();
        requests.iter().for_each(|request| origins.add(request));
        origins
    }

    #[inline]
    pub(crate) fn add(&mut self, request: &Request) {
        let starting = request.accessed & !self.started;
        self.started |= starting;
        for lane in lanes_of(starting) {
            self.addresses[lane as usize] = request.addresses[lane as usize];
        }
    }

    /// Returns the distance of an accessing lane from its first address.
    fn distance_of(&self, request: &Request, lane: u32) -> u64 {
        request.addresses[lane as usize].wrapping_sub(self.addresses[lane as usize])
    }

    /// Returns the distance of all lanes from their first address, if it is the same; 0 if no lane makes an access.
    #[inline]
    pub(crate) fn distance(&self, request: &Request) -> Option<u64> {
        let distance = request.lanes().next().map_or(0, |lane| self.distance_of(request, lane));
        let all_are = if request.accessed == u32::MAX {
            // Branchless, because most requests have all lanes.
            let pairs = request.addresses.iter().zip(&self.addresses);
            pairs.fold(0, |off, (address, origin)| off | (address.wrapping_sub(*origin) ^ distance)) == 0
        } else {
            request.lanes().all(|lane| self.distance_of(request, lane) == distance)
        };
        all_are.then_some(distance)
    }
}
