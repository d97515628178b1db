//! A filter bound to a device.

use super::algorithm::Method;
use super::details::PlannedLines;
use super::line_filter::LineFilter;
use super::{Filter1dAlgorithm, Filtering, Lines, Reach, Taps};
use crate::device::data::{self, Elements, Target};
use crate::filter::part::{Divided, PACK, Part, Placement};
use crate::stream::Stream;
use crate::stream::in_memory::{self, is_large, takes_parts};
use crate::{Device, FilterSample, FilterWeight, Input, Output, Plan, Result};
use slm_kernels::filter1d::Orientation;
use slm_kernels::signal::Border;
use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

/// A [`Filter1d`](crate::Filter1d) that is ready to run on its device, any number of times and from any thread. `S` is the type
/// of the samples and of the outputs.
#[derive(Clone)]
pub struct PreparedFilter1d<S: FilterSample> {
    device: Device,
    reach: Reach,
    border: Border,
    algorithm: Filter1dAlgorithm,
    /// Axis of the lines in matrices, or `None` for the last axis of anything.
    axis: Option<usize>,
    filter: Arc<LineFilter<S>>,
}

impl<S: FilterSample> PreparedFilter1d<S> {
    pub(super) fn new<W: FilterWeight>(device: &Device, taps: &Taps<S, W>, method: Method) -> Result<Self> {
        let reach = taps.reach;
        reach.check()?;
        let filter = Arc::new(LineFilter::new(device, taps, method)?);
        Ok(PreparedFilter1d {
            device: device.clone(),
            reach,
            border: taps.border,
            algorithm: method.algorithm,
            axis: None,
            filter,
        })
    }

