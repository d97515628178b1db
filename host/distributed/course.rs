//! How far an operation on several devices came.

use super::DistributedError;
use crate::{Error, Result};

/// What the members in this process have done of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    unit: &'static str,
    done: u64,
    total: u64,
}

impl Course {
    /// Begins an operation that has to do this many of something.
    pub(crate) fn new(unit: &'static str, total: u64) -> Self {
        Course { unit, done: 0, total }
    }

    /// Counts something as done.
    pub(crate) fn add(&mut self, count: u64) {
        self.done += count;
    }

    /// Returns a result whose error says how far the operation came, and with which member it failed.
    pub(crate) fn on<V>(self, member: usize, result: Result<V>) -> Result<V> {
        result.map_err(|cause| self.ended(Some(member), cause))
    }

    /// Returns a result whose error says how far the operation came, and that it failed between members.
    pub(crate) fn between<V>(self, result: Result<V>) -> Result<V> {
        result.map_err(|cause| self.ended(None, cause))
    }

    fn ended(self, member: Option<usize>, cause: Error) -> Error {
        let Course { unit, done, total } = self;
        DistributedError::Incomplete { member, done, total, unit, cause: Box::new(cause) }.into()
    }
}
