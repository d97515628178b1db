//! The streams of consumers.

use super::Exchanging;
use crate::backend::cuda;
use crate::dlpack::DlpackError;
use std::fmt;
use std::sync::Arc;

/// The stream on which the consumer of a tensor is going to use it: the argument `stream` of `__dlpack__` in the Python array
/// API.
///
/// Only tensors in the memory of a GPU have one; for others it has no meaning.
#[derive(Clone)]
pub struct ConsumerStream(Stream);

#[derive(Clone)]
pub(in crate::backend) enum Stream {
    /// The legacy default stream.
    Legacy,
    /// The default stream of the calling thread.
    PerThread,
    /// Any stream: the consumer waits by itself.
    Unordered,
    /// A stream that exists, as its number.
    Foreign(isize),
    /// The stream of a queue.
    Queue(Arc<cuda::Queue>),
}

impl ConsumerStream {
    /// CUDA's legacy default stream, number 1 or none.
    pub const LEGACY_DEFAULT: Self = ConsumerStream(Stream::Legacy);

    /// CUDA's default stream of the thread that makes the tensor, number 2.
    pub const PER_THREAD_DEFAULT: Self = ConsumerStream(Stream::PerThread);

    /// No stream, number −1: nothing is ordered, and the consumer has to wait for the producer's work by itself, for example with
    /// [`Device::synchronize`](crate::Device::synchronize) before.
    pub const UNORDERED: Self = ConsumerStream(Stream::Unordered);

    /// Returns the stream that a consumer names by `number`: `None` and 1 are the legacy default stream, 2 is the default stream
    /// of the thread, −1 is no stream, and others are handles (`cudaStream_t` or `CUstream`).
    ///
    /// ```
    /// use slm::dlpack::{ConsumerStream, DlpackError};
    ///
    /// // SAFETY: these are no handles.
    /// let [number, ambiguous] = unsafe { [2, 0].map(|number| ConsumerStream::from_number(Some(number))) };
    /// assert_eq!(number.map(|stream| stream.number()), Ok(Some(2)));
    /// assert_eq!(ambiguous.err(), Some(DlpackError::StreamNumber { number: 0 }));
    /// ```
    ///
    /// # Safety
    ///
    /// A handle must be of a stream that exists until the calls that get the result, or clones of it, have returned. The driver
    /// does not check handles.
    ///
    /// # Errors
    ///
    /// [`DlpackError::StreamNumber`] for 0, which is ambiguous, and for negative numbers other than −1.
    pub unsafe fn from_number(number: Option<isize>) -> Result<Self, DlpackError> {
        Ok(ConsumerStream(match number {
            None | Some(1) => Stream::Legacy,
            Some(2) => Stream::PerThread,
            Some(-1) => Stream::Unordered,
            Some(number) if number > 2 => Stream::Foreign(number),
            Some(number) => return Err(DlpackError::StreamNumber { number }),
        }))
    }

    /// Returns the stream of a queue.
    pub(crate) fn of_queue(queue: &Arc<cuda::Queue>) -> Self {
        ConsumerStream(Stream::Queue(queue.clone()))
    }

    /// Returns the number to name the stream by to a producer, `None` for the legacy default stream.
    #[must_use]
    pub fn number(&self) -> Option<isize> {
        match &self.0 {
            Stream::Legacy => None,
            Stream::PerThread => Some(2),
            Stream::Unordered => Some(-1),
            Stream::Foreign(number) => Some(*number),
            Stream::Queue(queue) => Some(queue.number()),
        }
    }

    #[cfg(cuda)]
    pub(in crate::backend) fn stream(&self) -> &Stream {
        &self.0
    }
}

impl fmt::Debug for ConsumerStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConsumerStream").field(&self.number()).finish()
    }
}
