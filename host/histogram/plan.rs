//! Plans of histograms.

use super::HistogramAlgorithm;
use super::rule::CounterLayout;
use crate::plan::Table;
use crate::{Device, LaunchPlan};
use std::fmt;

/// The kernel and the launches that count a histogram, and the reason for the choice: the result of
/// [`PreparedHistogram::plan`](super::PreparedHistogram::plan).
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// Requested algorithm.
    pub algorithm: HistogramAlgorithm,
    /// Algorithm that counts: the choice of [`HistogramAlgorithm::Auto`], or the requested algorithm. The CPU ignores the
    /// setting and repeats it here.
    pub chosen: HistogramAlgorithm,
    /// Name of the kernel, or `cpu`.
    pub kernel: String,
    /// Reason for the choice of the kernel.
    pub reason: String,
    /// Number of samples of all channels.
    pub samples: usize,
    /// Number of bins per channel.
    pub bins: usize,
    /// Number of counted channels.
    pub channels: usize,
    /// Number of separate counters in all counted channels: bins and three more per channel; for bytes on GPUs, 256 per
    /// channel. [`HistogramAlgorithm::Auto`] chooses by this number and the device's shared memory.
    pub counters: usize,
    /// Copies of each counter in a block's shared memory; 0 if not all counters are in shared memory.
    pub copies: u32,
    /// Number of blocks that count the same samples, each in its own range of counters.
    pub ranges: u32,
    /// Launches of kernels, in this order. Empty on the CPU, and if there is nothing to count.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    pub(super) fn cpu(device: &Device, algorithm: HistogramAlgorithm, samples: usize, layout: &CounterLayout) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            chosen: algorithm,
            kernel: "cpu".to_owned(),
            reason: "the CPU has a single implementation".to_owned(),
            samples,
            bins: layout.bins,
            channels: layout.counted,
            counters: layout.counters(),
            copies: 0,
            ranges: 1,
            launches: Vec::new(),
        }
    }
}

/// The launches that add up `f32` weights: the result of
/// [`PreparedHistogram::weighted_plan`](super::PreparedHistogram::weighted_plan).
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightedPlan {
    /// The device.
    pub device: String,
    /// Number of samples of all channels.
    pub samples: usize,
    /// Number of bins per channel.
    pub bins: usize,
    /// Number of counted channels.
    pub channels: usize,
    /// Launches of kernels: first those that find the largest weight of each bin, then those that add. Empty on the CPU, and without
    /// samples.
    pub launches: Vec<LaunchPlan>,
}

impl WeightedPlan {
    /// Returns a plan without launches.
    pub(super) fn without_launch(device: &Device, samples: usize, layout: &CounterLayout) -> Self {
        let (bins, channels) = (layout.bins, layout.counted);
        WeightedPlan { device: device.to_string(), samples, bins, channels, launches: Vec::new() }
    }
}

impl fmt::Display for WeightedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "samples    {} with weights in {} bins", self.samples, self.bins)?;
        write!(f, "channels   {}", self.channels)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "samples    {} in {} bins", self.samples, self.bins)?;
        writeln!(f, "counters   {} (channels: {})", self.counters, self.channels)?;
        write!(f, "kernel     {} ({:?}", self.kernel, self.chosen)?;
        if self.chosen != self.algorithm {
            write!(f, ", chosen by {:?}", self.algorithm)?;
        }
        write!(f, ": {})", self.reason)?;
        if self.launches.is_empty() {
            return Ok(());
        }
        if self.copies > 0 {
            write!(f, "\ncopies     {} of each counter in a block", self.copies)?;
        }
        if self.ranges > 1 {
            write!(f, "\nranges     {} of counters, in as many blocks", self.ranges)?;
        }
        write!(f, "\n{}", Table(&self.launches))
    }
}
