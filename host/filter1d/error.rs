//! Errors of filters.

/// What is wrong with a filter or its axis: the errors that only filters have.
///
/// [`Error`](crate::Error) wraps them.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FilterError {
    /// A filter without taps.
    #[error("a filter needs at least 1 tap, and this one has 0")]
    NoTaps,
    /// An axis that an array does not have.
    #[error("there is no axis {axis}: the array has {dimensions} (numbered from 0)")]
    Axis {
        /// The axis asked for.
        axis: usize,
        /// How many there are.
        dimensions: usize,
    },
}
