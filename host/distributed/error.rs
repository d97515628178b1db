//! Errors of distributed operations.

use super::{Distribution, TransportError};
use crate::Error;

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
    /// A message between processes failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
}

impl DistributedError {
    pub(super) fn distribution(what: &'static str, expected: &Distribution, actual: &Distribution) -> Error {
        let [expected, actual] = [expected, actual].map(|distribution| Box::new(distribution.clone()));
        DistributedError::Distribution { what, expected, actual }.into()
    }
}
