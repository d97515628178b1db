//! The limits of a device for launches.

use super::LaunchShape;
use crate::device::info::SharedMemory;
use crate::{Error, Result};

/// Upper limits of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchLimits {
    /// Blocks along x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads per block along x, y and z.
    pub(crate) block: [u32; 3],
    /// Threads per block.
    pub(crate) threads: u32,
    pub(crate) shared: SharedMemory,
}

const BLOCKS: [&str; 3] = ["blocks along x", "blocks along y", "blocks along z"];
const THREADS: [&str; 3] = ["threads per block along x", "threads per block along y", "threads per block along z"];

impl LaunchLimits {
    /// Returns an error if the device cannot launch `kernel` in this shape. Otherwise all numbers of the shape fit into 32
    /// bits.
    pub(crate) fn check(&self, kernel: &'static str, shape: &LaunchShape) -> Result<()> {
        (0..3).try_for_each(|axis| in_range(kernel, BLOCKS[axis], shape.grid[axis], self.grid[axis]))?;
        self.check_block(kernel, shape)
    }

    /// As [`check`](Self::check), for one block.
    pub(crate) fn check_block(&self, kernel: &'static str, shape: &LaunchShape) -> Result<()> {
        let block = shape.block.map(u64::from);
        (0..3).try_for_each(|axis| in_range(kernel, THREADS[axis], block[axis], self.block[axis]))?;
        in_range(kernel, "threads per block", block.iter().product(), self.threads)?;
        self.shared.check(kernel, shape.shared_bytes)
    }
}

fn in_range(kernel: &'static str, what: &'static str, requested: u64, available: u32) -> Result<()> {
    let available = u64::from(available);
    if (1..=available).contains(&requested) {
        return Ok(());
    }
    Err(Error::LaunchOutOfRange { kernel, what, requested, available })
}
