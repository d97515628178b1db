//! Sums of weights by a histogram that is bound to a device.

use super::gpu::WeightedSamples;
use super::weights::check_weights;
use super::{
    HistogramElement, HistogramError, HistogramWeight, PreparedHistogram, Samples, WeightedCounts, WeightedPlan,
};
use crate::buffer::{check_length, check_shape};
use crate::on_device::OnDevice;
use crate::{Buffer, Result, allocation};
use ndarray::{ArrayView, Dimension};

/// Sums of weights.
impl<T: HistogramElement> PreparedHistogram<T> {
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
        sums.check(self.counts_len(), self.layout().cells(), &self.facts.edges)?;
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
        sums.check(self.counts_len(), self.layout().cells(), &self.facts.edges)?;
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
        sums.check(self.counts_len(), self.layout().cells(), &self.facts.edges)?;
        sums.add(&self.weigh_buffers(samples.into(), weights.into())?);
        Ok(())
    }

    fn weigh<W: HistogramWeight>(&self, samples: &[T], weights: &[W]) -> Result<Vec<f64>> {
        self.layout().check_samples(samples.len())?;
        check_length("the weights", samples.len(), weights.len())?;
        match &self.on_device {
            OnDevice::Cpu(()) => T::weigh(&self.facts, samples, W::of_slice(weights)),
            OnDevice::Gpu(_) => {
                check_weights(weights)?;
                let (buffer, weights) = (self.device.upload(samples)?, self.device.upload(weights)?);
                self.weigh_prefix(&buffer, &weights, samples.len())
            }
        }
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
        self.weigh_prefix(samples.buffer(), weights.buffer(), len)
    }

    /// Returns the sums of the weights of the first `len` samples. Both buffers are on the histogram's device.
    fn weigh_prefix<W: HistogramWeight>(
        &self,
        samples: &Buffer<T>,
        weights: &Buffer<W>,
        len: usize,
    ) -> Result<Vec<f64>> {
        let weights = W::of_buffer(weights);
        match &self.on_device {
            OnDevice::Cpu(()) => T::weigh(&self.facts, &samples.storage().cpu()[..len], weights.on_cpu(len)),
            OnDevice::Gpu(histogram) => {
                histogram.weigh(WeightedSamples { samples: T::of_buffer(samples), weights, len })
            }
        }
    }

    fn weighted(&self, sums: Vec<f64>) -> WeightedCounts<T> {
        WeightedCounts::new(sums, self.layout().cells(), &self.facts.edges)
    }

    /// Returns the plan for adding `f32` weights of `samples` samples, the total of all channels.
    ///
    /// On a GPU this loads the kernels, as the first call of [`apply_weighted`](Self::apply_weighted) does.
    #[must_use]
    pub fn weighted_plan(&self, samples: usize) -> WeightedPlan {
        match &self.on_device {
            OnDevice::Cpu(()) => WeightedPlan::without_launch(&self.device, samples, self.layout()),
            OnDevice::Gpu(histogram) => histogram.weighted_plan(samples),
        }
    }
}

#[cfg(doc)]
use crate::{Device, Error};
