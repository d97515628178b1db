//! A two-dimensional filter bound to a device.

use super::any_weights::AnyWeights;
use super::choose::choose;
use super::cpu::CpuFilter;
use super::facts::Facts;
use super::folded::Folding;
use super::gpu::GpuFilter;
use super::settings::Settings;
use super::window::{Problem, Window};
use super::{Filter2dAlgorithm, Filter2dError, FilterSample, Plan};
use crate::buffer::check_shape;
use crate::gpu::Gpu;
use crate::on_device::{OnDevice, Task};
use crate::{Buffer, Buffer2, Device, Error, Result, allocation};
use ndarray::{Array, ArrayView, Dimension};
use std::fmt;
use std::marker::PhantomData;

/// A [`Filter2d`](crate::Filter2d) that is ready to run on its device, any number of times and from any thread. `S` is the type
/// of the samples, `O` of the outputs.
pub struct PreparedFilter2d<S: FilterSample, O: FilterSample = S> {
    device: Device,
    pub(super) window: Window,
    algorithm: Filter2dAlgorithm,
    filter: Filter,
    /// For pictures that are smaller than the weights.
    folding: Option<Folding>,
    types: PhantomData<fn(S) -> O>,
}

/// A filter for pictures of any size.
pub(super) struct Filter(OnDevice<CpuFilter, GpuFilter>);

impl Filter {
    pub(super) fn new(device: &Device, facts: &Facts, settings: &Settings) -> Result<Self> {
        let on_gpu = |gpu: Gpu| GpuFilter::new(gpu.clone(), choose(facts, settings, gpu.shared)?, settings);
        Ok(Filter(OnDevice::new(device, || Ok(CpuFilter::new(facts, settings)), on_gpu)?))
    }

    /// Returns whether windows are summed by segments, because all weights are equal.
    pub(super) fn sums_segments(&self) -> bool {
        match &self.0 {
            OnDevice::Cpu(filter) => filter.sums_segments(),
            OnDevice::Gpu(filter) => filter.sums_segments(),
        }
    }

    /// Returns whether the filter obeys the algorithm that its settings require: on a GPU.
    pub(super) fn obeys_algorithm(&self) -> bool {
        matches!(self.0, OnDevice::Gpu(_))
    }
}

impl<S: FilterSample, O: FilterSample> Task<CpuFilter, GpuFilter, S, O> for Problem {
    fn on_cpu(&self, filter: &CpuFilter, [samples]: [&[S]; 1], outputs: &mut [O]) -> Result<()> {
        filter.run(self, S::slice(samples), O::slice_mut(outputs))
    }

    fn on_gpu(&self, filter: &GpuFilter, [samples]: [&Buffer<S>; 1], outputs: &mut Buffer<O>) -> Result<()> {
        filter.run(self, S::buffer(samples), O::buffer_mut(outputs))
    }
}

impl<S: FilterSample, O: FilterSample> PreparedFilter2d<S, O> {
    /// Returns the filter with these weights, which are dense if NaNs are missing samples. The settings have the types `S` and `O`.
    pub(super) fn new(device: &Device, weights: AnyWeights, settings: Settings) -> Result<Self> {
        let facts = Facts::new(weights);
        let filter = Filter::new(device, &facts, &settings)?;
        let folding = Folding::new(facts, settings, &filter);
        let Settings { window, algorithm, .. } = settings;
        Ok(PreparedFilter2d { device: device.clone(), window, algorithm, filter, folding, types: PhantomData })
    }

    /// Returns the device that the filter runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the rows and columns of the outputs for a picture of `shape` (rows, columns), in pixels.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] if an axis would have more than `usize::MAX` outputs.
    pub fn output_shape(&self, [rows, columns]: [usize; 2]) -> Result<[usize; 2]> {
        Ok([self.window.rows.over(rows)?.outputs, self.window.columns.over(columns)?.outputs])
    }

