//! What only the host has: from a problem's size to grid, block and shared memory.

use super::key::Ranked;
use super::tile::{Form, samples};
use super::van_herk::{RUN, Sizes};
use super::word_tile::LANES;
use super::{Axis, BLOCK, Packing, median, network_tile, run_extreme, small_extreme, sorted};
use crate::filter2d::Geometry;
use cuda_std::shared_bytes;

/// The kernels of this operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankKernel {
    /// Any window, from global memory.
    Global,
    /// Any window, from a tile in shared memory.
    Tile,
    /// Any window of few samples, from a tile in shared memory.
    Network,
    /// Any window of more samples, likewise.
    LargeNetwork,
    /// Any rank of rectangles with strides of 1, of the sorted samples of a tile.
    Sorted,
    /// Minima and maxima of rectangles, from a tile in shared memory.
    Extreme,
    /// Minima and maxima of rectangles of at most [`MOST_TAPS`](Self::MOST_TAPS) rows and columns, with strides of 1.
    SmallExtreme,
    /// Minima and maxima of any window without heights and with strides of 1, from a tile in shared memory.
    RunExtreme,
    /// Minima and maxima of any window, from a tile in shared memory.
    AnyExtreme,
    /// Minima and maxima of any window, from global memory.
    AnyExtremeGlobal,
    /// Medians of 3 x 3 samples in registers.
    Median3,
    /// Medians of 5 x 5 samples in registers.
    Median5,
    /// Medians of 7 x 7 samples in registers.
    Median7,
}

impl RankKernel {
    /// Maximum number of rows, and of columns, of the windows of [`SmallExtreme`](Self::SmallExtreme). Larger ones leave few outputs in its
    /// square.
    pub const MOST_TAPS: u32 = 16;

    /// Returns the kernel with a network for windows of `count` samples, if there is one.
    #[must_use]
    pub fn network(count: u32) -> Option<Self> {
        let [few, more] = network_tile::MOST;
        match count {
            _ if count <= few => Some(RankKernel::Network),
            _ if count <= more => Some(RankKernel::LargeNetwork),
            _ => None,
        }
    }

