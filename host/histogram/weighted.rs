//! Sums of weights by a histogram that is bound to a device.

use super::gpu::WeightedSamples;
use super::weighing::Weighing;
use super::weights::check_weights;
use super::{HistogramElement, HistogramWeight, PreparedHistogram, WeightedCounts};
use crate::device::data::{Elements, number_of};
use crate::device::on_device::OnDevice;
use crate::plan::Planned;
use crate::stream::Stream;
use crate::{Input, Plan, Result};
use std::io::{self, Read, Seek, Sink};
use std::sync::Arc;

/// Sums of weights.
impl<T: HistogramElement> PreparedHistogram<T> {
    /// Returns the sums of the weights, one weight per sample, and waits for them. Samples and weights are [data](Input) of the same shape, and elements
    /// with the same index belong together; those of slices and buffers are in row-major order.
    ///
    /// Each sum has an error relative to the weights in its bin, at most 2^-50 of the sum of their magnitudes, whatever the
    /// weights in other bins are. A bin with one weight returns that weight. The sums have the same bits on every device and
    /// for every order of the samples. A sum beyond the largest `f64` is infinite; sums beyond it that cancel are not lost. The
    /// [module](super) has the rule, the exact bound and its limit.
    ///
    /// Weights are `f32` or `f64`. A GPU first adds all weights in one pass, as multiples of a single quantum. It
    /// guesses that from 512 weights, such that it is right for all weights up to 2^4 times as large as these, and down to 2^-36 of them
    /// (`f64`: 2^-39). Zeros are in this range, subnormal numbers never. In that pass, blocks have their sums in shared memory, in several copies if they fit, so
    /// many samples in one bin hardly matter; too many sums are in global memory.
    ///
    /// If a weight is outside of this range, or there are more than 2^30, the GPU reads samples and weights twice: first it finds
    /// the largest exponent in each bin, then it adds the weights atomically. If all sums of 16 bytes fit into 96 KiB of a block's
    /// shared memory, each block has one set of sums there; otherwise the sums are in global memory. Many samples in one bin make
    /// this much slower. Neither way changes a sum.
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
    /// * [`Error::Length`], [`Error::Shape`] or [`Error::Axes`] if weights and samples differ in shape.
    /// * [`HistogramError::Weight`] for a weight that is infinite or NaN, also if its sample is not counted.
    /// * The errors of [`Device::kernel`] on a GPU: weights have their own kernels, which are loaded on first use.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_weighted<W: HistogramWeight>(
        &self,
        samples: impl Input<T>,
        weights: impl Input<W>,
    ) -> Result<WeightedCounts<T>> {
        let sums = self.weigh(samples, weights)?;
        Ok(WeightedCounts::new(sums, self.layout().cells(), &self.facts.edges))
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
        samples: impl Input<T>,
        weights: impl Input<W>,
        sums: &mut WeightedCounts<T>,
    ) -> Result<()> {
        sums.check(self.counts_len(), self.layout().cells(), &self.facts.edges)?;
        sums.add(&self.weigh(samples, weights)?);
        Ok(())
    }

    /// Returns a stream that adds weights, which are read at the same time as their samples. Its result is that of
    /// [`apply_weighted`](Self::apply_weighted), bit for bit. Both inputs are raw numbers, as [`slm::stream`](crate::stream) describes,
    /// from where they are up to their ends. They are read twice, so they must be able to seek.
    ///
    /// ```
    /// use slm::{Device, Histogram};
    /// use std::io::Cursor;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let weights: Vec<u8> = [0.5f32, 2.0, 0.25].iter().flat_map(|weight| weight.to_le_bytes()).collect();
    /// let letters = Histogram::bytes().prepare(&Device::open()?)?;
    /// let weighted = letters.stream_weighted::<f32>(Cursor::new("aba"), Cursor::new(weights))?.run()?;
    /// assert_eq!(weighted.sums.bins()?[usize::from(b'a')], 0.75);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Device::zeroed`], for the sums. [`run`](Stream::run) returns the errors of
    /// [`apply_weighted`](Self::apply_weighted), with the index of the weight in the whole input.
    pub fn stream_weighted<'a, W: HistogramWeight>(
        &'a self,
        samples: impl Read + Seek + Send + 'a,
        weights: impl Read + Seek + Send + 'a,
    ) -> Result<Stream<'a, impl Read + Seek + Send + 'a, Sink, WeightedCounts<T>>> {
        let weighing = Arc::new(Weighing::new(self)?);
        let finish = {
            let weighing = weighing.clone();
            move |_| weighing.finish()
        };
        Ok(Stream::twice::<T, W>(&weighing, (samples, weights), io::sink(), finish))
    }

    fn weigh<W: HistogramWeight>(&self, samples: impl Input<T>, weights: impl Input<W>) -> Result<Vec<f64>> {
        let shape = samples.shape();
        self.check_shape(&shape)?;
        shape.check_pairs("the weights", &weights.shape())?;
        let (samples, weights) = (samples.elements()?, weights.elements()?);
        samples.check_owner("the input", &self.device)?;
        weights.check_owner("the weights", &self.device)?;
        let (samples, weights) = (samples.gathered()?, weights.gathered()?);
        self.weigh_prefix(&samples.elements(), &weights.elements(), shape.len())
    }

    /// Returns the sums of the first `len` weights.
    fn weigh_prefix<W: HistogramWeight>(
        &self,
        samples: &Elements<'_, T>,
        weights: &Elements<'_, W>,
        len: usize,
    ) -> Result<Vec<f64>> {
        match &self.on_device {
            OnDevice::Cpu(()) => T::weigh(&self.facts, &samples.cpu()[..len], W::of_slice(&weights.cpu()[..len])),
            OnDevice::Gpu(histogram) => {
                if let Elements::Host(weights) = weights {
                    check_weights(weights, 0)?;
                }
                let (samples, weights) = (samples.on_buffer(&self.device)?, weights.on_buffer(&self.device)?);
                let (samples, weights) = (T::of_buffer(samples.slice()), W::of_buffer(weights.slice()));
                histogram.weigh(WeightedSamples { samples, weights, len })
            }
        }
    }

    /// Returns the plan for adding `f32` weights of samples of this shape: of one pass, or of two if there are too many. Whether one pass
    /// is enough, a call of [`apply_weighted`](Self::apply_weighted) finds out; streams take two.
    ///
    /// On a GPU this loads the kernels, as the first call of [`apply_weighted`](Self::apply_weighted) does.
    ///
    /// # Errors
    ///
    /// [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    pub fn weighted_plan(&self, shape: impl AsRef<[usize]>) -> Result<Plan> {
        let samples = number_of(shape.as_ref());
        self.layout().check_samples(samples)?;
        let planned = match &self.on_device {
            OnDevice::Cpu(()) => Planned::on_cpu(),
            OnDevice::Gpu(histogram) => histogram.weighted_plan(samples),
        };
        Ok(Plan::new(&self.device, (), &[self.layout().counted, self.layout().bins], (), planned))
    }
}

#[cfg(doc)]
use super::HistogramError;
#[cfg(doc)]
use crate::{Device, Error};
