//! Asynchronous copies: in progress from their start until the thread has waited for them.
//!
//! In between, the copy may take effect at any time. So its elements count as stored when it begins, and again when the
//! thread has waited, which is when they arrive. Meanwhile they are busy: any access to them is a fault, also by the copying
//! thread. Elements that a copy reads are busy for stores.

use crate::access::place;
use crate::finding::Problem;
use crate::moment::{Conflict, Moment};
use crate::region::Region;
use crate::running::Running;
use crate::site::{Action, Site};
use cuda_std::host::{Access, AsyncCopy, Space};
use std::collections::VecDeque;

/// Maximum number of bytes per copy.
const MAX_BYTES: usize = 16;

/// Bytes per word, the unit of copies to shared memory.
const WORD: usize = 4;

/// Elements of global memory that a copy reads.
#[derive(Clone, Copy, Debug)]
struct Source {
    address: u64,
    elements: u32,
    element_bytes: u32,
    site: u16,
}

/// A copy in progress.
#[derive(Clone, Debug)]
struct Copy {
    /// First byte in shared memory.
    to: usize,
    site: u16,
    contents: [u8; MAX_BYTES],
    bytes: usize,
    /// Elements that it reads, if the kernel may write them.
    source: Option<Source>,
}

/// Copies of a thread.
#[derive(Debug, Default)]
struct Queue {
    groups: VecDeque<Vec<Copy>>,
    /// Copies that are not in a group yet.
    open: Vec<Copy>,
}

impl Queue {
    /// Removes and returns all groups but the `latest` ones; for `None`, everything.
    fn end(&mut self, latest: Option<u32>) -> Vec<Copy> {
        let ending = match latest {
            Some(latest) => self.groups.len().saturating_sub(latest as usize),
            None => self.groups.len(),
        };
        let mut copies: Vec<Copy> = self.groups.drain(..ending).flatten().collect();
        if latest.is_none() {
            copies.append(&mut self.open);
        }
        copies
    }
}

/// Copies of a block, by thread.
#[derive(Debug, Default)]
pub(crate) struct Copies(Vec<Queue>);

impl Copies {
    fn queue(&mut self, thread: u32) -> &mut Queue {
        let place = thread as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Queue::default);
        }
        &mut self.0[place]
    }
}

/// Copies in progress at a word: their number, and the latest one.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    count: u32,
    interval: u32,
    thread: u16,
    site: u16,
}

/// Words of a region that copies in progress write (in shared
/// memory) or read (in global memory); empty until the first copy.
#[derive(Debug, Default)]
pub(crate) struct Busy(Vec<Users>);

impl Busy {
    /// Returns a copy in progress at these bytes.
    #[inline]
    pub(crate) fn conflict(&self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        if self.0.is_empty() { None } else { self.find(first, bytes, now) }
    }

    #[cold]
    fn find(&self, first: usize, bytes: u32, now: &Moment<'_>) -> Option<Conflict> {
        let words = self.0.get(first / WORD..(first + bytes as usize).div_ceil(WORD))?;
        let users = words.iter().find(|users| users.count > 0 && now.is_of_launch(users.interval))?;
        let Users { interval, thread, site, .. } = *users;
        Some(Conflict { interval, thread, site, constant: false, same_value: false })
    }

    /// Begins a copy of these bytes, in a region of `len` bytes. Words that it covers only in part are ignored.
    fn begin(&mut self, len: usize, first: usize, bytes: usize, now: &Moment<'_>) {
        if self.0.is_empty() {
            self.0.resize(len.div_ceil(WORD), Users::default());
        }
        for users in &mut self.0[first.div_ceil(WORD)..(first + bytes) / WORD] {
            // Copies of earlier launches are no longer in progress.
            let count = if now.is_of_launch(users.interval) { users.count } else { 0 };
            let (interval, thread, site) = (now.mark.interval, now.thread, now.mark.site);
            *users = Users { count: count + 1, interval, thread, site };
        }
    }

    fn end(&mut self, first: usize, bytes: usize) {
        for users in &mut self.0[first.div_ceil(WORD)..(first + bytes) / WORD] {
            users.count = users.count.saturating_sub(1);
        }
    }
}

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
            region.copies.queue(thread).open.push(copy);
            ((), conflict)
        });
    }

    pub(crate) fn commit_copies(&mut self) {
        let queue = self.block.shared.copies.queue(self.thread);
        queue.groups.push_back(std::mem::take(&mut queue.open));
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
