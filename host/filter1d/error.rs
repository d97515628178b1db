//! Errors of filters.

/// Invalid taps of a filter, or an axis that it cannot run along.
///
/// Functions return it in [`Error::Filter1d`](crate::Error::Filter1d).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FilterError {
    /// A filter without taps.
    #[error("a filter must have at least 1 tap")]
    NoTaps,
    /// The array has no such axis.
    #[error("there is no axis {axis}: the array has {dimensions} axes, numbered from 0")]
    Axis {
        /// Requested axis.
        axis: usize,
        /// Number of axes.
        dimensions: usize,
    },
}
