//! What a filter does with a problem of a certain size.

use super::{Algorithm, Lines};
use crate::{Device, Residency};
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
    pub algorithm: Algorithm,
    /// What computes it: a kernel's name, or `cpu`.
    pub kernel: String,
    /// Why it is this one.
    pub reason: String,
    /// Lines, and outputs of each.
    pub outputs: [usize; 2],
    /// How the kernel is launched; `None` for the CPU, where there is nothing to compute, and where the algorithm asked
    /// for needs more shared memory than there is.
    pub launch: Option<LaunchPlan>,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LaunchPlan {
    /// Kernel launches: more than one for very many taps or lines.
    pub launches: u64,
    /// Blocks, of one launch after another if there are several with different lines.
    pub grid: u64,
    /// Threads of a block along x and y.
    pub block: [u32; 2],
    /// Shared memory of a block in bytes.
    pub shared_bytes: u64,
    /// What a block can have of it.
    pub shared_available: u64,
    /// How many blocks run at a time; `None` for an emulated device, and where the driver does not say.
    pub residency: Option<Residency>,
}

impl Plan {
    pub(crate) fn cpu(device: &Device, algorithm: Algorithm, lines: &Lines) -> Self {
        Plan {
            device: device.to_string(),
            algorithm,
            kernel: "cpu".to_owned(),
            reason: "the CPU has one way to filter".to_owned(),
            outputs: [lines.lines, lines.outputs],
            launch: None,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [lines, outputs] = self.outputs;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "outputs    {lines} x {outputs}")?;
        write!(f, "kernel     {} ({:?}: {})", self.kernel, self.algorithm, self.reason)?;
        let Some(launch) = &self.launch else { return Ok(()) };
        let [x, y] = launch.block;
        write!(f, "\nlaunch     {} blocks of {x} x {y} threads", launch.grid)?;
        if launch.launches > 1 {
            write!(f, ", in {} launches", launch.launches)?;
        }
        write!(f, "\nshared     {} of {} bytes per block", launch.shared_bytes, launch.shared_available)?;
        let Some(residency) = &launch.residency else { return Ok(()) };
        write!(f, "\nregisters  {} per thread", residency.registers)?;
        let (blocks, percent) = (residency.blocks_per_multiprocessor, 100.0 * residency.occupancy);
        write!(f, "\noccupancy  {blocks} blocks per multiprocessor, {percent:.0} % of its threads")
    }
}
