//! From a problem's size to grid, block and shared memory: what the host has to know.

use super::{COLUMN_PACKS, ROW_PACKS, table_len};
use crate::signal::Types;
use cuda_std::shared_bytes;

/// The most blocks of a grid along x.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// Which way lines run through an array that is stored row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// A line is a row: its samples are neighbours in memory.
    Rows,
    /// A line is a column: neighbouring lines are neighbours in memory.
    Columns,
}

/// The kernels of this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// One sum per thread, from global memory.
    Global,
    /// A tile in shared memory, one sum at a time.
    Tile,
    /// A tile in shared memory, sums in registers.
    Register,
}

/// The sizes that decide about a launch.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Lines, at least one.
    pub lines: u64,
    /// Sums of a line. Without any there are no blocks.
    pub outputs: u64,
    /// Taps of a launch, at least one.
    pub taps: u64,
    /// How the lines run.
    pub orientation: Orientation,
}

/// What the host chooses for a device. The numbers of the simple kernels are their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Threads of a block of the register-tiled kernel along rows: a multiple of 64.
    pub row_threads: u32,
    /// The most taps with which these threads share several short lines.
    pub most_taps_of_short_lines: u64,
    /// The most threads along a column, for each of 32 columns, of the register-tiled kernel.
    pub column_threads: u32,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads along x and y.
    pub block: [u32; 2],
    /// Tiles of a line.
    pub tiles: u64,
    /// The dynamic shared memory of a block, in bytes.
    pub shared_bytes: u64,
    lines: Lines,
}

/// How lines are dealt out to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// So many lines to a block.
    PerBlock(u64),
    /// All sums of all lines in one row, a number of them per block; a line has `outputs` of them.
    Flat { sums_per_block: u64, outputs: u64 },
}

/// One launch: some of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first line.
    pub first_line: u64,
    /// The number of lines.
    pub lines: u64,
    /// Blocks along x.
    pub blocks: u32,
}

impl Geometry {
    /// How to launch `kernel` with elements of these types.
    #[must_use]
    pub fn new<F: Types>(kernel: Kernel, problem: &Problem, tuning: &Tuning) -> Self {
        match (kernel, problem.orientation) {
            (Kernel::Global, _) => global(problem),
            (Kernel::Tile, Orientation::Rows) => Shape { block: [256, 1], lines: 1, outputs: 256 }.tile::<F>(problem),
            (Kernel::Tile, Orientation::Columns) => Shape { block: [32, 8], lines: 32, outputs: 64 }.tile::<F>(problem),
            (Kernel::Register, Orientation::Rows) => row_shape::<F>(problem, tuning).register::<F>(problem),
            (Kernel::Register, Orientation::Columns) => {
                column_shape::<F>(problem.outputs, tuning).register::<F>(problem)
            }
        }
    }

    /// The most taps that one launch of the register-tiled kernels can have, along rows and columns, where a block can
    /// have `shared_bytes` of shared memory; at least one pack.
    #[must_use]
    pub fn chunk<F: Types>(shared_bytes: u64, tuning: &Tuning) -> usize {
        let tallest = column_shape::<F>(u64::MAX, tuning);
        let samples = shared_bytes / (tallest.lines * size_of::<F::Sample>() as u64);
        let fitting = samples.saturating_sub(tallest.outputs) / pack::<F>() * pack::<F>();
        let places = table_len::<F>().min(fitting as usize);
        // A pack less, since there is a pad before the first tap.
        places.saturating_sub(pack::<F>() as usize).max(pack::<F>() as usize)
    }

    /// The blocks that `lines` lines take.
    #[must_use]
    pub fn blocks(&self, lines: u64) -> u64 {
        match self.lines {
            Lines::PerBlock(per_block) => lines.div_ceil(per_block).saturating_mul(self.tiles),
            Lines::Flat { sums_per_block, outputs } => lines.saturating_mul(outputs).div_ceil(sums_per_block),
        }
    }

    /// The launches that do `lines` lines: one, unless that would be more blocks than a grid can have.
    pub fn parts(&self, lines: u64) -> impl Iterator<Item = Part> {
        let (geometry, most) = (*self, self.most_lines());
        (0..self.launches(lines)).map(move |part| {
            let first_line = part * most;
            let lines = most.min(lines - first_line);
            Part { first_line, lines, blocks: u32::try_from(geometry.blocks(lines)).unwrap_or(u32::MAX) }
        })
    }

