//! A filter bound to a device.

use super::line_filter::LineFilter;
use super::{FilterAlgorithm, Lines, Plan, Reach, Taps};
use crate::buffer::{check_length, check_shape};
use crate::buffer2::extent;
use crate::{Buffer, Buffer2, Device, FilterSample, FilterWeight, Result, allocation};
use ndarray::{Array2, ArrayView2};
use std::fmt;

/// A [`Filter1d`](crate::Filter1d) that is ready to run on its device, any number of times and from any thread. `S` is the type
/// of the samples and of the outputs.
pub struct PreparedFilter1d<S: FilterSample> {
    device: Device,
    pub(super) reach: Reach,
    algorithm: FilterAlgorithm,
    filter: LineFilter<S>,
}

impl<S: FilterSample> PreparedFilter1d<S> {
    pub(super) fn new<W: FilterWeight>(device: &Device, taps: &Taps<S, W>, algorithm: FilterAlgorithm) -> Result<Self> {
        let reach = taps.reach;
        reach.check()?;
        let filter = LineFilter::new(device, taps, algorithm)?;
        Ok(PreparedFilter1d { device: device.clone(), reach, algorithm, filter })
    }

    /// Returns the device that the filter runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of outputs for `samples` samples, both the total of all channels.
    ///
    /// # Errors
    ///
    /// * [`FilterError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::TooLarge`] if the number of outputs exceeds `usize::MAX`.
    pub fn output_len(&self, samples: usize) -> Result<usize> {
        Ok(Lines::single(&self.reach, samples)?.output_pitch)
    }

    /// Returns the rows and columns of the result if a matrix of `shape` (rows, columns) is filtered along `axis`.
    ///
    /// # Errors
    ///
    /// * [`FilterError::Axis`] for an axis other than 0 and 1.
    /// * [`FilterError::Interleaving`] if the number of columns is not a multiple of the channels.
    /// * [`Error::TooLarge`] if a line would have more than `usize::MAX` outputs.
    pub fn output_shape(&self, shape: [usize; 2], axis: usize) -> Result<[usize; 2]> {
        let (_, outputs) = Lines::of_matrix(&self.reach, shape, shape[1], axis)?;
        Ok(outputs)
    }

