//! A rank filter bound to a device.

use super::cpu::CpuRank;
use super::gpu::GpuRank;
use super::rule::RankRule;
use super::{Rank2dAlgorithm, RankElement};
use crate::device::data::{self, Axes, Elements, Shape, Target};
use crate::device::on_device::{OnDevice, Task};
use crate::filter::part::Placement;
use crate::filter::two_d::window::{PictureProblem, Window};
use crate::plan::Planned;
use crate::{BufferSlice, BufferSliceMut, Device, Input, Output, Plan, Result};
use std::fmt;

/// A [`Rank2d`](crate::Rank2d) that is ready to run on its device, any number of times and from any thread.
pub struct PreparedRank2d<S: RankElement> {
    device: Device,
    window: Window,
    algorithm: Rank2dAlgorithm,
    filter: OnDevice<CpuRank<S>, GpuRank<S>>,
}

impl<S: RankElement> Task<CpuRank<S>, GpuRank<S>, S, S> for PictureProblem {
    fn on_cpu(&self, filter: &CpuRank<S>, [samples]: [&[S]; 1], outputs: &mut [S]) -> Result<()> {
        S::run_on_cpu(filter, self, samples, outputs)
    }

    fn on_gpu(
        &self,
        filter: &GpuRank<S>,
        [samples]: [BufferSlice<'_, S>; 1],
        outputs: BufferSliceMut<'_, S>,
    ) -> Result<()> {
        filter.run(self, samples, outputs)
    }
}

impl<S: RankElement> PreparedRank2d<S> {
    pub(super) fn new(device: &Device, rule: RankRule<S>) -> Result<Self> {
        let (window, algorithm) = (rule.window, rule.algorithm);
        let filter = match device.gpu() {
            None => OnDevice::Cpu(CpuRank::new(rule)),
            Some(gpu) => OnDevice::Gpu(GpuRank::new(gpu, rule)?),
        };
        Ok(PreparedRank2d { device: device.clone(), window, algorithm, filter })
    }

