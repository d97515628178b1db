//! Plans of filters.

use super::{FilterAlgorithm, Lines};
use crate::plan::Table;
use crate::{Device, Error, LaunchPlan};
use std::fmt;

/// The kernel and the launches that compute a filter, and the reason for the choice: the result of
/// [`PreparedFilter1d::plan`](super::PreparedFilter1d::plan).
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// Requested algorithm.
    pub algorithm: FilterAlgorithm,
    /// Name of the kernel, or `cpu`.
    pub kernel: String,
    /// Reason for the choice of the kernel.
    pub reason: String,
    /// Number of lines, where each channel counts as one, and number of outputs per line.
    pub outputs: [usize; 2],
    /// Launches of kernels, in this order. Empty on the CPU, if there is nothing or too much to compute, and if the requested
    /// algorithm needs more shared memory than the device has.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    /// Returns the plan of a filter with too many outputs.
    pub(super) fn refused(device: &Device, algorithm: FilterAlgorithm, error: &Error) -> Self {
        let (device, kernel, reason) = (device.to_string(), "none".to_owned(), error.to_string());
        Plan { device, algorithm, kernel, reason, outputs: [1, 0], launches: Vec::new() }
    }

    pub(super) fn cpu(device: &Device, algorithm: FilterAlgorithm, lines: &Lines) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            kernel: "cpu".to_owned(),
            reason: "the CPU has a single implementation".to_owned(),
            outputs: lines.plan_outputs(),
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
