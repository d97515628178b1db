//! Errors of transpositions.

/// Invalid elements of a transposition.
///
/// Functions return it in [`Error::Transpose`](crate::Error::Transpose).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TransposeError {
    /// Elements have no components.
    #[error("components must be at least 1")]
    NoComponents,
    /// An element has more units than the kernels can index.
    #[error(
        "elements of {bytes} bytes are too large for a GPU: the limit is {limit} bytes if units of {unit} bytes divide \
         elements and rows"
    )]
    ElementSize {
        /// Bytes per element.
        bytes: u64,
        /// Bytes that a thread moves at a time.
        unit: u32,
        /// Maximum bytes per element.
        limit: u64,
    },
}
