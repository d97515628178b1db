//! What a device allows of a launch.

use super::LaunchShape;
use crate::info::SharedMemory;
use crate::{Error, Result};

/// The most of everything that a launch can ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchLimits {
    /// Blocks along x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub(crate) block: [u32; 3],
    /// Threads of a block.
    pub(crate) threads: u32,
    pub(crate) shared: SharedMemory,
}

const BLOCKS: [&str; 3] = ["blocks along x", "blocks along y", "blocks along z"];
const THREADS: [&str; 3] = ["threads of a block along x", "threads of a block along y", "threads of a block along z"];

impl LaunchLimits {
    /// Returns an error if the device cannot launch `kernel` in this shape. Otherwise all its numbers fit into 32 bits.
    pub(crate) fn check(&self, kernel: &'static str, shape: &LaunchShape) -> Result<()> {
        (0..3).try_for_each(|axis| in_range(kernel, BLOCKS[axis], shape.grid[axis], self.grid[axis]))?;
        self.check_block(kernel, shape)
    }

    /// The same for one block.
    pub(crate) fn check_block(&self, kernel: &'static str, shape: &LaunchShape) -> Result<()> {
        let block = shape.block.map(u64::from);
        (0..3).try_for_each(|axis| in_range(kernel, THREADS[axis], block[axis], self.block[axis]))?;
        in_range(kernel, "threads of a block", block.iter().product(), self.threads)?;
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
