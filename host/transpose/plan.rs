//! What a transposition does with its matrices.

use super::{Matrices, TransposeAlgorithm};
use crate::plan::Table;
use crate::{Device, LaunchPlan};
use std::fmt;

/// How matrices are transposed: what runs, and why.
///
/// `Display` gives it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// The algorithm asked for.
    pub algorithm: TransposeAlgorithm,
    /// What transposes: a kernel's name, or `cpu`.
    pub kernel: String,
    /// Why it is this one.
    pub reason: String,
    /// Matrices, and the rows and columns of each.
    pub matrices: [usize; 3],
    /// The bytes of an element.
    pub element_bytes: usize,
    /// How kernels are launched, in this order; empty for the CPU, where there is nothing to do, and where the algorithm asked
    /// for needs more shared memory than there is.
    pub launches: Vec<LaunchPlan>,
}

impl Plan {
    /// The plan of a device that launches nothing.
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
