//! Shadow memory: for each place, the accesses that later ones may conflict with.
//!
//! README.md of this crate explains the protocol.

use super::moment::{Conflict, Mark, Moment, count_of};
use super::sets::Sets;
use std::ops::Range;

/// Shadow of a place that the kernel may write.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Last store.
    store: Mark,
    /// Atomic operations since then.
    atomics: Mark,
    /// Loads since then.
    loads: Mark,
}

/// Latest load of a place through a window that promises that nothing writes it.
#[derive(Clone, Copy, Debug, Default)]
struct ConstantLoad {
    interval: u32,
    thread: u16,
    site: u16,
}

/// Shadow of a region. Its cells are as small as the smallest access so far, and at most 8 bytes.
#[derive(Debug)]
pub(crate) struct Shadow {
    /// Size of the region, in bytes.
    bytes: usize,
    /// Size of a cell: `1 << shift` bytes.
    shift: u32,
    /// Empty until the region is accessed through a window that may write.
    cells: Vec<Cell>,
    /// Empty until the region is read through a window that promises that nothing writes it.
    constants: Vec<ConstantLoad>,
    /// Interval of the last store or atomic operation.
    last_write: u32,
    /// Sizes of atomic operations so far, a bit for each.
    atomic_sizes: u32,
    sets: Sets,
}

impl Shadow {
    /// Returns the shadow of a region with this number of bytes, accessed by blocks of at most this number of warps.
    pub(crate) fn new(bytes: usize, warps: usize) -> Self {
        let (cells, constants) = (Vec::new(), Vec::new());
        Shadow { bytes, shift: 3, cells, constants, last_write: 0, atomic_sizes: 0, sets: Sets::new(warps) }
    }

    /// Records a load of `bytes` bytes from `first` on, which is a multiple
    /// of `bytes`. Returns an earlier access that conflicts with it.
    #[inline(never)]
    pub(crate) fn load(&mut self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        let all_past = now.is_all_past(self.last_write);
        let Some((cell, sets)) = self.only_cell(first, bytes) else {
            return self.load_many(first, bytes, now, all_past);
        };
        let conflict = if all_past { None } else { cell.conflict_of_load(now, sets) };
        sets.add(&mut cell.loads, now);
        conflict
    }

    #[inline(never)]
    fn load_many(&mut self, first: usize, bytes: u32, now: &Moment<'_>, all_past: bool) -> Option<Conflict> {
        let cells = self.cells(first, bytes);
        let (cells, sets) = (&mut self.cells[cells], &mut self.sets);
        let conflict = match all_past {
            true => None,
            false => cells.iter().find_map(|cell| cell.conflict_of_load(now, sets)),
        };
        cells.iter_mut().for_each(|cell| sets.add(&mut cell.loads, now));
        conflict
    }

    /// As `load`, for a store. `same` is whether it stores the bits that are already there, and may.
    #[inline(never)]
    pub(crate) fn store(&mut self, first: usize, bytes: u32, now: &Moment<'_>, same: bool) -> Option<Conflict> {
        let constant = self.write_constant(first, bytes, now);
        let conflict = match self.only_cell(first, bytes) {
            Some((cell, sets)) => cell.store(now, sets, same),
            None => self.write_many(first, bytes, |cell, sets| cell.store(now, sets, same)),
        };
        constant.or(conflict)
    }

    /// As `load`, for an atomic operation. `now` has its size.
    #[inline(never)]
    pub(crate) fn atomic(&mut self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        let constant = self.write_constant(first, bytes, now);
        self.atomic_sizes |= bytes;
        let several_sizes = !self.atomic_sizes.is_power_of_two();
        let conflict = match self.only_cell(first, bytes) {
            Some((cell, sets)) => cell.atomic(now, sets, several_sizes),
            None => self.write_many(first, bytes, |cell, sets| cell.atomic(now, sets, several_sizes)),
        };
        constant.or(conflict)
    }

    #[inline(never)]
    fn write_many(
        &mut self,
        first: usize,
        bytes: u32,
        write: impl Fn(&mut Cell, &mut Sets) -> Option<Conflict>,
    ) -> Option<Conflict> {
        let (cells, mut conflict) = (self.cells(first, bytes), None);
        for cell in &mut self.cells[cells] {
            if let Some(found) = write(cell, &mut self.sets) {
                conflict.get_or_insert(found);
            }
        }
        conflict
    }

