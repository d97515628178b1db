//! A two-dimensional filter bound to a device.

use super::any_weights::AnyWeights;
use super::choose::choose;
use super::cpu::CpuFilter;
use super::details::{self, Filtering, PlannedPicture};
use super::facts::Facts;
use super::folded::Folding;
use super::gpu::GpuFilter;
use super::rule::FilterRule;
use super::window::{PictureProblem, Window};
use super::{Filter2dAlgorithm, Filter2dError, FilterSample};
use crate::device::data::{self, Elements, Target};
use crate::device::gpu::Gpu;
use crate::device::on_device::{OnDevice, Task};
use crate::filter::part::{Divided, Part, Placement};
use crate::filter1d::Accuracy;
use crate::stream::Stream;
use crate::stream::in_memory::{self, is_large, takes_parts};
use crate::{BufferSlice, BufferSliceMut, Device, Input, Output, Plan, Result};
use std::fmt;
use std::io::{Read, Write};
use std::marker::PhantomData;

/// A [`Filter2d`](crate::Filter2d) that is ready to run on its device, any number of times and from any thread. `S` is the type
/// of the samples, `O` of the outputs.
pub struct PreparedFilter2d<S: FilterSample, O: FilterSample = S> {
    device: Device,
    pub(super) window: Window,
    algorithm: Filter2dAlgorithm,
    filter: Filter,
    /// Accuracy of sums.
    accuracy: Accuracy,
    /// For pictures that are smaller than the weights.
    folding: Option<Folding>,
    types: PhantomData<fn(S) -> O>,
}

/// A filter for pictures of any size.
pub(super) struct Filter(OnDevice<CpuFilter, GpuFilter>);

impl Filter {
    pub(super) fn new(device: &Device, facts: &Facts, rule: &FilterRule) -> Result<Self> {
        let on_gpu = |gpu: Gpu| GpuFilter::new(gpu.clone(), choose(facts, rule, gpu.shared)?, rule);
        Ok(Filter(OnDevice::new(device, || Ok(CpuFilter::new(facts, rule)), on_gpu)?))
    }

    /// Returns whether windows are summed by segments, because all weights are equal.
    pub(super) fn sums_segments(&self) -> bool {
        match &self.0 {
            OnDevice::Cpu(filter) => filter.sums_segments(),
            OnDevice::Gpu(filter) => filter.sums_segments(),
        }
    }

    /// Returns the number of output rows that parts of a picture begin at multiples of: if windows are summed by segments, sums are
    /// those of the whole picture then.
    fn segment_rows(&self, whole: &PictureProblem) -> usize {
        match &self.0 {
            OnDevice::Cpu(filter) => filter.segment_rows(whole.rows.taps),
            OnDevice::Gpu(filter) => filter.segment_rows(whole),
        }
    }

    /// Returns whether the filter obeys the algorithm that its rule requires: on a GPU.
    pub(super) fn obeys_algorithm(&self) -> bool {
        matches!(self.0, OnDevice::Gpu(_))
    }
}

impl<S: FilterSample, O: FilterSample> Task<CpuFilter, GpuFilter, S, O> for PictureProblem {
    fn on_cpu(&self, filter: &CpuFilter, [samples]: [&[S]; 1], outputs: &mut [O]) -> Result<()> {
        filter.run(self, S::slice(samples), O::slice_mut(outputs))
    }

    fn on_gpu(
        &self,
        filter: &GpuFilter,
        [samples]: [BufferSlice<'_, S>; 1],
        outputs: BufferSliceMut<'_, O>,
    ) -> Result<()> {
        filter.run(self, S::buffer(samples), O::buffer_mut(outputs))
    }
}

impl<S: FilterSample, O: FilterSample> PreparedFilter2d<S, O> {
    /// Returns the filter with these weights, which are dense if NaNs are missing samples. The rule has the types `S` and `O`.
    pub(super) fn new(device: &Device, weights: AnyWeights, rule: FilterRule) -> Result<Self> {
        let facts = Facts::new(weights);
        let filter = Filter::new(device, &facts, &rule)?;
        let accuracy = details::accuracy(&facts, &rule);
        let folding = Folding::new(facts, rule, &filter);
        let FilterRule { window, algorithm, .. } = rule;
        Ok(PreparedFilter2d {
            device: device.clone(),
            window,
            algorithm,
            filter,
            accuracy,
            folding,
            types: PhantomData,
        })
    }