    /// How many launches that is.
    #[must_use]
    pub fn launches(&self, lines: u64) -> u64 {
        lines.div_ceil(self.most_lines())
    }

    /// The most lines of one launch.
    fn most_lines(&self) -> u64 {
        let most = match self.lines {
            Lines::PerBlock(per_block) => (MOST_BLOCKS / self.tiles.max(1)).saturating_mul(per_block),
            Lines::Flat { sums_per_block, outputs } => MOST_BLOCKS.saturating_mul(sums_per_block) / outputs.max(1),
        };
        // A single line of more than 2^39 sums would be more than any device holds.
        most.max(1)
    }
}

/// What one block does: `outputs` sums of each of `lines` lines.
struct Shape {
    block: [u32; 2],
    lines: u64,
    outputs: u64,
}

impl Shape {
    /// With the taps, the tile and its halo in shared memory, as `tile.rs` splits it.
    fn tile<F: Types>(&self, problem: &Problem) -> Geometry {
        let taps = shared_bytes::<F::Weight>(problem.taps.next_multiple_of(pack::<F>()));
        self.geometry(problem, taps + shared_bytes::<F::Sample>((self.outputs + problem.taps - 1) * self.lines))
    }

    /// With the tile and its halo in shared memory, as `register.rs` splits it.
    fn register<F: Types>(&self, problem: &Problem) -> Geometry {
        // With the longest pad, which the taps' place decides about.
        let taps = (problem.taps + pack::<F>() - 1).next_multiple_of(pack::<F>());
        let tile = shared_bytes::<F::Sample>((self.outputs + taps) * self.lines);
        // Outputs go through the same memory.
        self.geometry(problem, tile.max(shared_bytes::<F::Output>(self.outputs * self.lines)))
    }

    fn geometry(&self, problem: &Problem, shared_bytes: u64) -> Geometry {
        let tiles = problem.outputs.div_ceil(self.outputs);
        Geometry { block: self.block, tiles, shared_bytes, lines: Lines::PerBlock(self.lines) }
    }
}

/// Blocks of 256 sums, whichever lines they belong to.
fn global(problem: &Problem) -> Geometry {
    let lines = Lines::Flat { sums_per_block: 256, outputs: problem.outputs };
    Geometry { block: [256, 1], tiles: 1, shared_bytes: 0, lines }
}

/// The elements of a pack: `V` of the kernels.
fn pack<F: Types>() -> u64 {
    F::PACK as u64
}

/// All threads on one line if it is long or the halo is large, otherwise 64 or 32 on each of several lines.
fn row_shape<F: Types>(problem: &Problem, tuning: &Tuning) -> Shape {
    let (sums, threads) = (ROW_PACKS as u64 * pack::<F>(), u64::from(tuning.row_threads));
    let fits = |width: &u64| width * sums >= problem.outputs && problem.taps <= tuning.most_taps_of_short_lines;
    let width = [32, 64].into_iter().find(fits).unwrap_or(threads);
    Shape { block: [width as u32, (threads / width) as u32], lines: threads / width, outputs: width * sums }
}

/// 32 lines, and as many threads along each as it takes, up to a limit.
fn column_shape<F: Types>(outputs: u64, tuning: &Tuning) -> Shape {
    let sums = COLUMN_PACKS as u64 * pack::<F>();
    let places = outputs.div_ceil(sums).clamp(1, tuning.column_threads.into());
    Shape { block: [32, places as u32], lines: 32, outputs: places * sums }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Same;

    #[test]
    fn no_outputs_are_no_blocks() {
        for orientation in [Orientation::Rows, Orientation::Columns] {
            for kernel in [Kernel::Global, Kernel::Tile, Kernel::Register] {
                let tuning = Tuning { row_threads: 128, most_taps_of_short_lines: 1024, column_threads: 8 };
                let problem = Problem { lines: 3, outputs: 0, taps: 5, orientation };
                let geometry = Geometry::new::<Same<f32>>(kernel, &problem, &tuning);
                assert_eq!(geometry.blocks(3), 0);
                assert!(geometry.parts(3).all(|part| part.blocks == 0));
            }
        }
    }
}