    /// Returns the rows and columns of the windows of a kernel for medians.
    fn side(self) -> Option<u32> {
        match self {
            RankKernel::Median3 => Some(3),
            RankKernel::Median5 => Some(5),
            RankKernel::Median7 => Some(7),
            RankKernel::Global
            | RankKernel::Tile
            | RankKernel::Network
            | RankKernel::LargeNetwork
            | RankKernel::Sorted
            | RankKernel::Extreme
            | RankKernel::SmallExtreme
            | RankKernel::RunExtreme
            | RankKernel::AnyExtreme
            | RankKernel::AnyExtremeGlobal => None,
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
    /// Runs of a window.
    pub runs: u32,
}

/// What a launch depends on beside the problem.
#[derive(Clone, Copy, Debug)]
pub struct RankLimits {
    /// Whether the GPU compares pairs of 16-bit integers: from compute capability 9.0 on.
    pub pairs: bool,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u64,
}

/// Returns how to launch a kernel.
#[must_use]
pub fn rank_geometry<T: Ranked>(kernel: RankKernel, problem: &RankProblem, limits: RankLimits) -> Geometry {
    let RankLimits { pairs, shared_bytes: available } = limits;
    let RankProblem { planes, rows, columns, channels, runs } = *problem;
    let [width, height] = BLOCK.map(u64::from);
    // Each run is three numbers, and there may be one for each sample.
    let pass = u64::from(rows.taps).saturating_mul(columns.taps.into()).saturating_mul(4);
    let per_output = pass.saturating_mul(u64::from(T::BITS) + 1).saturating_add(4);
    if matches!(kernel, RankKernel::Global | RankKernel::AnyExtremeGlobal) {
        return Geometry {
            block: BLOCK,
            tiles: columns.outputs.saturating_mul(channels.into()).div_ceil(width),
            groups: planes.saturating_mul(rows.outputs).div_ceil(height),
            shared_bytes: 0,
            steps: (width * height).saturating_mul(per_output),
        };
    }
    if let Some(side) = kernel.side() {
        return of_medians::<T>(problem, side, pairs);
    }
    if kernel == RankKernel::SmallExtreme {
        return of_small_extremes::<T>(problem, pairs);
    }
    if kernel == RankKernel::Sorted {
        return of_sorted::<T>(problem, sorted_tile::<T>(problem, available));
    }
    let form = Form::of(&rows, &columns, channels);
    // The last phase of a row may be padded.
    let pixels = samples(&columns, form.pixels).next_multiple_of(columns.stride.into());
    let tile_rows = samples(&rows, form.rows);
    let keys = tile_rows.saturating_mul(pixels).saturating_mul(channels.into());
    let lines = tile_rows.saturating_mul(u64::from(form.pixels)).saturating_mul(channels.into());
    let lines = if kernel == RankKernel::Extreme { lines } else { 0 };
    let (levels, table) = match kernel {
        RankKernel::Network | RankKernel::LargeNetwork => (1, network_tile::OFFSETS),
        RankKernel::RunExtreme => (run_extreme::levels(columns.taps).into(), run_extreme::table(runs)),
        _ => (1, 0),
    };
    let keys = keys.saturating_mul(levels);
    let outputs = u64::from(form.pixels * form.rows).saturating_mul(channels.into());
    // Samples and keys, two windows of shared memory and two barriers of each thread, and minima along the rows.
    let others = keys.saturating_mul(2).saturating_add(4 * width * height);
    let along_rows = lines.saturating_mul(u64::from(columns.taps) + 1);
    Geometry {
        block: BLOCK,
        tiles: columns.outputs.div_ceil(form.pixels.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(form.rows.into())),
        shared_bytes: shared_bytes::<T::Key>(keys)
            .saturating_add(shared_bytes::<T::Key>(lines))
            .saturating_add(shared_bytes::<u32>(table.into())),
        steps: outputs.saturating_mul(per_output).saturating_add(others).saturating_add(along_rows),
    }
}

/// Returns how to launch a kernel for medians of this number of rows and columns.
fn of_medians<T: Ranked>(problem: &RankProblem, side: u32, pairs: bool) -> Geometry {
    let RankProblem { planes, rows, columns, channels, .. } = *problem;
    let form = median::form(side, if pairs { T::Medians::KEYS } else { 1 });
    let outputs = u64::from(median::OUTPUTS).pow(2);
    let words = u64::from(form.rows * form.pitch);
    let flags = if T::IS_FLOAT { form.warps } else { 0 };
    // A window may be searched for NaNs, and a thread sorts up to as many rows more as it has. Barrier and flags are few.
    let per_output = u64::from(side * side + 2 * (side + 1) + 2);
    Geometry {
        block: [LANES, form.warps],
        tiles: columns.outputs.div_ceil(median::OUTPUTS.into()).saturating_mul(channels.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(median::OUTPUTS.into())),
        shared_bytes: shared_bytes::<<T::Medians as Packing>::Word>(words)
            .saturating_add(shared_bytes::<u32>(flags.into())),
        steps: outputs * per_output + 3 * words + u64::from(16 * LANES * form.warps),
    }
}

/// Returns how to launch the kernel for extremes of small rectangles.
fn of_small_extremes<T: Ranked>(problem: &RankProblem, pairs: bool) -> Geometry {
    let RankProblem { planes, rows, columns, channels, .. } = *problem;
    let form = small_extreme::form::<T>([rows.taps, columns.taps], if pairs { T::Extremes::KEYS } else { 1 });
    let ([height, width], words) = (form.outputs.map(u64::from), u64::from(form.rows * form.pitch));
    let [x, y] = BLOCK.map(u64::from);
    // The samples and the words, a pass over each window along each axis, the outputs, and two barriers of each thread.
    let per_word = 8 + u64::from(rows.taps) + u64::from(columns.taps);
    Geometry {
        block: BLOCK,
        tiles: columns.outputs.div_ceil(width).saturating_mul(channels.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(height)),
        shared_bytes: 2 * shared_bytes::<T::Key>(words),
        steps: words * per_word + 4 * x * y,
    }
}

/// Least number of samples of windows of one row for which a tile has one row of outputs: neighbouring rows have no samples in common, but more
/// outputs of a row have larger masks. On an H200, pieces of rows take 1.5 (`u8`) and 1.1 (`f32`) times as long for 1 x 65 samples as tiles for
/// 65 x 1, and hardly more for 1 x 257, where a tile has three times as many samples.
const LEAST_IN_PIECES: u32 = 96;

/// Returns the rows and columns of outputs of a block of [`RankKernel::Sorted`]: the most whose tile fits into this shared memory, otherwise
/// the fewest.
#[must_use]
pub fn sorted_tile<T: Ranked>(problem: &RankProblem, available: u64) -> [u32; 2] {
    const TILES: &[[u32; 2]] = &[[32, 32], [16, 32], [8, 32]];
    const PIECES: &[[u32; 2]] = &[[1, 512], [1, 256], [1, 128], [1, 64], [1, 32]];
    let in_pieces = problem.rows.outputs == 1 || problem.rows.taps == 1 && problem.columns.taps >= LEAST_IN_PIECES;
    let tiles = if in_pieces { PIECES } else { TILES };
    // A piece that is more than twice as long as the row would sort samples for no outputs.
    let is_filled =
        |outputs: &[u32; 2]| !in_pieces || u64::from(outputs[1]) < problem.columns.outputs.saturating_mul(2);
    let fitting = tiles.iter().find(|tile| is_filled(tile) && bytes_of_sorted::<T>(problem, **tile) <= available);
    *fitting.unwrap_or(&tiles[tiles.len() - 1])
}

/// Returns the shared memory of a block. With more samples than positions of 16 bits may have, it is that of the keys and positions alone, which
/// is more than a block has.
fn bytes_of_sorted<T: Ranked>(problem: &RankProblem, outputs: [u32; 2]) -> u64 {
    const MOST_SAMPLES: u64 = 1 << 15;
    let taps = [problem.rows.taps, problem.columns.taps];
    let [rows, columns] = [0, 1].map(|axis| u64::from(outputs[axis]) + u64::from(taps[axis]) - 1);
    let samples = rows.saturating_mul(columns);
    if samples > MOST_SAMPLES {
        return samples.saturating_mul(size_of::<T::Key>() as u64 + 3 * size_of::<u16>() as u64);
    }
    let sizes = sorted::Sizes::new(outputs, taps);
    let words = sorted::words(&sizes).map(shared_bytes::<u32>);
    let halves = sorted::halves(&sizes).map(shared_bytes::<u16>);
    shared_bytes::<T::Key>(sizes.len().into()) + words.iter().sum::<u64>() + halves.iter().sum::<u64>()
}

/// Returns how to launch the kernel that sorts tiles.
fn of_sorted<T: Ranked>(problem: &RankProblem, outputs: [u32; 2]) -> Geometry {
    let RankProblem { planes, rows, columns, channels, .. } = *problem;
    let [height, width] = outputs.map(u64::from);
    let shared_bytes = bytes_of_sorted::<T>(problem, outputs);
    let threads = u64::from(LANES * sorted::WARPS);
    let digits = u64::from(T::BITS / 8);
    // Each key takes part in a few steps of each digit, and each output in a few of each group of keys. A byte of the masks is in two words.
    let per_key = 32 + 16 * digits;
    let steps = shared_bytes.saturating_mul(per_key + width * height / 64).saturating_add(threads * (64 + 96 * digits));
    Geometry {
        block: [LANES, sorted::WARPS],
        tiles: columns.outputs.div_ceil(width).saturating_mul(channels.into()),
        groups: planes.saturating_mul(rows.outputs.div_ceil(height)),
        shared_bytes,
        steps,
    }
}

/// The kernels of extremes along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassKernel {
    /// Along rows.
    Along,
    /// Down columns.
    Down,
}

/// How a kernel of one axis is launched, and the tile of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPass {
    /// The launches.
    pub geometry: Geometry,
    /// Lines of words of a block.
    pub lines: u32,
    /// Runs of a tile's line.
    pub runs: u32,
}

