//! The order of accesses to a buffer from several queues of its device.
//!
//! Accesses through one queue have the order of their calls. A queue that is about to access a buffer waits first for the other
//! queues whose accesses it could be mixed up with: a reader for the last writer, a writer for the last writer and for all readers
//! since then. The borrow checker orders the calls: no other thread can write a buffer, or drop it, between the wait and the access.
//!
//! A wait is for all work that the other queue has at that time. So nothing is recorded after an access, and a buffer that only one
//! queue uses costs a comparison.

use crate::device::Engine;
use crate::{Error, Result};
use smallvec::SmallVec;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last accesses to a buffer. When dropped, its owner waits for those of other queues, so that the memory is freed after them. If
/// the owner cannot, this thread waits.
pub(crate) struct AccessOrder {
    /// The queue that frees the memory.
    owner: Engine,
    last: Mutex<LastAccesses>,
}

struct LastAccesses {
    writer: Engine,
    /// The other queues that have read what was written last. They have waited for the writer.
    readers: SmallVec<[Engine; 2]>,
}

impl AccessOrder {
    /// Returns the order of a new buffer, which its owner has written.
    pub(crate) fn new(owner: &Engine) -> Self {
        let last = LastAccesses { writer: owner.clone(), readers: SmallVec::new() };
        AccessOrder { owner: owner.clone(), last: Mutex::new(last) }
    }

    /// Makes the queue wait for what it is going to read.
    pub(crate) fn before_read(&self, queue: &Engine) -> Result<()> {
        let Some(writer) = self.unknown_writer(queue) else { return Ok(()) };
        // Without the lock: the wait may need a lock of the device, which a kernel that reads the same buffer may hold.
        queue.wait_for(&writer)?;
        self.lock().readers.push(queue.clone());
        Ok(())
    }

    /// Returns the last writer, unless it is this queue or the queue has waited for it. It stays the last writer while the buffer is
    /// borrowed.
    fn unknown_writer(&self, queue: &Engine) -> Option<Engine> {
        let last = self.lock();
        let is_known = last.writer.is(queue) || last.readers.iter().any(|reader| reader.is(queue));
        (!is_known).then(|| last.writer.clone())
    }

    fn lock(&self) -> MutexGuard<'_, LastAccesses> {
        // A panic with the lock held leaves a valid list of queues.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the queue wait until it may write.
    pub(crate) fn before_write(&mut self, queue: &Engine) -> Result<()> {
        let last = self.last.get_mut().unwrap_or_else(PoisonError::into_inner);
        queue.wait_for(&last.writer)?;
        last.readers.iter().try_for_each(|reader| wait_for_end(queue, reader))?;
        if !last.writer.is(queue) {
            last.writer = queue.clone();
        }
        last.readers.clear();
        Ok(())
    }

    /// Makes the owner wait for all accesses, before it gives the memory away.
    pub(crate) fn before_release(&mut self) -> Result<()> {
        let owner = self.owner.clone();
        self.before_write(&owner)
    }
}

/// Makes the queue wait for what another one reads. A device that is lost reads nothing any more, so that others can go on with their
/// memory. What it was writing is another matter: nobody knows how much of it is there.
fn wait_for_end(queue: &Engine, other: &Engine) -> Result<()> {
    match queue.wait_for(other) {
        Err(Error::DeviceLost { .. }) if other.is_lost() && !queue.is_lost() => Ok(()),
        result => result,
    }
}

impl Drop for AccessOrder {
    fn drop(&mut self) {
        if self.before_release().is_ok() {
            return;
        }
        // Without an event to wait for, for example for lack of memory, this thread waits. Failures belong to the work of the queues,
        // which reports them.
        let last = self.last.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _ = last.writer.synchronize();
        last.readers.iter().for_each(|reader| _ = reader.synchronize());
    }
}
