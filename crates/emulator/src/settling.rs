//! What was kept until a warp met is settled: its sites together show who went together.

use crate::alignment::{Aligned, Origins, align, join};
use crate::ambiguous::Ambiguous;
use crate::anchors::{Anchors, Clocks, Turns};
use crate::counts::{Counts, Request};
use cuda_std::host::banks::lanes_of;
use std::collections::BTreeMap;

/// A site's visits since its warp last met.
#[derive(Debug)]
struct Visits<'a> {
    site: u16,
    /// Of each lane.
    times: [u32; 32],
    seen: &'a mut Ambiguous,
    /// What was kept, in parts that anchors divide.
    parts: Vec<Aligned>,
}

/// Settles all that is kept of a warp's sites, with how often each lane has come by: the counts of each, by `count`.
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
    let turns: Vec<Turns> = visits.iter().filter_map(|visits| visits.turns(all)).collect();
    visits.iter_mut().for_each(|visits| visits.follow(&turns));
    let count = |visits: &Visits<'_>| {
        let counts: Counts = visits.requests().map(|request| count(visits.site, request)).sum();
        let approximate = !visits.seen.is_steady(visits.requests()) || contradicted.contains(&visits.site);
        (visits.site, Counts { approximate, ..counts })
    };
    visits.iter().map(count).collect()
}

/// The requests at the sites that lanes have come to equally often, and that always move on; and the sites that contradict
/// others about what is before what. Those that lanes come to in step are believed first, and then the rarest.
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

/// What was kept at a site, between one anchor and the next.
fn parts(kept: Vec<Request>, anchors: &Anchors, seen: &Ambiguous) -> Vec<Aligned> {
    let number = |request: &Request, lane| anchors.before(request, lane);
    let divided = kept.iter().any(|request| {
        let mut numbers = lanes_of(request.came).map(|lane| number(request, lane));
        let first = numbers.next();
        numbers.any(|number| Some(number) != first)
    });
    match divided {
        _ if kept.is_empty() => Vec::new(),
        false => vec![seen.align(kept)],
        true => divide(&kept, number),
    }
}

/// The requests of lanes with the same number, each by themselves.
fn divide(requests: &[Request], number: impl Fn(&Request, u32) -> usize) -> Vec<Aligned> {
    let mut parts: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
    for request in requests {
        for lane in lanes_of(request.came) {
            join(parts.entry(number(request, lane)).or_default(), &request.only(1 << lane));
        }
    }
    let parts = parts.into_values().map(|part| {
        let origins = Origins::of(&part);
        align(part, &origins, None)
    });
    parts.collect()
}

impl Visits<'_> {
    /// Whether all lanes have come equally often.
    fn is_even(&self, all: u32) -> bool {
        let mut times = lanes_of(all).map(|lane| self.times[lane as usize]);
        let first = times.next();
        times.all(|time| Some(time) == first)
    }

    fn requests(&self) -> impl Iterator<Item = &Request> {
        self.parts.iter().flat_map(|part| &part.requests)
    }

    /// Whether addresses speak for the alignment of all parts.
    fn is_shown(&self) -> bool {
        self.parts.iter().all(|part| part.is_shown)
    }

    /// The turns of the loop, if the site's accesses show them, and not all lanes make all of them.
    fn turns(&self, all: u32) -> Option<Turns> {
        if self.parts.is_empty() || !self.is_shown() {
            return None;
        }
        let marks = self.seen.marks().iter().map(|clocks: &Clocks| (all, clocks));
        let turns = Turns::new(marks.chain(self.requests().map(|request| (request.came, &request.clocks))));
        self.seen.is_complete().then_some(turns)
    }

    /// If the accesses do not show which lanes belong together, another site in the same loop may: best, one that all lanes have come
    /// by as often, as each visit there is of the same turn as one here, even if several follow each other; otherwise one that
    /// has a turn for all visits.
    fn follow(&mut self, turns: &[Turns]) {
        if turns.is_empty() || self.is_shown() {
            return;
        }
        let requests: Vec<Request> = self.requests().copied().collect();
        let here = Turns::of(&requests);
        let mut others = turns.iter().filter(|turns| turns.contain(&requests));
        let parts = match others.clone().find(|turns| turns.times().eq(self.times)) {
            Some(turns) => told(&requests, |request, lane| turns.turn_from(lane, here.since(request, lane))),
            None => others.find_map(|turns| told(&requests, turns.turn_of(&requests))),
        };
        if let Some(parts) = parts {
            self.parts = parts;
        }
    }
}

/// The requests of each turn, if all visits have one.
fn told(requests: &[Request], turn_of: impl Fn(&Request, u32) -> Option<usize>) -> Option<Vec<Aligned>> {
    let have = |request: &Request| lanes_of(request.came).all(|lane| turn_of(request, lane).is_some());
    let all_have = requests.iter().all(have);
    all_have.then(|| divide(requests, |request, lane| turn_of(request, lane).unwrap_or_default()))
}
