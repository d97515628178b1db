//! Histograms of samples on several devices.

#[cfg(doc)]
use super::DistributedError;
use super::{Course, Devices, Distributed, DistributedBuffer};
use crate::cpu::allocation;
use crate::histogram::{Counts, PreparedHistogram};
use crate::{Buffer, Histogram, HistogramElement, Result};

impl<T: HistogramElement> Histogram<T> {
    /// Prepares the histogram on several devices; otherwise as [`prepare`](Self::prepare).
    ///
    /// # Errors
    ///
    /// The errors of [`prepare`](Self::prepare).
    pub fn prepare_on(&self, devices: &Devices) -> Result<Distributed<PreparedHistogram<T>>> {
        Distributed::new(devices, |device| self.prepare(device))
    }
}

impl<T: HistogramElement> Distributed<PreparedHistogram<T>> {
    /// Returns the counts of the samples of all members, in all processes.
    ///
    /// ```
    /// use slm::Histogram;
    /// use slm::distributed::Devices;
    ///
    /// # fn main() -> slm::Result<()> {
    /// let devices = Devices::all()?;
    /// let samples = devices.distribute("banana".as_bytes())?;
    /// let counts = Histogram::bytes().prepare_on(&devices)?.apply(&samples)?;
    /// assert_eq!(counts.bins()?[usize::from(b'a')], 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// * [`DistributedError::Devices`] for samples on other devices.
    /// * [`DistributedError::Incomplete`] with an error of [`PreparedHistogram::apply`] or a [`DistributedError::Transport`] as its cause.
    pub fn apply(&self, samples: &DistributedBuffer<T>) -> Result<Counts<T>> {
        samples.check_devices("the input", self.devices())?;
        let samples_here = samples.parts().into_iter().flatten().map(|part| part.len() as u64).sum();
        let mut course = Course::new("samples", samples_here);
        let mut parts = Vec::new();
        // All members count at the same time.
        for (member, histogram) in self.local() {
            let Some(samples) = samples.part(member) else { continue };
            parts.push((member, course.on(member, counted(histogram, samples))?));
            course.add(samples.len() as u64);
        }
        let mut total = allocation::filled(0u64, self.any().counts_len())?;
        // To free counts takes time, so all are downloaded first.
        for (member, counts) in &parts {
            let counts = course.on(*member, counts.download())?;
            total.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(count));
        }
        course.between(self.devices().sum(&mut total))?;
        Ok(self.any().counts_of(total))
    }
}

/// Returns the counts of samples, on their device.
fn counted<T: HistogramElement>(histogram: &PreparedHistogram<T>, samples: &Buffer<T>) -> Result<Buffer<u64>> {
    let mut counts = histogram.device().zeroed(histogram.counts_len())?;
    histogram.accumulate_into(samples, &mut counts)?;
    Ok(counts)
}
