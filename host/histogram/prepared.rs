//! A histogram bound to a device.

use super::on_device::OnDevice;
use super::{
    Counts, HistogramAlgorithm, HistogramElement, HistogramError, HistogramWeight, Plan, Rule, Samples, WeightedCounts,
    WeightedPlan,
};
use crate::buffer::{check_length, check_shape};
use crate::{Buffer, Device, Result, allocation};
use ndarray::{ArrayView, Dimension};
use std::fmt;
use std::sync::Arc;

/// A [`Histogram`](crate::Histogram) that is ready to run on its device, any number of times and from any thread.
///
/// | samples | counts | weights |
/// |---|---|---|
/// | a slice | [`apply`](Self::apply) | [`apply_weighted`](Self::apply_weighted), [`accumulate_weighted`](Self::accumulate_weighted) |
/// | an array of `ndarray` | [`apply_array`](Self::apply_array) | [`apply_weighted_array`](Self::apply_weighted_array), [`accumulate_weighted_array`](Self::accumulate_weighted_array) |
/// | a buffer or a matrix on the device | [`apply_into`](Self::apply_into), [`accumulate_into`](Self::accumulate_into) | [`apply_weighted_buffers`](Self::apply_weighted_buffers), [`accumulate_weighted_buffers`](Self::accumulate_weighted_buffers) |
///
/// Functions whose names begin with `apply` start from zero. Functions whose names begin with `accumulate` add to earlier
/// results.
pub struct PreparedHistogram<T: HistogramElement> {
    device: Device,
    pub(super) rule: Rule<T>,
    edges: Arc<[T::Bound]>,
    algorithm: HistogramAlgorithm,
    on_device: OnDevice<T>,
}

impl<T: HistogramElement> PreparedHistogram<T> {
    pub(super) fn new(
        device: &Device,
        rule: Rule<T>,
        edges: Arc<[T::Bound]>,
        algorithm: HistogramAlgorithm,
        on_device: OnDevice<T>,
    ) -> Self {
        PreparedHistogram { device: device.clone(), rule, edges, algorithm, on_device }
    }

