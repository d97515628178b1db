//! A histogram bound to a device.

use super::element::SampleType;
use super::facts::Facts;
use super::gpu::GpuHistogram;
use super::rule::CounterLayout;
use super::{Counting, Counts, HistogramAlgorithm, HistogramElement};
use crate::cpu::allocation;
use crate::device::buffer::check_length;
use crate::device::data::{Elements, Form, Shape, Target, number_of};
use crate::device::on_device::{OnDevice, Task};
use crate::filter::part::{Divided, Part};
use crate::plan::Planned;
use crate::stream::Stream;
use crate::stream::in_memory::{self, takes_parts};
use crate::{Buffer, BufferSlice, BufferSliceMut, Device, Element, Input, Output, Plan, Result};
use std::fmt;
use std::io::{self, Read, Sink};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A [`Histogram`](crate::Histogram) that is ready to run on its device, any number of times and from any thread.
///
/// [`apply`](Self::apply) and [`apply_weighted`](Self::apply_weighted) return counts and sums of weights for [data](Input) of any form.
/// [`apply_into`](Self::apply_into) leaves counts on the device. Functions whose names begin with `accumulate` add to earlier results.
pub struct PreparedHistogram<T: HistogramElement> {
    pub(super) device: Device,
    pub(super) facts: Facts<T>,
    algorithm: HistogramAlgorithm,
    /// The CPU needs nothing but the facts.
    pub(super) on_device: OnDevice<(), GpuHistogram>,
}

/// Counts samples at the beginning of a buffer.
struct CountSamples<'a, T: HistogramElement> {
    facts: &'a Facts<T>,
    samples: usize,
    /// Whether the counts begin at zero. Otherwise the new ones are added to them.
    starts_at_zero: bool,
}

impl<T: HistogramElement> Task<(), GpuHistogram, T, u64> for CountSamples<'_, T> {
    fn on_cpu(&self, (): &(), [samples]: [&[T]; 1], counts: &mut [u64]) -> Result<()> {
        if self.starts_at_zero {
            counts.fill(0);
        }
        T::count(self.facts, &samples[..self.samples], counts)
    }

    fn on_gpu(
        &self,
        histogram: &GpuHistogram,
        [samples]: [BufferSlice<'_, T>; 1],
        mut counts: BufferSliceMut<'_, u64>,
    ) -> Result<()> {
        if self.starts_at_zero {
            counts.clear()?;
        }
        histogram.count(T::of_buffer(samples), self.samples, counts)
    }
}

impl<T: HistogramElement> PreparedHistogram<T> {
    /// Binds a histogram to a device.
    pub(super) fn new(device: &Device, facts: Facts<T>, algorithm: HistogramAlgorithm) -> Result<Self>
    where
        T: SampleType,
    {
        let on_device = OnDevice::new(device, || Ok(()), |gpu| GpuHistogram::new(gpu, &facts, algorithm))?;
        Ok(PreparedHistogram { device: device.clone(), facts, algorithm, on_device })
    }

