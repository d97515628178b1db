//! Errors of transpositions.

/// Invalid elements of a transposition.
///
/// Functions return it inside of [`Error`](crate::Error).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TransposeError {
    /// Elements without numbers.
    #[error("components must be at least 1")]
    NoComponents,
    /// An element with more units than a GPU's threads can count.
    #[error(
        "elements of {bytes} bytes, in rows that units of {unit} bytes divide: a GPU transposes elements of up to {limit} \
        bytes there"
    )]
    ElementSize {
        /// The bytes of an element.
        bytes: u64,
        /// The bytes that threads move at a time.
        unit: u32,
        /// The most bytes that an element can have.
        limit: u64,
    },
}
