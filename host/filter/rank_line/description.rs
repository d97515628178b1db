//! Description of a rank filter of lines: plain data.

use super::PreparedRank1d;
use crate::filter::generated::WeightSource;
use crate::filter::one_d::Reach;
use crate::filter::origin;
use crate::filter::settings::{FilterSettings, setters};
use crate::rank2d::RankError;
use crate::{Boundary, Device, Extent, Rank2d, Rank2dAlgorithm, RankElement, RankNanPolicy, Result};

/// A rank filter of lines, described but not yet bound to a device. `S` is the type of samples and outputs.
///
/// The [module](super) has the definition.
///
/// ```
/// use slm::{Device, Extent, Rank1d};
///
/// # fn main() -> slm::Result<()> {
/// let second = Rank1d::rank(4, -2).extent(Extent::Valid).prepare(&Device::open()?)?;
/// assert_eq!(second.apply(&[5u8, 1, 7, 3, 9])?, [5, 7]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rank1d<S> {
    /// Samples of a window.
    len: usize,
    /// The filter of rows, whose windows have one row.
    rows: Rank2d<S>,
    settings: FilterSettings<S, Rank2dAlgorithm, 1>,
    stride: usize,
    channels: usize,
}

impl<S: RankElement> Rank1d<S> {
    /// Returns the median of each window of `len` samples: of these in ascending order, that with the number `len / 2`, rounded down, counted
    /// from 0. So for even `len` it is the greater one of the two in the middle, as in SciPy's `median_filter`.
    #[must_use]
    pub fn median(len: usize) -> Self {
        Self::new(len, Rank2d::median)
    }

    /// Returns the least sample of each window of `len` samples.
    #[must_use]
    pub fn minimum(len: usize) -> Self {
        Self::new(len, Rank2d::minimum)
    }

    /// Returns the greatest sample of each window of `len` samples.
    #[must_use]
    pub fn maximum(len: usize) -> Self {
        Self::new(len, Rank2d::maximum)
    }

    /// Returns the sample of each window of `len` samples with this number in ascending order, counted from 0. A negative rank counts from
    /// the greatest sample on, which is -1. Ranks are from `-len` to `len - 1`; with others, [`prepare`](Self::prepare) fails.
    #[must_use]
    pub fn rank(len: usize, rank: isize) -> Self {
        Self::new(len, |window| Rank2d::rank(window, rank))
    }

    /// Returns a percentile of each window of `len` samples: of these in ascending order, that with the number `len · percentile / 100`,
    /// rounded down, or the last one, as in SciPy's `percentile_filter`. It is from 0 to 100; otherwise [`prepare`](Self::prepare) fails.
    #[must_use]
    pub fn percentile(len: usize, percentile: f64) -> Self {
        Self::new(len, |window| Rank2d::percentile(window, percentile))
    }

    fn new(len: usize, ranks: impl FnOnce([usize; 2]) -> Rank2d<S>) -> Self {
        let settings = FilterSettings::new(WeightSource::Given);
        Rank1d { len, rows: ranks([1, len]), settings, stride: 1, channels: 1 }
    }

    setters!("line", "", Rank2dAlgorithm);

    /// Returns the filter whose windows have another sample at an output's own place: that with the number `len / 2 + shift`. The default
    /// is 0. It is the `origin` of SciPy.
    ///
    /// The sample must exist: from `-(len / 2)` to `len - 1 - len / 2`. Otherwise [`prepare`](Self::prepare) fails.
    ///
    /// ```
    /// use slm::{Boundary, Device, Rank1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// // The greatest sample so far, of the last three.
    /// let trailing = Rank1d::maximum(3).origin(1).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
    /// assert_eq!(trailing.apply(&[4, 1, 2, 3, 0])?, [4, 4, 4, 3, 3]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn origin(mut self, shift: isize) -> Self {
        self.settings.origin = [shift];
        self
    }

    /// Returns the filter that computes only every `stride`-th output, beginning with the first one, as
    /// [`Filter1d::stride`](crate::Filter1d::stride).
    #[must_use]
    pub fn stride(mut self, stride: usize) -> Self {
        self.stride = stride;
        self
    }

    /// Returns the filter for lines with this number of interleaved channels, each of which is filtered by itself, as
    /// [`Filter1d::channels`](crate::Filter1d::channels).
    #[must_use]
    pub fn channels(mut self, channels: usize) -> Self {
        self.channels = channels;
        self
    }

    /// Returns the filter with this treatment of NaNs. The default is [`RankNanPolicy::Propagate`].
    #[must_use]
    pub fn nan_policy(mut self, policy: RankNanPolicy) -> Self {
        self.rows = self.rows.nan_policy(policy);
        self
    }

    /// Checks the filter and binds it to a device: loads the kernel, after all work that was enqueued before. Returns the prepared filter.
    ///
    /// # Errors
    ///
    /// * [`RankError::NoSamples`], [`RankError::Rank`] or [`RankError::Percentile`] for an invalid window or rank.
    /// * [`Error::TooLarge`] for a window of more than 4,096 samples, a stride of 2^31 or more, or 2^16 channels or more.
    /// * [`RankError::Origin`] for an [`origin`](Self::origin) outside of the window.
    /// * [`Filter1dError::NoStride`] for a stride of 0, and [`Filter1dError::NoChannels`] for 0 channels.
    /// * [`RankError::NotSeparable`] on a GPU if [`VanHerk`](Rank2dAlgorithm::VanHerk) does not take the filter.
    /// * [`RankError::NotSortable`] on a GPU if [`SortedTile`](Rank2dAlgorithm::SortedTile) does not take the filter.
    /// * [`Error::SharedMemoryExceeded`] if [`VanHerk`](Rank2dAlgorithm::VanHerk), [`SharedTile`](Rank2dAlgorithm::SharedTile) or
    ///   [`SortedTile`](Rank2dAlgorithm::SortedTile) needs more shared memory than the device has.
    /// * The errors of [`Device::upload`] and, on a GPU, of [`Device::kernel`].
    pub fn prepare(&self, device: &Device) -> Result<PreparedRank1d<S>> {
        let &Rank1d { len, channels, stride, .. } = self;
        let FilterSettings { origin: [origin], extent, .. } = self.settings;
        if len == 0 {
            return Err(RankError::NoSamples { rows: 1, columns: 0 }.into());
        }
        let error = RankError::Origin { what: "the origin of a window", origin, samples: len };
        let left = origin::left(len, origin, false).ok_or(error)?;
        let reach = Reach { taps: len, left, extent, channels, stride };
        reach.check()?;
        PreparedRank1d::new(device, self.clone(), reach)
    }

    /// Returns the filter of rows of pictures that consist of lines.
    pub(super) fn along_rows(&self) -> Rank2d<S> {
        self.placed(self.rows.clone()).origin(0, self.settings.origin[0]).stride(1, self.stride).channels(self.channels)
    }

    /// Returns the filter of columns of pictures that consist of lines. Their channels are neighbouring columns.
    pub(super) fn down_columns(&self) -> Rank2d<S> {
        self.placed(self.rows.clone().of_columns()).origin(self.settings.origin[0], 0).stride(self.stride, 1)
    }

    fn placed(&self, filter: Rank2d<S>) -> Rank2d<S> {
        let FilterSettings { boundaries: [boundary], extent, algorithm, .. } = self.settings;
        filter.boundary(boundary).extent(extent).algorithm(algorithm)
    }
}

#[cfg(doc)]
use crate::{Error, filter1d::Filter1dError};
