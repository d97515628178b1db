//! A histogram bound to a device.

use super::{Algorithm, Counts, HistogramElement, Plan, Rule, WeightedCounts, cpu, gpu};
use crate::buffer::check_length;
use crate::{Buffer, Device, LaunchPlan, Result};
use std::fmt;
use std::sync::Arc;

/// A [`Histogram`](crate::Histogram) that is ready to run on its device, any number of times and from any thread.
pub struct PreparedHistogram<T: HistogramElement> {
    pub(super) device: Device,
    rule: Rule<T>,
    edges: Arc<[T]>,
    algorithm: Algorithm,
    pub(super) on_device: OnDevice<T>,
}

/// A histogram on a device of some kind.
pub(super) enum OnDevice<T: HistogramElement> {
    Cpu(cpu::Histogram<T>),
    Gpu(Box<dyn gpu::OnGpu<T>>),
}

impl<T: HistogramElement> OnDevice<T> {
    fn new(device: &Device, rule: &Rule<T>, edges: &Arc<[T]>, algorithm: Algorithm) -> Result<Self> {
        Ok(match device.info().shared_memory {
            None => OnDevice::Cpu(cpu::Histogram::new(rule, edges, algorithm)),
            Some(shared) => OnDevice::Gpu(gpu::prepare(device, shared, rule, edges, algorithm)?),
        })
    }
}

impl<T: HistogramElement> PreparedHistogram<T> {
    pub(super) fn new(device: &Device, rule: Rule<T>, algorithm: Algorithm) -> Result<Self> {
        rule.check()?;
        let edges = rule.edges()?;
        let on_device = OnDevice::new(device, &rule, &edges, algorithm)?;
        Ok(PreparedHistogram { device: device.clone(), rule, edges, algorithm, on_device })
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
    /// [`closed`](crate::Histogram::closed) histogram includes its upper end. The slice is empty for
    /// [`low_bits`](crate::Histogram::low_bits), whose bins are not ranges.
    ///
    /// If two neighbours are equal, the bin between them is empty.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let thirds = slm::Histogram::even(3, 0.0f32..1.0).prepare(&slm::Device::cpu())?;
    /// assert_eq!(thirds.edges(), [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    /// let thirds = slm::Histogram::even(3, 0..10).prepare(&slm::Device::cpu())?;
    /// assert_eq!(thirds.edges(), [0, 4, 7, 10]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn edges(&self) -> &[T] {
        &self.edges
    }

    /// Returns the length of a buffer of counts: for each counted channel, the number of bins plus three.
    #[must_use]
    pub fn counts_len(&self) -> usize {
        self.rule.counters()
    }

