//! Matrices whose rows and columns have a large common divisor.
//!
//! With `c` the greatest common divisor of rows and columns, the matrix consists of squares of `c` rows and columns. Each is transposed
//! in place. After that, rows of squares, the *chunks*, only have to be moved, and the permutation of chunks is followed cycle by cycle:
//!
//! ```text
//!  0 1 2 3         0 4 | 2 6         0 4      two squares,
//!  4 5 6 7   -->   1 5 | 3 7   -->   1 5      four chunks of two elements
//!                                    2 6
//!                                    3 7
//! ```
//!
//! The list of the chunks is made on the host.

use super::launches::{InPlaceLaunch, InPlaceMethod, Passed, Receiver};
use super::steps::greatest_common_divisor;
use super::tiles::{LoadedTiles, Tiles};
use crate::cpu::allocation;
use crate::device::gpu::Gpu;
use crate::device::kernel::Launch;
use crate::{LaunchShape, Result};
use cuda_std::{GlobalIn, GlobalInOut};
use slm_kernels::transpose::{
    Cycles, LAST, LaunchConstants, Squares, TransposeProblem, transpose_rotate_chunks, transpose_save_chunks,
};

/// Minimum bytes of a chunk. So the table has at most a 32nd of the bytes of a matrix.
const SHORTEST: u64 = 128;

/// Maximum number of blocks along the y axis of a grid, which runs over the packs of a chunk.
const MOST_BLOCKS: u64 = 65_535;

/// Bytes of a pack, which kernels move.
const PACK: u64 = 16;

/// Maximum number of chunks: the host takes about 0.1 s to list them.
const MOST_CHUNKS: u64 = 1 << 24;

/// Minimum number of chunks of a segment. Two are saved, so that together with the table, they have at most a sixteenth of the bytes of
/// a matrix.
const SHORTEST_SEGMENT: u64 = 80;

/// Number of packs, each of a segment, that are moved at the same time: as many as threads are resident on an H200.
const AT_ONCE: u64 = 1 << 18;

/// Matrices of chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    problem: TransposeProblem,
    divisor: u64,
    /// The squares; `None` if they have one element.
    tiles: Option<Tiles>,
}

impl Chunks {
    /// Returns the chunks of matrices that are not square, or `None` if chunks are too short or too many, not aligned, or if two elements
    /// do not fit into `shared` bytes of shared memory.
    pub(super) fn new(problem: &TransposeProblem, launches: &LaunchConstants, shared: u64) -> Option<Self> {
        let divisor = greatest_common_divisor(problem.rows, problem.columns);
        let [squares_down, squares_across] = [problem.rows / divisor, problem.columns / divisor];
        let (chunk, chunks) = (divisor * problem.element, problem.rows.checked_mul(squares_across)?);
        if chunk < SHORTEST || chunk % PACK > 0 || !has_launch(chunk) || chunks > MOST_CHUNKS {
            return None;
        }
        let matrices = problem.matrices * squares_down * squares_across;
        let square = TransposeProblem {
            rows: divisor,
            columns: divisor,
            matrices,
            output_pitch: problem.input_pitch,
            ..*problem
        };
        let squares = Squares { across: squares_across, beside: chunk, below: divisor * problem.input_pitch };
        let tiles = match divisor {
            1 => None,
            _ => Some(Tiles::new(&square, launches, shared)?.at(squares)),
        };
        Some(Chunks { problem: *problem, divisor, tiles })
    }

    /// Returns the bytes of a chunk.
    fn bytes(&self) -> u64 {
        self.divisor * self.problem.element
    }

    /// Returns the chunk whose contents belong at this position, once the squares are transposed.
    fn source(&self, position: usize) -> usize {
        let [rows, columns, divisor] = [self.problem.rows, self.problem.columns, self.divisor].map(|x| x as usize);
        let (row, place) = (position / (rows / divisor), position % (rows / divisor));
        (place * divisor + row % divisor) * (columns / divisor) + row / divisor
    }

    /// Returns the chunks that move, cycle by cycle, and for each the first one of its cycle.
    fn cycles(&self) -> Result<[Vec<u32>; 2]> {
        let count = (self.problem.rows * (self.problem.columns / self.divisor)) as usize;
        let mut visited = allocation::filled_here(false, count)?;
        // Further ones for the firsts of segments.
        let (mut chunks, mut firsts) = (allocation::reserved(2 * count)?, allocation::reserved(count)?);
        for first in 0..count {
            let mut at = first;
            while !visited[at] && self.source(at) != at {
                visited[at] = true;
                // The casts are exact: `MOST_CHUNKS`.
                chunks.push(at as u32);
                firsts.push(first as u32);
                at = self.source(at);
            }
            if firsts.last() == Some(&(first as u32)) {
                chunks.last_mut().into_iter().for_each(|chunk| *chunk |= LAST);
            }
        }
        Ok([chunks, firsts])
    }

    /// Loads the kernels, and lists the chunks.
    pub(super) fn load(self, gpu: &Gpu) -> Result<LoadedChunks> {
        let [mut table, firsts] = self.cycles()?;
        let len = table.len() as u64;
        let segments = (AT_ONCE / (self.bytes() / PACK)).clamp(1, (len / SHORTEST_SEGMENT).max(1));
        let cycles = Cycles::new(len as u32, (self.bytes() / 4) as u32, segments as u32);
        table.extend(firsts.iter().step_by(cycles.per_segment as usize));
        Ok(LoadedChunks {
            chunks: self,
            tiles: self.tiles.map(|tiles| tiles.load(gpu)).transpose()?,
            cycles,
            table,
            save: Box::new(gpu.own_kernel::<transpose_save_chunks>()?),
            rotate: Box::new(gpu.own_kernel::<transpose_rotate_chunks>()?),
        })
    }
}