impl RankPass {
    /// Minimum number of samples of a window.
    pub const LEAST_TAPS: u32 = RUN + 1;

    /// Shared memory of a block, in bytes, so that several are resident.
    const MOST_BYTES: u64 = 75 << 10;

    /// Maximum number of threads of a block.
    const MOST_THREADS: u32 = 256;

    /// Least number of runs of a tile along rows, if there are as many.
    const LEAST_ALONG: u32 = 128;

    /// Lines of words of a block along rows, with [`MANY_BLOCKS`](Self::MANY_BLOCKS).
    const LINES_ALONG: u32 = 4;

    /// With this number of blocks of one line each, a GPU has enough blocks of several lines, too.
    const MANY_BLOCKS: u64 = 1 << 14;

    /// Least number of runs of a tile down columns, if there are as many.
    const LEAST_DOWN: u32 = 16;

    /// Maximum number of lines of words of a tile down columns.
    const LINES_DOWN: u32 = 32;

    /// Returns how to launch a kernel for windows of at least [`LEAST_TAPS`](Self::LEAST_TAPS) samples. If no tile fits, it takes more shared
    /// memory than there is.
    #[must_use]
    pub fn new<T: Ranked>(kernel: PassKernel, problem: &RankProblem, limits: RankLimits) -> Self {
        let RankProblem { planes, rows, columns, channels, .. } = *problem;
        let [keys, pack] = if limits.pairs { [T::Extremes::KEYS, T::Extremes::COLUMNS] } else { [1, 1] };
        let fits = |lines: u32, axis: &Axis, runs: u32| {
            // Long windows take all shared memory: otherwise the halo would be most of even the narrowest tile.
            let is_long = bytes::<T>(kernel, axis, pack, axis.taps.div_ceil(RUN)) > Self::MOST_BYTES;
            let most = if is_long { limits.shared_bytes } else { limits.shared_bytes.min(Self::MOST_BYTES) };
            bytes::<T>(kernel, axis, lines, runs) <= most
        };
        match kernel {
            PassKernel::Along => {
                let runs = equal_runs(&columns, Self::LEAST_ALONG, |runs| fits(1, &columns, runs));
                let tiles = columns.outputs.div_ceil((runs * RUN).into());
                let pairs = planes.saturating_mul(rows.outputs).div_ceil(keys.into());
                let blocks = tiles.saturating_mul(pairs).saturating_mul(channels.into());
                let lines = if keys == 1 && blocks >= Self::MANY_BLOCKS { Self::LINES_ALONG } else { 1 };
                let groups = pairs.div_ceil(lines.into()).saturating_mul(channels.into());
                Self::of::<T>(kernel, &columns, [lines, 1], runs, [tiles, groups])
            }
            PassKernel::Down => {
                // Fewer lines leave memory for longer ones, whose halo is a smaller part.
                let sufficient =
                    rows.taps.div_ceil(RUN).min(rows.outputs.div_ceil(RUN.into()).clamp(1, 1 << 20) as u32);
                // Narrow pictures do not fill all lines.
                let width = columns.outputs.saturating_mul(channels.into());
                let most =
                    (width.div_ceil(keys.into()).min(Self::LINES_DOWN.into()) as u32).next_power_of_two().max(pack);
                let mut powers = (pack.ilog2()..=most.ilog2()).rev().map(|power| 1 << power);
                let lines = powers.find(|&lines| fits(lines, &rows, sufficient)).unwrap_or(pack);
                let runs = equal_runs(&rows, Self::LEAST_DOWN, |runs| fits(lines, &rows, runs));
                let strips = width.div_ceil((lines * keys).into());
                let groups = planes.saturating_mul(rows.outputs.div_ceil((runs * RUN).into()));
                Self::of::<T>(kernel, &rows, [lines, lines / pack], runs, [strips, groups])
            }
        }
    }

