//! What only the host has: from a problem's size to grid, block and shared memory.

use super::key::Ranked;
use super::tile::{PIXELS, ROWS, samples};
use super::{Axis, BLOCK};
use crate::filter2d::Geometry;
use cuda_std::shared_bytes;

/// The kernels of this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankKernel {
    /// Any window, from global memory.
    Global,
    /// Any window, from a tile in shared memory.
    Tile,
    /// Minima and maxima of rectangles, from a tile in shared memory.
    Extreme,
    /// Medians of 3 x 3 samples in registers.
    Median3,
    /// Medians of 5 x 5 samples in registers.
    Median5,
    /// Medians of 7 x 7 samples in registers.
    Median7,
}

/// The sizes that a launch depends on.
#[derive(Clone, Copy, Debug)]
pub struct RankProblem {
    /// Planes.
    pub planes: u64,
    /// Rows of a plane.
    pub rows: Axis,
    /// Pixels of a row.
    pub columns: Axis,
    /// Channels of a pixel.
    pub channels: u32,
}

/// Returns how to launch a kernel.
#[must_use]
pub fn rank_geometry<T: Ranked>(kernel: RankKernel, problem: &RankProblem) -> Geometry {
    let RankProblem { planes, rows, columns, channels } = *problem;
    let [width, height] = BLOCK.map(u64::from);
    // Each run is three numbers, and there may be one for each sample.
    let pass = u64::from(rows.taps).saturating_mul(columns.taps.into()).saturating_mul(4);
    let per_output = pass.saturating_mul(u64::from(T::BITS) + 1).saturating_add(4);
    if kernel == RankKernel::Global {
        return Geometry {
            block: BLOCK,
            tiles: columns.outputs.saturating_mul(channels.into()).div_ceil(width),
            groups: planes.saturating_mul(rows.outputs).div_ceil(height),
            shared_bytes: 0,
            steps: (width * height).saturating_mul(per_output),
        };
    }
    // The last phase of a row may be padded.
    let pixels = samples(&columns, PIXELS).next_multiple_of(columns.stride.into());
    let tile_rows = samples(&rows, ROWS);
    let keys = tile_rows.saturating_mul(pixels).saturating_mul(channels.into());
    let lines = tile_rows.saturating_mul(u64::from(PIXELS)).saturating_mul(channels.into());
    let lines = if kernel == RankKernel::Extreme { lines } else { 0 };
    let outputs = u64::from(PIXELS * ROWS).saturating_mul(channels.into());
    // Samples and keys, two windows of shared memory and two barriers of each thread, and minima along the rows.
    let others = keys.saturating_mul(2).saturating_add(4 * width * height);
    let along_rows = lines.saturating_mul(u64::from(columns.taps) + 1);
    Geometry {
        block: BLOCK,
        tiles: columns.outputs.div_ceil(PIXELS.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(ROWS.into())),
        shared_bytes: shared_bytes::<T::Key>(keys).saturating_add(shared_bytes::<T::Key>(lines)),
        steps: outputs.saturating_mul(per_output).saturating_add(others).saturating_add(along_rows),
    }
}
