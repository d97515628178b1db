//! A histogram bound to a device.

use super::{Counts, HistogramAlgorithm, HistogramElement, Plan, Rule, WeightedCounts, cpu, gpu};
use crate::buffer::check_length;
use crate::{Buffer, Device, LaunchPlan, Result};
use std::fmt;
use std::sync::Arc;

/// A [`Histogram`](crate::Histogram) that is ready to run on its device, as often as wanted and from any thread.
pub struct PreparedHistogram<T: HistogramElement> {
    pub(super) device: Device,
    rule: Rule<T>,
    edges: Arc<[T]>,
    algorithm: HistogramAlgorithm,
    pub(super) on_device: OnDevice<T>,
}

/// A histogram on a device of some kind.
pub(super) enum OnDevice<T: HistogramElement> {
    Cpu(cpu::Histogram<T>),
    Gpu(Box<dyn gpu::OnGpu<T>>),
}

impl<T: HistogramElement> OnDevice<T> {
    fn new(device: &Device, rule: &Rule<T>, edges: &Arc<[T]>, algorithm: HistogramAlgorithm) -> Result<Self> {
        Ok(match device.info().shared_memory {
            None => OnDevice::Cpu(cpu::Histogram::new(rule, edges, algorithm)),
            Some(shared) => OnDevice::Gpu(gpu::prepare(device, shared, rule, edges, algorithm)?),
        })
    }
}

impl<T: HistogramElement> PreparedHistogram<T> {
    pub(super) fn new(device: &Device, rule: Rule<T>, algorithm: HistogramAlgorithm) -> Result<Self> {
        rule.check()?;
        let edges = rule.edges()?;
        let on_device = OnDevice::new(device, &rule, &edges, algorithm)?;
        Ok(PreparedHistogram { device: device.clone(), rule, edges, algorithm, on_device })
    }

    /// The device that it runs on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.rule.bins()
    }

    /// The borders of the bins, one more than there are bins: bin `k` is `edges[k] <= x < edges[k + 1]`, with its upper end if
    /// it is the last one of a [`closed`](crate::Histogram::closed) histogram. None for
    /// [`low_bits`](crate::Histogram::low_bits), whose bins are no ranges.
    ///
    /// Where two neighbours are the same, the bin between them is empty.
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

    /// The length of a buffer of counts: for each channel that is counted, the bins and three more.
    #[must_use]
    pub fn counts_len(&self) -> usize {
        self.rule.counters()
    }

    /// Counts the samples.
    ///
    /// # Errors
    ///
    /// [`HistogramError::Interleaving`] if some channel has fewer samples than another, [`Error::OutOfDeviceMemory`],
    /// [`Error::OutOfHostMemory`], and [failures of the device](Error#failures-of-the-device).
    pub fn apply(&self, samples: &[T]) -> Result<Counts<T>> {
        self.rule.check_samples(samples.len())?;
        let counts = T::run_on_host(self, samples)?;
        Ok(Counts::new(counts, self.rule.cells(), &self.edges))
    }

    /// Counts the samples of a buffer and adds to the counts of another one, modulo 2^64; returns when the work is
    /// enqueued. The [module](super) says which count is where.
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
    /// [`Error::DeviceMismatch`] if a buffer belongs to another handle, [`HistogramError::Interleaving`] if some channel has fewer
    /// samples than another, [`Error::Length`] if `counts` is not [`counts_len`](Self::counts_len) long, and
    /// [`Error::OutOfHostMemory`] on the CPU, where each thread counts in a table of its own: nothing is added then.
    /// [Failures of the device](Error#failures-of-the-device): a part of the samples may have been added then, as a GPU counts
    /// 2 GiB of them at a time.
    pub fn apply_into(&self, samples: &Buffer<T>, counts: &mut Buffer<u64>) -> Result<()> {
        self.check_samples(samples)?;
        self.check_counts(counts)?;
        T::run(self, samples, counts)
    }

    /// Downloads what [`apply_into`](Self::apply_into) has counted, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMismatch`] if the buffer belongs to another handle, [`Error::Length`] if it is not
    /// [`counts_len`](Self::counts_len) long, and what [`Buffer::download`] gives.
    pub fn counts(&self, counts: &Buffer<u64>) -> Result<Counts<T>> {
        self.check_counts(counts)?;
        Ok(Counts::new(counts.download()?, self.rule.cells(), &self.edges))
    }

    /// Adds up a weight for each sample; the [module](super) says how exactly.
    ///
    /// The histogram's [`algorithm`](crate::Histogram::algorithm) and its [`plan`](Self::plan) are those of counting; that of the
    /// weights is [`weighted_plan`](Self::weighted_plan). On a GPU weights are added atomically: in shared memory, where a
    /// block has one set of sums, if all of them fit into what blocks have by default (48 KiB), and otherwise in global
    /// memory. The more samples meet in a bin, the slower.
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
    /// [`Error::Length`] unless there are as many weights as samples, [`HistogramError::Weight`] for a weight that is infinite or
    /// NaN, whether its sample is counted or not; what [`Device::kernel`] gives on a GPU, where weights have a kernel of
    /// their own, loaded on first use; otherwise as [`apply`](Self::apply).
    pub fn apply_weighted(&self, samples: &[T], weights: &[f32]) -> Result<WeightedCounts<T>> {
        self.rule.check_samples(samples.len())?;
        check_length("the weights", samples.len(), weights.len())?;
        let (multiples, quantum) = T::weigh_on_host(self, samples, weights)?;
        WeightedCounts::new(&multiples, quantum, self.rule.cells(), &self.edges)
    }

    /// As [`apply_weighted`](Self::apply_weighted), for samples and weights on the device; waits for the sums.
    ///
    /// # Errors
    ///
    /// Those of [`apply_weighted`](Self::apply_weighted), and [`Error::DeviceMismatch`] if a buffer belongs to another
    /// handle.
    pub fn apply_weighted_buffers(&self, samples: &Buffer<T>, weights: &Buffer<f32>) -> Result<WeightedCounts<T>> {
        self.check_samples(samples)?;
        self.device.check_owner("the weights", weights.device())?;
        check_length("the weights", samples.len(), weights.len())?;
        let (multiples, quantum) = T::weigh(self, samples, weights)?;
        WeightedCounts::new(&multiples, quantum, self.rule.cells(), &self.edges)
    }

    /// Returns how `samples` samples, of all channels together, would be counted.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        T::plan(self, samples)
    }

    /// Returns the launches that would add up the weights of `samples` samples, of all channels together: first those that
    /// find the largest weight, then those that add. Empty for the CPU, and for no samples.
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
