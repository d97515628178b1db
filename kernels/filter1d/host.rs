//! Grid, block and shared memory for a problem's size, computed on the host.

use super::phases::places;
use super::tensor::{OUTPUTS, RUN, WARPS, pairs};
use super::{COLUMN_PACKS, MANY_PHASE_PACKS, PHASE_PACKS, ROW_PACKS, pad, table_len};
use crate::signal::Types;
use cuda_std::shared_bytes;

/// Maximum number of blocks of a grid along x.
const MOST_BLOCKS: u64 = i32::MAX as u64;

/// Direction of the lines in a row-major array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orientation {
    /// Lines are rows: the samples of a line are contiguous.
    Rows,
    /// Lines are columns: samples with the same index in neighbouring lines are contiguous.
    Columns,
}

/// The kernels of this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter1dKernel {
    /// One sum per thread, all samples from global memory.
    Global,
    /// A tile in shared memory, one sum at a time.
    Tile,
    /// A tile in shared memory, several sums at a time in registers.
    Register,
    /// The same with a stride, phase by phase.
    Phases,
    /// The same with a long stride: fewer sums per thread along rows.
    ManyPhases,
    /// Products of bytes on tensor cores.
    Tensor,
}

impl Filter1dKernel {
    /// Returns the kernel for a stride of more than 1.
    #[must_use]
    pub fn with_stride(stride: u64) -> Self {
        if stride <= MOST_FEW_PHASES { Filter1dKernel::Phases } else { Filter1dKernel::ManyPhases }
    }
}

/// The longest stride with several packs of sums per thread along rows.
const MOST_FEW_PHASES: u64 = 8;

/// Maximum bytes of the tile of a launch with a stride, unless a single phase takes more: several blocks fit on a multiprocessor of `sm_80`.
const MOST_PHASE_BYTES: u64 = 64 << 10;

/// The sizes that determine a launch.
#[derive(Clone, Copy, Debug)]
pub struct Filter1dProblem {
    /// Number of lines, at least one.
    pub lines: u64,
    /// Sums per line. If 0, there are no blocks.
    pub outputs: u64,
    /// Taps per launch, at least one; of each phase with a stride; steps of the kernel for tensor cores.
    pub taps: u64,
    /// Phases per launch: 1 without a stride.
    pub phases: u64,
    /// Direction of the lines.
    pub orientation: Orientation,
}

/// Constants of the register-tiled kernels that the host chooses for a device. The other kernels have fixed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConstants {
    /// Threads per block along rows: a multiple of 64.
    pub row_threads: u32,
    /// Maximum number of taps with which a block along rows computes several short lines.
    pub most_taps_of_short_lines: u64,
    /// Maximum number of threads per column. A block has 32 columns.
    pub column_threads: u32,
}

/// The launch parameters of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Threads of a block along x and y.
    pub block: [u32; 2],
    /// Tiles per line.
    pub tiles: u64,
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    lines: Lines,
}

/// Distribution of the lines among the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    /// Some lines per block, with as many sums of each.
    PerBlock { lines: u64, sums: u64 },
    /// The sums of all lines in one sequence, `outputs` per line, divided among blocks regardless of the lines.
    Flat { sums_per_block: u64, outputs: u64 },
}

/// One launch, for some of the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePart {
    /// Index of the first line.
    pub first_line: u64,
    /// Number of lines.
    pub lines: u64,
    /// Blocks along x.
    pub blocks: u32,
}

