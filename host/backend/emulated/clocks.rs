//! The order of accesses to an emulated device's memory, as its queues know it.
//!
//! Work of an emulated device is done when it is enqueued, so a missing wait between two queues changes no result. It is found
//! nevertheless: each queue has a vector clock (Mattern, *Virtual Time and Global States of Distributed Systems*, 1989), which counts
//! the accesses of every queue that it has waited for. Every access must come after the last write, and every write after the last
//! reads, by the clock of its queue.

use std::collections::BTreeMap;

/// Number of a queue of a device.
pub(super) type QueueIndex = usize;

/// Clocks of the queues, and the last accesses to each buffer.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// For each queue: how many accesses of each queue come before its next one. Missing numbers are zero.
    queues: Vec<Vec<u64>>,
    /// The buffers by their addresses.
    buffers: BTreeMap<u64, Accesses>,
}

/// The last accesses to a buffer. Queues are in it with the number of their access.
#[derive(Debug, Default)]
struct Accesses {
    write: Option<(QueueIndex, u64)>,
    reads: BTreeMap<QueueIndex, u64>,
}

/// What a queue does with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

impl Clocks {
    /// Adds a queue.
    pub(super) fn add_queue(&mut self) -> QueueIndex {
        self.queues.push(Vec::new());
        self.queues.len() - 1
    }

    /// Makes later accesses of `queue` come after the accesses of `other` so far.
    pub(super) fn wait_for(&mut self, queue: QueueIndex, other: QueueIndex) {
        let known = self.queues[other].clone();
        let clock = &mut self.queues[queue];
        clock.resize(clock.len().max(known.len()), 0);
        clock.iter_mut().zip(known).for_each(|(count, other)| *count = other.max(*count));
    }

    /// Records an access to the buffer that contains `address`. Returns whether it comes after the accesses that it could be mixed up
    /// with.
    #[must_use]
    pub(super) fn access(&mut self, queue: QueueIndex, address: u64, access: Access) -> bool {
        let time = self.tick(queue);
        let clock = &self.queues[queue];
        let is_known = |(other, time): (QueueIndex, u64)| clock.get(other).is_some_and(|count| *count >= time);
        let Some((_, last)) = self.buffers.range_mut(..=address).next_back() else { return true };
        let is_ordered = last.write.is_none_or(is_known)
            && (access == Access::Read || last.reads.iter().all(|(other, time)| is_known((*other, *time))));
        match access {
            Access::Read => _ = last.reads.insert(queue, time),
            Access::Write => *last = Accesses { write: Some((queue, time)), reads: BTreeMap::new() },
        }
        is_ordered
    }

    /// Adds the buffer at `address`, which `queue` has allocated. This is a write: others must wait for it.
    pub(super) fn add_buffer(&mut self, queue: QueueIndex, address: u64) {
        let write = Some((queue, self.tick(queue)));
        self.buffers.insert(address, Accesses { write, reads: BTreeMap::new() });
    }

    /// Returns the number of the next access of a queue.
    fn tick(&mut self, queue: QueueIndex) -> u64 {
        let clock = &mut self.queues[queue];
        clock.resize(clock.len().max(queue + 1), 0);
        clock[queue] += 1;
        clock[queue]
    }

    /// Removes the buffer at `address`.
    pub(super) fn remove_buffer(&mut self, address: u64) {
        self.buffers.remove(&address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFER: u64 = 4096;

    /// Returns whether the second of two accesses by different queues is in order, without and with a wait between them.
    fn second(first: Access, second: Access) -> [bool; 2] {
        [false, true].map(|waits| {
            let mut clocks = Clocks::default();
            let [a, b] = [clocks.add_queue(), clocks.add_queue()];
            clocks.add_buffer(a, BUFFER);
            // Both know of the allocation.
            clocks.wait_for(b, a);
            assert!(clocks.access(a, BUFFER + 8, first));
            if waits {
                clocks.wait_for(b, a);
            }
            clocks.access(b, BUFFER, second)
        })
    }

    #[test]
    fn accesses_that_could_be_mixed_up_need_a_wait() {
        assert_eq!(second(Access::Read, Access::Read), [true, true]);
        assert_eq!(second(Access::Read, Access::Write), [false, true]);
        assert_eq!(second(Access::Write, Access::Read), [false, true]);
        assert_eq!(second(Access::Write, Access::Write), [false, true]);
    }

    #[test]
    fn waits_are_transitive_and_for_earlier_accesses_only() {
        let mut clocks = Clocks::default();
        let [a, b, c] = [clocks.add_queue(), clocks.add_queue(), clocks.add_queue()];
        clocks.add_buffer(a, BUFFER);
        assert!(clocks.access(a, BUFFER, Access::Write));
        clocks.wait_for(b, a);
        clocks.wait_for(c, b);
        assert!(clocks.access(c, BUFFER, Access::Read));
        assert!(clocks.access(a, BUFFER, Access::Read));
        // The wait was before the reads.
        assert!(!clocks.access(b, BUFFER, Access::Write));
    }

    #[test]
    fn an_allocation_is_a_write() {
        let mut clocks = Clocks::default();
        let [a, b] = [clocks.add_queue(), clocks.add_queue()];
        clocks.add_buffer(a, BUFFER);
        assert!(!clocks.access(b, BUFFER, Access::Write));
    }

    #[test]
    fn buffers_are_apart() {
        let mut clocks = Clocks::default();
        let [a, b] = [clocks.add_queue(), clocks.add_queue()];
        clocks.add_buffer(a, BUFFER);
        clocks.add_buffer(b, 2 * BUFFER);
        assert!(clocks.access(a, BUFFER, Access::Write));
        assert!(clocks.access(b, 2 * BUFFER, Access::Write));
        assert!(!clocks.access(a, 2 * BUFFER, Access::Read));
        clocks.remove_buffer(BUFFER);
        clocks.add_buffer(b, BUFFER);
        assert!(clocks.access(b, BUFFER, Access::Write));
    }
}
