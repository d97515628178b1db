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
    /// What counts: a kernel's name, or `cpu`.
    pub kernel: String,
    /// Why it is this one.
    pub reason: String,
    /// Samples of all channels.
    pub samples: usize,
    /// Bins of a channel.
    pub bins: usize,
    /// How the kernel is launched; `None` for the CPU, and where there is nothing to count.
    pub launch: Option<LaunchPlan>,
}

impl Plan {
    pub(crate) fn cpu(device: &Device, algorithm: Algorithm, samples: usize, bins: usize) -> Self {
        let (kernel, reason) = ("cpu".to_owned(), "the CPU has one way to count".to_owned());
        Plan { device: device.to_string(), algorithm, kernel, reason, samples, bins, launch: None }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "samples    {} in {} bins", self.samples, self.bins)?;
        write!(f, "kernel     {} ({:?}: {})", self.kernel, self.algorithm, self.reason)?;
        let Some(launch) = &self.launch else { return Ok(()) };
        write!(f, "\n{launch}")
    }
}
