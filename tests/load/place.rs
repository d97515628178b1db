//! Queues that a case runs in, and the pile of what is not needed any more.

use crate::common::Random;
use slm::{Buffer, Device, Element};
use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// Values on the pile, at most.
const MOST: usize = 32;

/// Values that nobody needs. Any thread drops any of them.
#[derive(Default)]
pub(crate) struct Pile(Mutex<Vec<Box<dyn Send>>>);

/// What a thread runs cases with.
pub(crate) struct Place<'a> {
    queues: &'a [Device],
    pile: &'a Pile,
    random: RefCell<Random>,
}

impl<'a> Place<'a> {
    pub(crate) fn new(queues: &'a [Device], pile: &'a Pile, random: Random) -> Self {
        Place { queues, pile, random: random.into() }
    }

    /// Returns a number below `n`.
    fn below(&self, n: usize) -> usize {
        self.random.borrow_mut().below(n)
    }

    /// Returns any of the queues.
    pub(crate) fn queue(&self) -> &'a Device {
        &self.queues[self.below(self.queues.len())]
    }

    /// Puts a value on the pile, and drops another one if there are too many.
    pub(crate) fn leave(&self, value: impl Send + 'static) {
        let mut pile = self.pile.0.lock().unwrap_or_else(PoisonError::into_inner);
        pile.push(Box::new(value));
        let taken = (pile.len() > MOST).then(|| pile.swap_remove(self.below(MOST)));
        // Dropped without the lock, at the same time as others.
        drop(pile);
        drop(taken);
    }

    /// Returns the elements of a buffer, through a copy in any of the queues. The buffer is left while the copy may still be made.
    pub(crate) fn elements<T: Element>(&self, buffer: Buffer<T>) -> slm::Result<Vec<T>> {
        let mut copy = self.queue().zeroed(buffer.len())?;
        copy.copy_from(&buffer)?;
        self.leave(buffer);
        let elements = copy.download();
        self.leave(copy);
        elements
    }
}
