//! Plans of transpositions.

use super::{Matrices, TransposeAlgorithm};
use crate::plan::Table;
use crate::{Device, LaunchPlan};
use std::fmt;

/// The kernel and the launches that transpose matrices, and the reason for the choice: the result of
/// [`PreparedTranspose::plan`](super::PreparedTranspose::plan).
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// Requested algorithm.
    pub algorithm: TransposeAlgorithm,
    /// Name of the kernel, or `cpu`.
    pub kernel: String,
    /// Reason for the choice of the kernel.
    pub reason: String,
    /// Number of matrices, and the rows and columns of each.
    pub matrices: [usize; 3],
    /// Bytes per element.
    pub element_bytes: usize,
    /// Launches of kernels, in this order. Empty on the CPU, if there is nothing to do, and if the requested algorithm needs
    /// more shared memory than the device has.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    /// Returns a plan without launches.
    pub(crate) fn without_launch(
        device: &Device,
        algorithm: TransposeAlgorithm,
        matrices: &Matrices,
        number_bytes: usize,
        [kernel, reason]: [&str; 2],
    ) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            kernel: kernel.to_owned(),
            reason: reason.to_owned(),
            matrices: [matrices.count, matrices.rows, matrices.columns],
            element_bytes: matrices.components * number_bytes,
            launches: Vec::new(),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [count, rows, columns] = self.matrices;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "matrices   {count} of {rows} x {columns}, elements of {} bytes", self.element_bytes)?;
        write!(f, "kernel     {} ({:?}: {})", self.kernel, self.algorithm, self.reason)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}
