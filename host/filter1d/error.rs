//! Errors of filters.

/// Invalid taps of a filter, or an axis that it cannot run along.
///
/// Functions return it inside of [`Error`](crate::Error).
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
