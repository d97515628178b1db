//! Plans of boards.

use super::LifeAlgorithm;
use crate::LaunchPlan;
use crate::plan::Table;
use std::fmt;

/// The kernel, its launch, and the reason for the choice: the result of [`Board::plan`](super::Board::plan).
///
/// A launch may compute several generations. If a step ends with fewer generations, another kernel computes these one by one.
///
/// `Display` prints it as a few lines of text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// The device.
    pub device: String,
    /// Requested algorithm.
    pub algorithm: LifeAlgorithm,
    /// Name of the kernel, or `cpu`.
    pub kernel: String,
    /// Reason for the choice of the kernel.
    pub reason: String,
    /// Rows and columns of the board.
    pub cells: [usize; 2],
    /// The launch. Empty on the CPU.
    pub launches: Vec<LaunchPlan>,
    /// Generations that the launch computes.
    pub generations: u64,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rows, columns] = self.cells;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "cells      {rows} x {columns}")?;
        write!(f, "kernel     {} ({:?}: {})", self.kernel, self.algorithm, self.reason)?;
        write!(f, "\ncomputes   {} at a time", self.generations)?;
        if self.launches.is_empty() { Ok(()) } else { write!(f, "\n{}", Table(&self.launches)) }
    }
}
