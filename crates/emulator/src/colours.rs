//! Lanes that take turns: of `m` colours, each makes an access in every `m`-th turn of a loop.
//!
//! ```text
//! turn            0   1   2   3          k-th visit      0   1
//! even lanes          x       x          even lanes      1   3
//! odd lanes       x       x              odd lanes       0   2
//! ```
//!
//! The accesses of lanes that each go on by `m` steps, but begin up to `m - 1` steps later than others, are the same whether
//! lanes leave turns out or make all of them at different places. The former is taken to be so: then in each turn
//! addresses go on evenly from lane to lane.

use crate::alignment::join;
use crate::counts::Request;
use cuda_std::host::banks::lanes_of;
use std::collections::BTreeMap;

/// The most colours.
const MOST: usize = 8;

/// Whether the addresses of a request of all lanes may be those of lanes that take turns: from each lane to the `m`-th
/// one behind it they go on by the same.
pub(crate) fn are_possible(request: &Request) -> bool {
    request.made == request.came && (2..=MOST).any(|colours| stride(request, colours).is_some())
}

/// Returns the distance from lane to lane, if it is constant over this number of lanes.
fn stride(request: &Request, colours: usize) -> Option<i64> {
    let is_there = |lane: &usize| request.made >> lane & 1 == 1 && request.made >> (lane + colours) & 1 == 1;
    let mut pairs = (0..32 - colours)
        .filter(is_there)
        .map(|lane| request.addresses[lane + colours].wrapping_sub(request.addresses[lane]) as i64);
    let apart = pairs.next()?;
    let others = pairs.try_fold(0, |others, other| (other == apart).then_some(others + 1))?;
    (others >= colours && apart % colours as i64 == 0).then_some(apart / colours as i64)
}

/// The requests of lanes that take turns, if these, in which the k-th visits of all lanes are together, are theirs.
pub(crate) fn of_turns(requests: &[Request]) -> Option<Vec<Request>> {
    let [first, second, ..] = requests else { return None };
    let lane = second.lanes().next()? as usize;
    let step = second.addresses[lane].wrapping_sub(first.addresses[lane]) as i64;
    let (colours, begins) = (2..=MOST).find_map(|colours| Some((colours, begins(first, colours, step)?)))?;
    let goes_on = |(visit, request): (usize, &Request)| {
        let from_first = |lane: u32| request.addresses[lane as usize].wrapping_sub(first.addresses[lane as usize]);
        let all_do = request.came & !first.came == 0 && request.made == request.came;
        all_do && request.lanes().all(|lane| from_first(lane) as i64 == step.wrapping_mul(visit as i64))
    };
    requests.iter().enumerate().all(goes_on).then(|| in_turns(requests, colours, &begins))
}

/// Returns the turn in which each lane begins, if at least two of this number of colours begin at different turns.
fn begins(first: &Request, colours: usize, step: i64) -> Option<[usize; 32]> {
    let stride = stride(first, colours)?;
    let turn = step / colours as i64;
    if turn == 0 || step % colours as i64 != 0 {
        return None;
    }
    // Relative to one of them, because addresses in global memory are as large as numbers can be.
    let base = first.addresses[first.lanes().next()? as usize];
    let relative = |lane: u32| first.addresses[lane as usize].wrapping_sub(base) as i64;
    let even = |lane: u32| relative(lane).wrapping_sub(stride.wrapping_mul(lane.into()));
    let origin = if turn > 0 { first.lanes().map(even).min()? } else { first.lanes().map(even).max()? };
    let mut begins = [0; 32];
    for lane in first.lanes() {
        let distance = even(lane).wrapping_sub(origin);
        let begin = distance.checked_div(turn)?;
        if distance.checked_rem(turn) != Some(0) || begin >= colours as i64 {
            return None;
        }
        begins[lane as usize] = begin as usize;
    }
    first.lanes().any(|lane| begins[lane as usize] > 0).then_some(begins)
}

fn in_turns(requests: &[Request], colours: usize, begins: &[usize; 32]) -> Vec<Request> {
    let mut turns: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
    for (visit, request) in requests.iter().enumerate() {
        for lane in lanes_of(request.came) {
            let turn = begins[lane as usize] + colours * visit;
            join(turns.entry(turn).or_default(), &request.only(1 << lane));
        }
    }
    turns.into_values().flatten().collect()
}
