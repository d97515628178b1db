//! Why streams end early.

use crate::Error;
use std::io;

/// A stream that ended early: the reason, and how far it came.
///
/// What was written before is a beginning of the whole output. The input may have been read further than the outputs depend on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("after {read} bytes of input and {written} bytes of output: {cause}")]
#[non_exhaustive]
pub struct StreamError {
    /// Bytes that were read.
    pub read: u64,
    /// Bytes that were written.
    pub written: u64,
    /// The reason.
    pub cause: StreamCause,
}

/// Why a stream ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StreamCause {
    /// The input could not be read.
    #[error("the input cannot be read: {message}")]
    Read {
        /// The kind of error.
        kind: io::ErrorKind,
        /// Its text.
        message: String,
    },
    /// The output could not be written.
    #[error("the output cannot be written: {message}")]
    Write {
        /// The kind of error.
        kind: io::ErrorKind,
        /// Its text.
        message: String,
    },
    /// The input ends within a sample, within the channels of one, within a row, or within a weight.
    #[error("the input ends with {bytes} of the {size} bytes of a sample with all channels, of a row, or of a weight")]
    Incomplete {
        /// Bytes of the incomplete sample or row.
        bytes: u64,
        /// Bytes of a whole sample or row.
        size: u64,
    },
    /// The input became shorter while it was read.
    #[error("the input had {expected} bytes at first, and ends earlier")]
    Shortened {
        /// Length of the input at first, in bytes.
        expected: u64,
    },
    /// The samples at one end depend on those at the other end.
    #[error("a wrapped input is read at both ends first: it must be able to seek, and be declared so by `seekable`")]
    NeedsSeek,
    /// The function that gets the progress has cancelled the stream.
    #[error("cancelled")]
    Cancelled,
    /// The operation failed.
    #[error(transparent)]
    Failed(Box<Error>),
}

impl StreamCause {
    pub(super) fn read(error: &io::Error) -> Self {
        StreamCause::Read { kind: error.kind(), message: error.to_string() }
    }

    /// Returns the error of the operation, if that failed.
    pub(crate) fn error(&self) -> Option<&Error> {
        match self {
            StreamCause::Failed(error) => Some(error),
            _ => None,
        }
    }

    pub(super) fn write(error: &io::Error) -> Self {
        StreamCause::Write { kind: error.kind(), message: error.to_string() }
    }
}

impl From<Error> for StreamCause {
    fn from(error: Error) -> Self {
        StreamCause::Failed(Box::new(error))
    }
}

impl From<StreamError> for Error {
    fn from(error: StreamError) -> Self {
        Error::Stream(Box::new(error))
    }
}