    /// Returns the device that the histogram runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of bins per channel.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.layout().bins
    }

    /// Returns the borders of the bins, one more than bins: bin `k` is `edges[k] <= x < edges[k + 1]`. The last bin of a
    /// [`closed`](crate::Histogram::closed) histogram includes its upper border. Returns an empty slice for
    /// [`low_bits`](crate::Histogram::low_bits), whose bins are not ranges.
    ///
    /// If two neighbouring borders are equal, the bin between them is empty. Borders of integers are `i64`, because they may
    /// lie outside the range of the sample type.
    ///
    /// ```
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let thirds = Histogram::even(3, 0.0f32..1.0).prepare(&Device::cpu())?;
    /// assert_eq!(thirds.edges(), [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    /// let thirds = Histogram::<u8>::even(3, 0..256).prepare(&Device::cpu())?;
    /// assert_eq!(thirds.edges(), [0, 86, 171, 256]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn edges(&self) -> &[T::Bound] {
        &self.facts.edges
    }

    /// Returns the [`edges`](Self::edges) in a new buffer on the device, for kernels that use them.
    ///
    /// ```
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let halves = Histogram::even(2, 0.0f32..1.0).prepare(&Device::open()?)?;
    /// assert_eq!(halves.edges_buffer()?.download()?, [0.0, 0.5, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Device::upload`].
    pub fn edges_buffer(&self) -> Result<Buffer<T::Bound>> {
        self.device.upload(&self.facts.edges)
    }

    /// Returns the length of a buffer of counts: for each counted channel, the number of bins and three more.
    #[must_use]
    pub fn counts_len(&self) -> usize {
        self.layout().counters()
    }

    /// Returns the counts of samples in any [form](Input). Waits for them.
    ///
    /// Elements are read in row-major order, with the last index changing fastest, independent of their order in memory. So
    /// the last axis of a picture of rows, columns and colours has the [`channels`](crate::Histogram::channels), and rows of other
    /// matrices have interleaved channels. Pixels of the crate `image` have the histogram's channels. Elements of an array that are
    /// contiguous in this order are not copied. With one channel, elements that are contiguous in any order are not copied.
    ///
    /// ```
    /// use slm::ndarray::{Array3, array, s};
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::cpu();
    /// let below_5 = Histogram::even(5, 0..5).prepare(&device)?;
    /// assert_eq!(below_5.apply(&[0, 1, 1, 2])?.bins()?, [1, 2, 1, 0, 0]);
    /// let matrix = array![[0, 1, 9], [1, 2, 9]];
    /// assert_eq!(below_5.apply(matrix.slice(s![.., ..2]))?.bins()?, [1, 2, 1, 0, 0]);
    ///
    /// let picture = Array3::from_shape_fn((4, 6, 3), |(_, _, colour)| colour as u8);
    /// let colours = Histogram::bytes().channels(3).prepare(&device)?;
    /// let counts = colours.apply(picture.slice(s![.., 1..3, ..]))?;
    /// assert_eq!(counts.channel(2).map(|blue| blue.bins[2]), Some(8));
    ///
    /// // The colours of a planar picture become the last axis.
    /// let planar = Array3::from_shape_fn((3, 4, 5), |(colour, _, _)| colour as u8);
    /// let counts = colours.apply(&planar.permuted_axes([1, 2, 0]))?;
    /// assert_eq!(counts.channel(2).map(|blue| blue.bins[2]), Some(20));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`HistogramError::Interleaving`] if the number of samples, or the length of an array's last axis, is not a multiple of the
    ///   channels, and `PictureError::Channels` if pixels have another number of channels.
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, samples: impl Input<T>) -> Result<Counts<T>> {
        let mut counts = allocation::filled(0, self.counts_len())?;
        self.count_into(&samples, Target::Host(&mut counts), true)?;
        Ok(self.counts_of(counts))
    }

    /// Counts samples and overwrites counts. If these are on a device, this returns when the work is enqueued. The
    /// [module](super) describes the order of the counts.
    ///
    /// ```
    /// use slm::ndarray::array;
    /// use slm::{Buffer2, Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let bits = Histogram::low_bits(1).prepare(&device)?;
    /// let mut counts = device.zeroed(bits.counts_len())?;
    /// bits.apply_into(&device.upload(&[1, 2, 3])?, &mut counts)?;
    /// bits.apply_into(&device.upload(&[4, 5])?, &mut counts)?;
    /// assert_eq!(counts.download()?, [1, 1, 0, 0, 0]);
    ///
    /// let matrix = Buffer2::upload_pitched(&device, &array![[1, 2], [3, 4]], 64)?;
    /// bits.apply_into(&matrix, &mut counts)?;
    /// assert_eq!(bits.counts(&counts)?.bins()?, [2, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`accumulate_into`](Self::accumulate_into). If memory runs out or the device fails, the counts are
    /// unspecified. After other errors they are unchanged.
    pub fn apply_into(&self, samples: impl Input<T>, counts: &mut (impl Output<u64> + ?Sized)) -> Result<()> {
        counts.check_axes("the buffer of counts", &[self.counts_len()])?;
        counts.write(&mut |counts| self.count_into(&samples, counts, true))
    }

    /// Counts samples and adds to counts, modulo 2^64. If these are on a device, this returns when the work is enqueued.
    ///
    /// ```
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let bits = Histogram::low_bits(1).prepare(&device)?;
    /// let mut counts = device.zeroed(bits.counts_len())?;
    /// bits.accumulate_into(&device.upload(&[1, 2, 3])?, &mut counts)?;
    /// bits.accumulate_into(&device.upload(&[4, 5])?, &mut counts)?;
    /// assert_eq!(bits.counts(&counts)?.bins()?, [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is added after these errors:
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another device.
    /// * [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::Length`] if the length of `counts` is not [`counts_len`](Self::counts_len).
    /// * The errors of [`Device::zeroed`] for a matrix with gaps, which is copied.
    /// * [`Error::OutOfHostMemory`] on the CPU, where each thread counts in its own table.
    ///
    /// After a [failure of the device](Error#failures-of-the-device) some of the samples may have been added: a GPU counts 2
    /// GiB of them per launch.
    pub fn accumulate_into(&self, samples: impl Input<T>, counts: &mut (impl Output<u64> + ?Sized)) -> Result<()> {
        counts.check_axes("the buffer of counts", &[self.counts_len()])?;
        counts.write(&mut |counts| match (counts, &self.on_device) {
            (Target::Host(counts), OnDevice::Gpu(_)) => {
                let mut added = allocation::filled(0, counts.len())?;
                self.count_into(&samples, Target::Host(&mut added), true)?;
                counts.iter_mut().zip(added).for_each(|(count, added)| *count = count.wrapping_add(added));
                Ok(())
            }
            (counts, _) => self.count_into(&samples, counts, false),
        })
    }

    /// Counts samples. Counts on the host start at zero if the device is a GPU.
    fn count_into(&self, samples: &impl Input<T>, counts: Target<'_, u64>, starts_at_zero: bool) -> Result<()> {
        let shape = samples.shape();
        self.check_shape(&shape)?;
        let samples = if self.layout().channels == 1 { samples.unordered()? } else { samples.elements()? };
        samples.check_owner("the input", &self.device)?;
        counts.check_owner("the counts", &self.device)?;
        if takes_parts(&self.device, &samples, &counts) {
            return self.count_in_parts(&samples, counts.into_cpu());
        }
        let task = CountSamples { facts: &self.facts, samples: shape.len(), starts_at_zero };
        self.on_device.run(&self.device, &task, [&samples.gathered()?.elements()], counts)
    }

    /// Counts samples on the host in parts.
    fn count_in_parts(&self, samples: &Elements<'_, T>, counts: &mut [u64]) -> Result<()> {
        let parts = Parts::new(self)?;
        in_memory::run::<T, u8>(&parts, samples, Target::Host(&mut []))?;
        parts.counts().download_into(counts)
    }

    /// Returns a stream that counts samples that are read, with interleaved channels. Its result is that of [`apply`](Self::apply). See
    /// [`slm::stream`](crate::stream) for the format, and [`Stream`] for a progress report and limited memory.
    ///
    /// ```
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let counts = Histogram::bytes().prepare(&Device::open()?)?.stream("banana".as_bytes())?.run()?;
    /// assert_eq!(counts.bins()?[usize::from(b'a')], 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Device::zeroed`], for the counts.
    pub fn stream<'a, R: Read + Send>(&'a self, samples: R) -> Result<Stream<'a, R, Sink, Counts<T>>> {
        let parts = Arc::new(Parts::new(self)?);
        let finish = {
            let parts = parts.clone();
            move |_| self.counts(&*parts.counts())
        };
        Ok(Stream::new::<T, u8>(parts, samples, io::sink(), finish))
    }

    /// Returns the counts in a buffer that [`apply_into`](Self::apply_into) or [`accumulate_into`](Self::accumulate_into) has
    /// written, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if the buffer belongs to another device.
    /// * [`Error::Length`] if its length is not [`counts_len`](Self::counts_len).
    /// * The errors of [`Buffer::download`].
    pub fn counts<'a>(&self, counts: impl Into<BufferSlice<'a, u64>>) -> Result<Counts<T>> {
        let counts = counts.into();
        self.check_counts(counts)?;
        Ok(self.counts_of(counts.download()?))
    }

    /// Returns counts that were downloaded, or added up.
    pub(crate) fn counts_of(&self, counts: Vec<u64>) -> Counts<T> {
        Counts::new(counts, self.layout().cells(), &self.facts.edges)
    }

    /// Returns the plan for counting samples of this shape.
    ///
    /// # Errors
    ///
    /// [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    pub fn plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan<HistogramAlgorithm, Counting>> {
        let samples = number_of(shape.as_ref());
        self.layout().check_samples(samples)?;
        let (details, planned) = match &self.on_device {
            OnDevice::Cpu(()) => (Counting::on_cpu(self.algorithm, samples, self.layout()), Planned::on_cpu()),
            OnDevice::Gpu(histogram) => histogram.plan(samples),
        };
        let outputs = [self.layout().counted, self.layout().bins];
        Ok(Plan::new(&self.device, self.algorithm, &outputs, details, planned))
    }

    pub(super) fn layout(&self) -> &CounterLayout {
        &self.facts.layout
    }

    /// Returns an error if the channels of samples are not whole pixels.
    pub(super) fn check_shape(&self, shape: &Shape) -> Result<()> {
        shape.check_channels("the histogram", self.layout().channels)?;
        let interleaved = match shape.form {
            Form::Array => shape.axes.last().copied().unwrap_or(1),
            _ => shape.len(),
        };
        self.layout().check_samples(interleaved)
    }

    fn check_counts(&self, counts: BufferSlice<'_, u64>) -> Result<()> {
        self.device.check_owner("the counts", counts.device())?;
        check_length("the buffer of counts", self.counts_len(), counts.len())
    }
}