    /// Returns the filtered samples.
    ///
    /// # Errors
    ///
    /// * [`FilterError::Interleaving`] if the number of samples is not a multiple of the
    ///   [`channels`](crate::Filter1d::channels).
    /// * [`Error::TooLarge`] for more outputs than memory can have.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, samples: &[S]) -> Result<Vec<S>> {
        let lines = Lines::single(&self.reach, samples.len())?;
        self.run_on_host(&lines, samples, lines.output_pitch)
    }

    /// Filters the samples of a buffer into another buffer. Returns when the work is enqueued.
    ///
    /// ```
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&device)?;
    /// let x = device.upload(&[1, 2, 3, 4])?;
    /// let mut y = device.zeroed(sum.output_len(x.len())?)?;
    /// sum.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, [3, 6, 9, 7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`FilterError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::Length`] if the length of `outputs` is not [`output_len`](Self::output_len).
    /// * [`Error::OutOfHostMemory`] on the CPU. Some outputs may be written then.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, samples: &Buffer<S>, outputs: &mut Buffer<S>) -> Result<()> {
        let lines = Lines::single(&self.reach, samples.len())?;
        check_length("the output", lines.output_pitch, outputs.len())?;
        self.run(&lines, samples, outputs)
    }

    /// Returns the matrix with every line along `axis` filtered. Axis 0 runs down the columns, axis 1 along the rows, as in
    /// SciPy's `correlate1d`.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&Device::open()?)?;
    /// let matrix = array![[1, 2, 3], [40, 50, 60]];
    /// assert_eq!(sum.apply_axis(matrix.view(), 0)?, array![[41, 52, 63], [41, 52, 63]]);
    /// assert_eq!(sum.apply_axis(matrix.view(), 1)?, array![[3, 6, 5], [90, 150, 110]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`FilterError::Axis`] for an axis other than 0 and 1.
    /// * [`FilterError::Interleaving`] if the number of columns is not a multiple of the channels.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::kernel`] on a GPU: axis 0 has its own kernel, which is loaded on first use.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_axis(&self, samples: ArrayView2<'_, S>, axis: usize) -> Result<Array2<S>> {
        let (rows, columns) = samples.dim();
        let (lines, shape) = Lines::of_matrix(&self.reach, [rows, columns], columns, axis)?;
        let len = extent(shape[0], shape[1], shape[1])?;
        let outputs = self.run_on_host(&lines, &allocation::row_after_row(samples)?, len)?;
        Ok(Array2::from_shape_vec(shape, outputs).expect("`extent` has checked the shape"))
    }

    /// Filters every line along `axis` of a matrix into another matrix. Returns when the work is enqueued.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Extent, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let steps = Filter1d::correlate(&[-1, 1]).extent(Extent::Valid).prepare(&device)?;
    /// let x = Buffer2::upload(&device, array![[1, 3, 6], [2, 2, 9]].view())?;
    /// let [rows, columns] = steps.output_shape([2, 3], 1)?;
    /// let mut y = Buffer2::zeroed(&device, rows, columns)?;
    /// steps.apply_axis_into(&x, 1, &mut y)?;
    /// assert_eq!(y.download()?, array![[2, 3], [0, 7]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Shape`] if `outputs` does not have the [shape of the result](Self::output_shape).
    /// * The errors of [`apply_into`](Self::apply_into) and [`apply_axis`](Self::apply_axis).
    pub fn apply_axis_into(&self, samples: &Buffer2<S>, axis: usize, outputs: &mut Buffer2<S>) -> Result<()> {
        let shape = [samples.rows(), samples.columns()];
        let (mut lines, expected) = Lines::of_matrix(&self.reach, shape, samples.pitch(), axis)?;
        check_shape("the output", expected, [outputs.rows(), outputs.columns()])?;
        lines.output_pitch = outputs.pitch();
        self.run(&lines, samples.buffer(), outputs.buffer_mut())
    }

    /// Returns the plan for filtering `samples` samples, the total of all channels. If [`output_len`](Self::output_len) fails for them, the plan has no
    /// launches, and its reason is that error.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        match Lines::single(&self.reach, samples) {
            Ok(lines) => self.filter.plan(&self.device, self.algorithm, &lines),
            Err(error) => Plan::refused(&self.device, self.algorithm, &error),
        }
    }

    /// Returns the plan for filtering the lines along `axis` of a matrix of `shape` (rows, columns).
    ///
    /// # Errors
    ///
    /// The errors of [`output_shape`](Self::output_shape).
    pub fn plan_axis(&self, shape: [usize; 2], axis: usize) -> Result<Plan> {
        let (lines, _) = Lines::of_matrix(&self.reach, shape, shape[1], axis)?;
        Ok(self.filter.plan(&self.device, self.algorithm, &lines))
    }

    fn run(&self, lines: &Lines, samples: &Buffer<S>, outputs: &mut Buffer<S>) -> Result<()> {
        self.device.check_owner("the input", samples.device())?;
        self.device.check_owner("the output", outputs.device())?;
        self.filter.run(lines, samples, outputs)
    }

    /// Returns `len` outputs for samples on the host.
    pub(super) fn run_on_host(&self, lines: &Lines, samples: &[S], len: usize) -> Result<Vec<S>> {
        self.filter.run_on_host(&self.device, lines, samples, len)
    }
}

impl<S: FilterSample> fmt::Debug for PreparedFilter1d<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedFilter1d")
            .field("device", &self.device)
            .field("reach", &self.reach)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use super::FilterError;
#[cfg(doc)]
use crate::Error;
