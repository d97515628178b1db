//! What a histogram does with so many samples.

use super::{HistogramAlgorithm, HistogramElement, Rule};
use crate::plan::Table;
use crate::{Device, LaunchPlan};
use std::fmt;

/// How a histogram is counted: what runs, and why.
///
/// `Display` gives it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// The algorithm asked for.
    pub algorithm: HistogramAlgorithm,
    /// The one that counts: what [`HistogramAlgorithm::Auto`] has chosen, or what was asked for. The CPU ignores the
    /// setting and repeats it here.
    pub chosen: HistogramAlgorithm,
    /// What counts: a kernel's name, or `cpu`.
    pub kernel: String,
    /// Why it is this one.
    pub reason: String,
    /// Samples of all channels.
    pub samples: usize,
    /// Bins of a channel.
    pub bins: usize,
    /// Channels that are counted.
    pub channels: usize,
    /// What is counted apart, in all of these channels: bins, and three more in each; on GPUs, which count bytes by their
    /// values, 256 in each channel of bytes. With the device's shared memory this is what [`HistogramAlgorithm::Auto`] goes by.
    pub counters: usize,
    /// Copies of each counter in a block's shared memory; 0 where not all counters are there, or none.
    pub copies: u32,
    /// Blocks that count the same samples, each in a part of the counters.
    pub ranges: u32,
    /// How kernels are launched, in this order; empty for the CPU, and where there is nothing to count.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    pub(super) fn cpu<T: HistogramElement>(
        device: &Device,
        algorithm: HistogramAlgorithm,
        samples: usize,
        rule: &Rule<T>,
    ) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            chosen: algorithm,
            kernel: "cpu".to_owned(),
            reason: "the CPU has one way to count".to_owned(),
            samples,
            bins: rule.bins(),
            channels: rule.counted,
            counters: rule.counters(),
            copies: 0,
            ranges: 1,
            launches: Vec::new(),
        }
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
