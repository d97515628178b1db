//! Description of a rank filter: plain data.

use super::rule::{Rank, RankRule};
use super::{PreparedRank2d, Rank2dAlgorithm, RankElement, RankError, RankWindow};
use crate::filter::generated::WeightSource;
use crate::filter::origin;
use crate::filter::settings::{FilterSettings, setters};
use crate::filter::two_d::{borders, window::Window};
use crate::{Boundary, Device, Extent, Result};
use std::sync::Arc;

/// A rank filter of pictures, described but not yet bound to a device. `S` is the type of samples and outputs.
///
/// The [module](super) has the definition.
///
/// ```
/// use slm::ndarray::array;
/// use slm::{Boundary, Device, Rank2d};
///
/// # fn main() -> slm::Result<()> {
/// let device = Device::open()?;
/// let picture = array![[1u8, 2, 255], [4, 0, 6], [7, 8, 9]];
/// let median = Rank2d::median(3).boundary(Boundary::Nearest).prepare(&device)?;
/// assert_eq!(median.apply(&picture)?, array![[1, 2, 6], [4, 6, 8], [7, 7, 8]]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rank2d<S> {
    window: RankWindow,
    rank: Rank,
    /// Of rows and columns.
    settings: FilterSettings<S, Rank2dAlgorithm, 2>,
    stride: [usize; 2],
    /// `None` if arrays have no axis for channels.
    channels: Option<usize>,
    nan_policy: RankNanPolicy,
}

/// Treatment of NaNs among samples of type `f32` and `f64` by rank filters. Integers have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RankNanPolicy {
    /// Outputs whose window contains a NaN are NaN.
    #[default]
    Propagate,
    /// NaNs are left out: the rank is that among the samples that are present. With fewer samples than the rank needs, the output is
    /// NaN. A boundary of NaNs leaves out what is outside:
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Device, Rank2d, RankNanPolicy};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let inside = Rank2d::median([1, 3]).boundary(Boundary::Constant(f32::NAN)).nan_policy(RankNanPolicy::Omit);
    /// assert_eq!(inside.prepare(&Device::open()?)?.apply(&array![[5.0, 7.0, 6.0]])?, array![[7.0, 6.0, 7.0]]);
    /// # Ok(())
    /// # }
    /// ```
    Omit,
}

impl<S: RankElement> Rank2d<S> {
    /// Returns the median of each window: of `n` samples in ascending order, that with the number `n / 2`, rounded down, counted from 0. So
    /// for even `n` it is the greater one of the two in the middle, as in SciPy's `median_filter`.
    #[must_use]
    pub fn median(window: impl Into<RankWindow>) -> Self {
        Self::new(window, Rank::Median)
    }

    /// Returns the least sample of each window.
    #[must_use]
    pub fn minimum(window: impl Into<RankWindow>) -> Self {
        Self::rank(window, 0)
    }

    /// Returns the greatest sample of each window.
    #[must_use]
    pub fn maximum(window: impl Into<RankWindow>) -> Self {
        Self::rank(window, -1)
    }