    /// Returns the device that the histogram runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the number of bins per channel.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.rule.bins()
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
        &self.edges
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
        self.device.upload(&self.edges)
    }

    /// Returns the length of a buffer of counts: for each counted channel, the number of bins and three more.
    #[must_use]
    pub fn counts_len(&self) -> usize {
        self.rule.counters()
    }

    /// Returns the counts of the samples.
    ///
    /// # Errors
    ///
    /// * [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, samples: &[T]) -> Result<Counts<T>> {
        self.rule.check_samples(samples.len())?;
        let counts = self.on_device.run_on_host(samples, self.rule.counters())?;
        Ok(Counts::new(counts, self.rule.cells(), &self.edges))
    }

    /// Returns the counts of the elements of an array with any number of dimensions and any strides.
    ///
    /// The elements are read in row-major order, with the last index changing fastest, independent of their order in memory. So
    /// the last axis of a picture of rows, columns and colours has the [`channels`](crate::Histogram::channels). Elements that
    /// are contiguous in this order are not copied. With one channel, elements that are contiguous in any order are not copied.
    ///
    /// ```
    /// use slm::ndarray::{Array3, array, s};
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::cpu();
    /// let below_5 = Histogram::even(5, 0..5).prepare(&device)?;
    /// let matrix = array![[0, 1, 9], [1, 2, 9]];
    /// assert_eq!(below_5.apply_array(matrix.slice(s![.., ..2]))?.bins()?, [1, 2, 1, 0, 0]);
    ///
    /// let picture = Array3::from_shape_fn((4, 6, 3), |(_, _, colour)| colour as u8);
    /// let colours = Histogram::bytes().channels(3).prepare(&device)?;
    /// let counts = colours.apply_array(picture.slice(s![.., 1..3, ..]))?;
    /// assert_eq!(counts.channel(2).map(|blue| blue.bins[2]), Some(8));
    ///
    /// // The colours of a planar picture become the last axis.
    /// let planar = Array3::from_shape_fn((3, 4, 5), |(colour, _, _)| colour as u8);
    /// let counts = colours.apply_array(planar.view().permuted_axes([1, 2, 0]))?;
    /// assert_eq!(counts.channel(2).map(|blue| blue.bins[2]), Some(20));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`HistogramError::Interleaving`] if the length of the last axis is not a multiple of the channels.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_array<D: Dimension>(&self, samples: ArrayView<'_, T, D>) -> Result<Counts<T>> {
        self.check_last_axis(samples.shape())?;
        match samples.as_slice_memory_order() {
            Some(samples) if self.rule.channels == 1 => self.apply(samples),
            _ => self.apply(&allocation::row_after_row(samples.view())?),
        }
    }

    /// Counts samples on the device and overwrites the counts of a buffer. Returns when the work is enqueued. The
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
    /// let matrix = Buffer2::upload_pitched(&device, array![[1, 2], [3, 4]].view(), 64)?;
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
    pub fn apply_into<'a>(&self, samples: impl Into<Samples<'a, T>>, counts: &mut Buffer<u64>) -> Result<()> {
        let samples = samples.into();
        self.check_samples(&samples)?;
        self.check_counts(counts)?;
        counts.clear()?;
        self.run(&samples, counts)
    }

    /// Counts samples on the device and adds to the counts of a buffer, modulo 2^64. Returns when the work is enqueued.
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
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::Length`] if the length of `counts` is not [`counts_len`](Self::counts_len).
    /// * The errors of [`Device::zeroed`] for a matrix with gaps, which is copied.
    /// * [`Error::OutOfHostMemory`] on the CPU, where each thread counts in its own table.
    ///
    /// After a [failure of the device](Error#failures-of-the-device) some of the samples may have been added: a GPU counts 2
    /// GiB of them per launch.
    pub fn accumulate_into<'a>(&self, samples: impl Into<Samples<'a, T>>, counts: &mut Buffer<u64>) -> Result<()> {
        let samples = samples.into();
        self.check_samples(&samples)?;
        self.check_counts(counts)?;
        self.run(&samples, counts)
    }

    fn run(&self, samples: &Samples<'_, T>, counts: &mut Buffer<u64>) -> Result<()> {
        self.on_device.run(samples.gathered()?.buffer(), samples.len(), counts)
    }

    /// Returns the counts in a buffer that [`apply_into`](Self::apply_into) or [`accumulate_into`](Self::accumulate_into) has
    /// written, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if the buffer belongs to another handle.
    /// * [`Error::Length`] if its length is not [`counts_len`](Self::counts_len).
    /// * The errors of [`Buffer::download`].
    pub fn counts(&self, counts: &Buffer<u64>) -> Result<Counts<T>> {
        self.check_counts(counts)?;
        Ok(Counts::new(counts.download()?, self.rule.cells(), &self.edges))
    }

    /// Returns the sums of the weights, one weight per sample.
    ///
    /// Each sum has an error relative to the weights in its bin, at most 2^-50 of the sum of their magnitudes, whatever the
    /// weights in other bins are. A bin with one weight returns that weight. The sums have the same bits on every device and
    /// for every order of the samples. A sum beyond the largest `f64` is infinite; sums beyond it that cancel are not lost. The
    /// [module](super) has the rule, the exact bound and its limit.
    ///
    /// Weights are `f32` or `f64`. A GPU reads samples and weights twice: first it finds the largest exponent in each bin, then
    /// it adds the weights atomically. If all sums of 16 bytes fit into 96 KiB of a block's shared memory, each block has one
    /// set of sums there; otherwise the sums are in global memory. Many samples in one bin make it slower.
    ///
    /// The [`algorithm`](crate::Histogram::algorithm) and the [`plan`](Self::plan) are for counting only.
    /// [`weighted_plan`](Self::weighted_plan) returns the launches for weights.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let signs = slm::Histogram::edges(&[-9, 0, 9]).prepare(&slm::Device::cpu())?;
    /// let weighted = signs.apply_weighted(&[-3, 4, -5, 20], &[0.5f32, 2.0, 0.25, 8.0])?;
    /// assert_eq!(weighted.sums.bins()?, [0.75, 2.0]);
    /// assert_eq!(weighted.sums.above()?, 8.0);
    ///
    /// // Weights in other bins do not matter.
    /// let weighted = signs.apply_weighted(&[-3, 4], &[1e-300, 1e300])?;
    /// assert_eq!(weighted.sums.bins()?, [1e-300, 1e300]);
    /// // Intermediate sums are exact.
    /// let weighted = signs.apply_weighted(&[1, 2, 3], &[1e20, 1.0, -1e20])?;
    /// assert_eq!(weighted.sums.bins()?, [0.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if the numbers of weights and samples differ.
    /// * [`HistogramError::Weight`] for a weight that is infinite or NaN, also if its sample is not counted.
    /// * The errors of [`Device::kernel`] on a GPU: weights have their own kernels, which are loaded on first use.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_weighted<W: HistogramWeight>(&self, samples: &[T], weights: &[W]) -> Result<WeightedCounts<T>> {
        Ok(self.weighted(self.weigh(samples, weights)?))
    }

    /// Adds a weight for each sample, as [`apply_weighted`](Self::apply_weighted) does, to the sums of earlier calls.
    ///
    /// The sums of each call are rounded to `f64` once, and once more by the addition. So the result depends on the order of the
    /// calls, but is the same on every device.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let signs = slm::Histogram::edges(&[-9, 0, 9]).prepare(&slm::Device::cpu())?;
    /// let mut weighted = signs.apply_weighted(&[-3, 4], &[0.5, 2.0])?;
    /// signs.accumulate_weighted(&[-5, -6], &[0.25, 1.0], &mut weighted)?;
    /// assert_eq!(weighted.sums.bins()?, [1.75, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The sums are unchanged after an error.
    ///
    /// * [`Error::Length`] if `sums` belongs to a histogram with another [`counts_len`](Self::counts_len), and
    ///   [`HistogramError::OtherBins`] if that has other bins or channels.
    /// * The errors of [`apply_weighted`](Self::apply_weighted).
    pub fn accumulate_weighted<W: HistogramWeight>(
        &self,
        samples: &[T],
        weights: &[W],
        sums: &mut WeightedCounts<T>,
    ) -> Result<()> {
        sums.check(self.counts_len(), self.rule.cells(), &self.edges)?;
        sums.add(&self.weigh(samples, weights)?);
        Ok(())
    }

    /// Returns the sums of weights for arrays with any number of dimensions and any strides, as
    /// [`apply_weighted`](Self::apply_weighted) does. Both arrays have the same shape, and elements with the same index belong
    /// together.
    ///
    /// The elements are read in row-major order, as [`apply_array`](Self::apply_array) reads them. Elements that are contiguous
    /// in this order are not copied.
    ///
    /// ```
    /// use slm::ndarray::array;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let signs = slm::Histogram::edges(&[-9, 0, 9]).prepare(&slm::Device::cpu())?;
    /// let (samples, weights) = (array![[-1, 2], [3, -4]], array![[0.5, 1.0], [2.0, 8.0]]);
    /// let weighted = signs.apply_weighted_array(samples.t(), weights.t())?;
    /// assert_eq!(weighted.sums.bins()?, [8.5, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`HistogramError::WeightShape`] if the shapes differ.
    /// * [`HistogramError::Interleaving`] if the length of the last axis is not a multiple of the channels.
    /// * The errors of [`apply_weighted`](Self::apply_weighted). The index of a weight is the one in row-major order.
    pub fn apply_weighted_array<W: HistogramWeight, D: Dimension>(
        &self,
        samples: ArrayView<'_, T, D>,
        weights: ArrayView<'_, W, D>,
    ) -> Result<WeightedCounts<T>> {
        Ok(self.weighted(self.weigh_arrays(samples, weights)?))
    }

    /// Adds a weight for each sample to the sums of earlier calls, as [`accumulate_weighted`](Self::accumulate_weighted) does,
    /// for arrays with any number of dimensions and any strides.
    ///
    /// # Errors
    ///
    /// The errors of [`accumulate_weighted`](Self::accumulate_weighted) and
    /// [`apply_weighted_array`](Self::apply_weighted_array).
    pub fn accumulate_weighted_array<W: HistogramWeight, D: Dimension>(
        &self,
        samples: ArrayView<'_, T, D>,
        weights: ArrayView<'_, W, D>,
        sums: &mut WeightedCounts<T>,
    ) -> Result<()> {
        sums.check(self.counts_len(), self.rule.cells(), &self.edges)?;
        sums.add(&self.weigh_arrays(samples, weights)?);
        Ok(())
    }

    /// Returns the sums of weights for samples and weights on the device, as [`apply_weighted`](Self::apply_weighted) does.
    /// Waits for the sums.
    ///
    /// Two matrices must have the same shape. A buffer and a matrix must have the same number of elements, which are paired in
    /// row-major order.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`Error::Shape`] if two matrices differ in shape.
    /// * The errors of [`apply_weighted`](Self::apply_weighted).
    pub fn apply_weighted_buffers<'a, W: HistogramWeight>(
        &self,
        samples: impl Into<Samples<'a, T>>,
        weights: impl Into<Samples<'a, W>>,
    ) -> Result<WeightedCounts<T>> {
        Ok(self.weighted(self.weigh_buffers(samples.into(), weights.into())?))
    }

    /// Adds a weight for each sample to the sums of earlier calls, as [`accumulate_weighted`](Self::accumulate_weighted) does,
    /// for samples and weights on the device. Waits for the sums.
    ///
    /// # Errors
    ///
    /// The errors of [`accumulate_weighted`](Self::accumulate_weighted) and
    /// [`apply_weighted_buffers`](Self::apply_weighted_buffers).
    pub fn accumulate_weighted_buffers<'a, W: HistogramWeight>(
        &self,
        samples: impl Into<Samples<'a, T>>,
        weights: impl Into<Samples<'a, W>>,
        sums: &mut WeightedCounts<T>,
    ) -> Result<()> {
        sums.check(self.counts_len(), self.rule.cells(), &self.edges)?;
        sums.add(&self.weigh_buffers(samples.into(), weights.into())?);
        Ok(())
    }

    fn weigh<W: HistogramWeight>(&self, samples: &[T], weights: &[W]) -> Result<Vec<f64>> {
        self.rule.check_samples(samples.len())?;
        check_length("the weights", samples.len(), weights.len())?;
        self.on_device.weigh_on_host(samples, W::of_slice(weights))
    }

    fn weigh_arrays<W: HistogramWeight, D: Dimension>(
        &self,
        samples: ArrayView<'_, T, D>,
        weights: ArrayView<'_, W, D>,
    ) -> Result<Vec<f64>> {
        if samples.shape() != weights.shape() {
            let (samples, weights) = (samples.shape().to_vec(), weights.shape().to_vec());
            return Err(HistogramError::WeightShape { samples, weights }.into());
        }
        self.check_last_axis(samples.shape())?;
        self.weigh(&allocation::row_after_row(samples)?, &allocation::row_after_row(weights)?)
    }

    fn weigh_buffers<W: HistogramWeight>(&self, samples: Samples<'_, T>, weights: Samples<'_, W>) -> Result<Vec<f64>> {
        self.check_samples(&samples)?;
        self.device.check_owner("the weights", weights.device())?;
        match (samples.shape(), weights.shape()) {
            (Some(expected), Some(actual)) => check_shape("the weights", expected, actual)?,
            _ => check_length("the weights", samples.len(), weights.len())?,
        }
        let (len, samples, weights) = (samples.len(), samples.gathered()?, weights.gathered()?);
        self.on_device.weigh(samples.buffer(), len, W::of_buffer(weights.buffer()))
    }

    fn weighted(&self, sums: Vec<f64>) -> WeightedCounts<T> {
        WeightedCounts::new(sums, self.rule.cells(), &self.edges)
    }

    /// Returns the plan for counting `samples` samples, the total of all channels.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        match &self.on_device {
            OnDevice::Cpu(_) => Plan::cpu(&self.device, self.algorithm, samples, &self.rule),
            OnDevice::Gpu(histogram) => histogram.plan(samples),
        }
    }

    /// Returns the plan for adding `f32` weights of `samples` samples, the total of all channels.
    ///
    /// On a GPU this loads the kernels, as the first call of [`apply_weighted`](Self::apply_weighted) does.
    #[must_use]
    pub fn weighted_plan(&self, samples: usize) -> WeightedPlan {
        match &self.on_device {
            OnDevice::Cpu(_) => WeightedPlan::without_launch(&self.device, samples, &self.rule),
            OnDevice::Gpu(histogram) => histogram.weighted_plan(samples),
        }
    }

    fn check_last_axis(&self, shape: &[usize]) -> Result<()> {
        self.rule.check_samples(shape.last().copied().unwrap_or(1))
    }

    fn check_samples(&self, samples: &Samples<'_, T>) -> Result<()> {
        self.device.check_owner("the input", samples.device())?;
        self.rule.check_samples(samples.len())
    }

    fn check_counts(&self, counts: &Buffer<u64>) -> Result<()> {
        self.device.check_owner("the counts", counts.device())?;
        check_length("the buffer of counts", self.counts_len(), counts.len())
    }
}

impl<T: HistogramElement> fmt::Debug for PreparedHistogram<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedHistogram")
            .field("device", &self.device)
            .field("rule", &self.rule)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

#[cfg(doc)]
use crate::Error;