    /// Returns the device that the filter runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the shape of the results for pictures of this shape.
    ///
    /// The last axes are rows and columns, and channels if [`channels`](crate::Filter2d::channels) was called. All axes before them are
    /// a batch. Of a filter with channels, two axes are those of a matrix, whose columns are pixels times channels. A shape is an array
    /// or a `Vec` of lengths.
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

    /// Returns the filtered pictures.
    ///
    /// | samples | pictures |
    /// |---|---|
    /// | an array | The last axes are rows and columns, and channels if [`channels`](crate::Filter2d::channels) was called. All axes before them are a batch: each of its pictures is filtered by itself |
    /// | a picture of the crate `image` | itself, with the filter's number of channels |
    /// | a [`Buffer2`](crate::Buffer2) | one picture, whose columns are pixels times channels |
    ///
    /// ```
    /// use slm::ndarray::{Array4, array};
    /// use slm::{Buffer2, Device, Extent, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let corner = Filter2d::correlate(&array![[1, 0], [0, -1]]).extent(Extent::Valid).prepare(&device)?;
    /// assert_eq!(corner.apply(&array![[1, 2, 3], [4, 6, 9]])?, array![[-5, -7]]);
    ///
    /// let on_device = Buffer2::upload(&device, &array![[1, 2, 3], [4, 6, 9]])?;
    /// assert_eq!(corner.apply(&on_device)?.download()?, array![[-5, -7]]);
    ///
    /// // Ten pictures of 8 x 6 pixels with 3 channels.
    /// let pictures = Array4::<u8>::from_elem((10, 8, 6, 3), 100);
    /// let blurred = Filter2d::gaussian(1.5).channels(3).prepare(&device)?.apply(&pictures)?;
    /// assert_eq!(blurred.dim(), (10, 8, 6, 3));
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
    pub fn apply<I: Input<S, O>>(&self, samples: I) -> Result<I::Output> {
        let (problem, axes) = self.window.problem(&samples.shape())?;
        data::apply(("the input", &samples), &axes, &self.device, |samples, outputs| {
            self.run_pitched_as_given(problem, samples, outputs)
        })
    }

    /// Filters pictures into any [`Output`]. If that is on a device, this returns when the work is enqueued. Columns of matrices are
    /// pixels times channels. The pictures of a batch are one below the other: [`Buffer2::planes`](crate::Buffer2::planes).
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let mean = Filter2d::box_blur(1, 2).stride(1, 2).prepare(&device)?;
    /// let x = Buffer2::upload(&device, &array![[0.0f32, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]])?;
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
    /// * [`Error::DeviceMismatch`] if a matrix belongs to another device.
    /// * [`Filter2dError::Dimensions`] for buffers that are not matrices.
    /// * [`Filter2dError::Interleaving`] if the number of columns is not a multiple of the channels, and [`Filter2dError::Planes`] if the
    ///   number of rows is not a multiple of the pictures.
    /// * [`Error::TooLarge`] for more outputs than memory can have.
    /// * [`Error::Shape`] if `outputs` does not have the [shape of the result](Self::output_shape).
    /// * [`Error::OutOfDeviceMemory`] for the sums between two passes: a picture of them, or two for many weights. Nothing is written then.
    /// * [`Error::OutOfHostMemory`] on the CPU. Some outputs may be written then, and after any error if they are on the host and the
    ///   device is a GPU.
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply_into(&self, samples: impl Input<S, O>, outputs: &mut (impl Output<O> + ?Sized)) -> Result<()> {
        let (problem, axes) = self.window.problem(&samples.shape())?;
        outputs.check_axes("the output", &axes)?;
        data::apply_into(("the input", &samples), outputs, &self.device, |samples, outputs| {
            self.run_pitched_as_given(problem, samples, outputs)
        })
    }