    /// Returns the filtered pictures of an array with any strides.
    ///
    /// The last axes of the array are rows and columns, and channels if [`channels`](crate::Filter2d::channels) was called. All
    /// axes before them are a batch: each of its pictures is filtered by itself. The result has the same axes.
    ///
    /// ```
    /// use slm::ndarray::{Array4, array};
    /// use slm::{Device, Extent, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let corner = Filter2d::correlate(array![[1, 0], [0, -1]].view()).extent(Extent::Valid);
    /// let difference = corner.prepare(&device)?.apply(array![[1, 2, 3], [4, 6, 9]].view())?;
    /// assert_eq!(difference, array![[-5, -7]]);
    ///
    /// // Ten pictures of 8 x 6 pixels with 3 channels.
    /// let pictures = Array4::<u8>::from_elem((10, 8, 6, 3), 100);
    /// let blurred = Filter2d::gaussian(1.5).channels(3).prepare(&device)?.apply(pictures.view())?;
    /// assert_eq!(blurred.dim(), (10, 8, 6, 3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::Dimensions`] if the array has too few axes.
    /// * [`Filter2dError::Channels`] if the length of the last axis is not the number of channels.
    /// * [`Error::TooLarge`] for more outputs than memory can have.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<D: Dimension>(&self, samples: ArrayView<'_, S, D>) -> Result<Array<O, D>> {
        let mut shape = samples.raw_dim();
        let rows = self.row_axis(shape.slice())?;
        let lead = &shape.slice()[..rows];
        let planes = lead.iter().product();
        let problem = Problem::new(&self.window, planes, [shape[rows], shape[rows + 1]])?;
        (shape[rows], shape[rows + 1]) = (problem.rows.outputs, problem.columns.outputs);
        check_array(shape.slice())?;
        let outputs = self.run_on_host(&problem, &allocation::row_after_row(samples)?)?;
        Ok(Array::from_shape_vec(shape, outputs).expect("`check_array` has checked the shape"))
    }

    /// Returns the axis of an array that has the rows.
    fn row_axis(&self, shape: &[usize]) -> Result<usize> {
        let needed = 2 + usize::from(self.window.channels.is_some());
        let dimensions = shape.len();
        if dimensions < needed {
            return Err(Filter2dError::Dimensions { dimensions, needed }.into());
        }
        match self.window.channels {
            Some(expected) if shape[dimensions - 1] != expected => {
                Err(Filter2dError::Channels { expected, actual: shape[dimensions - 1] }.into())
            }
            _ => Ok(dimensions - needed),
        }
    }

    /// Returns the filtered picture in new memory of the device, without gaps. Returns when the work is enqueued. The columns of the
    /// matrices are pixels times channels.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let x = Buffer2::upload(&device, array![[0.0f32, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]].view())?;
    /// let y = Filter2d::box_blur(1, 2).stride(1, 2).prepare(&device)?.apply_buffer2(&x)?;
    /// assert_eq!(y.download()?, array![[0.0, 3.0], [0.5, 4.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::OutOfDeviceMemory`], or [`Error::OutOfHostMemory`] on the CPU.
    /// * The errors of [`apply_into`](Self::apply_into).
    pub fn apply_buffer2(&self, samples: &Buffer2<S>) -> Result<Buffer2<O>> {
        self.device.check_owner("the input", samples.buffer().device())?;
        let problem = Problem::new(&self.window, 1, self.plane_shape(samples, 1)?)?;
        let mut outputs = Buffer2::unwritten(&self.device, [problem.output_rows(), problem.output_width()])?;
        self.apply_into(samples, &mut outputs)?;
        Ok(outputs)
    }

    /// Filters a picture on the device into another one. Returns when the work is enqueued. The columns of the matrices are
    /// pixels times channels.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let mean = Filter2d::box_blur(1, 2).stride(1, 2).prepare(&device)?;
    /// let x = Buffer2::upload(&device, array![[0.0f32, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]].view())?;
    /// let [rows, columns] = mean.output_shape([2, 4])?;
    /// let mut y = Buffer2::zeroed(&device, rows, columns)?;
    /// mean.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, array![[0.0, 3.0], [0.5, 4.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another handle.
    /// * [`Filter2dError::Interleaving`] if the number of columns is not a multiple of the channels.
    /// * [`Error::TooLarge`] for more outputs than memory can have.
    /// * [`Error::Shape`] if `outputs` does not have the [shape of the result](Self::output_shape), times the channels.
    /// * [`Error::OutOfDeviceMemory`] for the sums along the rows of [two passes](Filter2dAlgorithm::Separable). Nothing is written
    ///   then.
    /// * [`Error::OutOfHostMemory`] on the CPU. Some outputs may be written then.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, samples: &Buffer2<S>, outputs: &mut Buffer2<O>) -> Result<()> {
        self.apply_planes_into(samples, 1, outputs)
    }

    /// Filters a batch of pictures that are one below the other in a matrix of `planes` times their rows. Returns when the work is
    /// enqueued.
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::Planes`] if the number of rows is not a multiple of `planes`.
    /// * The errors of [`apply_into`](Self::apply_into).
    pub fn apply_planes_into(&self, samples: &Buffer2<S>, planes: usize, outputs: &mut Buffer2<O>) -> Result<()> {
        self.device.check_owner("the input", samples.buffer().device())?;
        self.device.check_owner("the output", outputs.buffer().device())?;
        let shape = self.plane_shape(samples, planes)?;
        let mut problem = Problem::new(&self.window, planes, shape)?;
        let expected = [problem.output_rows(), problem.output_width()];
        check_shape("the output", expected, [outputs.rows(), outputs.columns()])?;
        (problem.input_pitch, problem.output_pitch) = (samples.pitch(), outputs.pitch());
        self.run(&problem, samples.buffer(), outputs.buffer_mut())
    }

    /// Returns the rows and pixels of a row of each plane.
    fn plane_shape(&self, samples: &Buffer2<S>, planes: usize) -> Result<[usize; 2]> {
        let (rows, columns, channels) = (samples.rows(), samples.columns(), self.window.channels());
        if !rows.is_multiple_of(planes) {
            return Err(Filter2dError::Planes { rows, planes }.into());
        }
        if !columns.is_multiple_of(channels) {
            return Err(Filter2dError::Interleaving { columns, channels }.into());
        }
        Ok([rows.checked_div(planes).unwrap_or(0), columns / channels])
    }

    /// Returns the plan for filtering a picture of `shape` (rows, columns), in pixels.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for more outputs than memory can have.
    pub fn plan(&self, shape: [usize; 2]) -> Result<Plan> {
        self.plan_planes(1, shape)
    }

    /// Returns the plan for filtering a batch of `planes` pictures of `shape` (rows, columns), in pixels, as
    /// [`apply_planes_into`](Self::apply_planes_into) does.
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Self::plan).
    pub fn plan_planes(&self, planes: usize, shape: [usize; 2]) -> Result<Plan> {
        self.with_fewest(&Problem::new(&self.window, planes, shape)?, |filter, problem| {
            Ok(match &filter.0 {
                OnDevice::Cpu(filter) => {
                    Plan::without_launch(&self.device, self.algorithm, problem, ["cpu", filter.reason()])
                }
                OnDevice::Gpu(filter) => filter.plan(problem),
            })
        })
    }

    /// Calls `run` with the filter and the problem that have fewest weights.
    fn with_fewest<R>(&self, problem: &Problem, run: impl FnOnce(&Filter, &Problem) -> Result<R>) -> Result<R> {
        let found = self.folding.as_ref().map(|folding| folding.find(&self.device, problem)).transpose()?;
        match found.flatten() {
            Some((filter, problem)) => run(&filter, &problem),
            None => run(&self.filter, problem),
        }
    }

    pub(super) fn run(&self, problem: &Problem, samples: &Buffer<S>, outputs: &mut Buffer<O>) -> Result<()> {
        self.with_fewest(problem, |filter, problem| filter.0.run(problem, [samples], outputs))
    }

    /// Returns the outputs of a problem without gaps.
    pub(super) fn run_on_host(&self, problem: &Problem, samples: &[S]) -> Result<Vec<O>> {
        let len = problem.output_rows() * problem.output_width();
        self.with_fewest(problem, |filter, problem| filter.0.run_on_host(&self.device, problem, [samples], len))
    }
}

/// Returns an error if `ndarray` has no arrays of this shape: the product of all lengths other than 0 is at most `isize::MAX`.
fn check_array(shape: &[usize]) -> Result<()> {
    let lengths = || shape.iter().copied().filter(|&len| len > 0);
    match lengths().try_fold(1usize, usize::checked_mul) {
        Some(elements) if elements <= isize::MAX as usize => Ok(()),
        _ => {
            let longest = lengths().max().unwrap_or(0) as u64;
            let others = lengths().fold(1u64, |product, len| product.saturating_mul(len as u64)) / longest.max(1);
            Err(Error::TooLarge { what: "an array of outputs", factors: [longest, others], limit: isize::MAX as u64 })
        }
    }
}

impl<S: FilterSample, O: FilterSample> fmt::Debug for PreparedFilter2d<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedFilter2d")
            .field("device", &self.device)
            .field("window", &self.window)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