    /// Returns the cell of an access that covers exactly one. Most
    /// accesses do, and the emulator spends much of its time here.
    #[inline(always)]
    fn only_cell(&mut self, first: usize, bytes: u32) -> Option<(&mut Cell, &mut Sets)> {
        if bytes != 1 << self.shift {
            return None;
        }
        self.cells.get_mut(first >> self.shift).map(|cell| (cell, &mut self.sets))
    }

    /// As `load`, for a load through a window that promises that nothing writes the memory.
    #[inline(never)]
    pub(crate) fn load_constant(&mut self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        let cells = self.range(first, bytes);
        if self.constants.is_empty() {
            self.constants.resize(self.len(), ConstantLoad::default());
        }
        let load = ConstantLoad { interval: now.mark.interval, thread: now.thread, site: now.mark.site };
        for constant in &mut self.constants[cells.clone()] {
            *constant = load;
        }
        if now.is_of_launch(self.last_write) { self.find_write(cells, now) } else { None }
    }

    #[cold]
    fn find_write(&self, cells: Range<usize>, now: &Moment<'_>) -> Option<Conflict> {
        let mut writes = self.cells[cells].iter().flat_map(|cell| [cell.store, cell.atomics]);
        let write = writes.find_map(|mark| self.sets.latest(mark).filter(|mark| now.is_of_launch(mark.interval)))?;
        Some(Conflict { constant: true, ..write.conflict(write.lanes.trailing_zeros()) })
    }

    /// Returns whether a store or an atomic operation has accessed all of these bytes in interval `first_interval` or later,
    /// whatever its slot.
    pub(crate) fn is_written_since(&self, first_interval: u32, first: usize, bytes: u32) -> bool {
        let is_late = |mark: Mark| count_of(mark.interval) >= first_interval;
        let is_written = |cell: &Cell| {
            let mut writes = [cell.store, cell.atomics].into_iter();
            writes.any(|mark| self.sets.latest(mark).is_some_and(is_late))
        };
        let cells = first >> self.shift..(first + bytes as usize).div_ceil(1 << self.shift);
        self.cells.get(cells).is_some_and(|cells| cells.iter().all(is_written))
    }

    #[inline]
    fn write_constant(&mut self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        self.last_write = now.mark.interval;
        if self.constants.is_empty() { None } else { self.find_constant(first, bytes, now) }
    }

    #[cold]
    fn find_constant(&mut self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        let cells = self.range(first, bytes);
        let load = self.constants[cells].iter().find(|load| now.is_of_launch(load.interval))?;
        Some(Conflict {
            interval: load.interval,
            thread: load.thread,
            site: load.site,
            constant: true,
            same_value: false,
        })
    }

    /// Returns the cells of an access through a window that may write.
    #[inline]
    fn cells(&mut self, first: usize, bytes: u32) -> Range<usize> {
        let cells = self.range(first, bytes);
        if self.cells.is_empty() {
            self.cells.resize(self.len(), Cell::default());
        }
        cells
    }

    #[inline]
    fn range(&mut self, first: usize, bytes: u32) -> Range<usize> {
        if bytes < 1 << self.shift {
            self.refine(bytes.trailing_zeros());
        }
        first >> self.shift..(first + bytes as usize) >> self.shift
    }

    fn len(&self) -> usize {
        self.bytes.div_ceil(1 << self.shift)
    }

    /// Makes the cells smaller. An access to a cell counts as one to each part.
    #[cold]
    fn refine(&mut self, shift: u32) {
        let parts = 1u32 << (self.shift - shift);
        self.shift = shift;
        let len = self.len();
        for cell in std::mem::take(&mut self.cells) {
            for part in 0..parts {
                self.cells.push(cell.part(part, &mut self.sets));
            }
        }
        self.cells.truncate(len);
        for load in std::mem::take(&mut self.constants) {
            self.constants.extend((0..parts).map(|_| load));
        }
        self.constants.truncate(len);
    }
}

// README.md states these sizes.
const _: () = assert!(size_of::<Cell>() == 48 && size_of::<ConstantLoad>() == 8);

impl Cell {
    #[inline]
    fn conflict_of_load(&self, now: &Moment<'_>, sets: &Sets) -> Option<Conflict> {
        sets.conflict(&self.store, now).or_else(|| sets.conflict(&self.atomics, now))
    }

