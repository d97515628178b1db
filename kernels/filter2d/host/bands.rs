//! How kernels that go down bands of rows divide a picture: what the host has to know.

use super::Filter2dProblem;
use crate::filter2d::passes::{self, LaneInstance};
use crate::filter2d::running;
use crate::filter2d::streaming::{AHEAD, Layout, WARPS, halo_words, pack, row_buffer, words};
use crate::filter2d::words::Streamed;
use crate::signal::Types;
use cuda_std::shared_bytes;
use cuda_std::warp::WARP;

/// Maximum number of waves: groups of blocks that run at the same time. With more of them, bands would have few rows compared with
/// their halos.
const MOST_WAVES: u64 = 4;

/// Maximum number of rows of a band of the kernels that have a number for each of them in shared memory.
pub(super) const MOST_ROWS: u64 = 1024;

/// Maximum number of steps of a band of the kernel of two passes. Its rows are a 32-bit number.
const MOST_STEPS: u64 = 1 << 20;

/// Maximum number of blocks of a grid along y and z.
const MOST_BLOCKS: u64 = u16::MAX as u64;

/// A picture as bands of rows, and these as strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// Output rows of a band.
    pub band: u32,
    /// Threads of a block along x and y.
    pub block: [u32; 2],
    /// Blocks of a band, bands of a plane, and planes.
    pub blocks: [u64; 3],
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u64,
    /// More than a block's accesses, barriers and windows of shared memory.
    pub steps: u64,
}

impl Bands {
    /// Rows of a band for which the number of resident blocks is asked for.
    pub const TYPICAL: u32 = 128;

    /// Threads along x and y of a block of the streaming kernels.
    pub const STREAMING: [u32; 2] = [WARP, WARPS];

    /// Returns the division of the streaming kernels for weights of `taps` rows and columns, on a device that runs `resident` blocks
    /// at the same time. Of the divisions that take at most `spare` per cent longer than the fastest one, that with most waves of
    /// blocks is taken. The problem has outputs.
    #[must_use]
    pub fn streaming<F: Streamed>(problem: &Filter2dProblem, taps: usize, [resident, spare]: [u64; 2]) -> Self {
        let pack = pack::<F>();
        let elements = problem.columns.outputs.saturating_mul(problem.channels.into());
        let layout = Layout::new(&problem.columns, taps, problem.channels as usize, pack);
        let tiles = layout.len(elements).div_ceil(u64::from(WARPS * WARP) * pack as u64);
        let rows = problem.rows.outputs;
        let columns = tiles.saturating_mul(problem.planes);
        let band = band([rows, columns], taps as u64 - 1, resident, MOST_ROWS, spare) as u32;
        Bands {
            band,
            block: Self::STREAMING,
            blocks: [tiles, rows.div_ceil(band.into()), problem.planes],
            shared_bytes: Self::shared_bytes::<F>(band, taps, problem.channels as usize),
            steps: steps(u64::from(band), taps as u64, pack as u64),
        }
    }

    /// Returns the division of the kernel of two passes for blocks of `groups` threads per column, on a device that runs `resident`
    /// blocks at the same time. The problem has outputs, and its weights fit into the table.
    #[must_use]
    pub fn passes<L: LaneInstance>(problem: &Filter2dProblem, groups: u32, resident: u64) -> Self {
        let Filter2dProblem { planes, rows, columns, .. } = *problem;
        let sizes = passes::Sizes::new::<L::Types>([rows.taps, columns.taps], groups, L::PACKS);
        let tiles = columns.outputs.div_ceil(passes::strip::<L::Types>(L::PACKS).into());
        // A step that only fills the ring takes half the time of others.
        let (step, halo) = (u64::from(sizes.step), (u64::from(rows.taps) - 1).div_ceil(u64::from(2 * sizes.step)));
        let steps = band([rows.outputs.div_ceil(step), tiles.saturating_mul(planes)], halo, resident, MOST_STEPS, 0);
        Bands {
            band: (steps * step) as u32,
            block: Self::passes_block::<L>(groups),
            blocks: [tiles, rows.outputs.div_ceil(steps * step), planes],
            shared_bytes: Self::passes_bytes::<L>([rows.taps, columns.taps], groups),
            steps: u64::from(groups * passes::strip::<L::Types>(L::PACKS)) * (steps + 2 * halo + 2) * sizes.accesses(),
        }
    }

