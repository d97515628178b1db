//! A transposition bound to a device.

use super::cpu::CpuTranspose;
use super::gpu::GpuTranspose;
use super::in_parts::Parts;
use super::{Matrices, TransposeAlgorithm, TransposeElement};
use crate::device::buffer::check_length;
use crate::device::data::{self, Elements, Shape, Target, check_same};
use crate::device::on_device::{OnDevice, Task};
use crate::plan::Planned;
use crate::stream::in_memory::{self, takes_parts};
use crate::{BufferSlice, BufferSliceMut, Device, Element, Error, Input, Output, Plan, Result};
use std::fmt;
use std::marker::PhantomData;

/// A [`Transpose`](crate::Transpose) that is ready to run on its device, any number of times and from any thread.
pub struct PreparedTranspose<T: Element> {
    pub(super) device: Device,
    pub(super) matrices: Matrices,
    pub(super) algorithm: TransposeAlgorithm,
    pub(super) on_device: OnDevice<CpuTranspose, Box<GpuTranspose>>,
    marker: PhantomData<fn(T) -> T>,
}

/// Row pitches of matrices and of the transposed ones, in numbers.
pub(super) struct Pitches(pub(super) [usize; 2]);

impl<T: Element> Task<CpuTranspose, Box<GpuTranspose>, T, T> for Pitches {
    fn on_cpu(&self, transpose: &CpuTranspose, [input]: [&[T]; 1], output: &mut [T]) -> Result<()> {
        transpose.run(input, output, self.0);
        Ok(())
    }

    fn on_gpu(
        &self,
        transpose: &Box<GpuTranspose>,
        [input]: [BufferSlice<'_, T>; 1],
        output: BufferSliceMut<'_, T>,
    ) -> Result<()> {
        transpose.run(input, output, self.0)
    }
}

impl<T: TransposeElement> PreparedTranspose<T> {
    pub(super) fn new(device: &Device, matrices: Matrices, algorithm: TransposeAlgorithm) -> Result<Self> {
        matrices.check::<T>()?;
        let on_cpu = || Ok(CpuTranspose::new(&matrices));
        let on_gpu = |gpu| GpuTranspose::new::<T>(&gpu, &matrices, algorithm).map(Box::new);
        let on_device = OnDevice::new(device, on_cpu, on_gpu)?;
        Ok(PreparedTranspose { device: device.clone(), matrices, algorithm, on_device, marker: PhantomData })
    }

    /// Returns the device that the transposition runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the transposed matrices, of [data](Input) that have the rows of all matrices below each other.
    ///
    /// | input | elements |
    /// |---|---|
    /// | a slice, a [`Buffer`](crate::Buffer) or an array with one axis | all numbers, row after row |
    /// | an array with two axes, or a [`Buffer2`](crate::Buffer2) | matrices · rows rows of columns · components numbers |
    /// | a picture of the crate `image` | pixels, whose channels are the [`components`](crate::Transpose::components) |
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let transpose = Transpose::new(2, 3).prepare(&device)?;
    /// assert_eq!(transpose.apply(&[1, 2, 3, 4, 5, 6])?, [1, 4, 2, 5, 3, 6]);
    /// let matrix = array![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(transpose.apply(&matrix)?, array![[1, 4], [2, 5], [3, 6]]);
    /// let on_device = Buffer2::upload(&device, &matrix)?;
    /// assert_eq!(transpose.apply(&on_device)?.download()?, array![[1, 4], [2, 5], [3, 6]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`], [`Error::Shape`] or [`Error::Axes`] if `input` has another shape, and `PictureError::Channels` if pixels do
    ///   not have as many channels as elements have components.
    /// * [`Error::TooLarge`] if a picture cannot have the rows of all transposed matrices.
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * The errors of [`apply_into`](Self::apply_into) for row pitches.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: Input<T>>(&self, input: I) -> Result<I::Output> {
        let shape = self.checked_shape(&input)?;
        let transposed = self.matrices.transposed_shape();
        let outputs: &[usize] = if shape.axes.len() == 1 { &shape.axes } else { &transposed };
        data::apply(("the input", &input), outputs, &self.device, |input, output| T::run(self, input, output))
    }