impl Geometry {
    /// Returns the launch parameters of `kernel` for elements of these types.
    #[must_use]
    pub fn new<F: Types>(kernel: Filter1dKernel, problem: &Filter1dProblem, tuning: &LaunchConstants) -> Self {
        match (kernel, problem.orientation) {
            (Filter1dKernel::Global, _) => global(problem),
            (Filter1dKernel::Tensor, _) => tensor(problem),
            (Filter1dKernel::Tile, Orientation::Rows) => {
                Shape { block: [256, 1], lines: 1, outputs: 256 }.tile::<F>(problem)
            }
            (Filter1dKernel::Tile, Orientation::Columns) => {
                Shape { block: [32, 8], lines: 32, outputs: 64 }.tile::<F>(problem)
            }
            (Filter1dKernel::Register, Orientation::Rows) => row_shape::<F>(problem, tuning).register::<F>(problem),
            (Filter1dKernel::Register | Filter1dKernel::Phases | Filter1dKernel::ManyPhases, Orientation::Columns) => {
                column_shape::<F>(problem.outputs, tuning).register::<F>(problem)
            }
            (Filter1dKernel::Phases | Filter1dKernel::ManyPhases, Orientation::Rows) => {
                phase_shape::<F>(kernel, tuning).phases::<F>(problem)
            }
        }
    }

    /// Returns the maximum number of taps of one launch of the register-tiled kernels, along rows or columns, if a block
    /// can have `shared_bytes` bytes of shared memory. The number is at least one pack.
    #[must_use]
    pub fn chunk<F: Types>(shared_bytes: u64, tuning: &LaunchConstants) -> usize {
        let tallest = column_shape::<F>(u64::MAX, tuning);
        let samples = shared_bytes / (tallest.lines * size_of::<F::Sample>() as u64);
        let fitting = samples.saturating_sub(tallest.outputs) / pack::<F>() * pack::<F>();
        let places = table_len::<F>().min(fitting as usize);
        // One pack is reserved for the pad before the first tap.
        places.saturating_sub(pack::<F>() as usize).max(pack::<F>() as usize)
    }

    /// Returns the maximum numbers of phases and of taps of each, in one launch of the kernels with a stride, if a block can have
    /// `available` bytes of shared memory.
    #[must_use]
    pub fn phases<F: Types>(stride: u64, taps: u64, available: u64, tuning: &LaunchConstants) -> [usize; 2] {
        let (most, of_phase) = (Self::chunk::<F>(available, tuning) as u64, taps.div_ceil(stride));
        if of_phase > most {
            return [1, most as usize];
        }
        let places = of_phase.next_multiple_of(pack::<F>());
        let sums = phase_shape::<F>(Filter1dKernel::with_stride(stride), tuning).outputs;
        // If the number is even, there is room for one more.
        let in_tile = available.min(MOST_PHASE_BYTES) / shared_bytes::<F::Sample>(sums + places);
        let fitting = (in_tile.saturating_sub(1) | 1).min(table_len::<F>() as u64 / places);
        [fitting.min(stride).min(taps).max(1) as usize, of_phase as usize]
    }

    /// Returns the number of blocks for `lines` lines.
    #[must_use]
    pub fn blocks(&self, lines: u64) -> u64 {
        match self.lines {
            Lines::PerBlock { lines: per_block, .. } => lines.div_ceil(per_block).saturating_mul(self.tiles),
            Lines::Flat { sums_per_block, outputs } => lines.saturating_mul(outputs).div_ceil(sums_per_block),
        }
    }

    /// Returns the number of sums that the blocks compute for `lines` lines, with those beyond the ends of lines.
    #[must_use]
    pub fn sums(&self, lines: u64) -> u64 {
        let of_block = match self.lines {
            Lines::PerBlock { lines, sums } => lines * sums,
            Lines::Flat { sums_per_block, .. } => sums_per_block,
        };
        self.blocks(lines).saturating_mul(of_block)
    }

    /// Returns the launches for `lines` lines: one, unless their blocks exceed the limit of a grid.
    pub fn parts(&self, lines: u64) -> impl Iterator<Item = LinePart> {
        let (geometry, most) = (*self, self.most_lines());
        (0..self.launches(lines)).map(move |part| {
            let first_line = part * most;
            let lines = most.min(lines - first_line);
            LinePart { first_line, lines, blocks: u32::try_from(geometry.blocks(lines)).unwrap_or(u32::MAX) }
        })
    }

