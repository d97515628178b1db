//! Checks that arguments reach only buffers that a launch has borrowed.

use crate::{Error, Result};
use cuda_std::host::Window;
#[cfg(gpu)]
use cuda_std::{Argument, Entry};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identity of a queue of work. It is unique in this process and is never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueId(u64);

impl QueueId {
    /// Returns a new identity.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        QueueId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Calls a function for each window in the arguments and constants of a launch, with the name of its field. Code that needs no
/// more of their types is compiled once for all kernels.
pub(crate) type VisitWindows<'a> = &'a dyn Fn(&mut dyn FnMut(&'static str, Window));

/// Returns [`VisitWindows`] for the parameters of the kernel `E`.
#[cfg(gpu)]
pub(crate) fn windows_of<E: Entry>(
    args: &E::Args<'_>,
    constants: &E::Constants,
) -> impl Fn(&mut dyn FnMut(&'static str, Window)) {
    move |visit| {
        args.windows("args", visit);
        constants.windows("constants", visit);
    }
}

/// Windows that were created for one launch on a queue.
pub(crate) struct WindowRecord {
    queue: QueueId,
    /// Few kernels have more than 4, so a launch seldom allocates.
    handed_out: SmallVec<[Window; 4]>,
    /// The first error.
    error: Option<Error>,
}

impl WindowRecord {
    pub(crate) fn new(queue: QueueId) -> Self {
        WindowRecord { queue, handed_out: SmallVec::new(), error: None }
    }

    /// Allows the launch to use a window. The queue has waited for earlier accesses of other queues to the window's memory, which is
    /// borrowed for the life of the record, exclusively if the kernel can write it.
    pub(crate) fn hand_out(&mut self, window: Window) {
        self.handed_out.push(window);
    }

    /// Makes the launch return this error, or an earlier one.
    pub(crate) fn refuse(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Returns the error that the launch will return, if there is one already.
    pub(crate) fn refused(&self) -> Result<()> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// Returns an error unless every window in the parameters of `kernel` is a window that was created here for this queue, or
    /// a part of one. Without an error, the memory of each window is on the queue's device and is borrowed for the life of this
    /// record, exclusively if the kernel can write it.
    pub(crate) fn check(&self, kernel: &'static str, queue: QueueId, visit: VisitWindows<'_>) -> Result<()> {
        let handed_out = self.for_queue(queue)?;
        let mut foreign = None;
        visit(&mut |argument, window| {
            if foreign.is_none() && !is_within(&window, handed_out) {
                foreign = Some(argument);
            }
        });
        match foreign {
            Some(argument) => Err(Error::ForeignWindow { kernel, argument }),
            None => Ok(()),
        }
    }

    /// Returns the windows of this record, or the recorded error. If the launch is on another queue, it may use none of them:
    /// two launches that overlap in time could have exchanged their records.
    fn for_queue(&self, queue: QueueId) -> Result<&[Window]> {
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(if queue == self.queue { &self.handed_out } else { &[] }),
        }
    }
}

/// Returns whether one of `others` contains the window.
fn is_within(window: &Window, others: &[Window]) -> bool {
    window.bytes == 0 || others.iter().any(|whole| whole.contains(window))
}
