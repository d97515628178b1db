//! Requests of a warp at a site, counted at once if it is clear which lanes belong together.

use super::alignment::{Aligned, Origins, align};
use super::anchors::Clocks;
use super::colours;
use super::costs::Request;
use crate::report::Counts;

/// Maximum number of kept requests at a site. When it is reached, they are settled without other sites.
const MAX_KEPT: usize = 512;

/// Maximum number of clocks that a site keeps since the warp last met. Later requests are no anchors.
const MAX_MARKS: usize = 1024;

/// Visits to a site since the warp last met.
///
/// A request of all lanes is counted at once if all lanes have made equally many visits to
/// any site, and each of them has moved by the same distance from its first address. Other
/// requests are kept until the warp meets, when all sites show which lanes belong together.
#[derive(Debug, Default)]
pub(crate) struct Ambiguous {
    origins: Origins,
    /// Distance from the first addresses, for the last request that was counted at once.
    distance: u64,
    /// Clocks of the first request and of those that have moved, if they were counted at once.
    marks: Vec<Clocks>,
    /// Number of requests that have been counted.
    counted: usize,
    /// Lanes and clocks of the first counted request.
    first: Option<(u32, Clocks)>,
    kept: Vec<Request>,
    /// Whether the first addresses look like those of alternating lanes.
    suspected: bool,
}

/// Whether lanes of the warp may alternate, according to the first addresses at any site.
#[derive(Debug, Default)]
pub(crate) struct Suspicion(bool);

impl Ambiguous {
    /// Adds the next request. Returns the counts of everything that this settles.
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
        if request.visited != all || self.suspected {
            return self.keep(request, all, count);
        }
        if first {
            return self.add_first(request, all, suspicion, count);
        }
        let Some(distance) = self.origins.distance(request) else { return self.keep(request, all, count) };
        let moved = request.accessed != 0 && distance != self.distance;
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

    /// Records that the first request is counted.
    fn begin(&mut self, request: &Request) {
        self.counted = 1;
        self.first = Some((request.visited, request.clocks));
    }

    fn mark(&mut self, clocks: Clocks) {
        if self.marks.len() < MAX_MARKS {
            self.marks.push(clocks);
        }
    }

    /// Adds the first request, which all lanes have visited. If addresses
    /// are evenly spaced from lane to lane, lanes do not alternate.
    fn add_first(
        &mut self,
        request: &Request,
        all: u32,
        suspicion: &mut Suspicion,
        count: impl Fn(&Request) -> Counts,
    ) -> Counts {
        if request.step().is_none() {
            self.suspected = colours::may_alternate(request);
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

    /// Counts the first request if it is the only kept one: as all lanes move
    /// equally to the second one, they made the first one together, too.
    fn count_first(&mut self, count: &impl Fn(&Request) -> Counts) -> Counts {
        if self.counted > 0 || self.kept.len() != 1 || !self.kept[0].is_in_step() {
            return Counts::default();
        }
        let first = self.kept.remove(0);
        self.begin(&first);
        self.mark(first.clocks);
        count(&first)
    }

    /// Keeps a request. If there are too many, they are settled by the addresses of this site alone.
    fn keep(&mut self, request: &Request, all: u32, count: impl Fn(&Request) -> Counts) -> Counts {
        self.kept.push(*request);
        if self.kept.len() < MAX_KEPT {
            return Counts::default();
        }
        let kept = std::mem::take(&mut self.kept);
        let Aligned { requests, is_shown } = self.align(kept);
        let approximate = !self.is_steady(&requests);
        self.first = self.first.or_else(|| requests.first().map(|first| (first.visited, first.clocks)));
        self.counted += requests.len();
        if is_shown && requests.iter().all(|request| request.visited == all) {
            requests.iter().for_each(|request| self.mark(request.clocks));
            self.distance = requests.last().and_then(|last| self.origins.distance(last)).unwrap_or_default();
        }
        Counts { approximate, ..requests.iter().map(count).sum() }
    }

    /// Returns whether these requests and those counted before have
    /// the same lanes, which made equally many visits in between.
    pub(crate) fn is_steady<'a>(&self, requests: impl IntoIterator<Item = &'a Request>) -> bool {
        let mut requests = requests.into_iter();
        let first = self.first.or_else(|| requests.next().map(|first| (first.visited, first.clocks)));
        first.is_none_or(|(visited, clocks)| requests.all(|request| request.is_in_step_since(visited, &clocks)))
    }

    /// Returns whether the counts are independent of other sites.
    pub(crate) fn is_settled(&self, all: u32) -> bool {
        match &self.kept[..] {
            [] => true,
            [request] => self.counted == 0 && request.visited == all && request.is_in_step(),
            _ => false,
        }
    }

    /// Returns the kept requests.
    pub(crate) fn kept(&self) -> &[Request] {
        &self.kept
    }

    /// Removes and returns the kept requests.
    pub(crate) fn take_kept(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.kept)
    }

    /// Returns the clocks of requests of all lanes that were counted at once.
    pub(crate) fn marks(&self) -> &[Clocks] {
        &self.marks
    }

    /// Returns the marks and the clocks of the kept requests, if each of these has all lanes, which have moved equally.
    pub(crate) fn chain(&self, all: u32) -> Option<Vec<Clocks>> {
        let mut last = (self.counted > 0).then_some(self.distance);
        let advances = |request: &Request| {
            let distance = self.origins.distance(request).filter(|_| request.visited == all && request.accessed != 0);
            distance.is_some() && std::mem::replace(&mut last, distance) != distance
        };
        let kept = self.kept.iter().map(|request| request.clocks);
        let advances = !self.suspected && self.kept.iter().all(advances);
        (advances && self.marks.len() + self.kept.len() > 1).then(|| self.marks.iter().copied().chain(kept).collect())
    }

    /// Returns whether there are marks for all counted requests.
    pub(crate) fn is_complete(&self) -> bool {
        self.marks.len() == self.counted
    }

    /// Determines which lanes belong together in requests of this site.
    pub(crate) fn align(&self, requests: Vec<Request>) -> Aligned {
        align(requests, &self.origins, (self.counted > 0).then_some(self.distance))
    }

    /// Resets everything, because the warp has met.
    pub(crate) fn clear(&mut self) {
        let Ambiguous { marks, kept, .. } = self;
        let (mut marks, mut kept) = (std::mem::take(marks), std::mem::take(kept));
        marks.clear();
        kept.clear();
        *self = Ambiguous { marks, kept, ..Ambiguous::default() };
    }
}

impl Suspicion {
    /// Resets the suspicion, because the warp has met.
    pub(crate) fn clear(&mut self) {
        self.0 = false;
    }
}