    /// Returns the number of launches for `lines` lines.
    #[must_use]
    pub fn launches(&self, lines: u64) -> u64 {
        lines.div_ceil(self.most_lines())
    }

    /// Returns the maximum number of lines per launch.
    fn most_lines(&self) -> u64 {
        let most = match self.lines {
            Lines::PerBlock { lines, .. } => (MOST_BLOCKS / self.tiles.max(1)).saturating_mul(lines),
            Lines::Flat { sums_per_block, outputs } => MOST_BLOCKS.saturating_mul(sums_per_block) / outputs.max(1),
        };
        // A single line needs too many blocks only with more than 2^39 sums, which no device can hold.
        most.max(1)
    }
}

/// The work of one block: `outputs` sums of each of `lines` lines.
struct Shape {
    block: [u32; 2],
    lines: u64,
    outputs: u64,
}

impl Shape {
    /// Returns the launch parameters of `tile.rs`: the taps, the tile and its halo are in shared memory.
    fn tile<F: Types>(&self, problem: &Filter1dProblem) -> Geometry {
        let taps = shared_bytes::<F::Weight>(problem.taps.next_multiple_of(pack::<F>()));
        self.geometry(problem, taps + shared_bytes::<F::Sample>((self.outputs + problem.taps - 1) * self.lines))
    }

    /// Returns the launch parameters of `register.rs`: the tile and its halo are in shared memory.
    fn register<F: Types>(&self, problem: &Filter1dProblem) -> Geometry {
        // With the longest possible pad. The actual one depends on the first sample's position.
        let taps = (problem.taps + pack::<F>() - 1).next_multiple_of(pack::<F>());
        let tile = shared_bytes::<F::Sample>((self.outputs + taps) * self.lines);
        // Outputs are staged in the same memory.
        self.geometry(problem, tile.max(shared_bytes::<F::Output>(self.outputs * self.lines)))
    }

    /// Returns the launch parameters of `phases.rs` along rows.
    fn phases<F: Types>(&self, problem: &Filter1dProblem) -> Geometry {
        let len = self.outputs + problem.taps.next_multiple_of(pack::<F>());
        let tile = shared_bytes::<F::Sample>(len * u64::from(places(problem.phases as u32)));
        self.geometry(problem, tile.max(shared_bytes::<F::Output>(self.outputs)))
    }

    fn geometry(&self, problem: &Filter1dProblem, shared_bytes: u64) -> Geometry {
        let tiles = problem.outputs.div_ceil(self.outputs);
        let lines = Lines::PerBlock { lines: self.lines, sums: self.outputs };
        Geometry { block: self.block, tiles, shared_bytes, lines }
    }
}

/// Returns the launch parameters of `global.rs`: blocks of 256 sums, of one or several lines.
fn global(problem: &Filter1dProblem) -> Geometry {
    let lines = Lines::Flat { sums_per_block: 256, outputs: problem.outputs };
    Geometry { block: [256, 1], tiles: 1, shared_bytes: 0, lines }
}

/// Returns the launch parameters of `tensor.rs`: two planes with 16 bytes for each unit of samples.
fn tensor(problem: &Filter1dProblem) -> Geometry {
    let outputs = u64::from(OUTPUTS);
    let shared_bytes = bytes_of_steps(problem.taps);
    let tiles = problem.outputs.div_ceil(outputs);
    Geometry { block: [32 * WARPS, 1], tiles, shared_bytes, lines: Lines::PerBlock { lines: 1, sums: outputs } }
}

/// Returns the bytes of shared memory of a block of `tensor.rs` with this number of steps.
fn bytes_of_steps(steps: u64) -> u64 {
    // There are fewer than 2^31 taps.
    64 * u64::from(pairs(steps as u32))
}

/// Returns the maximum bytes of shared memory that `tensor.rs` needs for this number of taps.
#[must_use]
pub fn tensor_bytes(taps: usize) -> u64 {
    bytes_of_steps(steps(taps, RUN as usize - 1) as u64)
}

