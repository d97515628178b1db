//! The requests of a warp at a site, counted at once if it is clear which lanes belong together.

use crate::alignment::{Aligned, Origins, align};
use crate::anchors::Clocks;
use crate::colours;
use crate::counts::{Counts, Request};

/// The most requests at a site that are kept until the warp meets: beyond it they are settled by themselves.
const MOST_KEPT: usize = 512;

/// The most clocks at a site that are remembered since the warp last met: the later requests do not divide anything.
const MOST_MARKS: usize = 1024;

/// What a site has seen since the warp last met.
///
/// A request of all lanes is counted at once if they have come by equally many sites before, and each of them has moved by
/// the same distance from its first address. The rest is kept until the warp meets, when it is clear which lanes belong together.
#[derive(Debug, Default)]
pub(crate) struct Ambiguous {
    origins: Origins,
    /// The distance from the first addresses, of the last request that was counted at once.
    distance: u64,
    /// The clocks of the first request and of those that have moved, if they were counted at once.
    marks: Vec<Clocks>,
    /// Requests that have been counted.
    counted: usize,
    /// The lanes and clocks of the first one.
    first: Option<(u32, Clocks)>,
    kept: Vec<Request>,
    /// The first addresses look as if lanes took turns.
    suspected: bool,
}

/// What the warp's other sites have shown.
#[derive(Debug, Default)]
pub(crate) struct Suspicion(bool);

impl Ambiguous {
    /// Takes the next request: what is settled by now, by `count`.
    #[inline]
    pub(crate) fn add(
        &mut self,
        request: &Request,
        all: u32,
        suspicion: &mut Suspicion,
        count: impl Fn(&Request) -> Counts,
    ) -> Counts {
        let first = self.counted == 0 && self.kept.is_empty();
        self.origins.add(request);
        if request.came != all || self.suspected {
            return self.keep(request, all, count);
        }
        if first {
            return self.add_first(request, all, suspicion, count);
        }
        let Some(distance) = self.origins.distance(request) else { return self.keep(request, all, count) };
        let moved = request.made != 0 && distance != self.distance;
        if !request.is_in_step() || !moved && suspicion.0 {
            return self.keep(request, all, count);
        }
        let before = self.count_first(&count);
        self.counted += 1;
        if moved {
            self.mark(request.clocks);
        }
        self.distance = distance;
        before + count(request)
    }

    /// The first request is counted.
    fn begin(&mut self, request: &Request) {
        self.counted = 1;
        self.first = Some((request.came, request.clocks));
    }

    fn mark(&mut self, clocks: Clocks) {
        if self.marks.len() < MOST_MARKS {
            self.marks.push(clocks);
        }
    }

    /// Takes the first request of all lanes. Where addresses go on evenly from lane to lane, lanes do not take turns.
    fn add_first(
        &mut self,
        request: &Request,
        all: u32,
        suspicion: &mut Suspicion,
        count: impl Fn(&Request) -> Counts,
    ) -> Counts {
        if request.step().is_none() {
            self.suspected = colours::are_possible(request);
            suspicion.0 |= self.suspected;
            return self.keep(request, all, count);
        }
        if !request.is_in_step() {
            return self.keep(request, all, count);
        }
        self.begin(request);
        self.mark(request.clocks);
        count(request)
    }

    /// The second request moves as all do: then the first one, if it is all that is kept, was one of all lanes, too.
    fn count_first(&mut self, count: &impl Fn(&Request) -> Counts) -> Counts {
        if self.counted > 0 || self.kept.len() != 1 || !self.kept[0].is_in_step() {
            return Counts::default();
        }
        let first = self.kept.remove(0);
        self.begin(&first);
        self.mark(first.clocks);
        count(&first)
    }

    /// Keeps a request. If they are too many, they are settled by what they show themselves.
    fn keep(&mut self, request: &Request, all: u32, count: impl Fn(&Request) -> Counts) -> Counts {
        self.kept.push(*request);
        if self.kept.len() < MOST_KEPT {
            return Counts::default();
        }
        let kept = std::mem::take(&mut self.kept);
        let Aligned { requests, is_shown } = self.align(kept);
        let approximate = !self.is_steady(&requests);
        self.first = self.first.or_else(|| requests.first().map(|first| (first.came, first.clocks)));
        self.counted += requests.len();
        if is_shown && requests.iter().all(|request| request.came == all) {
            requests.iter().for_each(|request| self.mark(request.clocks));
            self.distance = requests.last().and_then(|last| self.origins.distance(last)).unwrap_or_default();
        }
        Counts { approximate, ..requests.iter().map(count).sum() }
    }

    /// Whether the same lanes have come to these requests and to those counted before, and have gone the same ways in between.
    pub(crate) fn is_steady<'a>(&self, requests: impl IntoIterator<Item = &'a Request>) -> bool {
        let mut requests = requests.into_iter();
        let first = self.first.or_else(|| requests.next().map(|first| (first.came, first.clocks)));
        first.is_none_or(|(came, clocks)| requests.all(|request| request.is_in_step_since(came, &clocks)))
    }

    /// Whether nothing depends on what other sites have shown.
    pub(crate) fn is_settled(&self, all: u32) -> bool {
        match &self.kept[..] {
            [] => true,
            [request] => self.counted == 0 && request.came == all && request.is_in_step(),
            _ => false,
        }
    }

    /// What is kept.
    pub(crate) fn kept(&self) -> &[Request] {
        &self.kept
    }

    /// Gives what is kept.
    pub(crate) fn take_kept(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.kept)
    }

    /// The clocks of the requests of all lanes that were counted at once.
    pub(crate) fn marks(&self) -> &[Clocks] {
        &self.marks
    }

    /// The marks and the clocks of what is kept, if all of them are of requests of all lanes that moved on alike.
    pub(crate) fn chain(&self, all: u32) -> Option<Vec<Clocks>> {
        let mut last = (self.counted > 0).then_some(self.distance);
        let goes_on = |request: &Request| {
            let distance = self.origins.distance(request).filter(|_| request.came == all && request.made != 0);
            distance.is_some() && std::mem::replace(&mut last, distance) != distance
        };
        let kept = self.kept.iter().map(|request| request.clocks);
        let goes_on = !self.suspected && self.kept.iter().all(goes_on);
        (goes_on && self.marks.len() + self.kept.len() > 1).then(|| self.marks.iter().copied().chain(kept).collect())
    }

    /// Whether the marks are of all requests that have been counted.
    pub(crate) fn is_complete(&self) -> bool {
        self.marks.len() == self.counted
    }

    /// Determines which lanes belong together in requests of this site.
    pub(crate) fn align(&self, requests: Vec<Request>) -> Aligned {
        align(requests, &self.origins, (self.counted > 0).then_some(self.distance))
    }

    /// The warp has met: all begins anew.
    pub(crate) fn clear(&mut self) {
        let Ambiguous { marks, kept, .. } = self;
        let (mut marks, mut kept) = (std::mem::take(marks), std::mem::take(kept));
        marks.clear();
        kept.clear();
        *self = Ambiguous { marks, kept, ..Ambiguous::default() };
    }
}

impl Suspicion {
    /// The warp has met.
    pub(crate) fn clear(&mut self) {
        self.0 = false;
    }
}