    /// Returns the device that the filter runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the shape of the results for pictures of this shape, as
    /// [`PreparedFilter2d::output_shape`](crate::filter2d::PreparedFilter2d::output_shape).
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::Dimensions`], [`Filter2dError::Channels`] or [`Filter2dError::Interleaving`] for a shape of other pictures.
    /// * [`Error::TooLarge`] if an axis would have more than `usize::MAX` outputs.
    pub fn output_shape<A: AsRef<[usize]> + AsMut<[usize]>>(&self, mut shape: A) -> Result<A> {
        let inputs = self.window.shape_of(shape.as_ref());
        let (_, [rows, columns]) = self.window.pictures(&inputs)?;
        let outputs = [self.window.rows.over(rows)?.outputs, self.window.columns.over(columns)?.outputs];
        shape.as_mut().copy_from_slice(&self.window.output_axes(&inputs, outputs));
        Ok(shape)
    }

    /// Returns the filtered pictures. The last axes of an array are rows and columns, and channels if
    /// [`channels`](crate::Rank2d::channels) was called; all axes before them are a batch. A [`Buffer2`](crate::Buffer2) is one picture,
    /// whose columns are pixels times channels. Pictures of the crate `image` have the filter's number of channels.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Extent, Rank2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let least = Rank2d::minimum(2).extent(Extent::Valid).prepare(&device)?;
    /// assert_eq!(least.apply(&array![[5, 2, 3], [4, 6, 9]])?, array![[2, 2]]);
    ///
    /// let on_device = Buffer2::upload(&device, &array![[5, 2, 3], [4, 6, 9]])?;
    /// assert_eq!(least.apply(&on_device)?.download()?, array![[2, 2]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::Dimensions`] for too few axes, and for slices and buffers.
    /// * [`Filter2dError::Channels`] if the length of an array's last axis is not the number of channels,
    ///   [`Filter2dError::Interleaving`] if the number of columns of a matrix is not a multiple of it, and
    ///   `PictureError::Channels` if pixels have another number.
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another device.
    /// * [`Error::TooLarge`] for more outputs than memory or a picture can have.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: Input<S, S>>(&self, samples: I) -> Result<I::Output> {
        let (problem, axes) = self.window.problem(&samples.shape())?;
        data::apply(("the input", &samples), &axes, &self.device, |samples, outputs| {
            self.run(problem, samples, outputs)
        })
    }

    /// Filters pictures into any [`Output`]. If that is on a device, this returns when the work is enqueued. The pictures of a batch are
    /// one below the other: [`Buffer2::planes`](crate::Buffer2::planes).
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Rank2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let greatest = Rank2d::maximum([1, 2]).stride(1, 2).prepare(&device)?;
    /// let x = Buffer2::upload(&device, &array![[1u16, 2, 3, 4], [8, 7, 6, 5]])?;
    /// let [rows, columns] = greatest.output_shape([2, 4])?;
    /// let mut y = Buffer2::zeroed(&device, rows, columns)?;
    /// greatest.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, array![[1, 3], [8, 7]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * Those of [`apply`](Self::apply), and [`Filter2dError::Planes`] if the number of rows is not a multiple of the pictures.
    /// * [`Error::Shape`] if `outputs` does not have the [shape of the result](Self::output_shape).
    /// * After [`Error::OutOfHostMemory`] on the CPU some outputs may be written, and after any error if they are on the host and the
    ///   device is a GPU.
    pub fn apply_into(&self, samples: impl Input<S, S>, outputs: &mut (impl Output<S> + ?Sized)) -> Result<()> {
        let (problem, axes) = self.window.problem(&samples.shape())?;
        outputs.check_axes("the output", &axes)?;
        data::apply_into(("the input", &samples), outputs, &self.device, |samples, outputs| {
            self.run(problem, samples, outputs)
        })
    }

    /// Returns the problem of pictures of any form, and the axes of the results.
    pub(in crate::filter) fn problem(&self, shape: &Shape) -> Result<(PictureProblem, Axes)> {
        self.window.problem(shape)
    }

    /// Returns where the windows of outputs are down a column.
    pub(in crate::filter) fn placement_of_rows(&self) -> Placement {
        Placement { pack: 1, ..self.window.rows.placement() }
    }

    /// Filters a problem without gaps, or with those that samples and outputs have.
    pub(in crate::filter) fn run(
        &self,
        mut problem: PictureProblem,
        samples: &Elements<'_, S>,
        outputs: Target<'_, S>,
    ) -> Result<()> {
        problem.input_pitch = samples.pitch(problem.input_pitch);
        problem.output_pitch = outputs.pitch(problem.output_pitch);
        self.filter.run(&self.device, &problem, [samples], outputs)
    }

    /// Filters a plane of this many rows and columns of pixels, which the caller has checked.
    pub(in crate::filter) fn run_plane(
        &self,
        shape: [usize; 2],
        samples: &Elements<'_, S>,
        outputs: Target<'_, S>,
    ) -> Result<()> {
        self.run(PictureProblem::new(&self.window, 1, shape)?, samples, outputs)
    }

    /// Returns the plan for a plane, whose outputs have these axes.
    pub(in crate::filter) fn plan_plane(&self, shape: [usize; 2], outputs: &[usize]) -> Result<Plan<Rank2dAlgorithm>> {
        Ok(self.planned(&PictureProblem::new(&self.window, 1, shape)?, outputs))
    }

    fn planned(&self, problem: &PictureProblem, outputs: &[usize]) -> Plan<Rank2dAlgorithm> {
        let planned = match &self.filter {
            OnDevice::Cpu(filter) => Planned::new(filter.reason(), []),
            OnDevice::Gpu(filter) => filter.plan(problem),
        };
        Plan::new(&self.device, self.algorithm, outputs, (), planned)
    }

    /// Returns the plan for filtering pictures of this shape, which is as for [`output_shape`](Self::output_shape).
    ///
    /// # Errors
    ///
    /// Those of [`output_shape`](Self::output_shape), and [`Error::TooLarge`] for more outputs than memory can have.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan<Rank2dAlgorithm>> {
        let (problem, outputs) = self.window.problem(&self.window.shape_of(shape.as_ref()))?;
        Ok(self.planned(&problem, &outputs))
    }
}

impl<S: RankElement> fmt::Debug for PreparedRank2d<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedRank2d")
            .field("device", &self.device)
            .field("window", &self.window)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::{Error, filter2d::Filter2dError};
