//! Plans of two-dimensional filters.

use super::Filter2dAlgorithm;
use super::window::Problem;
use crate::plan::Table;
use crate::{Device, LaunchPlan};
use std::fmt;

/// How a picture is filtered: what runs, and why. [`PreparedFilter2d::plan`](super::PreparedFilter2d::plan) returns it.
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// Requested algorithm.
    pub algorithm: Filter2dAlgorithm,
    /// Name of the kernel, or `cpu`. Two names are separated by a comma.
    pub kernel: String,
    /// Reason for the choice of the kernel.
    pub reason: String,
    /// Rows and columns of the outputs of each picture, in pixels, and their channels.
    pub outputs: [usize; 3],
    /// Launches of kernels, in this order: one, or one for each pass of an outer product. Empty on the CPU, and if there is nothing
    /// to compute.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    /// Returns the plan of a device that launches nothing.
    pub(super) fn without_launch(
        device: &Device,
        algorithm: Filter2dAlgorithm,
        problem: &Problem,
        [kernel, reason]: [&str; 2],
    ) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            kernel: kernel.to_owned(),
            reason: reason.to_owned(),
            outputs: [problem.rows.outputs, problem.columns.outputs, problem.channels],
            launches: Vec::new(),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, columns, channels] = self.outputs;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "outputs    {rows} x {columns}, {channels} per pixel")?;
        write!(f, "kernel     {} ({:?}: {})", self.kernel, self.algorithm, self.reason)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}
