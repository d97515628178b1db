//! A transposition bound to a device.

use super::cpu::CpuTranspose;
use super::gpu::GpuTranspose;
use super::{Matrices, Plan, TransposeAlgorithm, TransposeElement};
use crate::buffer::{check_length, check_shape};
use crate::on_device::{OnDevice, Task};
use crate::{Buffer, Buffer2, Device, Element, Error, Result, allocation};
use ndarray::{Array2, ArrayView2};
use std::fmt;
use std::marker::PhantomData;

/// A [`Transpose`](crate::Transpose) that is ready to run on its device, any number of times and from any thread.
pub struct PreparedTranspose<T: Element> {
    pub(super) device: Device,
    pub(super) matrices: Matrices,
    algorithm: TransposeAlgorithm,
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

    fn on_gpu(&self, transpose: &Box<GpuTranspose>, [input]: [&Buffer<T>; 1], output: &mut Buffer<T>) -> Result<()> {
        transpose.run(input, output, self.0)
    }
}

impl<T: TransposeElement> PreparedTranspose<T> {
    pub(super) fn new(device: &Device, matrices: Matrices, algorithm: TransposeAlgorithm) -> Result<Self> {
        matrices.check::<T>()?;
        let on_cpu = || Ok(CpuTranspose::new(&matrices, algorithm));
        let on_gpu = |gpu| GpuTranspose::new::<T>(&gpu, &matrices, algorithm).map(Box::new);
        let on_device = OnDevice::new(device, on_cpu, on_gpu)?;
        Ok(PreparedTranspose { device: device.clone(), matrices, algorithm, on_device, marker: PhantomData })
    }

    /// Returns the device that the transposition runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the transposed matrices.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if `input` does not have matrices · rows · columns · components numbers.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, input: &[T]) -> Result<Vec<T>> {
        check_length("the input", self.matrices.len(), input.len())?;
        T::run_on_host(self, input)
    }

    /// Transposes the matrices of a buffer into another buffer. Returns when the work is enqueued.
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
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`Error::Length`] if a buffer has another length than [`apply`](Self::apply) requires.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, input: &Buffer<T>, output: &mut Buffer<T>) -> Result<()> {
        self.check_owners(input, output)?;
        check_length("the input", self.matrices.len(), input.len())?;
        check_length("the output", self.matrices.len(), output.len())?;
        T::run(self, input, output, self.matrices.pitches())
    }

    /// Returns the transposed matrices. `input` and the result have the rows of all matrices below each other.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let transpose = Transpose::new(1, 2).prepare(&Device::open()?)?;
    /// assert_eq!(transpose.apply_matrix(array![[1, 2]].view())?, array![[1], [2]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Shape`] if `input` does not have matrices · rows rows of columns · components numbers.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_matrix(&self, input: ArrayView2<'_, T>) -> Result<Array2<T>> {
        let (rows, columns) = input.dim();
        check_shape("the input", self.matrices.shape(), [rows, columns])?;
        let output = T::run_on_host(self, &allocation::row_after_row(input)?)?;
        let shape = self.matrices.transposed_shape();
        Ok(Array2::from_shape_vec(shape, output).expect("`Matrices::check` has checked the shape"))
    }

    /// Returns the transposed matrices in new memory of the device, without gaps, with the shapes of
    /// [`apply_matrix`](Self::apply_matrix). Returns when the work is enqueued.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Transpose};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let x = Buffer2::upload(&device, array![[1, 2, 3], [4, 5, 6]].view())?;
    /// let y = Transpose::new(2, 3).prepare(&device)?.apply_buffer2(&x)?;
    /// assert_eq!(y.download()?, array![[1, 4], [2, 5], [3, 6]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU.
    /// * The errors of [`apply_matrix_into`](Self::apply_matrix_into).
    pub fn apply_buffer2(&self, input: &Buffer2<T>) -> Result<Buffer2<T>> {
        self.device.check_owner("the input", input.buffer().device())?;
        check_shape("the input", self.matrices.shape(), [input.rows(), input.columns()])?;
        let mut output = Buffer2::unwritten(&self.device, self.matrices.transposed_shape())?;
        self.apply_matrix_into(input, &mut output)?;
        Ok(output)
    }

    /// Transposes matrices into others, with the shapes of [`apply_matrix`](Self::apply_matrix) and any row pitches. Returns
    /// when the work is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another handle.
    /// * [`Error::Shape`] if it has another shape.
    /// * [`TransposeError::ElementSize`] on a GPU if the row pitches require smaller units, so that an element has too many.
    /// * The errors of [`Device::kernel`] on a GPU: the row pitches may require another kernel, which is loaded on first use.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_matrix_into(&self, input: &Buffer2<T>, output: &mut Buffer2<T>) -> Result<()> {
        self.check_owners(input.buffer(), output.buffer())?;
        check_shape("the input", self.matrices.shape(), [input.rows(), input.columns()])?;
        check_shape("the output", self.matrices.transposed_shape(), [output.rows(), output.columns()])?;
        let pitches = [input.pitch(), output.pitch()];
        T::run(self, input.buffer(), output.buffer_mut(), pitches)
    }

    /// Returns the plan for matrices without gaps between rows.
    #[must_use]
    pub fn plan(&self) -> Plan {
        T::plan(self, self.matrices.pitches())
    }

    /// Returns the plan for the given row pitches, in numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Pitch`] if a pitch is shorter than a row.
    pub fn plan_matrix(&self, input_pitch: usize, output_pitch: usize) -> Result<Plan> {
        let pitches = [input_pitch, output_pitch];
        for (pitch, columns) in pitches.into_iter().zip(self.matrices.pitches()) {
            if pitch < columns {
                return Err(Error::Pitch { columns, pitch });
            }
        }
        Ok(T::plan(self, pitches))
    }

    fn check_owners(&self, input: &Buffer<T>, output: &Buffer<T>) -> Result<()> {
        self.device.check_owner("the input", input.device())?;
        self.device.check_owner("the output", output.device())
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
