//! Asynchronous copies in progress: of each thread, and at each word.

use crate::race::{Conflict, Moment};
use std::collections::VecDeque;

/// Maximum number of bytes per copy.
pub(crate) const MAX_BYTES: usize = 16;

/// Bytes per word, the unit of copies to shared memory.
const WORD: usize = 4;

/// Elements of global memory that a copy reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) address: u64,
    pub(crate) elements: u32,
    pub(crate) element_bytes: u32,
    pub(crate) site: u16,
}

/// A copy in progress.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    /// First byte in shared memory.
    pub(crate) to: usize,
    pub(crate) site: u16,
    pub(crate) contents: [u8; MAX_BYTES],
    pub(crate) bytes: usize,
    /// Elements that it reads, if the kernel may write them.
    pub(crate) source: Option<Source>,
}

/// Copies of a thread.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    groups: VecDeque<Vec<Copy>>,
    /// Copies that are not in a group yet.
    open: Vec<Copy>,
}

impl Queue {
    pub(crate) fn begin(&mut self, copy: Copy) {
        self.open.push(copy);
    }

    /// Makes a group of the copies that are in none.
    pub(crate) fn commit(&mut self) {
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Removes and returns all groups but the `latest` ones; for `None`, everything.
    pub(crate) fn end(&mut self, latest: Option<u32>) -> Vec<Copy> {
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
    pub(crate) fn queue(&mut self, thread: u32) -> &mut Queue {
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

/// Words of a region that copies in progress write (in shared memory) or read (in global memory); empty until the first copy.
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
    pub(crate) fn begin(&mut self, len: usize, first: usize, bytes: usize, now: &Moment<'_>) {
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

    pub(crate) fn end(&mut self, first: usize, bytes: usize) {
        for users in &mut self.0[first.div_ceil(WORD)..(first + bytes) / WORD] {
            users.count = users.count.saturating_sub(1);
        }
    }
}