    /// Returns the threads of a block of the kernel of two passes along x and y.
    #[must_use]
    pub fn passes_block<L: LaneInstance>(groups: u32) -> [u32; 2] {
        [passes::strip::<L::Types>(L::PACKS), groups]
    }

    /// Returns the shared memory of a block of the kernel of two passes, in bytes, for weights of `taps` rows and columns.
    #[must_use]
    pub fn passes_bytes<L: LaneInstance>(taps: [u32; 2], groups: u32) -> u64 {
        let sizes = passes::Sizes::new::<L::Types>(taps, groups, L::PACKS);
        let [row, slots, strip] = [sizes.row, sizes.slots, passes::strip::<L::Types>(L::PACKS)].map(u64::from);
        let rows = shared_bytes::<<L::Types as Types>::Sample>(u64::from(sizes.step) * row);
        shared_bytes::<u64>(passes::NUMBERS.into())
            + shared_bytes::<u64>(row)
            + rows
            + shared_bytes::<<L::Types as Types>::Sum>(slots * strip)
    }

    /// Returns the shared memory of a block, in bytes, for bands of `band` rows.
    #[must_use]
    pub fn shared_bytes<F: Streamed>(band: u32, taps: usize, channels: usize) -> u64 {
        let pack = pack::<F>();
        let lines = u64::from(band) + taps as u64 - 1 + u64::from(AHEAD);
        let sources = (words::<F>() + halo_words::<F>(channels, taps)) as u64 * u64::from(WARPS * WARP);
        let buffers = u64::from(2 * WARPS * row_buffer((taps - 1) * channels, pack));
        shared_bytes::<u64>(lines) + shared_bytes::<i32>(sources) + shared_bytes::<F::Sample>(buffers)
    }

    /// Threads along x and y of a block of the kernel of running sums.
    pub const RUNNING: [u32; 2] = [WARP, running::WARPS];

    /// Returns the division of the kernel of running sums, on a device that runs `resident` blocks at the same time. The problem
    /// has outputs.
    #[must_use]
    pub fn running(problem: &Filter2dProblem, resident: u64) -> Self {
        let Filter2dProblem { planes, rows, columns, .. } = *problem;
        let tiles = columns.outputs.div_ceil(u64::from(running::WARPS * running::Layout::new(&columns).outputs));
        let halo = u64::from(rows.taps) - 1;
        let band = band([rows.outputs, tiles.saturating_mul(planes)], halo, resident, MOST_ROWS, 0) as u32;
        Bands {
            band,
            block: Self::RUNNING,
            blocks: [tiles, rows.outputs.div_ceil(band.into()), planes],
            shared_bytes: Self::running_bytes(band, rows.taps),
            // For each row: two times eight words of four bytes and their places, sums and shuffles, and eight groups of outputs.
            steps: u64::from(running::THREADS) * (u64::from(band) + u64::from(rows.taps) + 4) * 192,
        }
    }

    /// Returns the shared memory of a block of the kernel of running sums, in bytes, for bands of `band` rows and windows of `taps`.
    #[must_use]
    pub fn running_bytes(band: u32, taps: u32) -> u64 {
        shared_bytes::<u64>((band + taps - 1 + running::AHEAD).into())
            + shared_bytes::<i32>((running::SOURCES * running::THREADS).into())
            + shared_bytes::<u32>((running::WARPS * running::BUFFERS).into())
    }

    /// Returns the launches.
    pub fn parts(&self) -> impl Iterator<Item = BandPart> {
        let [tiles, bands, planes] = self.blocks;
        let starts = |count: u64| (0..count.div_ceil(MOST_BLOCKS)).map(|part| part * MOST_BLOCKS);
        starts(planes).flat_map(move |first_plane| {
            starts(bands).map(move |first_band| {
                let [bands, planes] = [bands - first_band, planes - first_plane].map(|count| count.min(MOST_BLOCKS));
                BandPart { first_band, first_plane, grid: [tiles, bands, planes] }
            })
        })
    }

    /// Returns the number of launches.
    #[must_use]
    pub fn launches(&self) -> u64 {
        let [_, bands, planes] = self.blocks.map(|count| count.div_ceil(MOST_BLOCKS));
        bands.saturating_mul(planes)
    }
}

/// One launch: some bands of some planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandPart {
    /// The first band.
    pub first_band: u64,
    /// The first plane.
    pub first_plane: u64,
    /// Blocks along x, y and z.
    pub grid: [u64; 3],
}