    /// Returns the device that the filter runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the filter for the lines along `axis` of matrices. Axis 0 runs down the columns, axis 1 along the rows, as in
    /// SciPy's `correlate1d`. The default is the last axis. Both filters share their kernels.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&Device::open()?)?;
    /// let matrix = array![[1, 2, 3], [40, 50, 60]];
    /// assert_eq!(sum.along(0).apply(&matrix)?, array![[41, 52, 63], [41, 52, 63]]);
    /// assert_eq!(sum.apply(&matrix)?, array![[3, 6, 5], [90, 150, 110]]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn along(&self, axis: usize) -> Self {
        PreparedFilter1d { axis: Some(axis), ..self.clone() }
    }

    /// Returns the shape of the results for samples of this shape: one line, or the rows and columns of a matrix. Lengths of lines and
    /// numbers of columns count all channels. A shape is an array or a `Vec` of lengths.
    ///
    /// # Errors
    ///
    /// * [`Filter1dError::Axis`] for samples without the [axis](Self::along), and [`Filter1dError::Dimensions`] for other than one or two axes.
    /// * [`Filter1dError::Interleaving`] if the number of samples or columns is not a multiple of the channels.
    /// * [`Error::TooLarge`] if a line would have more than `usize::MAX` outputs.
    pub fn output_shape<A: AsRef<[usize]> + AsMut<[usize]>>(&self, mut shape: A) -> Result<A> {
        let (_, outputs) = Lines::of(&self.reach, self.axis, shape.as_ref())?;
        shape.as_mut().copy_from_slice(&outputs);
        Ok(shape)
    }

    /// Returns the filtered samples.
    ///
    /// | samples | lines |
    /// |---|---|
    /// | a slice, a [`Buffer`](crate::Buffer) or an array with one axis | one |
    /// | an array with two axes, or a [`Buffer2`](crate::Buffer2) | the lines [along an axis](Self::along) |
    /// | a picture of the crate `image`, with the filter's number of [`channels`](crate::Filter1d::channels) | the same, for each channel |
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let sum = Filter1d::correlate(&[1, 1, 1]).prepare(&device)?;
    /// assert_eq!(sum.apply(&[1, 2, 3, 4])?, [3, 6, 9, 7]);
    /// assert_eq!(sum.apply(&array![[1, 2], [3, 4]])?, array![[3, 3], [7, 7]]);
    /// assert_eq!(sum.apply(&device.upload(&[1, 2, 3, 4])?)?.download()?, [3, 6, 9, 7]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * The errors of [`output_shape`](Self::output_shape), and `PictureError::Channels` for pixels with another number of channels.
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::TooLarge`] for more outputs than memory or a picture can have.
    /// * [`Error::SharedMemoryExceeded`] if the requested algorithm needs more shared memory than the device has.
    /// * The errors of [`Device::kernel`] on a GPU: axis 0 has its own kernel, which is loaded on first use.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply<I: Input<S>>(&self, samples: I) -> Result<I::Output> {
        let shape = samples.shape();
        shape.check_channels("the filter", self.reach.channels)?;
        let (lines, axes) = Lines::of(&self.reach, self.axis, &shape.axes)?;
        data::apply(("the input", &samples), &axes, &self.device, |samples, outputs| self.run(lines, samples, outputs))
    }

    /// Filters samples into any [`Output`]: a line, or lines of a matrix with any row pitches. If that is on a device, this returns when
    /// the work is enqueued.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Extent, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let steps = Filter1d::correlate(&[-1, 1]).extent(Extent::Valid).prepare(&device)?;
    /// let x = device.upload(&[1, 3, 6, 4])?;
    /// let [len] = steps.output_shape([x.len()])?;
    /// let mut y = device.zeroed(len)?;
    /// steps.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, [2, 3, -2]);
    ///
    /// let x = Buffer2::upload(&device, &array![[1, 3, 6], [2, 2, 9]])?;
    /// let mut y = Buffer2::zeroed(&device, 2, 2)?;
    /// steps.apply_into(&x, &mut y)?;
    /// assert_eq!(y.download()?, array![[2, 3], [0, 7]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] or [`Error::Shape`] if `outputs` does not have the [shape of the result](Self::output_shape).
    /// * The errors of [`apply`](Self::apply). After [`Error::OutOfHostMemory`] on the CPU, some outputs may be written; after any
    ///   error, if they are on the host and the device is a GPU.
    pub fn apply_into(&self, samples: impl Input<S>, outputs: &mut (impl Output<S> + ?Sized)) -> Result<()> {
        let shape = samples.shape();
        shape.check_channels("the filter", self.reach.channels)?;
        let (lines, axes) = Lines::of(&self.reach, self.axis, &shape.axes)?;
        outputs.check_axes("the output", &axes)?;
        data::apply_into(("the input", &samples), outputs, &self.device, |samples, outputs| {
            self.run(lines, samples, outputs)
        })
    }

    /// Filters lines without gaps into outputs without gaps, or with those that both have.
    fn run(&self, mut lines: Lines, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        if takes_parts(&self.device, samples, &outputs) {
            return self.run_in_parts(&lines, samples, outputs);
        }
        lines.input_pitch = samples.pitch(lines.input_pitch);
        lines.output_pitch = outputs.pitch(lines.output_pitch);
        self.filter.run(&self.device, &lines, samples, outputs)
    }

    /// Returns the plan for filtering samples of this shape, which is as for [`output_shape`](Self::output_shape): the kernels, and the
    /// method with its operations, time and accuracy.
    ///
    /// ```
    /// use slm::filter1d::{Accuracy, ErrorBound, Filter1dMethod};
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let smooth = Filter1d::<f32, _>::gaussian(200.0);
    /// let planned = |bound| smooth.clone().error_bound(bound).prepare(&Device::open()?)?.plan([1 << 20]);
    /// assert_eq!(planned(ErrorBound::PerOutput)?.details.method, Filter1dMethod::Sums);
    /// assert!(matches!(planned(ErrorBound::PerSegment)?.details.accuracy, Accuracy::PerSegment(_)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`output_shape`](Self::output_shape), and what prevents the filter from running on the device.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan<Filter1dAlgorithm, Filtering>> {
        let (lines, outputs) = Lines::of(&self.reach, self.axis, shape.as_ref())?;
        let PlannedLines { planned, details } = self.filter.plan(&lines)?;
        Ok(Plan::new(&self.device, self.algorithm, &outputs, details, planned))
    }

    /// Returns the filter of one line, which can be divided.
    pub(crate) fn line(&self) -> impl Divided<S, S> + '_ {
        Line { filter: self }
    }

    /// Filters lines on the host in parts of several lines, of columns, or of each line if lines are large.
    fn run_in_parts(&self, lines: &Lines, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        match lines.orientation {
            Orientation::Rows if lines.lines == 1 => in_memory::run(&Line { filter: self }, samples, outputs),
            Orientation::Rows if is_large::<S, S>([lines.input_pitch, lines.output_pitch]) => {
                in_memory::run_each(&Line { filter: self }, [lines.input_pitch, lines.output_pitch], samples, outputs)
            }
            Orientation::Rows => in_memory::run(&Several { filter: self, lines: *lines }, samples, outputs),
            Orientation::Columns => in_memory::run(&Columns { filter: self, lines: *lines }, samples, outputs),
        }
    }

    /// Returns a stream that filters one line of any length: samples that are read, with interleaved channels. Its outputs are those of
    /// [`apply`](Self::apply), bit for bit unless they are computed by [transforms](super#fourier-transforms). See [`slm::stream`](crate::stream) for the format, and [`Stream`] for a progress report, limited memory,
    /// and inputs that can seek, which `Boundary::Wrap` requires.
    ///
    /// ```
    /// use slm::{Device, Filter1d};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let sum = Filter1d::correlate(&[1i32, 1, 1]).prepare(&Device::open()?)?;
    /// let samples: Vec<u8> = [1i32, 2, 3, 4].iter().flat_map(|sample| sample.to_le_bytes()).collect();
    /// let mut outputs = Vec::new();
    /// assert_eq!(sum.stream(&samples[..], &mut outputs).run()?, 4);
    /// assert_eq!(outputs[..8], [3, 0, 0, 0, 6, 0, 0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream<'a, R: Read + Send, W: Write>(&'a self, samples: R, outputs: W) -> Stream<'a, R, W> {
        Stream::new(Line { filter: self }, samples, outputs, Ok)
    }
}

