//! What was kept until a warp met is settled: its sites together show who went together.

use crate::alignment::{Aligned, Evidence, Origins, align, join};
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
    /// The parts before they were divided by the turns that another site is likely to show.
    unlikely: Option<Vec<Aligned>>,
}

/// Settles all that is kept of a warp's sites, with how often each lane has come by: the counts of each, by `count`.
pub(crate) fn settle<'a>(
    sites: impl Iterator<Item = (u16, [u32; 32], &'a mut Ambiguous)>,
    all: u32,
    count: impl Fn(u16, &Request) -> Counts,
) -> Vec<(u16, Counts)> {
    let mut visits: Vec<Visits<'a>> =
        sites.map(|(site, times, seen)| Visits { site, times, seen, parts: Vec::new(), unlikely: None }).collect();
    let (anchors, contradicted) = anchors(&visits, all);
    for visits in &mut visits {
        let kept = visits.seen.take_kept();
        visits.parts = parts(kept, &anchors, visits.seen);
    }
    let turns: Vec<(Turns, Evidence)> = visits.iter().filter_map(|visits| visits.turns(all)).collect();
    visits.iter_mut().for_each(|visits| visits.follow(&turns));
    let count = |visits: &Visits<'_>| {
        let mut counts = visits.count(|request| count(visits.site, request));
        counts.approximate |= contradicted.contains(&visits.site);
        (visits.site, counts)
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

    /// What speaks for the alignment of all parts.
    fn evidence(&self) -> Evidence {
        let found = |evidence| self.parts.iter().any(|part| part.evidence == evidence);
        let by_weight = [Evidence::Missing, Evidence::Plain, Evidence::Likely];
        by_weight.into_iter().find(|evidence| found(*evidence)).unwrap_or(Evidence::Shown)
    }

    /// The turns of the loop, if the site's accesses show them, and not all lanes make all of them.
    fn turns(&self, all: u32) -> Option<(Turns, Evidence)> {
        let evidence = self.evidence();
        if self.parts.is_empty() || !matches!(evidence, Evidence::Shown | Evidence::Likely) {
            return None;
        }
        let marks = self.seen.marks().iter().map(|clocks: &Clocks| (all, clocks));
        let turns = Turns::new(marks.chain(self.requests().map(|request| (request.came, &request.clocks))));
        self.seen.is_complete().then_some((turns, evidence))
    }

    /// If the accesses do not tell who goes together, another site in the same loop may: best, one that all lanes have come
    /// by as often.
    fn follow(&mut self, turns: &[(Turns, Evidence)]) {
        if turns.is_empty() || !matches!(self.evidence(), Evidence::Missing | Evidence::Plain) {
            return;
        }
        let requests: Vec<Request> = self.requests().copied().collect();
        let mut others = turns.iter().filter(|(turns, _)| turns.contain(&requests));
        let as_often = |(turns, _): &&(Turns, Evidence)| turns.times().eq(self.times);
        let Some((turns, evidence)) = others.clone().find(as_often).or_else(|| others.next()) else { return };
        let turn_of = turns.turn_of(&requests);
        let parts = divide(&requests, |request, lane| turn_of(request, lane).unwrap_or(usize::MAX));
        let before = std::mem::replace(&mut self.parts, parts);
        self.unlikely = (*evidence == Evidence::Likely).then_some(before);
    }

    fn count(&self, count: impl Fn(&Request) -> Counts) -> Counts {
        let sum = |parts: &[Aligned]| parts.iter().map(|part| part.count(&count)).sum::<Counts>();
        let mut counts = sum(&self.parts);
        let is_unsure = self.unlikely.as_ref().is_some_and(|parts| sum(parts) != counts);
        counts.approximate |= is_unsure;
        counts
    }
}
