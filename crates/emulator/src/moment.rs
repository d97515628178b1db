//! When an access is made, and the mark that it leaves at its place.
//!
//! README.md of this crate explains the protocol.

use crate::clocks::Knowledge;
use cuda_std::host::banks::lanes_of;

/// The blocks that can be under way at a time: each has a slot, whose number is in the high bits of its intervals.
///
/// So the intervals of a slot's blocks are neighbours, and those of a block are a range.
pub(crate) const SLOTS: usize = 4;
pub(crate) const SLOT_SHIFT: u32 = 30;

/// The bits of an interval that count.
const COUNT: u32 = (1 << SLOT_SHIFT) - 1;

/// The most intervals that can be told apart. The number with all bits set stands for no interval.
pub(crate) const MAX_INTERVALS: u32 = COUNT - 1;

/// The slot of an interval's block.
pub(crate) fn slot_of(interval: u32) -> usize {
    (interval >> SLOT_SHIFT) as usize
}

/// An interval's number among those of all slots.
pub(crate) fn count_of(interval: u32) -> u32 {
    interval & COUNT
}

/// Accesses to a place by lanes of one warp, at the same clock and line.
///
/// The default, in interval 0 by no lane, is for no access at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) interval: u32,
    pub(crate) clock: u32,
    pub(crate) lanes: u32,
    pub(crate) warp: u8,
    /// The size of an atomic operation, 0 for loads and stores.
    pub(crate) atomic_bytes: u8,
    pub(crate) site: u16,
}

/// An earlier access that the present one is in conflict with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) interval: u32,
    pub(crate) thread: u16,
    pub(crate) site: u16,
    /// Not a race, but memory that is written although a window promises that it is not.
    pub(crate) constant: bool,
    /// The present access is a store of the bits that are there already.
    pub(crate) same_value: bool,
}

/// The running thread's place in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// What its access leaves behind.
    pub(crate) mark: Mark,
    pub(crate) thread: u16,
    /// The first interval of its block.
    pub(crate) first: u32,
    /// The first interval whose accesses matter, whatever its slot.
    pub(crate) launch_first: u32,
    /// The first interval whose accesses may be without order, whatever its slot.
    pub(crate) unordered_first: u32,
    pub(crate) known: &'a Knowledge,
}

impl Mark {
    /// Whether it is ordered before, without a further look. A mark that stands for several is not.
    #[inline(always)]
    pub(crate) fn is_old(&self, now: &Moment<'_>) -> bool {
        now.is_past(self.interval)
    }

    /// The first of these lanes whose access is not ordered before the present one.
    #[inline]
    pub(crate) fn unordered_lane(&self, now: &Moment<'_>) -> Option<u32> {
        if self.is_old(now) { None } else { self.find_unordered_lane(now) }
    }

    #[inline(never)]
    fn find_unordered_lane(&self, now: &Moment<'_>) -> Option<u32> {
        let mut lanes = self.lanes;
        if self.warp == now.mark.warp && now.is_own(self.interval) {
            // What the thread itself did.
            lanes &= !now.mark.lanes;
        }
        lanes_of(lanes).find(|lane| !now.knows(self.interval, self.thread(*lane), self.clock))
    }

    /// Whether later accesses may be in conflict with it that are in none with the present one.
    #[inline]
    pub(crate) fn is_needed(&self, now: &Moment<'_>) -> bool {
        let is_other_size = || self.atomic_bytes != now.mark.atomic_bytes;
        !self.is_old(now) && (is_other_size() || self.find_unordered_lane(now).is_some())
    }

    fn thread(&self, lane: u32) -> u16 {
        u16::from(self.warp) * 32 + lane as u16
    }

    /// Stands for one more access from now on, if it can: lanes share a mark only at the same line, so that a race can
    /// name it, but a lane's first access at a clock stands for its later ones, whatever their lines.
    #[inline]
    pub(crate) fn take(&mut self, other: Mark) -> bool {
        let together = (self.interval, self.clock, self.warp, self.atomic_bytes)
            == (other.interval, other.clock, other.warp, other.atomic_bytes);
        let taken = together && (self.site == other.site || self.lanes & other.lanes != 0);
        if taken {
            self.lanes |= other.lanes;
        }
        taken
    }

    /// The conflict with the access of `lane`.
    pub(crate) fn conflict(&self, lane: u32) -> Conflict {
        let (interval, thread, site) = (self.interval, self.thread(lane), self.site);
        Conflict { interval, thread, site, constant: false, same_value: false }
    }
}

impl Moment<'_> {
    /// Whether an interval is one of its block's, up to now.
    #[inline]
    pub(crate) fn is_own(&self, interval: u32) -> bool {
        interval.wrapping_sub(self.first) <= self.mark.interval - self.first
    }

    /// Whether all that happened in an interval is ordered before, without a further look: since it was in an earlier launch,
    /// or in an earlier interval of the block.
    #[inline]
    pub(crate) fn is_past(&self, interval: u32) -> bool {
        let is_earlier_own = interval.wrapping_sub(self.first) < self.mark.interval - self.first;
        is_earlier_own | self.is_all_past(interval)
    }

    /// The same of all that had happened by the time of an access in that interval.
    #[inline]
    pub(crate) fn is_all_past(&self, interval: u32) -> bool {
        count_of(interval) < self.unordered_first
    }

    /// Whether what happened in an interval matters, since it was not in an earlier launch.
    #[inline]
    pub(crate) fn is_of_launch(&self, interval: u32) -> bool {
        count_of(interval) >= self.launch_first
    }

    /// The same for an atomic operation on this number of bytes.
    #[inline]
    pub(crate) fn of_atomic(mut self, bytes: u32) -> Self {
        self.mark.atomic_bytes = bytes as u8;
        self
    }

    /// Other blocks' accesses do not matter, since they were to other memory.
    #[inline]
    pub(crate) fn forget_other_blocks(&mut self) {
        self.launch_first = count_of(self.first);
        self.unordered_first = count_of(self.mark.interval);
    }

    /// Whether the access of `thread` at `clock` in `interval` is over for this thread; for one of this block's
    /// accesses in this interval, or one of another block's.
    #[inline]
    pub(crate) fn knows(&self, interval: u32, thread: u16, clock: u32) -> bool {
        self.known.as_ref().is_some_and(|known| known.know(interval, thread, clock))
    }
}
