//! Accesses to memory: checked, recorded, counted, and made.

use super::global::place;
use super::region::Region;
use crate::race::{Conflict, Moment};
use crate::report::{Action, Other, Problem, Site};
use crate::running::Running;
use cuda_std::Ordering;
use cuda_std::host::{Access, Scope, Space};
use std::slice;

impl Running {
    /// Loads into `bits`. Those are zeros before, and stay zeros if the load cannot be made.
    #[inline]
    pub(crate) fn load(&mut self, access: &Access, bits: &mut [u64]) {
        self.make(access, Action::Load, |region, first, now| {
            let Access { elements, element_bytes, .. } = *access;
            region.read(first, element_bytes, bits);
            let conflict = match access.space {
                Space::GlobalConstant => region.shadow.load_constant(first, elements * element_bytes, now),
                _ => region.shadow.load(first, elements * element_bytes, now),
            };
            ((), conflict)
        });
    }

    #[inline]
    pub(crate) fn store(&mut self, access: &Access, bits: &[u64]) {
        let allowed = self.launch.same_value_writes;
        self.make(access, Action::Store, |region, first, now| {
            let Access { elements, element_bytes, .. } = *access;
            let bytes = elements * element_bytes;
            let same = allowed && region.holds(first, element_bytes, bits);
            let mut conflict = region.shadow.store(first, bytes, now, same);
            if let Some(conflict) = &mut conflict {
                conflict.same_value = region.holds(first, element_bytes, bits);
            }
            region.write(first, element_bytes, bits);
            ((), conflict)
        });
    }

    /// Performs an atomic operation, which stores `new(old)` if that is `Some`. Returns the old value.
    pub(crate) fn atomic(&mut self, access: &Access, ordering: Ordering, new: impl FnOnce(u64) -> Option<u64>) -> u64 {
        let (thread, scope) = (self.thread as u16, scope_of(access.space));
        if ordering == Ordering::SeqCst {
            self.block.order.fence(thread, scope);
        }
        let made = self.make(access, Action::Atomic, |region, first, now| {
            let conflict = region.shadow.atomic(first, access.element_bytes, now);
            let mut old = 0;
            region.read(first, access.element_bytes, slice::from_mut(&mut old));
            let new = new(old);
            if let Some(new) = new {
                region.write(first, access.element_bytes, &[new]);
            }
            ((old, new.is_some()), conflict)
        });
        let Some((old, writes)) = made else { return 0 };
        self.block.order.atomic(thread, access.address(), scope, writes, &mut self.order);
        if ordering == Ordering::SeqCst {
            self.block.order.acquire(thread, scope);
        }
        old
    }

    /// Records that a masked form makes no access.
    pub(crate) fn left_out(&mut self, access: &Access, action: Action) {
        let site = self.sites.number_of(Site::of_access(access, action));
        self.record_visit(site, None);
        if action == Action::Store && access.space == Space::Global {
            self.leave_out(access, site);
        }
    }

    /// Records which masked store left out an element, in the access's window or beyond it.
    fn leave_out(&mut self, access: &Access, site: u16) {
        let byte = access.index.checked_mul(access.element_bytes.into());
        let Some(address) = byte.and_then(|byte| access.base.checked_add(byte)) else { return };
        if let Some((region, first)) = self.memory.find(address, access.element_bytes) {
            region.leave_out(first, access.element_bytes, site);
            self.outputs.leave_out(address, site);
        }
    }

    /// Records a load from the launch's constants.
    pub(crate) fn constant(&mut self, access: &Access) {
        // Indices out of range access the last elements, so no access is left out.
        self.check(access, Action::Load);
    }

    /// Counts the access, and checks its range and alignment. Returns its site if it can be made.
    #[inline(always)]
    fn check(&mut self, access: &Access, action: Action) -> Option<u16> {
        let site = self.sites.number_of(Site::of_access(access, action));
        let address = access.address();
        let bytes = access.elements * access.element_bytes;
        let can_be_made = access.in_range() && address & u64::from(bytes - 1) == 0;
        self.record_visit(site, can_be_made.then_some(address));
        if !can_be_made {
            self.find_fault(access, action);
        }
        can_be_made.then_some(site)
    }

