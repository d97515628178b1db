//! What a histogram does with so many samples.

use super::Algorithm;
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
    pub algorithm: Algorithm,
    /// The one that counts: what [`Algorithm::Auto`] has chosen, or what was asked for.
    pub chosen: Algorithm,
    /// What counts: a kernel's name, or `cpu`.
    pub kernel: String,
    /// Why it is this one.
    pub reason: String,
    /// Samples of all channels.
    pub samples: usize,
    /// Bins of a channel.
    pub bins: usize,
    /// Copies of each counter in a block's shared memory; 0 where not all counters are there, or none.
    pub copies: u32,
    /// Blocks that count the same samples, each in a part of the counters.
    pub ranges: u32,
    /// How the kernel is launched; `None` for the CPU, and where there is nothing to count.
    pub launch: Option<LaunchPlan>,
}

impl Plan {
    pub(crate) fn cpu(device: &Device, algorithm: Algorithm, samples: usize, bins: usize) -> Self {
        let (kernel, reason) = ("cpu".to_owned(), "the CPU has one way to count".to_owned());
        let (device, chosen) = (device.to_string(), algorithm);
        Plan { device, algorithm, chosen, kernel, reason, samples, bins, copies: 0, ranges: 1, launch: None }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "samples    {} in {} bins", self.samples, self.bins)?;
        write!(f, "kernel     {} ({:?}", self.kernel, self.chosen)?;
        if self.chosen != self.algorithm {
            write!(f, ", chosen by {:?}", self.algorithm)?;
        }
        write!(f, ": {})", self.reason)?;
        let Some(launch) = &self.launch else { return Ok(()) };
        if self.copies > 0 {
            write!(f, "\ncopies     {} of each counter in a block", self.copies)?;
        }
        if self.ranges > 1 {
            write!(f, "\nranges     {} of counters, in as many blocks", self.ranges)?;
        }
        write!(f, "\n{launch}")
    }
}