    /// Counts the samples, and returns the counts.
    ///
    /// # Errors
    ///
    /// * [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::OutOfDeviceMemory`] or [`Error::OutOfHostMemory`].
    /// * [Failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, samples: &[T]) -> Result<Counts<T>> {
        self.rule.check_samples(samples.len())?;
        let counts = T::run_on_host(self, samples)?;
        Ok(Counts::new(counts, self.rule.cells(), &self.edges))
    }

    /// Counts the samples of a buffer and adds to the counts in another buffer, modulo 2^64. Returns when the work is enqueued. The
    /// [module](super) has the order of the counts.
    ///
    /// ```
    /// use slm::{Device, Histogram};
    ///
    /// # fn main() -> slm::Result<()> {
    /// let device = Device::open()?;
    /// let bits = Histogram::low_bits(1).prepare(&device)?;
    /// let mut counts = device.zeroed(bits.counts_len())?;
    /// bits.apply_into(&device.upload(&[1, 2, 3])?, &mut counts)?;
    /// bits.apply_into(&device.upload(&[4, 5])?, &mut counts)?;
    /// assert_eq!(counts.download()?, [2, 3, 0, 0, 0]);
    /// assert_eq!(bits.counts(&counts)?.bins(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing is added in these cases:
    ///
    /// * [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    /// * [`HistogramError::Interleaving`] if the number of samples is not a multiple of the channels.
    /// * [`Error::Length`] if the length of `counts` is not [`counts_len`](Self::counts_len).
    /// * [`Error::OutOfHostMemory`] on the CPU, where each thread counts in its own table.
    ///
    /// After a [failure of the device](Error#failures-of-the-device) a part of the samples may have been added, because a GPU counts
    /// 2 GiB of them at a time.
    pub fn apply_into(&self, samples: &Buffer<T>, counts: &mut Buffer<u64>) -> Result<()> {
        self.check_samples(samples)?;
        self.check_counts(counts)?;
        T::run(self, samples, counts)
    }

    /// Downloads and returns the counts of [`apply_into`](Self::apply_into), after all work that was enqueued before.
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

    /// Adds up a weight per sample, and returns the sums. The [module](super) has their error bound.
    ///
    /// The histogram's [`algorithm`](crate::Histogram::algorithm) and [`plan`](Self::plan) are for counting; the plan for weights is
    /// [`weighted_plan`](Self::weighted_plan). On a GPU weights are added atomically: in shared memory, with one set of sums per block,
    /// if all sums fit into the default shared memory of a block (48 KiB), otherwise in global memory. It is slower if many samples are
    /// in one bin.
    ///
    /// ```
    /// # fn main() -> slm::Result<()> {
    /// let signs = slm::Histogram::edges(&[-9, 0, 9]).prepare(&slm::Device::cpu())?;
    /// let weighted = signs.apply_weighted(&[-3, 4, -5, 20], &[0.5, 2.0, 0.25, 8.0])?;
    /// assert_eq!(weighted.sums.bins(), [0.75, 2.0]);
    /// assert_eq!(weighted.sums.above(), 8.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Length`] if the numbers of weights and samples differ.
    /// * [`HistogramError::Weight`] for a weight that is infinite or NaN, also if its sample is not counted.
    /// * The errors of [`Device::kernel`] on a GPU: weights have their own kernel, which is loaded on first use.
    /// * The errors of [`apply`](Self::apply).
    pub fn apply_weighted(&self, samples: &[T], weights: &[f32]) -> Result<WeightedCounts<T>> {
        self.rule.check_samples(samples.len())?;
        check_length("the weights", samples.len(), weights.len())?;
        let (multiples, quantum) = T::weigh_on_host(self, samples, weights)?;
        WeightedCounts::new(&multiples, quantum, self.rule.cells(), &self.edges)
    }

    /// As [`apply_weighted`](Self::apply_weighted), for samples and weights on the device. Waits for the sums, and returns them.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_weighted`](Self::apply_weighted), and [`Error::DeviceMismatch`] if a buffer belongs to another handle.
    pub fn apply_weighted_buffers(&self, samples: &Buffer<T>, weights: &Buffer<f32>) -> Result<WeightedCounts<T>> {
        self.check_samples(samples)?;
        self.device.check_owner("the weights", weights.device())?;
        check_length("the weights", samples.len(), weights.len())?;
        let (multiples, quantum) = T::weigh(self, samples, weights)?;
        WeightedCounts::new(&multiples, quantum, self.rule.cells(), &self.edges)
    }

    /// Returns the plan for counting `samples` samples, of all channels together.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        T::plan(self, samples)
    }

    /// Returns the launches for the weights of `samples` samples, of all channels together: first those that find the largest weight,
    /// then those that add. There are none on the CPU, and for 0 samples.
    ///
    /// On a GPU this loads the kernels, as the first call of [`apply_weighted`](Self::apply_weighted) does.
    #[must_use]
    pub fn weighted_plan(&self, samples: usize) -> Vec<LaunchPlan> {
        T::weighted_plan(self, samples)
    }

    fn check_samples(&self, samples: &Buffer<T>) -> Result<()> {
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
use super::HistogramError;
#[cfg(doc)]
use crate::Error;
