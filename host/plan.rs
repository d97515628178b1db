//! How kernels are launched, as the plans of all operations tell it.

use crate::Residency;
use std::fmt;

/// How a kernel is launched.
///
/// `Display` gives it as a few lines of text.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LaunchPlan {
    /// Kernel launches: more than one where one launch, or its grid, cannot do it all.
    pub launches: u64,
    /// Blocks, of one launch after another if each does a part of the work.
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

impl fmt::Display for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y] = self.block;
        write!(f, "launch     {} blocks of {x} x {y} threads", self.grid)?;
        if self.launches > 1 {
            write!(f, ", in {} launches", self.launches)?;
        }
        write!(f, "\nshared     {} of {} bytes per block", self.shared_bytes, self.shared_available)?;
        let Some(residency) = &self.residency else { return Ok(()) };
        write!(f, "\nregisters  {} per thread", residency.registers)?;
        let (blocks, percent) = (residency.blocks_per_multiprocessor, 100.0 * residency.occupancy);
        write!(f, "\noccupancy  {blocks} blocks per multiprocessor, {percent:.0} % of its threads")
    }
}
