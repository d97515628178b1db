//! A function of one sample, bound to a device.

use super::function::{BoundFunction, CpuFunction, ONLY_KERNEL};
use super::lines::Lines;
use super::rule::PointwiseRule;
use super::{LookupElement, PointwiseElement, cpu, gpu, table};
use crate::device::data::{self, Elements, Shape, Target};
use crate::device::gpu::Gpu;
use crate::element::any::{Slice, SliceMut};
use crate::filter::part::{Divided, Part};
use crate::plan::Planned;
use crate::stream::in_memory::{self, takes_parts};
use crate::{Buffer, Device, Input, Output, Plan, Result};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A [`Convert`](crate::Convert), [`Map`](crate::Map) or [`Lookup`](crate::Lookup) that is ready to run on its device, any
/// number of times and from any thread. `S` is the type of the samples, `O` of the outputs.
pub struct PreparedMap<S: PointwiseElement, O: PointwiseElement = S> {
    function: BoundFunction<1>,
    types: PhantomData<fn(S) -> O>,
}

impl CpuFunction<1> for Arc<PointwiseRule> {
    fn run(&self, lines: &Lines<1>, samples: [Slice<'_>; 1], outputs: SliceMut<'_>) {
        cpu::map(self, lines, samples, outputs);
    }
}

impl<S: PointwiseElement, O: PointwiseElement> PreparedMap<S, O> {
    pub(super) fn new(device: &Device, rule: PointwiseRule) -> Result<Self> {
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

    /// Returns the outputs, one for each sample, of [data](Input) of any form.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Convert, Device, Map};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let square = Map::square().prepare(&device)?;
    /// assert_eq!(square.apply(&[1, 2, 3])?, [1, 4, 9]);
    /// assert_eq!(square.apply(array![[1, 2], [3, 4]].t())?, array![[1, 9], [4, 16]]);
    ///
    /// let bytes = Buffer2::upload(&device, &array![[0u8, 64], [128, 192]])?;
    /// let unit: Buffer2<f32> = Convert::new().scale(1.0 / 256.0).prepare(&device)?.apply(&bytes)?;
    /// assert_eq!(unit.download()?, array![[0.0, 0.25], [0.5, 0.75]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: Input<S, O>>(&self, samples: I) -> Result<I::Output> {
        let shape = samples.shape();
        data::apply(("the input", &samples), &shape.axes, self.device(), |samples, outputs| {
            self.run(&shape, samples, outputs)
        })
    }

    /// Writes the outputs to any [`Output`] with the shape of the samples. If that is on a device, this returns when the work is enqueued.
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
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::Length`], [`Error::Shape`] or [`Error::Axes`] if `samples` and `outputs` differ in shape.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`]: data on the host are uploaded for a GPU, and arrays that are not in
    ///   row-major order are copied.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, samples: impl Input<S, O>, outputs: &mut (impl Output<O> + ?Sized)) -> Result<()> {
        let shape = samples.shape();
        outputs.check_axes("the output", &shape.axes)?;
        data::apply_into(("the input", &samples), outputs, self.device(), |samples, outputs| {
            self.run(&shape, samples, outputs)
        })
    }

    fn run(&self, shape: &Shape, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()> {
        match takes_parts(self.device(), samples, &outputs) {
            true => in_memory::run::<S, O>(self, samples, outputs),
            false => self.function.run(shape, [samples], outputs),
        }
    }

    /// Returns the plan for samples of this shape.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan> {
        Ok(self.function.plan(shape.as_ref()))
    }
}

impl<S: PointwiseElement, O: PointwiseElement> Divided<S, O> for PreparedMap<S, O> {
    fn device(&self) -> &Device {
        &self.function.device
    }

    fn widths(&self) -> [usize; 2] {
        [1; 2]
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()> {
        self.function.run(&Shape::row(part.len()), [samples], outputs)
    }
}

impl<S: LookupElement> PreparedMap<S, S> {
    /// Returns the table that equalises a histogram, whose counts are those of all values and more.
    pub(super) fn equalising(counts: &Buffer<u64>) -> Result<Self> {
        let on_cpu = || Ok(Arc::new(PointwiseRule::Table(S::vec(cpu::equalise(counts.storage().cpu())?))));
        let on_gpu = |gpu: Gpu| table::equalising(&gpu, S::KIND, counts);
        let function = BoundFunction::new(counts.device(), on_cpu, on_gpu)?;
        Ok(PreparedMap { function, types: PhantomData })
    }

    /// Returns the plan of [`equalising`](Self::equalising) on a device.
    pub(super) fn equalising_plan(device: &Device) -> Result<Plan> {
        let planned = match device.gpu() {
            None => Planned::on_cpu(),
            Some(gpu) => Planned::new(ONLY_KERNEL, [table::equalising_plan(&gpu, S::KIND)?]),
        };
        Ok(Plan::new(device, (), &[S::VALUES as usize], (), planned))
    }
}

impl<S: PointwiseElement, O: PointwiseElement> fmt::Debug for PreparedMap<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedMap").field("device", self.device()).finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
