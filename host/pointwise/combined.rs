//! A function of two samples, bound to a device.

use super::function::{BoundFunction, CpuFunction};
use super::lines::Lines;
use super::{PointwiseElement, cpu, gpu};
use crate::device::data::{self, Elements, Shape, Target};
use crate::device::gpu::Gpu;
use crate::element::any::{Slice, SliceMut};
use crate::stream::in_memory::takes_parts;
use crate::{Device, Input, Output, Plan, Result};
use slm_kernels::pointwise::Combination;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Elements of a part, if two inputs on the host go to a device in parts.
const PART: usize = 1 << 24;

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

    /// Returns the outputs, one for each pair of samples with the same index, of [data](Input) of the same shape. The outputs have the
    /// form of `a`.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Arithmetic, Device};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let larger = Arithmetic::max().prepare(&Device::open()?)?;
    /// assert_eq!(larger.apply(&[1, 5], &[2, 4])?, [2, 5]);
    /// let x = array![[1, 2], [3, 4]];
    /// assert_eq!(larger.apply(&x, x.t())?, array![[1, 3], [3, 4]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`], [`Error::Shape`] or [`Error::Axes`] if `a` and `b` differ in shape.
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: Input<S, O>>(&self, a: I, b: impl Input<S>) -> Result<I::Output> {
        let (shape, b) = self.checked(a.shape(), &b)?;
        data::apply(("the first input", &a), &shape.axes, self.device(), |a, outputs| {
            self.run(&shape, [a, &b], outputs)
        })
    }

    /// Writes the outputs to any [`Output`] with the shape of the inputs. Both inputs may be the same. If the output is on a device, this
    /// returns when the work is enqueued.
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
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::Length`], [`Error::Shape`] or [`Error::Axes`] if inputs and outputs differ in shape.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`]: data on the host are uploaded for a GPU, and arrays that are not in
    ///   row-major order are copied.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(
        &self,
        a: impl Input<S, O>,
        b: impl Input<S>,
        outputs: &mut (impl Output<O> + ?Sized),
    ) -> Result<()> {
        let (shape, b) = self.checked(a.shape(), &b)?;
        outputs.check_axes("the output", &shape.axes)?;
        data::apply_into(("the first input", &a), outputs, self.device(), |a, outputs| {
            self.run(&shape, [a, &b], outputs)
        })
    }

    /// Writes the outputs for inputs of this shape, which are on the same side.
    pub(crate) fn run(&self, shape: &Shape, [a, b]: [&Elements<'_, S>; 2], outputs: Target<'_, O>) -> Result<()> {
        match b {
            Elements::Host(b) if takes_parts(self.device(), a, &outputs) => {
                self.run_in_parts([a.cpu(), b], outputs.into_cpu(), PART)
            }
            _ => self.function.run(shape, [a, b], outputs),
        }
    }

    /// Computes outputs on the host one part after another, each of this many elements.
    fn run_in_parts(&self, [a, b]: [&[S]; 2], outputs: &mut [O], part: usize) -> Result<()> {
        for ((a, b), outputs) in a.chunks(part).zip(b.chunks(part)).zip(outputs.chunks_mut(part)) {
            let samples = [a, b].map(|samples| Elements::Host(Cow::Borrowed(samples)));
            self.function.run(&Shape::row(outputs.len()), samples.each_ref(), Target::Host(outputs))?;
        }
        Ok(())
    }

    /// Returns the shape of the inputs, and the elements of the second one, or an error if that has another shape or device.
    fn checked<'b>(&self, shape: Shape, b: &'b impl Input<S>) -> Result<(Shape, Elements<'b, S>)> {
        shape.check_same("the second input", &b.shape())?;
        let b = b.elements()?;
        b.check_owner("the second input", self.device())?;
        Ok((shape, b))
    }

    /// Returns the plan for inputs of this shape.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan> {
        Ok(self.function.plan(shape.as_ref()))
    }
}

impl<S: PointwiseElement, O: PointwiseElement> fmt::Debug for PreparedArithmetic<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedArithmetic").field("device", self.device()).finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;

#[cfg(test)]
mod tests {
    use crate::{Arithmetic, Device};

    fn check(device: &Device) {
        let a: Vec<i32> = (0..50).collect();
        let b: Vec<i32> = (0..50).map(|number| number * number).collect();
        let sum = Arithmetic::add().prepare(device).unwrap();
        let expected = sum.apply(&a, &b).unwrap();
        for part in [1, 7, 50, 100] {
            let mut outputs = [0; 50];
            sum.run_in_parts([&a, &b], &mut outputs, part).unwrap();
            assert_eq!(outputs[..], expected, "parts of {part} elements");
        }
    }

    #[test]
    fn parts_are_the_whole() {
        check(&Device::cpu());
        #[cfg(feature = "emulator")]
        check(&Device::emulated(emulator::Profile::SM_90, 0));
    }
}
