//! The time of an access, and the mark that it leaves in shadow memory.
//!
//! README.md of this crate explains the protocol.

use super::clocks::Knowledge;
use cuda_std::host::banks::lanes_of;

/// Maximum number of blocks in progress. Each has a slot, whose number is in the high bits of its intervals.
///
/// So the intervals of a slot's blocks are consecutive, and those of a block are a range.
pub(crate) const SLOTS: usize = 4;
pub(crate) const SLOT_SHIFT: u32 = 30;

/// Mask of an interval's number without the slot.
const COUNT: u32 = (1 << SLOT_SHIFT) - 1;

/// Maximum number of intervals. The number with all bits set stands for no interval.
pub(crate) const MAX_INTERVALS: u32 = COUNT - 1;

/// Returns the slot of an interval's block.
pub(crate) fn slot_of(interval: u32) -> usize {
    (interval >> SLOT_SHIFT) as usize
}

/// Returns an interval's number without the slot.
pub(crate) fn count_of(interval: u32) -> u32 {
    interval & COUNT
}

/// Accesses to a place by lanes of one warp, at the same clock and line.
///
/// The default, interval 0 without lanes, stands for no access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) interval: u32,
    pub(crate) clock: u32,
    pub(crate) lanes: u32,
    pub(crate) warp: u8,
    /// Size of an atomic operation, 0 for loads and stores.
    pub(crate) atomic_bytes: u8,
    pub(crate) site: u16,
}

/// An earlier access that conflicts with the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) interval: u32,
    pub(crate) thread: u16,
    pub(crate) site: u16,
    /// Whether memory is written although a window promises that nothing writes it. This is not a race.
    pub(crate) constant: bool,
    /// Whether the current access stores the bits that are already there.
    pub(crate) same_value: bool,
}

/// The running thread's position in the happens-before order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    /// Mark that its access leaves.
    pub(crate) mark: Mark,
    pub(crate) thread: u16,
    /// First interval of its block.
    pub(crate) first: u32,
    /// First interval whose accesses matter, whatever its slot.
    pub(crate) launch_first: u32,
    /// First interval whose accesses may be unordered, whatever its slot.
    pub(crate) unordered_first: u32,
    pub(crate) known: &'a Knowledge,
}

impl Mark {
    /// Returns whether the interval alone shows that the access is ordered
    /// before the current one; `false` for a mark that stands for a set.
    #[inline(always)]
    pub(crate) fn is_old(&self, now: &Moment<'_>) -> bool {
        now.is_past(self.interval)
    }

    /// Returns the first lane whose access is not ordered before the current one.
    #[inline]
    pub(crate) fn unordered_lane(&self, now: &Moment<'_>) -> Option<u32> {
        if self.is_old(now) { None } else { self.find_unordered_lane(now) }
    }

    #[inline(never)]
    fn find_unordered_lane(&self, now: &Moment<'_>) -> Option<u32> {
        let mut lanes = self.lanes;
        if self.warp == now.mark.warp && now.is_own(self.interval) {
            // The thread's own access.
            lanes &= !now.mark.lanes;
        }
        lanes_of(lanes).find(|lane| !now.knows(self.interval, self.thread(*lane), self.clock))
    }

    /// Returns whether a later access may conflict with this mark although it does not conflict with the current access.
    #[inline]
    pub(crate) fn is_needed(&self, now: &Moment<'_>) -> bool {
        let is_other_size = || self.atomic_bytes != now.mark.atomic_bytes;
        !self.is_old(now) && (is_other_size() || self.find_unordered_lane(now).is_some())
    }

    fn thread(&self, lane: u32) -> u16 {
        u16::from(self.warp) * 32 + lane as u16
    }

    /// Adds another access to the mark, if one mark can stand for both. Lanes share a
    /// mark only at the same line, so that the report of a race can name it. But a
    /// lane's first access at a clock stands for its later ones, whatever their lines.
    #[inline]
    pub(crate) fn merge(&mut self, other: Mark) -> bool {
        let together = (self.interval, self.clock, self.warp, self.atomic_bytes)
            == (other.interval, other.clock, other.warp, other.atomic_bytes);
        let taken = together && (self.site == other.site || self.lanes & other.lanes != 0);
        if taken {
            self.lanes |= other.lanes;
        }
        taken
    }

    /// Returns the conflict with the access of `lane`.
    pub(crate) fn conflict(&self, lane: u32) -> Conflict {
        let (interval, thread, site) = (self.interval, self.thread(lane), self.site);
        Conflict { interval, thread, site, constant: false, same_value: false }
    }
}

impl Moment<'_> {
    /// Returns whether an interval is one of the block's, up to now.
    #[inline]
    pub(crate) fn is_own(&self, interval: u32) -> bool {
        interval.wrapping_sub(self.first) <= self.mark.interval - self.first
    }

    /// Returns whether the interval alone shows that everything in it is ordered before: it belongs to an earlier launch, or
    /// is an earlier interval of the block.
    #[inline]
    pub(crate) fn is_past(&self, interval: u32) -> bool {
        let is_earlier_own = interval.wrapping_sub(self.first) < self.mark.interval - self.first;
        is_earlier_own | self.is_all_past(interval)
    }

    /// Returns whether everything is ordered before that had happened by the time of an access in this interval.
    #[inline]
    pub(crate) fn is_all_past(&self, interval: u32) -> bool {
        count_of(interval) < self.unordered_first
    }

    /// Returns whether an interval belongs to this launch, so that its accesses matter.
    #[inline]
    pub(crate) fn is_of_launch(&self, interval: u32) -> bool {
        count_of(interval) >= self.launch_first
    }

    /// Returns this moment for an atomic operation on this number of bytes.
    #[inline]
    pub(crate) fn of_atomic(mut self, bytes: u32) -> Self {
        self.mark.atomic_bytes = bytes as u8;
        self
    }

    /// Ignores accesses of other blocks, because they were to other memory.
    #[inline]
    pub(crate) fn forget_other_blocks(&mut self) {
        self.launch_first = count_of(self.first);
        self.unordered_first = count_of(self.mark.interval);
    }

    /// Returns whether the access of `thread` at `clock` in `interval` happens before. Valid for this block's accesses in
    /// the current interval, and for those of other blocks.
    #[inline]
    pub(crate) fn knows(&self, interval: u32, thread: u16, clock: u32) -> bool {
        self.known.as_ref().is_some_and(|known| known.know(interval, thread, clock))
    }
}