    #[inline]
    fn store(&mut self, now: &Moment<'_>, sets: &mut Sets, same: bool) -> Option<Conflict> {
        if self.store.is_old(now) & self.atomics.is_old(now) & self.loads.is_old(now) {
            *self = Cell { store: now.mark, ..Cell::default() };
            return None;
        }
        self.store_unordered(now, sets, same)
    }

    /// As `store`, if some accesses may be unordered.
    #[inline(never)]
    fn store_unordered(&mut self, now: &Moment<'_>, sets: &mut Sets, same: bool) -> Option<Conflict> {
        let store = if same { None } else { sets.conflict(&self.store, now) };
        let others = || sets.conflict(&self.atomics, now).or_else(|| sets.conflict(&self.loads, now));
        let conflict = store.or_else(others);
        // Everything ordered after this store is also ordered after everything before it.
        self.store = now.mark;
        sets.clear(&mut self.atomics);
        sets.clear(&mut self.loads);
        conflict
    }

    #[inline(always)]
    fn atomic(&mut self, now: &Moment<'_>, sets: &mut Sets, several_sizes: bool) -> Option<Conflict> {
        let is_ordered = self.store.is_old(now) & self.loads.is_old(now) & !several_sizes;
        let conflict = if is_ordered { None } else { self.conflict_of_atomic(now, sets, several_sizes) };
        sets.add(&mut self.atomics, now);
        conflict
    }

    #[inline(never)]
    fn conflict_of_atomic(&self, now: &Moment<'_>, sets: &Sets, several_sizes: bool) -> Option<Conflict> {
        let mut conflict = sets.conflict(&self.store, now).or_else(|| sets.conflict(&self.loads, now));
        if several_sizes {
            conflict = conflict.or_else(|| sets.conflict_of_sizes(&self.atomics, now));
        }
        conflict
    }

    /// Returns a cell for a part of this one. The first part keeps the sets.
    fn part(&self, part: u32, sets: &mut Sets) -> Cell {
        if part == 0 {
            return *self;
        }
        Cell { store: self.store, atomics: sets.copy(self.atomics), loads: sets.copy(self.loads) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::moment::MAX_INTERVALS;
    use crate::race::order::{BlockOrder, Order};

    /// Atomic operations of two sizes on the same bytes conflict, whichever is first and whatever the thread did before.
    #[test]
    fn atomic_operations_of_different_sizes_are_in_conflict() {
        let mut order = Order::new(0, MAX_INTERVALS);
        let mut block = BlockOrder::new(0, 64, &order);
        block.begin(&mut order);
        let conflicts = |accesses: &[(u16, usize, u32)]| {
            let mut shadow = Shadow::new(16, 2);
            let atomic = |(thread, first, bytes): &(u16, usize, u32)| {
                shadow
                    .atomic(*first, *bytes, &block.moment(*thread, 0).of_atomic(*bytes))
                    .map(|conflict| conflict.thread)
            };
            accesses.iter().map(atomic).collect::<Vec<_>>()
        };
        assert_eq!(conflicts(&[(0, 0, 8), (1, 0, 4)]), [None, Some(0)]);
        assert_eq!(conflicts(&[(0, 4, 4), (40, 0, 8)]), [None, Some(0)]);
        assert_eq!(conflicts(&[(0, 8, 8), (1, 0, 4), (2, 4, 4)]), [None; 3]);
        // A thread's own operations are ordered, and both conflict with those of others.
        assert_eq!(conflicts(&[(0, 0, 8), (0, 0, 4), (1, 0, 4)]), [None, None, Some(0)]);
        assert_eq!(conflicts(&[(0, 0, 8), (1, 0, 8), (0, 0, 4), (2, 0, 8)])[..2], [None; 2]);
        assert_eq!(conflicts(&[(0, 0, 8), (33, 0, 8), (33, 0, 4)]), [None, None, Some(0)]);
    }

    /// A barrier orders them.
    #[test]
    fn atomic_operations_of_different_sizes_can_be_in_order() {
        let mut order = Order::new(0, MAX_INTERVALS);
        let mut block = BlockOrder::new(0, 64, &order);
        let mut shadow = Shadow::new(8, 2);
        block.begin(&mut order);
        assert_eq!(shadow.atomic(0, 8, &block.moment(0, 0).of_atomic(8)), None);
        block.barrier(&mut order);
        assert_eq!(shadow.atomic(0, 4, &block.moment(1, 0).of_atomic(4)), None);
    }
}
