//! From a problem's size to grid, block and shared memory: what the host has to know.

use crate::filter2d::block::BLOCK;
use crate::filter2d::{Axis, register, table_shape, tile};
use crate::signal::Accumulator;
use cuda_std::shared_bytes;

/// Maximum number of blocks of a grid along x.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// The kernels of this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectKernel {
    /// One output per thread, from global memory.
    Global,
    /// A tile in shared memory.
    Tile,
    /// A tile in shared memory, sums in registers. Strides and column dilations are 1, and NaNs propagate.
    Register {
        /// Threads of a block along a column.
        height: u32,
    },
}

impl DirectKernel {
    /// Heights of blocks of register-tiled kernels, the preferred one first, the lowest one last. High blocks need less shared
    /// memory per thread, low ones less per block.
    pub const HEIGHTS: [u32; 3] = [4, 8, 1];

    /// Warps of register-tiled kernels that a multiprocessor has registers for.
    pub const MOST_WARPS: u64 = 16;
}

/// The sizes that a launch depends on.
#[derive(Clone, Copy, Debug)]
pub struct Filter2dProblem {
    /// Planes.
    pub planes: u64,
    /// Rows of a plane.
    pub rows: Axis,
    /// Pixels of a row.
    pub columns: Axis,
    /// Channels of a pixel.
    pub channels: u32,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads along x and y.
    pub block: [u32; 2],
    /// Blocks that a row takes.
    pub tiles: u64,
    /// Groups of rows, each of which takes one row of blocks.
    pub groups: u64,
    /// Dynamic shared memory of a block, in bytes.
    pub shared_bytes: u64,
    /// More than a block's accesses, barriers and windows of shared memory.
    pub steps: u64,
}

/// One launch: some groups of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectPart {
    /// The first group.
    pub first_group: u64,
    /// Blocks along x.
    pub blocks: u64,
}

impl Geometry {
    /// Returns how to launch `kernel` with sums of type `A`.
    #[must_use]
    pub fn new<A: Accumulator>(kernel: DirectKernel, problem: &Filter2dProblem) -> Self {
        match kernel {
            DirectKernel::Global => global(problem),
            DirectKernel::Tile => tile::<A>(problem),
            DirectKernel::Register { height } => register::<A>(problem, height),
        }
    }

    /// Returns the launches: one, unless that would be more blocks than a grid can have.
    pub fn parts(&self) -> impl Iterator<Item = DirectPart> {
        let (geometry, most) = (*self, self.groups_per_launch());
        (0..self.launches()).map(move |part| {
            let first_group = part * most;
            let groups = most.min(geometry.groups - first_group);
            DirectPart { first_group, blocks: groups.saturating_mul(geometry.tiles) }
        })
    }

    /// Returns the number of launches.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.groups.div_ceil(self.groups_per_launch())
    }

    /// A row of more than 2^31 blocks would be more than any device holds.
    fn groups_per_launch(&self) -> u64 {
        (MOST_BLOCKS / self.tiles.max(1)).max(1)
    }
}

fn global(problem: &Filter2dProblem) -> Geometry {
    let [width, height] = BLOCK.map(u64::from);
    let elements = problem.columns.outputs.saturating_mul(problem.channels.into());
    Geometry {
        block: BLOCK,
        tiles: elements.div_ceil(width),
        groups: problem.planes.saturating_mul(problem.rows.outputs).div_ceil(height),
        shared_bytes: 0,
        steps: (width * height).saturating_mul(per_output(problem)),
    }
}

/// Returns more than the accesses for an output: a sample and a weight at a time, and the output.
fn per_output(problem: &Filter2dProblem) -> u64 {
    u64::from(problem.rows.taps).saturating_mul(problem.columns.taps.into()).saturating_mul(2).saturating_add(2)
}

fn tile<A: Accumulator>(problem: &Filter2dProblem) -> Geometry {
    let Filter2dProblem { planes, rows, columns, channels } = *problem;
    let weights = u64::from(rows.taps).saturating_mul(columns.taps.into());
    // The last phase of a row may be padded.
    let pixels = tile::samples(&columns, tile::PIXELS).next_multiple_of(columns.stride.into());
    let samples = tile::samples(&rows, tile::ROWS).saturating_mul(pixels).saturating_mul(channels.into());
    let outputs = u64::from(tile::PIXELS * tile::ROWS).saturating_mul(channels.into());
    // Loads of weights and samples, and their stores to shared memory; two windows of shared memory and a barrier of each thread.
    let loads = weights.saturating_add(samples).saturating_mul(2).saturating_add(3 * u64::from(BLOCK[0] * BLOCK[1]));
    Geometry {
        block: BLOCK,
        tiles: columns.outputs.div_ceil(tile::PIXELS.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(tile::ROWS.into())),
        shared_bytes: shared_bytes::<A>(weights).saturating_add(shared_bytes::<A>(samples)),
        steps: outputs.saturating_mul(per_output(problem)).saturating_add(loads),
    }
}

fn register<A: Accumulator>(problem: &Filter2dProblem, height: u32) -> Geometry {
    let Filter2dProblem { planes, rows, columns, channels } = *problem;
    let [table_rows, weight_packs] = table_shape::<A>([rows.taps, columns.taps]);
    let layout = register::Layout::new::<A>(&rows, weight_packs, height);
    let weights = u64::from(rows.taps - table_rows).saturating_mul(layout.weights);
    let samples = layout.sample_rows.saturating_mul(layout.pitch());
    // Packs of samples and weights, which are fewer than the products of an output; loads, and outputs on their way out.
    let (outputs, loads) = (u64::from(layout.pixels * layout.rows), weights.saturating_add(samples).saturating_mul(2));
    Geometry {
        block: [register::WIDTH, height],
        tiles: columns.outputs.div_ceil(layout.pixels.into()).saturating_mul(channels.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(layout.rows.into())),
        shared_bytes: shared_bytes::<u64>(register::Outputs::NUMBERS.into())
            .saturating_add(shared_bytes::<A>(weights))
            .saturating_add(shared_bytes::<A>(samples)),
        steps: outputs.saturating_mul(per_output(problem).saturating_add(4)).saturating_add(loads),
    }
}
