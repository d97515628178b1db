//! Settles the requests that were kept until a warp met: its sites together show which lanes belong together.

use super::alignment::{Aligned, Origins, align};
use super::ambiguous::Ambiguous;
use super::anchors::{Anchors, Clocks, Iterations};
use super::costs::{Request, grouped};
use crate::report::Counts;
use cuda_std::host::banks::lanes_of;

/// Visits to a site since its warp last met.
#[derive(Debug)]
struct Visits<'a> {
    site: u16,
    /// Number of visits of each lane.
    times: [u32; 32],
    seen: &'a mut Ambiguous,
    /// Kept requests, in parts divided by anchors.
    parts: Vec<Aligned>,
}

/// Settles all kept requests of a warp. `sites` has each site with the
/// number of visits of each lane. Returns the counts of each site.
pub(crate) fn settle<'a>(
    sites: impl Iterator<Item = (u16, [u32; 32], &'a mut Ambiguous)>,
    all: u32,
    count: impl Fn(u16, &Request) -> Counts,
) -> Vec<(u16, Counts)> {
    let mut visits: Vec<Visits<'a>> =
        sites.map(|(site, times, seen)| Visits { site, times, seen, parts: Vec::new() }).collect();
    let (anchors, contradicted) = anchors(&visits, all);
    for visits in &mut visits {
        let kept = visits.seen.take_kept();
        visits.parts = parts(kept, &anchors, visits.seen);
    }
    let iterations: Vec<Iterations> = visits.iter().filter_map(|visits| visits.iterations(all)).collect();
    visits.iter_mut().for_each(|visits| visits.follow(&iterations));
    let count = |visits: &Visits<'_>| {
        let counts: Counts = visits.requests().map(|request| count(visits.site, request)).sum();
        let approximate = !visits.seen.is_steady(visits.requests()) || contradicted.contains(&visits.site);
        (visits.site, Counts { approximate, ..counts })
    };
    visits.iter().map(count).collect()
}

/// Returns the anchors, and the sites that contradict anchors that are out of step.
///
/// A site has anchors if all lanes have visited it equally often and its addresses always advance. Sites that lanes visit in
/// step take precedence, then the least visited ones.
fn anchors(visits: &[Visits<'_>], all: u32) -> (Anchors, Vec<u16>) {
    let even = visits.iter().filter(|visits| visits.is_even(all));
    let chains = even.filter_map(|visits| Some((visits.seen.kept().len(), visits.seen.chain(all)?, visits.site)));
    let mut chains: Vec<_> = chains.collect();
    chains.sort_by_key(|(out_of_step, chain, _)| (*out_of_step > 0, chain.len()));
    let (mut anchors, mut are_in_step, mut contradicted) = (Anchors::default(), true, Vec::new());
    for (out_of_step, chain, site) in chains {
        match anchors.with(&chain, all) {
            Some(more) => {
                anchors = more;
                are_in_step &= out_of_step == 0;
            }
            None if are_in_step => {}
            None => contradicted.push(site),
        }
    }
    (anchors, contradicted)
}

/// Divides the kept requests of a site at the anchors, and aligns each part.
fn parts(kept: Vec<Request>, anchors: &Anchors, seen: &Ambiguous) -> Vec<Aligned> {
    let number = |request: &Request, lane| anchors.before(request, lane);
    let divided = kept.iter().any(|request| {
        let mut numbers = lanes_of(request.visited).map(|lane| number(request, lane));
        let first = numbers.next();
        numbers.any(|number| Some(number) != first)
    });
    match divided {
        _ if kept.is_empty() => Vec::new(),
        false => vec![seen.align(kept)],
        true => divide(&kept, number),
    }
}

/// Divides requests by the `number` of each lane.
fn divide(requests: &[Request], number: impl Fn(&Request, u32) -> usize) -> Vec<Aligned> {
    let parts = grouped(requests, |request| request.visited, |_, request, lane| number(request, lane));
    let parts = parts.into_values().map(|part| {
        let origins = Origins::of(&part);
        align(part, &origins, None)
    });
    parts.collect()
}

impl Visits<'_> {
    /// Returns whether all lanes have made equally many visits.
    fn is_even(&self, all: u32) -> bool {
        let mut times = lanes_of(all).map(|lane| self.times[lane as usize]);
        let first = times.next();
        times.all(|time| Some(time) == first)
    }

    fn requests(&self) -> impl Iterator<Item = &Request> {
        self.parts.iter().flat_map(|part| &part.requests)
    }

    /// Returns whether addresses confirm the alignment of all parts.
    fn is_shown(&self) -> bool {
        self.parts.iter().all(|part| part.is_shown)
    }

    /// Returns the iterations of the loop, if the site's accesses show them and not all lanes make all of them.
    fn iterations(&self, all: u32) -> Option<Iterations> {
        if self.parts.is_empty() || !self.is_shown() {
            return None;
        }
        let marks = self.seen.marks().iter().map(|clocks: &Clocks| (all, clocks));
        let iterations =
            Iterations::new(marks.chain(self.requests().map(|request| (request.visited, &request.clocks))));
        self.seen.is_complete().then_some(iterations)
    }

    /// Adopts the iterations of another site in the same loop, if the addresses do not show which lanes belong together.
    ///
    /// A site with equally many visits of each lane is preferred: each of its visits belongs to the same iteration as one
    /// here, even if several follow each other. Otherwise the site must have an iteration for all visits.
    fn follow(&mut self, iterations: &[Iterations]) {
        if iterations.is_empty() || self.is_shown() {
            return;
        }
        let requests: Vec<Request> = self.requests().copied().collect();
        let here = Iterations::of(&requests);
        let mut others = iterations.iter().filter(|iterations| iterations.contain(&requests));
        let parts = match others.clone().find(|iterations| iterations.times().eq(self.times)) {
            Some(iterations) => {
                by_iteration(&requests, |request, lane| iterations.iteration_from_end(lane, here.since(request, lane)))
            }
            None => others.find_map(|iterations| by_iteration(&requests, iterations.iteration_of(&requests))),
        };
        if let Some(parts) = parts {
            self.parts = parts;
        }
    }
}

/// Returns the requests of each iteration, if every visit has one.
fn by_iteration(requests: &[Request], iteration_of: impl Fn(&Request, u32) -> Option<usize>) -> Option<Vec<Aligned>> {
    let have = |request: &Request| lanes_of(request.visited).all(|lane| iteration_of(request, lane).is_some());
    let all_have = requests.iter().all(have);
    all_have.then(|| divide(requests, |request, lane| iteration_of(request, lane).unwrap_or_default()))
}
