//! Whether arguments reach nothing but what a launch has borrowed.

use crate::Error;
#[cfg(gpu)]
use crate::Result;
use cuda_std::host::Window;
#[cfg(gpu)]
use cuda_std::{Argument, Entry};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU64, Ordering};

/// Identifies a queue of work: no other one of this process has the same, not even after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueId(u64);

impl QueueId {
    /// Returns an identity that nothing has had before.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        QueueId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The windows that have been handed out for one launch on a queue.
pub(crate) struct WindowRecord {
    #[cfg_attr(not(gpu), expect(dead_code, reason = "a build without GPUs has nothing that checks it"))]
    queue: QueueId,
    /// No kernel has more as a rule, and then a launch allocates nothing.
    handed_out: SmallVec<[Window; 4]>,
    /// The first one.
    error: Option<Error>,
}

impl WindowRecord {
    pub(crate) fn new(queue: QueueId) -> Self {
        WindowRecord { queue, handed_out: SmallVec::new(), error: None }
    }

    /// Allows the launch to use a window. The memory behind it belongs to the queue, and is borrowed as long as the record
    /// lives: exclusively, if the kernel can write it.
    pub(crate) fn hand_out(&mut self, window: Window) {
        self.handed_out.push(window);
    }

    /// Makes the launch fail.
    pub(crate) fn refuse(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

#[cfg(gpu)]
impl WindowRecord {
    /// Returns an error unless every window in `args` and `constants` is, or is part of one that has been handed out here,
    /// for this queue. Then the memory behind each of them belongs to the queue and is borrowed as long as this lives:
    /// exclusively, if the kernel can write it.
    pub(crate) fn check<E: Entry>(&self, queue: QueueId, args: &E::Args, constants: &E::Constants) -> Result<()> {
        let handed_out = self.for_queue(queue)?;
        let mut foreign = None;
        let mut visit = |argument, window: Window| {
            if foreign.is_none() && !is_within(&window, handed_out) {
                foreign = Some(argument);
            }
        };
        args.windows("args", &mut visit);
        constants.windows("constants", &mut visit);
        match foreign {
            Some(argument) => Err(Error::ForeignWindow { kernel: E::NAME, argument }),
            None => Ok(()),
        }
    }

    /// Returns what has been handed out if the launch is for the same queue, or the error that there has been. Two launches
    /// under way at once could have exchanged their records.
    fn for_queue(&self, queue: QueueId) -> Result<&[Window]> {
        match &self.error {
            Some(error) => Err(error.clone()),
            None => Ok(if queue == self.queue { &self.handed_out } else { &[] }),
        }
    }
}

/// Whether a window has nothing in it that is not in one of the others.
#[cfg(gpu)]
fn is_within(window: &Window, others: &[Window]) -> bool {
    window.bytes == 0 || others.iter().any(|whole| whole.contains(window))
}
