//! Plans of pointwise operations.

use crate::plan::Table;
use crate::{Device, LaunchPlan};
use std::fmt;

/// How a pointwise operation runs: the result of [`PreparedMap::plan`](super::PreparedMap::plan) and its like.
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// Name of the kernel; `cpu` on the CPU, and `none` if there is nothing to compute.
    pub kernel: String,
    /// Rows and columns of the outputs. A matrix without gaps is a single row.
    pub outputs: [usize; 2],
    /// Launches of kernels. Empty on the CPU, and if there is nothing to compute.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    pub(super) fn new(device: &Device, kernel: &str, outputs: [usize; 2], launch: Option<LaunchPlan>) -> Self {
        let launches = launch.into_iter().collect();
        Plan { device: device.to_string(), kernel: kernel.to_owned(), outputs, launches }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, columns] = self.outputs;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "outputs    {rows} x {columns}")?;
        write!(f, "kernel     {}", self.kernel)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}