/// Samples that are counted part by part.
struct Parts<'a, T: HistogramElement> {
    histogram: &'a PreparedHistogram<T>,
    counts: Mutex<Buffer<u64>>,
}

impl<'a, T: HistogramElement> Parts<'a, T> {
    fn new(histogram: &'a PreparedHistogram<T>) -> Result<Self> {
        let counts = Mutex::new(histogram.device.zeroed(histogram.counts_len())?);
        Ok(Parts { histogram, counts })
    }

    fn counts(&self) -> MutexGuard<'_, Buffer<u64>> {
        // A panic leaves counts of which nobody takes the result.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without outputs: parts add to the same counts.
impl<T: HistogramElement, O: Element> Divided<T, O> for Parts<'_, T> {
    fn device(&self) -> &Device {
        &self.histogram.device
    }

    fn widths(&self) -> [usize; 2] {
        [self.histogram.layout().channels, 0]
    }

    fn run(&self, part: &Part, samples: &Elements<'_, T>, _: Target<'_, O>) -> Result<()> {
        let histogram = self.histogram;
        let samples_of_part = part.len() * histogram.layout().channels;
        let task = CountSamples { facts: &histogram.facts, samples: samples_of_part, starts_at_zero: false };
        let counts = &mut *self.counts();
        histogram.on_device.run(&histogram.device, &task, [samples], Target::Device(counts.into()))
    }
}

impl<T: HistogramElement> fmt::Debug for PreparedHistogram<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedHistogram")
            .field("device", &self.device)
            .field("rule", &self.facts.rule)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use super::HistogramError;
#[cfg(doc)]
use crate::Error;
