//! Asynchronous copies: in progress from their start until the thread has waited for them.
//!
//! In between, the copy may take effect at any time. So its elements count as stored when it begins, and again when the
//! thread has waited, which is when they arrive. Meanwhile they are busy: any access to them is a fault, also by the copying
//! thread. Elements that a copy reads are busy for stores.

use super::global::place;
use super::in_progress::{Copy, MAX_BYTES, Source};
use super::region::Region;
use crate::race::{Conflict, Moment};
use crate::report::{Action, Problem, Site};
use crate::running::Running;
use cuda_std::host::{Access, AsyncCopy, Space};

impl Running {
    /// Begins a copy. It reads its source now, and reports faults of the source now.
    pub(crate) fn copy_async(&mut self, copy: &AsyncCopy) {
        let mut contents = [0; MAX_BYTES];
        let source = self.read_source(copy, &mut contents);
        let (thread, bytes) = (self.thread, (copy.to.elements * copy.to.element_bytes) as usize);
        self.make(&copy.to, Action::Store, |region, to, now| {
            let conflict = region.shadow.store(to, bytes as u32, now, false);
            region.count_as_written(to, bytes);
            region.busy.begin(region.bytes().len(), to, bytes, now);
            let copy = Copy { to, site: now.mark.site, contents, bytes, source };
            region.copies.queue(thread).begin(copy);
            ((), conflict)
        });
    }

    pub(crate) fn commit_copies(&mut self) {
        self.block.shared.copies.queue(self.thread).commit();
    }

    /// Ends all copies of the running thread except the `latest` groups.
    pub(crate) fn wait_copies(&mut self, latest: Option<u32>) {
        for copy in self.block.shared.copies.queue(self.thread).end(latest) {
            let mut now = self.block.order.moment(self.thread as u16, copy.site);
            now.forget_other_blocks();
            self.block.shared.busy.end(copy.to, copy.bytes);
            // Accesses in the meantime have been reported.
            self.block.shared.shadow.store(copy.to, copy.bytes as u32, &now, false);
            self.block.shared.copy_from(copy.to, &copy.contents[..copy.bytes]);
            if let Some(source) = copy.source {
                self.end_source(source);
            }
        }
    }

    /// Reads the elements that are in range into `contents`. Returns the source if the kernel may write it.
    fn read_source(&mut self, copy: &AsyncCopy, contents: &mut [u8; MAX_BYTES]) -> Option<Source> {
        let access = Access { elements: copy.present(), ..copy.from };
        let site = self.check_source(copy, &access)?;
        let bytes = access.elements * access.element_bytes;
        let now = self.block.order.moment(self.thread as u16, site);
        if !self.reach.contains(&access) {
            return self.find_foreign(&access, Action::Load);
        }
        let Some((region, first)) = self.memory.find(access.address(), bytes) else {
            self.find(access.at.into(), Problem::NoMemory { place: place(&access), action: Action::Load });
            return None;
        };
        contents[..bytes as usize].copy_from_slice(&region.bytes()[first..first + bytes as usize]);
        let is_written = region.is_written(first, bytes);
        let conflict = load(region, first, &access, &now);
        let source = (access.space == Space::Global).then(|| {
            region.busy.begin(region.bytes().len(), first, bytes as usize, &now);
            let Access { elements, element_bytes, .. } = access;
            Source { address: access.address(), elements, element_bytes, site }
        });
        if !is_written {
            self.find_unwritten(&access, Action::Load);
        }
        if let Some(conflict) = conflict {
            self.find_conflict(&access, Action::Load, conflict);
        }
        source
    }

    /// Counts the load of a copy, and checks its range and alignment. Returns its site if any element is read.
    fn check_source(&mut self, copy: &AsyncCopy, present: &Access) -> Option<u16> {
        let site = self.sites.number_of(Site::of_access(&copy.from, Action::Load));
        let is_made = present.elements > 0 && copy.from.is_aligned();
        self.record_visit(site, is_made.then_some(copy.from.address()));
        let (at, action, bytes) = (copy.from.at, Action::Load, copy.from.elements * copy.from.element_bytes);
        if present.elements < copy.from.elements && !copy.masked {
            let problem = Problem::OutOfRange { place: place(&copy.from), elements: copy.from.elements, action };
            self.find(at.into(), problem);
        } else if !copy.from.is_aligned() && present.elements > 0 {
            self.find(at.into(), Problem::Misaligned { place: place(&copy.from), bytes, action });
        }
        is_made.then_some(site)
    }

    /// Ends a copy's read of its source, which may have taken place at any time until now.
    fn end_source(&mut self, source: Source) {
        let Source { address, elements, element_bytes, site } = source;
        let now = self.block.order.moment(self.thread as u16, site);
        if let Some((region, first)) = self.memory.find(address, elements * element_bytes) {
            region.busy.end(first, (elements * element_bytes) as usize);
            for k in 0..elements as usize {
                region.shadow.load(first + k * element_bytes as usize, element_bytes, &now);
            }
        }
    }
}

/// Records the load of each element.
fn load(region: &mut Region, first: usize, access: &Access, now: &Moment<'_>) -> Option<Conflict> {
    let mut conflict = None;
    for k in 0..access.elements as usize {
        let (place, bytes) = (first + k * access.element_bytes as usize, access.element_bytes);
        let found = match access.space {
            Space::GlobalConstant => region.shadow.load_constant(place, bytes, now),
            _ => region.shadow.load(place, bytes, now),
        };
        conflict = conflict.or(found);
    }
    conflict
}
