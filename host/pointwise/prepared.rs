//! A function of one sample, bound to a device.

use super::function::{BoundFunction, CpuFunction};
use super::lines::Lines;
use super::rule::Rule;
use super::{LookupElement, Plan, PointwiseElement, cpu, gpu, table};
use crate::any::{Slice, SliceMut};
use crate::buffer::{check_length, check_shape};
use crate::gpu::Gpu;
use crate::{Buffer, Buffer2, Device, Result, allocation};
use ndarray::{Array, ArrayView, Dimension};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A [`Convert`](crate::Convert), [`Map`](crate::Map) or [`Lookup`](crate::Lookup) that is ready to run on its device, any
/// number of times and from any thread. `S` is the type of the samples, `O` of the outputs.
pub struct PreparedMap<S: PointwiseElement, O: PointwiseElement = S> {
    function: BoundFunction<1>,
    types: PhantomData<fn(S) -> O>,
}

impl CpuFunction<1> for Arc<Rule> {
    fn run(&self, lines: &Lines<1>, samples: [Slice<'_>; 1], outputs: SliceMut<'_>) {
        cpu::map(self, lines, samples, outputs);
    }
}

impl<S: PointwiseElement, O: PointwiseElement> PreparedMap<S, O> {
    pub(super) fn new(device: &Device, rule: Rule) -> Result<Self> {
        let rule = Arc::new(rule);
        let on_gpu = |gpu: Gpu| gpu::map(&gpu, &rule, [S::KIND, O::KIND]);
        let function = BoundFunction::new(device, || Ok(rule.clone()), on_gpu)?;
        Ok(PreparedMap { function, types: PhantomData })
    }

    /// Returns the device that the function runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.function.device
    }

    /// Returns the outputs, one for each sample.
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, samples: &[S]) -> Result<Vec<O>> {
        self.function.run_on_host([samples])
    }

    /// Returns the outputs for an array with any number of dimensions and any strides. The result has the same shape.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Map};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let square = Map::square().prepare(&Device::open()?)?;
    /// assert_eq!(square.apply_array(array![[1, 2], [3, 4]].t())?, array![[1, 9], [4, 16]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Self::apply).
    pub fn apply_array<D: Dimension>(&self, samples: ArrayView<'_, S, D>) -> Result<Array<O, D>> {
        let shape = samples.raw_dim();
        let outputs = self.apply(&allocation::row_after_row(samples)?)?;
        Ok(Array::from_shape_vec(shape, outputs).expect("an array of this shape exists"))
    }

    /// Computes the outputs for a buffer into another one. Returns when the work is enqueued.
    ///
    /// ```
    /// use slm::{Convert, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let x = device.upload(&[0u8, 64, 255])?;
    /// let mut y = device.zeroed::<f32>(3)?;
    /// Convert::new().scale(1.0 / 256.0).prepare(&device)?.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, [0.0, 0.25, 255.0 / 256.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`Error::Length`] if the buffers have different lengths.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, samples: &Buffer<S>, outputs: &mut Buffer<O>) -> Result<()> {
        self.check_owners(samples, outputs)?;
        check_length("the output", samples.len(), outputs.len())?;
        self.function.run(&Lines::row(samples.len()), [samples], outputs)
    }

    /// Returns the outputs for a matrix in new memory of the device, without gaps. Returns when the work is enqueued.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Convert, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let bytes = Buffer2::upload(&device, array![[0u8, 64], [128, 192]].view())?;
    /// let unit = Convert::<u8, f32>::new().scale(1.0 / 256.0).prepare(&device)?.apply_buffer2(&bytes)?;
    /// assert_eq!(unit.download()?, array![[0.0, 0.25], [0.5, 0.75]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU.
    /// * The errors of [`apply_matrix_into`](Self::apply_matrix_into).
    pub fn apply_buffer2(&self, samples: &Buffer2<S>) -> Result<Buffer2<O>> {
        self.function.device.check_owner("the input", samples.buffer().device())?;
        let mut outputs = Buffer2::unwritten(self.device(), [samples.rows(), samples.columns()])?;
        self.apply_matrix_into(samples, &mut outputs)?;
        Ok(outputs)
    }

    /// Computes the outputs for a matrix into another one, with any row pitches. Returns when the work is enqueued.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another handle.
    /// * [`Error::Shape`] if the matrices have different shapes.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_matrix_into(&self, samples: &Buffer2<S>, outputs: &mut Buffer2<O>) -> Result<()> {
        self.check_owners(samples.buffer(), outputs.buffer())?;
        let shape = [samples.rows(), samples.columns()];
        check_shape("the output", shape, [outputs.rows(), outputs.columns()])?;
        let lines = Lines::new(shape, [samples.pitch()], outputs.pitch());
        self.function.run(&lines, [samples.buffer()], outputs.buffer_mut())
    }

    /// Returns the plan for this number of samples.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        self.function.plan(&Lines::row(samples))
    }

    fn check_owners(&self, samples: &Buffer<S>, outputs: &Buffer<O>) -> Result<()> {
        self.function.device.check_owner("the input", samples.device())?;
        self.function.device.check_owner("the output", outputs.device())
    }
}

impl<S: LookupElement> PreparedMap<S, S> {
    /// Returns the table that equalises a histogram, whose counts are those of all values and more.
    pub(super) fn equalising(counts: &Buffer<u64>) -> Result<Self> {
        let on_cpu = || Ok(Arc::new(Rule::Table(S::vec(cpu::equalise(counts.storage().cpu())?))));
        let on_gpu = |gpu: Gpu| table::equalising(&gpu, S::KIND, counts);
        let function = BoundFunction::new(counts.device(), on_cpu, on_gpu)?;
        Ok(PreparedMap { function, types: PhantomData })
    }

    /// Returns the plan of [`equalising`](Self::equalising) on a device.
    pub(super) fn equalising_plan(device: &Device) -> Plan {
        let entries = [1, S::VALUES as usize];
        match device.gpu() {
            None => Plan::new(device, "cpu", entries, None),
            Some(gpu) => {
                let launch = table::equalising_plan(&gpu, S::KIND);
                Plan::new(device, launch.kernel, entries, Some(launch))
            }
        }
    }
}

impl<S: PointwiseElement, O: PointwiseElement> fmt::Debug for PreparedMap<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedMap").field("device", self.device()).finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
