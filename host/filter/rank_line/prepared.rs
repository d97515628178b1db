//! A rank filter of lines bound to a device.

use super::Rank1d;
use crate::device::data::{self, Elements, Target};
use crate::device::kernel::OnDemand;
use crate::filter::one_d::{Lines, Reach};
use crate::rank2d::PreparedRank2d;
use crate::{Device, Input, Output, Plan, Rank2dAlgorithm, RankElement, Result};
use slm_kernels::filter1d::Orientation;
use std::fmt;
use std::sync::Arc;

/// A [`Rank1d`](crate::Rank1d) that is ready to run on its device, any number of times and from any thread.
#[derive(Clone)]
pub struct PreparedRank1d<S: RankElement> {
    reach: Reach,
    /// Axis of the lines in matrices, or `None` for the last axis of anything.
    axis: Option<usize>,
    filter: Arc<OnPictures<S>>,
}

/// The filters of pictures that consist of lines.
struct OnPictures<S: RankElement> {
    device: Device,
    description: Rank1d<S>,
    rows: PreparedRank2d<S>,
    columns: OnDemand<PreparedRank2d<S>>,
}

impl<S: RankElement> OnPictures<S> {
    /// Returns the filter for lines of this orientation, and the rows and columns of a picture that consists of the lines.
    fn of(&self, lines: &Lines) -> Result<(&PreparedRank2d<S>, [usize; 2])> {
        Ok(match lines.orientation {
            Orientation::Rows => (&self.rows, [lines.lines, lines.samples]),
            Orientation::Columns => {
                let columns = self.columns.get(|| self.description.down_columns().prepare(&self.device))?;
                (columns, [lines.samples, lines.lines])
            }
        })
    }
}

impl<S: RankElement> PreparedRank1d<S> {
    pub(super) fn new(device: &Device, description: Rank1d<S>, reach: Reach) -> Result<Self> {
        let rows = description.along_rows().prepare(device)?;
        let filter = OnPictures { device: device.clone(), description, rows, columns: OnDemand::default() };
        Ok(PreparedRank1d { reach, axis: None, filter: Arc::new(filter) })
    }

    /// Returns the device that the filter runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.filter.device
    }

    /// Returns the filter for the lines along `axis` of matrices. Axis 0 runs down the columns, axis 1 along the rows. The default is the
    /// last axis. Both filters share their kernels.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Boundary, Device, Rank1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let least = Rank1d::minimum(2).boundary(Boundary::Nearest).prepare(&Device::open()?)?;
    /// let matrix = array![[1, 2, 3], [4, 0, 6]];
    /// assert_eq!(least.along(0).apply(&matrix)?, array![[1, 2, 3], [1, 0, 3]]);
    /// assert_eq!(least.apply(&matrix)?, array![[1, 1, 2], [4, 0, 0]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn along(&self, axis: usize) -> Self {
        PreparedRank1d { axis: Some(axis), ..self.clone() }
    }

    /// Returns the shape of the results for samples of this shape: one line, or the rows and columns of a matrix, as
    /// [`PreparedFilter1d::output_shape`](crate::filter1d::PreparedFilter1d::output_shape).
    ///
    /// # Errors
    ///
    /// * [`Filter1dError::Axis`] for samples without the [axis](Self::along), and [`Filter1dError::Dimensions`] for other than one or two axes.
    /// * [`Filter1dError::Interleaving`] if the number of samples or columns is not a multiple of the channels.
    /// * [`Error::TooLarge`] if a line would have more than `usize::MAX` outputs.
    pub fn output_shape<A: AsRef<[usize]> + AsMut<[usize]>>(&self, mut shape: A) -> Result<A> {
        let (_, outputs) = Lines::of(&self.reach, self.axis, shape.as_ref())?;
        shape.as_mut().copy_from_slice(&outputs);
        Ok(shape)
    }

    /// Returns the filtered samples: of one line, or of the lines of a matrix [along an axis](Self::along). Pictures of the crate `image` have
    /// the filter's number of [`channels`](crate::Rank1d::channels).
    ///
    /// ```
    /// use slm::{Device, Rank1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let median = Rank1d::median(3).prepare(&device)?;
    /// assert_eq!(median.apply(&[3u8, 9, 4, 5])?, [3, 4, 5, 4]);
    /// assert_eq!(median.apply(&device.upload(&[3u8, 9, 4, 5])?)?.download()?, [3, 4, 5, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * The errors of [`output_shape`](Self::output_shape), and `PictureError::Channels` for pixels with another number of channels.
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::TooLarge`] for more outputs than memory or a picture can have.
    /// * The errors of [`Device::kernel`] on a GPU: axis 0 may have another kernel, which is loaded on first use.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: Input<S, S>>(&self, samples: I) -> Result<I::Output> {
        let shape = samples.shape();
        shape.check_channels("the filter", self.reach.channels)?;
        let (lines, axes) = Lines::of(&self.reach, self.axis, &shape.axes)?;
        data::apply(("the input", &samples), &axes, self.device(), |samples, outputs| self.run(lines, samples, outputs))
    }

    /// Filters samples into any [`Output`]: a line, or lines of a matrix with any row pitches. If that is on a device, this returns when the
    /// work is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] or [`Error::Shape`] if `outputs` does not have the [shape of the result](Self::output_shape).
    /// * The errors of [`apply`](Self::apply). After [`Error::OutOfHostMemory`] on the CPU, some outputs may be written; after any error, if
    ///   they are on the host and the device is a GPU.
    pub fn apply_into(&self, samples: impl Input<S, S>, outputs: &mut (impl Output<S> + ?Sized)) -> Result<()> {
        let shape = samples.shape();
        shape.check_channels("the filter", self.reach.channels)?;
        let (lines, axes) = Lines::of(&self.reach, self.axis, &shape.axes)?;
        outputs.check_axes("the output", &axes)?;
        data::apply_into(("the input", &samples), outputs, self.device(), |samples, outputs| {
            self.run(lines, samples, outputs)
        })
    }

    fn run(&self, lines: Lines, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        let (filter, shape) = self.filter.of(&lines)?;
        filter.run_plane(shape, samples, outputs)
    }

    /// Returns the plan for filtering samples of this shape, which is as for [`output_shape`](Self::output_shape).
    ///
    /// # Errors
    ///
    /// Those of [`output_shape`](Self::output_shape), and what prevents the filter from running on the device.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan<Rank2dAlgorithm>> {
        let (lines, outputs) = Lines::of(&self.reach, self.axis, shape.as_ref())?;
        let (filter, shape) = self.filter.of(&lines)?;
        filter.plan_plane(shape, &outputs)
    }
}

impl<S: RankElement> fmt::Debug for PreparedRank1d<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedRank1d")
            .field("device", self.device())
            .field("reach", &self.reach)
            .field("axis", &self.axis)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
#[cfg(doc)]
use crate::filter1d::Filter1dError;