/// Returns the output rows of a band, at most `most`, for `columns` columns of blocks: those that take the least time, in rows of
/// samples that each of the `resident` blocks loads. A band's halo is `halo` rows. `spare` is a percentage: of the
/// divisions that take at most this much longer than the fastest one, that with most waves is taken, because its blocks do not all
/// load and store at the same time. If it is 0, the fewest waves are taken.
pub(super) fn band([rows, columns]: [u64; 2], halo: u64, resident: u64, most: u64, spare: u64) -> u64 {
    let time = |band: u64| {
        let blocks = columns.saturating_mul(rows.div_ceil(band));
        blocks.div_ceil(resident).saturating_mul(band + halo)
    };
    let band = |waves: u64| rows.div_ceil((waves * resident / columns).max(1)).min(most);
    let mut bands = (1..=MOST_WAVES).map(band);
    let least = bands.clone().map(time).min().unwrap_or(0);
    let is_fast = |&band: &u64| u128::from(time(band)) * 100 <= u128::from(least) * u128::from(100 + spare);
    if spare == 0 { bands.find(is_fast) } else { bands.rev().find(is_fast) }.unwrap_or(most)
}

/// Returns more than the accesses and barriers of a block.
fn steps(band: u64, taps: u64, pack: u64) -> u64 {
    // For each row of samples: two packs and the places of their elements, the packs of neighbours, and the outputs.
    let row = 7 * pack + 2 * taps + 8;
    u64::from(WARPS * WARP) * ((band + taps) * row + 2 * pack + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter2d::Axis;
    use crate::filter2d::passes::Lane;
    use crate::signal::Same;

    #[test]
    fn all_blocks_run_at_once_if_they_can() {
        let band = |rows, columns, resident| band([rows, columns], 2, resident, 1024, 0);
        // 16 columns of blocks of 8,192 rows, on a device that runs 1,584 blocks at once: 99 bands.
        assert_eq!(band(8192, 16, 1584), 83);
        // As many columns as blocks, and more.
        assert_eq!(band(1000, 1584, 1584), 1000);
        assert_eq!(band(1000, 1 << 40, 1584), 1000);
        // 1.5 times as many columns as blocks: 2 waves of whole columns would leave a quarter of the device idle.
        assert_eq!(band(1000, 150, 100), 500);
        assert_eq!(band(1, 1, 1584), 1);
        assert_eq!(band(1 << 30, 16, 1584), 1024);
    }

    #[test]
    fn most_waves_are_preferred_if_there_is_time() {
        let band = |rows, columns, resident| band([rows, columns], 2, resident, 1024, 8);
        // 4 waves of 28 + 2 rows instead of one of 111 + 2.
        assert_eq!(band(8192, 16, 1188), 28);
        // 2 waves of 1 + 2 rows would be half as many again as one of 2 + 2.
        assert_eq!(band(1024, 2, 1188), 2);
    }

    #[test]
    fn passes_take_whole_steps() {
        let axis = Axis { samples: 8192, outputs: 8192, start: -15, stride: 1, dilation: 1, taps: 31, border: 0 };
        let problem = Filter2dProblem { planes: 1, rows: axis, columns: axis, channels: 1 };
        // 22 strips of 384 columns, so 12 bands of 57 steps of 12 rows for 264 blocks, and 6 of 57 steps of 24 rows for 132.
        for (groups, resident, bands, band) in [(1, 264, 12, 57 * 12), (2, 132, 6, 57 * 24)] {
            let division = Bands::passes::<Lane<Same<f32>, 3>>(&problem, groups, resident);
            assert_eq!((division.blocks, division.band), ([22, bands, 1], band));
        }
    }

    #[test]
    fn grids_are_within_the_limits() {
        let bands = Bands { band: 1, block: [32, 4], blocks: [3, 65_536, 65_537], shared_bytes: 0, steps: 0 };
        let part = |first_band, first_plane, grid| BandPart { first_band, first_plane, grid };
        let parts = [
            part(0, 0, [3, 65_535, 65_535]),
            part(65_535, 0, [3, 1, 65_535]),
            part(0, 65_535, [3, 65_535, 2]),
            part(65_535, 65_535, [3, 1, 2]),
        ];
        assert!(bands.parts().eq(parts));
        assert_eq!(bands.launches(), 4);
        assert_eq!(Bands { blocks: [3, 0, 1], ..bands }.launches(), 0);
        assert_eq!(Bands { blocks: [1, u64::MAX, u64::MAX], ..bands }.launches(), u64::MAX);
    }
}