    /// Returns the sample with this number in ascending order, counted from 0. A negative rank counts from the greatest sample on, which
    /// is -1. For a window of `n` samples, ranks are from `-n` to `n - 1`; with others, [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Device, Rank2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let second = Rank2d::rank([1, 3], -2).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
    /// assert_eq!(second.apply(&array![[1.5f32, -2.0, 7.0, 4.0]])?, array![[1.5, 1.5, 4.0, 4.0]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn rank(window: impl Into<RankWindow>, rank: isize) -> Self {
        Self::new(window, Rank::At(rank))
    }

    /// Returns a percentile of each window: of `n` samples in ascending order, that with the number `n · percentile / 100`, rounded down,
    /// or the last one, as in SciPy's `percentile_filter`. It is from 0 to 100; otherwise [`prepare`](Self::prepare) fails.
    #[must_use]
    pub fn percentile(window: impl Into<RankWindow>, percentile: f64) -> Self {
        Self::new(window, Rank::Percentile(percentile))
    }

    fn new(window: impl Into<RankWindow>, rank: Rank) -> Self {
        Rank2d {
            window: window.into(),
            rank,
            settings: FilterSettings::new(WeightSource::Given),
            stride: [1, 1],
            channels: None,
            nan_policy: RankNanPolicy::Propagate,
        }
    }

    setters!("picture", ", along both axes", Rank2dAlgorithm);

    /// Returns the filter with a boundary for each axis, as [`Filter2d::boundaries`](crate::Filter2d::boundaries).
    #[must_use]
    pub fn boundaries(mut self, rows: Boundary<S>, columns: Boundary<S>) -> Self {
        self.settings.boundaries = [rows, columns];
        self
    }

    /// Returns the filter whose windows have another sample at an output's own place: that in row `h / 2 + rows` and column
    /// `v / 2 + columns`, for `h` rows and `v` columns. The default is 0 and 0. These are the `origin=(rows, columns)` of SciPy.
    ///
    /// The sample must exist: from `-(h / 2)` to `h - 1 - h / 2`, and likewise for columns. Otherwise [`prepare`](Self::prepare) fails.
    #[must_use]
    pub fn origin(mut self, rows: isize, columns: isize) -> Self {
        self.settings.origin = [rows, columns];
        self
    }

    /// Returns the filter that computes only every `rows`-th row and every `columns`-th column of the outputs, beginning with
    /// the first ones. The default is 1 and 1.
    #[must_use]
    pub fn stride(mut self, rows: usize, columns: usize) -> Self {
        self.stride = [rows, columns];
        self
    }

    /// Returns the filter for pictures whose pixels have this number of interleaved channels. Each channel is filtered by
    /// itself. Arrays then have a last axis of this length. The default is pictures with one channel and no axis for it.
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = Some(channels);
        self
    }

    /// Returns the filter with this treatment of NaNs. The default is [`RankNanPolicy::Propagate`].
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Device, Rank2d, RankNanPolicy};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let maximum = Rank2d::maximum([1, 3]).boundary(Boundary::Nearest).nan_policy(RankNanPolicy::Omit);
    /// let picture = array![[1.0f32, f32::NAN, -3.0, -4.0]];
    /// assert_eq!(maximum.prepare(&Device::open()?)?.apply(&picture)?, array![[1.0, 1.0, -3.0, -3.0]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn nan_policy(mut self, policy: RankNanPolicy) -> Self {
        self.nan_policy = policy;
        self
    }

    /// Returns the filter with a window of one row as one of one column.
    pub(in crate::filter) fn of_columns(mut self) -> Self {
        let [rows, columns] = self.window.shape();
        self.window = RankWindow::rectangle(columns, rows);
        self
    }

    /// Checks the filter and binds it to a device: loads the kernel and uploads the window, after all work that was enqueued before.
    /// Returns the prepared filter.
    ///
    /// # Errors
    ///
    /// * [`RankError::NoSamples`], [`RankError::Rank`] or [`RankError::Percentile`] for an invalid window or rank.
    /// * [`Error::TooLarge`] for a window with more than 4,096 rows or columns, a stride of 2^31 or more, or 2^16 channels or more.
    /// * [`Filter2dError::Constants`] for [`boundaries`](Self::boundaries) with different constants.
    /// * [`RankError::Origin`] for an [`origin`](Self::origin) outside of the window.
    /// * [`Filter2dError::Zero`] for a stride or a number of channels of 0.
    /// * [`Error::OutOfHostMemory`] if there is no memory for the window.
    /// * [`RankError::NotSeparable`] on a GPU if [`VanHerk`](Rank2dAlgorithm::VanHerk) does not take the filter.
    /// * [`RankError::NotSortable`] on a GPU if [`SortedTile`](Rank2dAlgorithm::SortedTile) does not take the filter.
    /// * [`Error::SharedMemoryExceeded`] if [`VanHerk`](Rank2dAlgorithm::VanHerk), [`SharedTile`](Rank2dAlgorithm::SharedTile) or
    ///   [`SortedTile`](Rank2dAlgorithm::SortedTile) needs more shared memory than the device has.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedRank2d<S>> {
        PreparedRank2d::new(device, self.rule(None)?)
    }

    /// Returns what the filter does, with heights of the samples of the window if it is an extreme of a rectangle, or an error.
    pub(super) fn rule(&self, heights: Option<Arc<Vec<S>>>) -> Result<RankRule<S>> {
        const NAMES: [&str; 2] = ["the row origin of a window", "the column origin of a window"];
        let FilterSettings { origin, boundaries, extent, algorithm, .. } = self.settings;
        let runs = self.window.runs()?;
        self.rank.check(runs.count as usize)?;
        let place = |axis: usize| {
            let (samples, origin) = (runs.shape[axis], origin[axis]);
            let error = RankError::Origin { what: NAMES[axis], origin, samples };
            origin::left(samples, origin, false).ok_or(error)
        };
        let left = [place(0)?, place(1)?];
        let (borders, outside) = borders(boundaries)?;
        let window = Window::of_shape([runs.shape, left], borders, extent, [self.stride, [1, 1]], self.channels)?;
        let omit = self.nan_policy == RankNanPolicy::Omit && S::IS_FLOAT;
        RankRule::new(window, runs, (self.rank, heights), omit, outside, algorithm)
    }
}

#[cfg(doc)]
use crate::{Error, filter2d::Filter2dError};