    /// Transposes into any [`Output`], with the shapes of [`apply`](Self::apply) and any row pitches. If that is on a device, this returns
    /// when the work is enqueued.
    ///
    /// ```
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let x = device.upload(&[1, 2, 3, 4, 5, 6])?;
    /// let mut y = device.zeroed(6)?;
    /// Transpose::new(2, 3).prepare(&device)?.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, [1, 4, 2, 5, 3, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::Length`] or [`Error::Shape`] if it has another shape than [`apply`](Self::apply) requires or returns.
    /// * [`TransposeError::ElementSize`] on a GPU if the row pitches require smaller units, so that an element has too many.
    /// * The errors of [`Device::kernel`] on a GPU: the row pitches may require another kernel, which is loaded on first use.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`]: data on the host are uploaded for a GPU, and arrays that are not in
    ///   row-major order are copied.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, input: impl Input<T>, output: &mut (impl Output<T> + ?Sized)) -> Result<()> {
        self.checked_shape(&input)?;
        self.check_axes("the output", self.matrices.transposed_shape(), &output.axes())?;
        data::apply_into(("the input", &input), output, &self.device, |input, output| T::run(self, input, output))
    }

    /// Returns the shape of all matrices, or an error if it is another one.
    fn checked_shape(&self, input: &impl Input<T>) -> Result<Shape> {
        let shape = input.shape();
        shape.check_channels("the transposition", self.matrices.components)?;
        if let Some(pixels) = shape.pixels() {
            let Matrices { rows, columns, count, .. } = self.matrices;
            check_same("the picture", &[count * rows, columns], &pixels)?;
        }
        self.check_axes("the input", self.matrices.shape(), &shape.axes)?;
        Ok(shape)
    }

    /// Returns an error unless these are the axes of all matrices: of a matrix of this shape, or one with all numbers.
    fn check_axes(&self, what: &'static str, shape: [usize; 2], axes: &[usize]) -> Result<()> {
        match axes {
            [len] => check_length(what, self.matrices.len(), *len),
            axes => check_same(what, &shape, axes),
        }
    }

    /// Returns the plan for matrices without gaps between rows.
    ///
    /// # Errors
    ///
    /// What prevents the transposition from running on the device.
    pub fn plan(&self) -> Result<Plan<TransposeAlgorithm>> {
        T::plan(self, self.matrices.pitches())
    }

    /// Returns the plan for the given row pitches of input and output, in numbers.
    ///
    /// # Errors
    ///
    /// * [`Error::Pitch`] if a pitch is shorter than a row.
    /// * The errors of [`apply_into`](Self::apply_into) for row pitches.
    pub fn plan_pitched(&self, pitches: [usize; 2]) -> Result<Plan<TransposeAlgorithm>> {
        for (pitch, columns) in pitches.into_iter().zip(self.matrices.pitches()) {
            if pitch < columns {
                return Err(Error::Pitch { columns, pitch });
            }
        }
        T::plan(self, pitches)
    }

    /// Transposes, with the row pitches that input and output have.
    pub(super) fn run(&self, input: &Elements<'_, T>, output: Target<'_, T>) -> Result<()> {
        if takes_parts(&self.device, input, &output) {
            let parts = self.parts();
            return in_memory::run_with_layouts(&parts, parts.layouts(), input, output);
        }
        let [row, transposed_row] = self.matrices.pitches();
        let pitches = Pitches([input.pitch(row), output.pitch(transposed_row)]);
        self.on_device.run(&self.device, &pitches, [input], output)
    }

    /// Returns the transposition of data on the host as an operation that can be divided.
    pub(crate) fn parts(&self) -> Parts<'_, T> {
        Parts::new(self)
    }

    /// Returns the plan for these row pitches.
    pub(super) fn plan_of(&self, pitches: [usize; 2]) -> Result<Plan<TransposeAlgorithm>> {
        let planned = match &self.on_device {
            OnDevice::Cpu(_) => Planned::on_cpu(),
            OnDevice::Gpu(gpu) => gpu.plan::<T>(pitches)?,
        };
        Ok(Plan::new(&self.device, self.algorithm, &self.matrices.transposed_shape(), (), planned))
    }
}

impl<T: Element> fmt::Debug for PreparedTranspose<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedTranspose")
            .field("device", &self.device)
            .field("matrices", &self.matrices)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use super::TransposeError;