    /// Filters a problem without gaps, or with those that samples and outputs have.
    fn run_pitched_as_given(
        &self,
        mut problem: PictureProblem,
        samples: &Elements<'_, S>,
        outputs: Target<'_, O>,
    ) -> Result<()> {
        if takes_parts(&self.device, samples, &outputs) {
            return self.run_in_parts(&problem, samples, outputs);
        }
        problem.input_pitch = samples.pitch(problem.input_pitch);
        problem.output_pitch = outputs.pitch(problem.output_pitch);
        self.run(&problem, samples, outputs)
    }

    /// Returns the filter of one picture with this many rows of `width` elements, which can be divided.
    pub(crate) fn rows(&self, width: usize, total: usize) -> Result<impl Divided<S, O> + '_> {
        Rows::new(self, width, Some(total))
    }

    /// Filters pictures on the host in parts of several pictures, or of rows of each picture if pictures are large.
    fn run_in_parts(&self, problem: &PictureProblem, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()> {
        let pictures = Pictures { filter: self, problem: *problem };
        let lens = pictures.widths();
        if problem.planes == 1 || is_large::<S, O>(lens) {
            let rows = Rows::new(self, problem.input_pitch, Some(problem.rows.samples))?;
            return in_memory::run_each(&rows, lens, samples, outputs);
        }
        in_memory::run(&pictures, samples, outputs)
    }

    /// Returns a stream that filters one picture with any number of rows, which are read one after another. A row has this number of
    /// `columns`: pixels times channels. Its outputs are those of [`apply`](Self::apply). See [`slm::stream`](crate::stream) for the
    /// format, and [`Stream`] for a progress report, limited memory, and inputs that can seek, which `Boundary::Wrap` down the columns
    /// requires.
    ///
    /// Equal weights are summed by segments, and [transforms](crate::Filter2d::error_bound) compute segments together, whose places depend on
    /// the device and on the parts. So outputs of either may differ from those of `apply` within the error bounds of the filter; integers by
    /// transforms only where they are rounded differently. Others are the same, bit for bit.
    ///
    /// ```
    /// use slm::{Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let sum = Filter2d::<u8, f32>::separable(&[1.0, 1.0], &[1.0]).prepare(&Device::open()?)?;
    /// let (picture, mut outputs) = ([1u8, 2, 3, 4, 5, 6], Vec::new());
    /// assert_eq!(sum.stream(&picture[..], &mut outputs, 2)?.run()?, 6);
    /// assert_eq!(outputs, [1, 2, 4, 6, 8, 10]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Filter2dError::Zero`] for rows without columns.
    /// * [`Filter2dError::Interleaving`] if the number of columns is not a multiple of the channels.
    /// * [`Error::TooLarge`] if a row would have more outputs than memory can have.
    pub fn stream<'a, R: Read + Send, W: Write>(
        &'a self,
        samples: R,
        outputs: W,
        columns: usize,
    ) -> Result<Stream<'a, R, W>> {
        if columns == 0 {
            return Err(Filter2dError::Zero { what: "the number of columns of a stream" }.into());
        }
        Ok(Stream::new(Rows::new(self, columns, None)?, samples, outputs, Ok))
    }

    /// Returns the plan for filtering pictures of this shape, which is as for [`output_shape`](Self::output_shape).
    ///
    /// ```
    /// use slm::filter1d::{Accuracy, ErrorBound};
    /// use slm::filter2d::Filter2dMethod;
    /// use slm::{Device, Filter2d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let blur = Filter2d::<f32, f32>::gaussian(50.0);
    /// let plan = blur.clone().prepare(&Device::cpu())?.plan([1000, 1000])?;
    /// assert_eq!(plan.details.method, Filter2dMethod::Passes);
    /// assert!(matches!(plan.details.accuracy, Accuracy::PerOutput(_)));
    ///
    /// let fast = blur.error_bound(ErrorBound::PerSegment).prepare(&Device::cpu())?.plan([1000, 1000])?;
    /// assert!(matches!(fast.details.method, Filter2dMethod::Lines { .. }));
    /// assert!(fast.details.operations < plan.details.operations);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`output_shape`](Self::output_shape), [`Error::TooLarge`] for more outputs than memory can have, and what prevents the
    /// filter from running on the device.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan<Filter2dAlgorithm, Filtering>> {
        let (problem, outputs) = self.window.problem(&self.window.shape_of(shape.as_ref()))?;
        let planned = self.planned(&problem)?;
        let details = planned.details(self.accuracy);
        Ok(Plan::new(&self.device, self.algorithm, &outputs, details, planned.planned))
    }

    pub(super) fn planned(&self, problem: &PictureProblem) -> Result<PlannedPicture> {
        self.with_fewest(problem, |filter, problem| match &filter.0 {
            OnDevice::Cpu(filter) => filter.plan(problem),
            OnDevice::Gpu(filter) => filter.plan(problem),
        })
    }

    /// Calls `run` with the filter and the problem that have fewest weights.
    fn with_fewest<R>(
        &self,
        problem: &PictureProblem,
        run: impl FnOnce(&Filter, &PictureProblem) -> Result<R>,
    ) -> Result<R> {
        let found = self.folding.as_ref().map(|folding| folding.find(&self.device, problem)).transpose()?;
        match found.flatten() {
            Some((filter, problem)) => run(&filter, &problem),
            None => run(&self.filter, problem),
        }
    }

    pub(super) fn run(
        &self,
        problem: &PictureProblem,
        samples: &Elements<'_, S>,
        outputs: Target<'_, O>,
    ) -> Result<()> {
        self.with_fewest(problem, |filter, problem| filter.0.run(&self.device, problem, [samples], outputs))
    }
}

