//! A function of two samples, bound to a device.

use super::function::{BoundFunction, CpuFunction};
use super::lines::Lines;
use super::{Plan, PointwiseElement, PointwiseError, cpu, gpu};
use crate::any::{Slice, SliceMut};
use crate::buffer::{check_length, check_shape};
use crate::gpu::Gpu;
use crate::{Buffer, Buffer2, Device, Result, allocation};
use ndarray::{Array, ArrayView, Dimension};
use slm_kernels::pointwise::Combination;
use std::fmt;
use std::marker::PhantomData;

/// An [`Arithmetic`](crate::Arithmetic) that is ready to run on its device, any number of times and from any thread. `S` is the
/// type of the samples, `O` of the outputs.
pub struct PreparedArithmetic<S: PointwiseElement, O: PointwiseElement = S> {
    function: BoundFunction<2>,
    types: PhantomData<fn(S) -> O>,
}

impl CpuFunction<2> for Combination {
    fn run(&self, lines: &Lines<2>, samples: [Slice<'_>; 2], outputs: SliceMut<'_>) {
        cpu::combine(*self, lines, samples, outputs);
    }
}

impl<S: PointwiseElement, O: PointwiseElement> PreparedArithmetic<S, O> {
    pub(super) fn new(device: &Device, combination: Combination) -> Result<Self> {
        let on_gpu = |gpu: Gpu| gpu::combine(&gpu, combination, [S::KIND, O::KIND]);
        let function = BoundFunction::new(device, || Ok(combination), on_gpu)?;
        Ok(PreparedArithmetic { function, types: PhantomData })
    }

    /// Returns the device that the function runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.function.device
    }

    /// Returns the outputs, one for each pair of samples with the same index.
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if `a` and `b` have different lengths.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, a: &[S], b: &[S]) -> Result<Vec<O>> {
        check_length("the second input", a.len(), b.len())?;
        self.function.run_on_host([a, b])
    }

    /// Returns the outputs for two arrays of the same shape, with any number of dimensions and any strides. The result has
    /// the same shape.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Arithmetic, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let larger = Arithmetic::max().prepare(&Device::open()?)?;
    /// let x = array![[1, 2], [3, 4]];
    /// assert_eq!(larger.apply_arrays(x.view(), x.t())?, array![[1, 3], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`PointwiseError::Shapes`] if the shapes differ.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_arrays<D: Dimension>(&self, a: ArrayView<'_, S, D>, b: ArrayView<'_, S, D>) -> Result<Array<O, D>> {
        let shape = a.raw_dim();
        if shape != b.raw_dim() {
            return Err(PointwiseError::Shapes { first: a.shape().to_vec(), second: b.shape().to_vec() }.into());
        }
        let outputs = self.apply(&allocation::row_after_row(a)?, &allocation::row_after_row(b)?)?;
        Ok(Array::from_shape_vec(shape, outputs).expect("an array of this shape exists"))
    }

    /// Computes the outputs for two buffers into a third one. Both inputs may be the same buffer. Returns when the work is
    /// enqueued.
    ///
    /// ```
    /// use slm::{Arithmetic, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let (a, b) = (device.upload(&[3.0f32, 6.0])?, device.upload(&[4.0, 8.0])?);
    /// let mut y = device.zeroed(2)?;
    /// Arithmetic::magnitude().prepare(&device)?.apply_into(&a, &b, &mut y)?;
    /// assert_eq!(y.download()?, [5.0, 10.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`Error::Length`] if the buffers have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, a: &Buffer<S>, b: &Buffer<S>, outputs: &mut Buffer<O>) -> Result<()> {
        self.check_owners([a, b], outputs)?;
        check_length("the second input", a.len(), b.len())?;
        check_length("the output", a.len(), outputs.len())?;
        self.function.run(&Lines::row(a.len()), [a, b], outputs)
    }

    /// Computes the outputs for two matrices into a third one, with any row pitches. Returns when the work is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another handle.
    /// * [`Error::Shape`] if the matrices have different shapes.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_matrix_into(&self, a: &Buffer2<S>, b: &Buffer2<S>, outputs: &mut Buffer2<O>) -> Result<()> {
        self.check_owners([a.buffer(), b.buffer()], outputs.buffer())?;
        let shape = [a.rows(), a.columns()];
        check_shape("the second input", shape, [b.rows(), b.columns()])?;
        check_shape("the output", shape, [outputs.rows(), outputs.columns()])?;
        let lines = Lines::new(shape, [a.pitch(), b.pitch()], outputs.pitch());
        self.function.run(&lines, [a.buffer(), b.buffer()], outputs.buffer_mut())
    }

    /// Returns the plan for this number of samples in each input.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        self.function.plan(&Lines::row(samples))
    }

    fn check_owners(&self, [a, b]: [&Buffer<S>; 2], outputs: &Buffer<O>) -> Result<()> {
        self.function.device.check_owner("the first input", a.device())?;
        self.function.device.check_owner("the second input", b.device())?;
        self.function.device.check_owner("the output", outputs.device())
    }
}

impl<S: PointwiseElement, O: PointwiseElement> fmt::Debug for PreparedArithmetic<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedArithmetic").field("device", self.device()).finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
