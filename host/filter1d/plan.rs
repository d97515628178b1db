//! What a filter does with a problem of a certain size.

use super::{FilterAlgorithm, Lines};
use crate::plan::Table;
use crate::{Device, Error, LaunchPlan};
use std::fmt;

/// How a filter is computed: what runs, and why.
///
/// `Display` gives it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// The algorithm asked for.
    pub algorithm: FilterAlgorithm,
    /// What computes it: a kernel's name, or `cpu`.
    pub kernel: String,
    /// Why it is this one.
    pub reason: String,
    /// Lines, and outputs of each.
    pub outputs: [usize; 2],
    /// How kernels are launched, in this order; empty for the CPU, where there is nothing to compute or too much, and where the
    /// algorithm asked for needs more shared memory than there is.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    /// Nothing, as there is no room for what would come of it.
    pub(super) fn refused(device: &Device, algorithm: FilterAlgorithm, error: &Error) -> Self {
        let (device, kernel, reason) = (device.to_string(), "none".to_owned(), error.to_string());
        Plan { device, algorithm, kernel, reason, outputs: [1, 0], launches: Vec::new() }
    }

    pub(super) fn cpu(device: &Device, algorithm: FilterAlgorithm, lines: &Lines) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            kernel: "cpu".to_owned(),
            reason: "the CPU has one way to filter".to_owned(),
            outputs: [lines.lines, lines.outputs],
            launches: Vec::new(),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lines, outputs] = self.outputs;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "outputs    {lines} x {outputs}")?;
        write!(f, "kernel     {} ({:?}: {})", self.kernel, self.algorithm, self.reason)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}
