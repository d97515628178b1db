//! A histogram bound to a device.

use super::{Algorithm, Counts, HistogramElement, Plan, Rule, WeightedCounts};
use crate::backend::cpu;
use crate::buffer::{Storage, check_length};
use crate::device::Engine;
use crate::{Buffer, Device, Result, allocation};
use std::fmt;

/// A [`Histogram`](crate::Histogram) that is ready to run on its device, as often as wanted and from any thread.
pub struct PreparedHistogram<T: HistogramElement> {
    device: Device,
    rule: Rule<T>,
    algorithm: Algorithm,
    bound: Bound,
}

/// The part on the device.
enum Bound {
    Cpu,
}

impl Bound {
    fn new(device: &Device) -> Result<Self> {
        match device.engine() {
            Engine::Cpu => Ok(Bound::Cpu),
            // TODO: the kernels.
            #[cfg(gpu)]
            _ => {
                Err(crate::Error::DeviceUnsupported { device: device.info().name.clone(), lacks: "histograms so far" })
            }
        }
    }
}

impl<T: HistogramElement> PreparedHistogram<T> {
    pub(super) fn new(device: &Device, rule: Rule<T>, algorithm: Algorithm) -> Result<Self> {
        rule.check()?;
        Ok(PreparedHistogram { device: device.clone(), bound: Bound::new(device)?, rule, algorithm })
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

    /// The length of a buffer of counts: for each channel that is counted, the bins and three more.
    #[must_use]
    pub fn counts_len(&self) -> usize {
        self.rule.counters()
    }

    /// Counts the samples.
    ///
    /// # Errors
    ///
    /// [`Error::Interleaving`] if some channel has fewer samples than another, [`Error::OutOfDeviceMemory`],
    /// [`Error::OutOfHostMemory`], and failures of the device.
    pub fn apply(&self, samples: &[T]) -> Result<Counts> {
        self.rule.check_samples(samples.len())?;
        let counts = match &self.bound {
            Bound::Cpu => {
                let mut counts = allocation::filled(0, self.counts_len())?;
                cpu::histogram(&self.rule, samples, &mut counts)?;
                counts
            }
        };
        Ok(Counts::new(counts, self.rule.cells()))
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
    /// [`Error::DeviceMismatch`] if a buffer belongs to another handle, [`Error::Interleaving`] if some channel has fewer
    /// samples than another, [`Error::Length`] if `counts` is not [`counts_len`](Self::counts_len) long, and failures of
    /// the device. [`Error::OutOfHostMemory`] on the CPU, where each thread counts in a table of its own; nothing is
    /// added then.
    pub fn apply_into(&self, samples: &Buffer<T>, counts: &mut Buffer<u64>) -> Result<()> {
        self.check_samples(samples)?;
        self.check_counts(counts)?;
        match (&self.bound, samples.storage(), counts.storage_mut()) {
            (Bound::Cpu, Storage::Cpu(samples), Storage::Cpu(counts)) => cpu::histogram(&self.rule, samples, counts),
            #[cfg(gpu)]
            _ => unreachable!("operations and buffers of one device are of one kind"),
        }
    }

    /// Downloads what [`apply_into`](Self::apply_into) has counted, after all work that was enqueued before.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMismatch`], [`Error::Length`], [`Error::OutOfHostMemory`], and what failed while that work ran.
    pub fn counts(&self, counts: &Buffer<u64>) -> Result<Counts> {
        self.check_counts(counts)?;
        Ok(Counts::new(counts.download()?, self.rule.cells()))
    }

    /// Adds up a weight for each sample; the [module](super) says how exactly.
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
    /// [`Error::Length`] unless there are as many weights as samples, [`Error::Weight`] for a weight that is infinite or
    /// NaN, whether its sample is counted or not; otherwise as [`apply`](Self::apply).
    pub fn apply_weighted(&self, samples: &[T], weights: &[f32]) -> Result<WeightedCounts> {
        self.rule.check_samples(samples.len())?;
        check_length("the weights", samples.len(), weights.len())?;
        let (multiples, quantum) = match &self.bound {
            Bound::Cpu => cpu::weighted(&self.rule, samples, weights)?,
        };
        WeightedCounts::new(&multiples, quantum, self.rule.cells())
    }

    /// As [`apply_weighted`](Self::apply_weighted), for samples and weights on the device; waits for the sums.
    ///
    /// # Errors
    ///
    /// Those of [`apply_weighted`](Self::apply_weighted), and [`Error::DeviceMismatch`].
    pub fn apply_weighted_buffers(&self, samples: &Buffer<T>, weights: &Buffer<f32>) -> Result<WeightedCounts> {
        self.check_samples(samples)?;
        self.device.check_owner("the weights", weights.device())?;
        check_length("the weights", samples.len(), weights.len())?;
        let (multiples, quantum) = match (&self.bound, samples.storage(), weights.storage()) {
            (Bound::Cpu, Storage::Cpu(samples), Storage::Cpu(weights)) => cpu::weighted(&self.rule, samples, weights)?,
            #[cfg(gpu)]
            _ => unreachable!("operations and buffers of one device are of one kind"),
        };
        WeightedCounts::new(&multiples, quantum, self.rule.cells())
    }

    /// How so many samples, of all channels together, would be counted.
    #[must_use]
    pub fn plan(&self, samples: usize) -> Plan {
        match &self.bound {
            Bound::Cpu => Plan::cpu(&self.device, self.algorithm, samples, self.bins()),
        }
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
use crate::Error;