/// Returns the number of steps of `tensor.rs` for taps behind a pad.
fn steps(taps: usize, pad: usize) -> usize {
    // The matrix has 16 rows.
    (taps + pad + 15).div_ceil(32)
}

/// Returns the taps for `tensor.rs`: for each step, limb and lane four words of the taps' matrix (PTX ISA, "Matrix
/// Fragments for mma.m16n8k32"). `start` is the index of the first sum's first sample. The iterator has 512 words for each step.
pub fn tensor_taps(taps: &[i32], start: i64) -> impl ExactSizeIterator<Item = i32> {
    let pad = pad(start, RUN) as usize;
    let steps = steps(taps.len(), pad);
    let byte = move |limb: usize, row: usize, column: usize| match column.checked_sub(row + pad) {
        Some(tap) if tap < taps.len() => taps[tap].to_le_bytes()[limb],
        _ => 0,
    };
    (0..512 * steps).map(move |number| {
        let (word, lane, limb, step) = (number % 4, number / 4 % 32, number / 128 % 4, number / 512);
        let (row, thread) = (lane / 4 + word % 2 * 8, lane % 4);
        let column = 16 * step + thread % 2 * 4 + word / 2 * 8 + thread / 2 * 16 * steps;
        i32::from_le_bytes(core::array::from_fn(|k| byte(limb, row, column + k)))
    })
}

/// Returns the number of steps of `tensor.rs` for these taps, for a first sample at `start`.
#[must_use]
pub fn tensor_steps(taps: usize, start: i64) -> usize {
    steps(taps, pad(start, RUN) as usize)
}

/// Returns the number of elements per pack: `V` in the kernels.
fn pack<F: Types>() -> u64 {
    F::PACK as u64
}

/// Returns the shape of a block along rows: all threads on one line if the lines are long or the halo is large, otherwise
/// 64 or 32 threads on each of several lines.
fn row_shape<F: Types>(problem: &Filter1dProblem, tuning: &LaunchConstants) -> Shape {
    let (sums, threads) = (ROW_PACKS as u64 * pack::<F>(), u64::from(tuning.row_threads));
    let fits = |width: &u64| width * sums >= problem.outputs && problem.taps <= tuning.most_taps_of_short_lines;
    let width = [32, 64].into_iter().find(fits).unwrap_or(threads);
    Shape { block: [width as u32, (threads / width) as u32], lines: threads / width, outputs: width * sums }
}

/// Returns the shape of a block along rows with a stride: one line.
fn phase_shape<F: Types>(kernel: Filter1dKernel, tuning: &LaunchConstants) -> Shape {
    let packs = if kernel == Filter1dKernel::Phases { PHASE_PACKS } else { MANY_PHASE_PACKS };
    let outputs = u64::from(tuning.row_threads) * packs as u64 * pack::<F>();
    Shape { block: [tuning.row_threads, 1], lines: 1, outputs }
}

/// Returns the shape of a block along columns: 32 lines, and as many threads per line as `outputs` needs, up to a limit.
fn column_shape<F: Types>(outputs: u64, tuning: &LaunchConstants) -> Shape {
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
            for kernel in [
                Filter1dKernel::Global,
                Filter1dKernel::Tile,
                Filter1dKernel::Register,
                Filter1dKernel::Phases,
                Filter1dKernel::ManyPhases,
                Filter1dKernel::Tensor,
            ] {
                let tuning = LaunchConstants { row_threads: 128, most_taps_of_short_lines: 1024, column_threads: 8 };
                let problem = Filter1dProblem { lines: 3, outputs: 0, taps: 5, phases: 1, orientation };
                let geometry = Geometry::new::<Same<f32>>(kernel, &problem, &tuning);
                assert_eq!(geometry.blocks(3), 0);
                assert!(geometry.parts(3).all(|part| part.blocks == 0));
            }
        }
    }
}