/// Rows of a picture whose number of rows is not known.
const MANY_ROWS: usize = 1 << 12;

/// The rows of one picture.
struct Rows<'a, S: FilterSample, O: FilterSample> {
    filter: &'a PreparedFilter2d<S, O>,
    /// Columns of the input, in pixels, and elements of a row of input and output.
    columns: usize,
    widths: [usize; 2],
    /// Rows of outputs, if the number of rows is known.
    whole_rows: Option<usize>,
    segment_rows: usize,
}

impl<'a, S: FilterSample, O: FilterSample> Rows<'a, S, O> {
    /// Returns the rows of a picture with these columns of elements, and this number of rows if it is known.
    fn new(filter: &'a PreparedFilter2d<S, O>, columns: usize, rows: Option<usize>) -> Result<Self> {
        let [_, pixels] = filter.window.picture_of_matrix(&[1, columns], 1)?;
        let problem = PictureProblem::new(&filter.window, 1, [rows.unwrap_or(MANY_ROWS), pixels])?;
        // On a GPU, segments depend on the number of rows.
        let has_segments = rows.is_some() || filter.device.gpu().is_none();
        let segment_rows = if has_segments { filter.filter.segment_rows(&problem) } else { 1 };
        let widths = [columns, problem.output_width()];
        Ok(Rows { filter, columns: pixels, widths, whole_rows: rows.map(|_| problem.rows.outputs), segment_rows })
    }
}

impl<S: FilterSample, O: FilterSample> Divided<S, O> for Rows<'_, S, O> {
    fn device(&self) -> &Device {
        &self.filter.device
    }

    fn placement(&self) -> Placement {
        Placement { segment: self.segment_rows, ..self.filter.window.rows.placement() }
    }

    fn widths(&self) -> [usize; 2] {
        self.widths
    }

    fn outputs(&self, samples: usize) -> Result<usize> {
        Ok(self.filter.window.rows.over(samples)?.outputs)
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()> {
        let mut problem = PictureProblem::new(&self.filter.window, 1, [part.len(), self.columns])?;
        (problem.rows.outputs, problem.rows.start) = (part.outputs.len(), part.start);
        problem.whole_rows = self.whole_rows;
        self.filter.run(&problem, samples, outputs)
    }
}

/// Pictures of one size, which are divided into pictures.
struct Pictures<'a, S: FilterSample, O: FilterSample> {
    filter: &'a PreparedFilter2d<S, O>,
    problem: PictureProblem,
}

impl<S: FilterSample, O: FilterSample> Divided<S, O> for Pictures<'_, S, O> {
    fn device(&self) -> &Device {
        &self.filter.device
    }

    fn widths(&self) -> [usize; 2] {
        let PictureProblem { rows, input_pitch, output_pitch, .. } = self.problem;
        [rows.samples * input_pitch, rows.outputs * output_pitch]
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, O>) -> Result<()> {
        self.filter.run(&PictureProblem { planes: part.outputs.len(), ..self.problem }, samples, outputs)
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

#[cfg(doc)]
use crate::Error;
