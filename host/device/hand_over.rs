//! The error if memory is not handed over to another library, or from it.

use crate::Error;
use std::fmt;

/// Reason why memory was not handed over, and the memory itself: a [`Buffer`](crate::Buffer), a [`Buffer2`](crate::Buffer2), a
/// `DeviceBuffer` of `cust` or a tensor of `dlpark`.
///
/// `?` converts it to an [`Error`].
///
/// ```
/// use slm::cust::memory::DeviceBuffer;
/// use slm::{Buffer, Device, Error};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let buffer = DeviceBuffer::<f32>::from_slice(&[])?;
/// let failure = Buffer::from_cust(&Device::cpu(), buffer).unwrap_err();
/// assert_eq!(failure.error(), &Error::DeviceUnsupported { device: "CPU".to_owned(), lacks: "CUDA memory" });
/// assert!(failure.into_buffer().is_empty());
/// # Ok(())
/// # }
/// ```
#[cfg_attr(docsrs, doc(cfg(any(feature = "cust", feature = "dlpack"))))]
pub struct HandOverError<B>(Box<(Error, B)>);

impl<B> HandOverError<B> {
    pub(crate) fn new(error: Error, buffer: B) -> Self {
        HandOverError(Box::new((error, buffer)))
    }

    /// Returns the reason.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// Returns the buffer or the tensor.
    #[must_use]
    pub fn into_buffer(self) -> B {
        self.0.1
    }

    /// Returns the error with what `convert` makes of the buffer.
    #[cfg(feature = "dlpack")]
    pub(crate) fn map<C>(self, convert: impl FnOnce(B) -> C) -> HandOverError<C> {
        let (error, buffer) = *self.0;
        HandOverError::new(error, convert(buffer))
    }
}

impl<B> From<HandOverError<B>> for Error {
    fn from(failure: HandOverError<B>) -> Error {
        failure.0.0
    }
}

impl<B> fmt::Debug for HandOverError<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HandOverError").field(self.error()).finish_non_exhaustive()
    }
}

impl<B> fmt::Display for HandOverError<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl<B> std::error::Error for HandOverError<B> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error().source()
    }
}
