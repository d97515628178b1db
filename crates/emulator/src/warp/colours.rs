//! Alternating lanes: the lanes have `m` colours, and in each iteration of a loop the lanes of one colour make an access.
//!
//! ```text
//! iteration       0   1   2   3          k-th visit      0   1
//! even lanes          x       x          even lanes      1   3
//! odd lanes       x       x              odd lanes       0   2
//! ```
//!
//! Lanes that each advance by `m` steps, and begin up to `m - 1` steps apart, have the same addresses in two cases: if they
//! leave out iterations, or if they make all iterations at different places. The first case is assumed: then the addresses
//! of each iteration are evenly spaced from lane to lane.

use super::costs::{Request, grouped};

/// Maximum number of colours.
const MAX_COLOURS: usize = 8;

/// Returns whether lanes may alternate, according to the addresses of a request of all lanes: whether the distance from each
/// lane to the `m`-th one after it is constant.
pub(crate) fn may_alternate(request: &Request) -> bool {
    request.accessed == request.visited && (2..=MAX_COLOURS).any(|colours| stride(request, colours).is_some())
}

/// Returns the distance from lane to lane, if the distance between lanes that are `colours` apart is constant.
fn stride(request: &Request, colours: usize) -> Option<i64> {
    let is_there = |lane: &usize| request.accessed >> lane & 1 == 1 && request.accessed >> (lane + colours) & 1 == 1;
    let mut pairs = (0..32 - colours)
        .filter(is_there)
        .map(|lane| request.addresses[lane + colours].wrapping_sub(request.addresses[lane]) as i64);
    let apart = pairs.next()?;
    let others = pairs.try_fold(0, |others, other| (other == apart).then_some(others + 1))?;
    (others >= colours && apart % colours as i64 == 0).then_some(apart / colours as i64)
}

/// Regroups requests of the `k`-th visits of all lanes by iteration, if the lanes alternate.
pub(crate) fn of_iterations(requests: &[Request]) -> Option<Vec<Request>> {
    let [first, second, ..] = requests else { return None };
    let lane = second.lanes().next()? as usize;
    let step = second.addresses[lane].wrapping_sub(first.addresses[lane]) as i64;
    let (colours, begins) = (2..=MAX_COLOURS).find_map(|colours| Some((colours, begins(first, colours, step)?)))?;
    let advances = |(visit, request): (usize, &Request)| {
        let from_first = |lane: u32| request.addresses[lane as usize].wrapping_sub(first.addresses[lane as usize]);
        let all_do = request.visited & !first.visited == 0 && request.accessed == request.visited;
        all_do && request.lanes().all(|lane| from_first(lane) as i64 == step.wrapping_mul(visit as i64))
    };
    requests.iter().enumerate().all(advances).then(|| by_iteration(requests, colours, &begins))
}

/// Returns the first iteration of each lane, if the addresses fit
/// this number of colours and lanes begin in different iterations.
fn begins(first: &Request, colours: usize, step: i64) -> Option<[usize; 32]> {
    let stride = stride(first, colours)?;
    let advance = step / colours as i64;
    if advance == 0 || step % colours as i64 != 0 {
        return None;
    }
    // Relative to one of them, because addresses in global memory use all 64 bits.
    let base = first.addresses[first.lanes().next()? as usize];
    let relative = |lane: u32| first.addresses[lane as usize].wrapping_sub(base) as i64;
    let even = |lane: u32| relative(lane).wrapping_sub(stride.wrapping_mul(lane.into()));
    let origin = if advance > 0 { first.lanes().map(even).min()? } else { first.lanes().map(even).max()? };
    let mut begins = [0; 32];
    for lane in first.lanes() {
        let distance = even(lane).wrapping_sub(origin);
        let begin = distance.checked_div(advance)?;
        if distance.checked_rem(advance) != Some(0) || begin >= colours as i64 {
            return None;
        }
        begins[lane as usize] = begin as usize;
    }
    first.lanes().any(|lane| begins[lane as usize] > 0).then_some(begins)
}

fn by_iteration(requests: &[Request], colours: usize, begins: &[usize; 32]) -> Vec<Request> {
    let iteration = |visit, _: &Request, lane| begins[lane as usize] + colours * visit;
    grouped(requests, |request| request.visited, iteration).into_values().flatten().collect()
}
