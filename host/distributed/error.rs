//! Errors of distributed operations.

use super::{Distribution, TransportError};
use crate::Error;
use std::fmt;

/// An error that only operations on several devices have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributedError {
    /// There is no device, or no member of this process.
    #[error("a distributed operation needs at least one device, and the member of this process must be one of them")]
    NoMembers,
    /// Data and operation are on other devices.
    #[error("{what} belongs to other devices than the operation: use clones of one `Devices`")]
    Devices {
        /// The data.
        what: &'static str,
    },
    /// Data have another distribution than the operation needs.
    #[error("the rows of {what} are distributed as {actual:?}, but must be as {expected:?}")]
    Distribution {
        /// The data.
        what: &'static str,
        /// Where each member's rows must end.
        expected: Box<Distribution>,
        /// Where they end.
        actual: Box<Distribution>,
    },
    /// Rows have the wrong number of elements.
    #[error("the rows of {what} have {actual} elements, but must have {expected}")]
    Width {
        /// The data.
        what: &'static str,
        /// Required number.
        expected: usize,
        /// Actual number.
        actual: usize,
    },
    /// Several matrices cannot be transposed together on several devices.
    #[error("a transposition on several devices takes one matrix, but is for {matrices}")]
    Batch {
        /// Number of matrices.
        matrices: usize,
    },
    /// An operation ended early.
    #[error("{}after {done} of {total} {unit}: {cause}", On(*member))]
    Incomplete {
        /// The member that could not do its work, or did not get its data from another member of the same process; `None` for a message
        /// between processes.
        member: Option<usize>,
        /// What the members in this process had done. On GPUs, this is what was enqueued.
        done: u64,
        /// What they had to do.
        total: u64,
        /// What is counted: rows of the output, samples of a histogram, elements of a transposed matrix, generations of a board, or
        /// members that were waited for.
        unit: &'static str,
        /// The reason.
        cause: Box<Error>,
    },
    /// A message between processes failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

/// Where an operation ended.
struct On(Option<usize>);

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |member| write!(f, "on member {member}, "))
    }
}

impl DistributedError {
    pub(super) fn distribution(what: &'static str, expected: &Distribution, actual: &Distribution) -> Error {
        let [expected, actual] = [expected, actual].map(|distribution| Box::new(distribution.clone()));
        DistributedError::Distribution { what, expected, actual }.into()
    }
}
