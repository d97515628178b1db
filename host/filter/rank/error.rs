//! Errors of rank filters.

use crate::filter::origin::range;
use crate::text::{Count, Number};

/// An invalid window or rank.
///
/// Functions return it in [`Error::Rank`](crate::Error::Rank).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RankError {
    /// A window without samples.
    #[error("the window of {rows} x {columns} has no samples; it needs at least 1")]
    NoSamples {
        /// Rows of the window.
        rows: usize,
        /// Columns of the window.
        columns: usize,
    },
    /// A rank that the window does not have.
    #[error("the rank must be from {} to {} for {}, not {rank}", -(*samples as i64), *samples as i64 - 1,
        Count(*samples, "sample"))]
    Rank {
        /// The rank.
        rank: isize,
        /// Number of samples of a window.
        samples: usize,
    },
    /// An origin that moves the centre out of the window.
    #[error("{what} must be from {} to {} for {}, not {origin}", range(*samples)[0], range(*samples)[1],
        Count(*samples, "sample"))]
    Origin {
        /// The origin of an axis.
        what: &'static str,
        /// Its value.
        origin: isize,
        /// Number of samples of a window along the axis.
        samples: usize,
    },
    /// A percentile that is not one.
    #[error("the percentile must be from 0 to 100, not {}", Number(*percentile, *percentile))]
    Percentile {
        /// The percentile.
        percentile: f64,
    },
    /// [`VanHerk`](crate::Rank2dAlgorithm::VanHerk) was requested for another filter on a GPU.
    #[error("the algorithm VanHerk needs extremes of rectangles, with strides of 1; Auto takes any filter")]
    NotSeparable,
    /// [`SortedTile`](crate::Rank2dAlgorithm::SortedTile) was requested for another filter on a GPU.
    #[error("the algorithm SortedTile needs rectangles without heights, with strides of 1; Auto takes any filter")]
    NotSortable,
}
