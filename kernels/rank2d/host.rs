//! What only the host has: from a problem's size to grid, block and shared memory.

use super::key::Ranked;
use super::tile::{PIXELS, ROWS, samples};
use super::{Axis, BLOCK, median};
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

impl RankKernel {
    /// Returns the rows and columns of the windows of a kernel for medians.
    fn side(self) -> Option<u32> {
        match self {
            RankKernel::Median3 => Some(3),
            RankKernel::Median5 => Some(5),
            RankKernel::Median7 => Some(7),
            RankKernel::Global | RankKernel::Tile | RankKernel::Extreme => None,
        }
    }
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
    if let Some(side) = kernel.side() {
        return of_medians::<T>(problem, side);
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

/// Returns how to launch a kernel for medians of this number of rows and columns.
fn of_medians<T: Ranked>(problem: &RankProblem, side: u32) -> Geometry {
    let RankProblem { planes, rows, columns, channels } = *problem;
    let [outputs, samples] = [median::OUTPUTS, median::OUTPUTS + side - 1].map(|side| u64::from(side).pow(2));
    let [width, warps] = median::THREADS;
    let flags = if T::IS_FLOAT { warps } else { 0 };
    // A window may be searched for NaNs, and a thread sorts up to as many rows more as it has. Barrier and flags are few.
    let per_output = u64::from(side * side + 2 * (side + 1) + 2);
    Geometry {
        block: [width, warps],
        tiles: columns.outputs.div_ceil(median::OUTPUTS.into()).saturating_mul(channels.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(median::OUTPUTS.into())),
        shared_bytes: shared_bytes::<T::Key>(samples).saturating_add(shared_bytes::<u32>(flags.into())),
        steps: outputs * per_output + 2 * samples + u64::from(16 * width * warps),
    }
}