    /// Returns the launch of blocks with these lines and packs of lines at a position, and runs.
    fn of<T: Ranked>(
        kernel: PassKernel,
        axis: &Axis,
        [lines, packs]: [u32; 2],
        runs: u32,
        [tiles, groups]: [u64; 2],
    ) -> Self {
        let elements = runs * packs;
        // Each thread has as many runs as the others, or one less.
        let threads = elements.div_ceil(elements.div_ceil(Self::MOST_THREADS)).next_multiple_of(32);
        let shared_bytes = bytes::<T>(kernel, axis, lines, runs);
        // At most 64 accesses for each word, and 16 barriers for each line along rows.
        let words = u64::from(Sizes::new(runs, axis.taps).words(1)) * u64::from(lines);
        let steps = 64 * words + 32 * u64::from(threads) * u64::from(lines);
        RankPass { geometry: Geometry { block: [threads, 1], tiles, groups, shared_bytes, steps }, lines, runs }
    }
}

/// Returns the number of runs of tiles along an axis that fit: at least `least` if there are as many, and equal ones for all tiles.
fn equal_runs(axis: &Axis, least: u32, fits: impl Fn(u32) -> bool) -> u32 {
    let all = axis.outputs.div_ceil(RUN.into()).clamp(1, 1 << 20) as u32;
    // Then the halo is at most a third of the outputs.
    let wanted = least.max((3 * axis.taps).div_ceil(RUN)).min(all);
    let most = (1..=wanted).rev().find(|&runs| fits(runs)).unwrap_or(1);
    // Four runs are whole words of bytes.
    all.div_ceil(all.div_ceil(most)).next_multiple_of(4).min(most)
}

/// Returns the shared memory of a tile.
fn bytes<T: Ranked>(kernel: PassKernel, axis: &Axis, lines: u32, runs: u32) -> u64 {
    let sizes = Sizes::new(runs, axis.taps);
    let (lines, staged) = if kernel == PassKernel::Along { (1, sizes.outputs()) } else { (lines, 0) };
    let words = [sizes.words(lines), 2 * sizes.totals * lines, staged];
    words.map(|words| shared_bytes::<T::Key>(words.into())).iter().sum()
}