    /// Reports an access that is out of range or misaligned.
    #[cold]
    fn find_fault(&mut self, access: &Access, action: Action) {
        let (place, elements) = (place(access), access.elements);
        let problem = match access.in_range() {
            true => Problem::Misaligned { place, bytes: elements * access.element_bytes, action },
            false => Problem::OutOfRange { place, elements, action },
        };
        self.find(access.at.into(), problem);
    }

    /// Checks an access, and has `act` make it if the memory exists.
    #[inline]
    pub(crate) fn make<R>(
        &mut self,
        access: &Access,
        action: Action,
        act: impl FnOnce(&mut Region, usize, &Moment<'_>) -> (R, Option<Conflict>),
    ) -> Option<R> {
        let site = self.check(access, action)?;
        let bytes = access.elements * access.element_bytes;
        let mut now = self.block.order.moment(self.thread as u16, site);
        if action == Action::Atomic {
            now = now.of_atomic(bytes);
        }
        let found = match access.space {
            Space::Shared => {
                // Each block has its own shared memory.
                now.forget_other_blocks();
                let first = access.address() as usize;
                (first + bytes as usize <= self.block.shared.bytes().len()).then_some((&mut self.block.shared, first))
            }
            _ if !self.reach.contains(access) => return self.find_foreign(access, action),
            _ => self.memory.find(access.address(), bytes),
        };
        let Some((region, first)) = found else {
            self.find(access.at.into(), Problem::NoMemory { place: place(access), action });
            return None;
        };
        // A load does not conflict with a copy that also reads.
        let may_read = action == Action::Load && access.space != Space::Shared;
        let copy = if may_read { None } else { region.busy.conflict(first, bytes, &now) };
        let written = action == Action::Store || region.is_written(first, bytes);
        let (result, conflict) = act(region, first, &now);
        if let Some(copy) = copy {
            self.find_copy(access, action, copy);
            return Some(result);
        }
        if !written {
            self.find_unwritten(access, action);
        }
        if let Some(conflict) = conflict {
            self.find_conflict(access, action, conflict);
        }
        Some(result)
    }

    /// Reports an access by a window that the launch was not given, which is not made.
    #[cold]
    pub(crate) fn find_foreign<R>(&mut self, access: &Access, action: Action) -> Option<R> {
        self.find(access.at.into(), Problem::ForeignWindow { place: place(access), action });
        None
    }

    #[cold]
    pub(crate) fn find_unwritten(&mut self, access: &Access, action: Action) {
        self.find(access.at.into(), Problem::Uninitialised { place: place(access), action });
    }

    #[cold]
    pub(crate) fn find_conflict(&mut self, access: &Access, action: Action, conflict: Conflict) {
        let (place, other) = (place(access), self.other(conflict));
        let problem = match conflict.constant {
            true => Problem::ConstantWritten { place, action, other },
            false => {
                let same_value = conflict.same_value && other.action == Action::Store;
                Problem::Race { place, action, other, same_value }
            }
        };
        self.find(access.at.into(), problem);
    }

    #[cold]
    fn find_copy(&mut self, access: &Access, action: Action, copy: Conflict) {
        let (place, other) = (place(access), self.other(copy));
        self.find(access.at.into(), Problem::CopyUnderWay { place, action, other });
    }

    fn other(&self, conflict: Conflict) -> Other {
        let site = self.sites.get(conflict.site);
        Other {
            block: self.block_of(conflict.interval),
            thread: self.index_of(conflict.thread),
            action: site.action,
            at: site.at.into(),
        }
    }
}

/// Returns the scope of the threads that an atomic operation in this space orders.
fn scope_of(space: Space) -> Scope {
    if space == Space::Shared { Scope::Block } else { Scope::Device }
}
