//! Sets of the marks that accesses leave at a place.

use super::moment::{Conflict, Mark, Moment, count_of};

/// Interval of a mark that stands for a set, whose number is in `clock`.
const SET: u32 = u32::MAX;

/// Maximum number of marks of earlier clocks, other lines and other blocks in a set. Beyond it the oldest one is dropped.
const MAX_OTHERS: usize = 256;

/// Sets of marks, for places that several warps, or lanes at several lines, access without order.
///
/// A set has the latest mark of each warp of a block, and other marks that still matter.
#[derive(Debug)]
pub(crate) struct Sets {
    /// Maximum number of warps per block.
    warps: usize,
    /// Latest marks: `warps` of them for each set.
    latest: Vec<Mark>,
    /// By set: marks that are not the latest one of their warp, or belong to another block.
    others: Vec<Vec<Mark>>,
    /// Unused sets.
    free: Vec<u32>,
}

impl Sets {
    pub(crate) fn new(warps: usize) -> Self {
        Sets { warps, latest: Vec::new(), others: Vec::new(), free: Vec::new() }
    }

    /// Returns an access that `earlier` stands for and that is not ordered before the current one.
    #[inline(always)]
    pub(crate) fn conflict(&self, earlier: &Mark, now: &Moment<'_>) -> Option<Conflict> {
        if earlier.is_old(now) { None } else { self.conflict_with(earlier, now) }
    }

    #[inline(never)]
    fn conflict_with(&self, earlier: &Mark, now: &Moment<'_>) -> Option<Conflict> {
        if earlier.interval == SET {
            return self.conflict_with_set(earlier.clock, now);
        }
        earlier.unordered_lane(now).map(|lane| earlier.conflict(lane))
    }

    fn conflict_with_set(&self, set: u32, now: &Moment<'_>) -> Option<Conflict> {
        let mut marks = self.latest_of(set).iter().chain(&self.others[set as usize]);
        marks.find_map(|mark| mark.unordered_lane(now).map(|lane| mark.conflict(lane)))
    }

    /// Returns an atomic operation that `earlier` stands for, with
    /// another size than the current one and not ordered before it.
    #[cold]
    pub(crate) fn conflict_of_sizes(&self, earlier: &Mark, now: &Moment<'_>) -> Option<Conflict> {
        let of_one = |mark: &Mark| {
            let other = mark.atomic_bytes != now.mark.atomic_bytes;
            other.then(|| mark.unordered_lane(now)).flatten().map(|lane| mark.conflict(lane))
        };
        if earlier.interval != SET {
            return of_one(earlier);
        }
        self.latest_of(earlier.clock).iter().chain(&self.others[earlier.clock as usize]).find_map(of_one)
    }

    fn latest_of(&self, set: u32) -> &[Mark] {
        &self.latest[set as usize * self.warps..][..self.warps]
    }

    /// Adds the current access to the accesses that `place` stands for. Those ordered before it are no longer needed.
    #[inline(always)]
    pub(crate) fn add(&mut self, place: &mut Mark, now: &Moment<'_>) {
        if place.interval == SET {
            self.add_to_set(place.clock, now);
        } else if !place.merge(now.mark) {
            match place.is_needed(now) {
                true => self.begin_set(place, now),
                false => *place = now.mark,
            }
        }
    }

    #[inline]
    fn add_to_set(&mut self, set: u32, now: &Moment<'_>) {
        let place = set as usize * self.warps + usize::from(now.mark.warp);
        if !self.latest[place].merge(now.mark) {
            self.add_latest(set, place, now);
        }
    }

    #[inline(never)]
    fn add_latest(&mut self, set: u32, place: usize, now: &Moment<'_>) {
        // Blocks alternate, so this block's latest mark may be among the others, near the end.
        if self.others[set as usize].iter_mut().rev().any(|other| other.merge(now.mark)) {
            return;
        }
        let before = std::mem::replace(&mut self.latest[place], now.mark);
        if before.is_needed(now) {
            self.keep(set, before, now);
        }
    }

    /// Keeps `mark`, which is not the latest one of its warp.
    #[cold]
    fn keep(&mut self, set: u32, mark: Mark, now: &Moment<'_>) {
        let others = &mut self.others[set as usize];
        others.retain(|other| other.is_needed(now));
        if others.len() == MAX_OTHERS {
            others.remove(0);
        }
        others.push(mark);
    }

    #[cold]
    fn begin_set(&mut self, place: &mut Mark, now: &Moment<'_>) {
        let set = self.new_set();
        match now.is_own(place.interval) {
            true => self.latest[set as usize * self.warps + usize::from(place.warp)] = *place,
            false => self.others[set as usize].push(*place),
        }
        self.add_to_set(set, now);
        *place = Mark { interval: SET, clock: set, ..Mark::default() };
    }

    /// Returns an empty set.
    fn new_set(&mut self) -> u32 {
        if let Some(set) = self.free.pop() {
            self.latest[set as usize * self.warps..][..self.warps].fill(Mark::default());
            return set;
        }
        self.latest.resize(self.latest.len() + self.warps, Mark::default());
        self.others.push(Vec::new());
        self.others.len() as u32 - 1
    }

    /// Removes all accesses that `place` stands for.
    #[inline]
    pub(crate) fn clear(&mut self, place: &mut Mark) {
        if place.interval == SET {
            self.others[place.clock as usize].clear();
            self.free.push(place.clock);
        }
        *place = Mark::default();
    }

    /// Returns a mark with a copy of the set, if `place` stands for one.
    pub(crate) fn copy(&mut self, place: Mark) -> Mark {
        if place.interval != SET {
            return place;
        }
        let (set, from) = (self.new_set(), place.clock as usize);
        self.latest.copy_within(from * self.warps..(from + 1) * self.warps, set as usize * self.warps);
        self.others[set as usize] = self.others[from].clone();
        Mark { clock: set, ..place }
    }

    /// Returns the latest mark that `place` stands for, if any.
    pub(crate) fn latest(&self, place: Mark) -> Option<Mark> {
        if place.interval != SET {
            return (place.lanes != 0).then_some(place);
        }
        self.latest_of(place.clock).iter().max_by_key(|mark| count_of(mark.interval)).copied()
    }
}