/// Returns whether a launch can move chunks of this many bytes.
fn has_launch(chunk: u64) -> bool {
    u32::try_from(chunk / 4).is_ok_and(|words| Cycles::new(1, words, 1).launch().1[1] <= MOST_BLOCKS)
}

type CyclesLaunch = dyn for<'l> Launch<([GlobalInOut<'l, u8>; 2], GlobalIn<'l, u32>, Cycles)>;

/// The same with the loaded kernels and the table.
pub(super) struct LoadedChunks {
    chunks: Chunks,
    tiles: Option<LoadedTiles>,
    cycles: Cycles,
    table: Vec<u32>,
    save: Box<CyclesLaunch>,
    rotate: Box<CyclesLaunch>,
}

impl LoadedChunks {
    /// Passes on a launch for a matrix that moves this number of chunks.
    fn launch(&self, kernel: &CyclesLaunch, matrix: u64, moved: u64, receive: Receiver<'_>) -> Result<()> {
        let (threads, [x, y]) = self.cycles.launch();
        let shape = LaunchShape::new([x, y, 1], [threads, 1, 1]);
        let bytes = self.chunks.problem.rows * self.chunks.problem.input_pitch;
        receive(InPlaceLaunch {
            kernel,
            shape,
            // A move reads and writes.
            moved_bytes: 2 * moved * self.chunks.bytes(),
            of_one_matrix: true,
            times: 1,
            enqueue: &|memory| {
                let matrix = memory.matrices.slice(matrix * bytes, bytes);
                let args = ([matrix, memory.scratch], memory.table, self.cycles);
                kernel.launch(memory.windows, shape, args, &())
            },
        })
    }
}

impl InPlaceMethod for LoadedChunks {
    fn scratch_bytes(&self) -> u64 {
        2 * u64::from(self.cycles.segments) * self.chunks.bytes()
    }

    fn table(&self) -> &[u32] {
        &self.table
    }

    fn each_launch(&self, passed: Passed, receive: Receiver<'_>) -> Result<()> {
        self.tiles.iter().try_for_each(|tiles| tiles.each_launch(passed, receive))?;
        // Every chunk may be in its place.
        let matrices = if self.table.is_empty() { 0 } else { passed.matrices() };
        (0..matrices).try_for_each(|matrix| {
            self.launch(&*self.save, matrix, 2 * u64::from(self.cycles.segments), receive)?;
            self.launch(&*self.rotate, matrix, self.cycles.chunks.into(), receive)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::transpose::tuning::TransposeTuning;

    /// Transposes squares, and moves chunks along the cycles.
    fn transposed(rows: usize, columns: usize, chunks: &Chunks) -> Vec<usize> {
        let c = chunks.divisor as usize;
        let after_squares = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            (row / c * c + column % c) * columns + column / c * c + row % c
        };
        let mut data: Vec<_> = (0..rows * columns).map(after_squares).collect();
        let [list, firsts] = chunks.cycles().unwrap();
        let before = data.clone();
        for (k, chunk) in list.iter().enumerate() {
            let source = if chunk & LAST == 0 { list[k + 1] & !LAST } else { firsts[k] };
            let [to, from] = [chunk & !LAST, source].map(|chunk| chunk as usize * c);
            data[to..to + c].copy_from_slice(&before[from..from + c]);
        }
        data
    }

    #[test]
    fn chunks_transpose() {
        let launches = TransposeTuning::new(Device::cpu().info()).launches;
        for (down, across, divisor) in
            (1..8).flat_map(|a| (1..8).flat_map(move |b| [1, 2, 3, 8].map(|c| (a, b, c)))).filter(|(a, b, _)| a != b)
        {
            let [rows, columns] = [down * divisor, across * divisor];
            let (element, pitch) = (128, 128 * columns as u64);
            let [m, n] = [rows as u64, columns as u64];
            let problem = TransposeProblem {
                rows: m,
                columns: n,
                element,
                matrices: 1,
                input_pitch: pitch,
                output_pitch: 128 * m,
            };
            let chunks = Chunks::new(&problem, &launches, 48 << 10).unwrap();
            let expected: Vec<usize> = (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c)).collect();
            assert_eq!(transposed(rows, columns, &chunks), expected, "{rows} x {columns}");
        }
    }

    #[test]
    fn short_or_unaligned_chunks_are_refused() {
        let launches = TransposeTuning::new(Device::cpu().info()).launches;
        let chunks = |rows, columns, element| {
            let (input_pitch, output_pitch) = (columns * element, rows * element);
            let problem = TransposeProblem { rows, columns, element, matrices: 1, input_pitch, output_pitch };
            Chunks::new(&problem, &launches, 48 << 10).is_some()
        };
        assert_eq!([chunks(64, 96, 4), chunks(62, 93, 4), chunks(66, 99, 4)], [true, false, false]);
        assert_eq!([chunks(5, 7, 128), chunks(5, 7, 130), chunks(5, 10, 40_000)], [true, false, false]);
        assert_eq!([chunks(1 << 15, 33 << 10, 4), chunks(1 << 24, 33 << 19, 4)], [true, false]);
        // 65,535 blocks of 256 packs.
        assert_eq!([chunks(2, 3, 65_535 << 12), chunks(2, 3, (65_535 << 12) + 16)], [true, false]);
    }
}