/// One line, whose positions are those of all channels.
struct Line<'a, S: FilterSample> {
    filter: &'a PreparedFilter1d<S>,
}

impl<S: FilterSample> Divided<S, S> for Line<'_, S> {
    fn device(&self) -> &Device {
        &self.filter.device
    }

    fn placement(&self) -> Placement {
        let PreparedFilter1d { reach, border, .. } = self.filter;
        let &Reach { taps, stride, .. } = reach;
        Placement { border: *border, start: reach.start(), span: taps - 1, stride, segment: 1, pack: PACK }
    }

    fn widths(&self) -> [usize; 2] {
        [self.filter.reach.channels; 2]
    }

    fn outputs(&self, samples: usize) -> Result<usize> {
        self.filter.reach.outputs(samples)
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        let (reach, count) = (&self.filter.reach, part.outputs.len());
        let lines = Lines::single(reach, part.len() * reach.channels)?;
        let lines = Lines { outputs: count, start: part.start, output_pitch: count * reach.channels, ..lines };
        self.filter.filter.run(&self.filter.device, &lines, samples, outputs)
    }
}

/// Several lines along rows, which are divided into lines.
struct Several<'a, S: FilterSample> {
    filter: &'a PreparedFilter1d<S>,
    lines: Lines,
}

impl<S: FilterSample> Divided<S, S> for Several<'_, S> {
    fn device(&self) -> &Device {
        &self.filter.device
    }

    fn widths(&self) -> [usize; 2] {
        [self.lines.input_pitch, self.lines.output_pitch]
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        let lines = Lines { lines: part.outputs.len(), ..self.lines };
        self.filter.filter.run(&self.filter.device, &lines, samples, outputs)
    }
}

/// Lines down the columns of a matrix, which are divided into rows.
struct Columns<'a, S: FilterSample> {
    filter: &'a PreparedFilter1d<S>,
    lines: Lines,
}

impl<S: FilterSample> Divided<S, S> for Columns<'_, S> {
    fn device(&self) -> &Device {
        &self.filter.device
    }

    fn placement(&self) -> Placement {
        Line { filter: self.filter }.placement()
    }

    fn widths(&self) -> [usize; 2] {
        [self.lines.lines; 2]
    }

    fn outputs(&self, samples: usize) -> Result<usize> {
        self.filter.reach.outputs(samples)
    }

    fn run(&self, part: &Part, samples: &Elements<'_, S>, outputs: Target<'_, S>) -> Result<()> {
        let (samples_per_line, count) = (part.len(), part.outputs.len());
        let lines = Lines { samples: samples_per_line, outputs: count, start: part.start, ..self.lines };
        self.filter.filter.run(&self.filter.device, &lines, samples, outputs)
    }
}

impl<S: FilterSample> fmt::Debug for PreparedFilter1d<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedFilter1d")
            .field("device", &self.device)
            .field("reach", &self.reach)
            .field("algorithm", &self.algorithm)
            .field("axis", &self.axis)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use super::Filter1dError;
#[cfg(doc)]
use crate::Error;
