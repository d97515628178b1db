//! What only the host has: grid, block and shared memory for a board's size, arguments, and the hash of the sums.

use super::hash::GROUP;
use super::resident::{self, Layout};
use super::{
    Args, BlockedArgs, Board, ByteArgs, CensusArgs, Counts, Ends, ResidentArgs, blocked, census, packed, tile,
};
use crate::{Misaligned, cast};
use cuda_std::warp::WARP;
use cuda_std::{GlobalIn, GlobalIn2, GlobalOut2, shared_bytes};

/// Threads of a block.
const THREADS: u32 = census::THREADS;

/// Schedulers of a multiprocessor. Each issues the instructions of its own warps.
const SCHEDULERS: u64 = 4;

/// What the launches of the kernels that compute several generations depend on, besides the board.
#[derive(Clone, Copy, Debug)]
pub struct PassTuning {
    /// Number of multiprocessors.
    pub processors: u64,
    /// Warps that a multiprocessor can hold at a time.
    pub resident: u64,
    /// Time for a row of each warp if a scheduler has one, two or three warps, in any unit.
    pub times_of_row: [u64; 3],
}

/// How blocks share a board in the kernels that keep rows in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Band {
    /// Rows of a block.
    pub rows: u32,
    /// Rows above and below them that the block has too: as many as it can compute generations. 0 if it has the whole board.
    pub halo: u32,
    /// Rows of a thread's strip: 1, 2, 4 or 8.
    pub strip: u32,
    /// Banks of shared memory.
    pub banks: u32,
}

impl Band {
    /// Returns bands of `rows` rows with the shortest strips that are possible; without a halo, a band that has the whole board. `None` if a
    /// block has too few threads.
    #[must_use]
    pub fn new(board: &Board, rows: u32, halo: u32, banks: u32) -> Option<Self> {
        let of_strip = |strip| Band { rows, halo, strip, banks };
        let fits = |band: &Band| {
            let layout = Layout::new(board.columns, banks);
            layout.width <= resident::MOST_WORDS && layout.threads(band.strips(board)) <= resident::MOST_THREADS.into()
        };
        // The last strip of a whole board must end where the board does.
        let strips: &[u32] = if halo == 0 { &[1] } else { &[1, 2, 4, 8] };
        strips.iter().map(|&strip| of_strip(strip)).find(fits)
    }

    /// Returns the rows that a block has, those of the halo included.
    #[must_use]
    pub fn computed(&self, board: &Board) -> u64 {
        let times = if self.halo == 0 && board.ends == Ends::Mirrored as u32 { 2 } else { 1 };
        u64::from(self.rows) * times + 2 * u64::from(self.halo)
    }

    /// Returns the strips of a column of words.
    fn strips(&self, board: &Board) -> u64 {
        self.computed(board).div_ceil(self.strip.into())
    }
}

/// When a launch takes censuses, in generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Censuses {
    /// From the beginning to the first one.
    pub until: u32,
    /// From one to the next one.
    pub every: u32,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks, all along x.
    pub blocks: u64,
    /// Threads along x and y.
    pub block: [u32; 2],
    /// Bytes of shared memory per block.
    pub shared_bytes: u64,
}

impl Geometry {
    /// Warps that take a census beside those of a pass, in each block: one for each scheduler.
    pub const CENSUS_WARPS: u32 = SCHEDULERS as u32;

    /// Returns how to launch the kernel with a byte for each cell, without shared memory.
    #[must_use]
    pub fn global([rows, columns]: [u64; 2]) -> Self {
        Self::of_threads([rows, columns])
    }

    /// Returns how to launch the kernel with a tile in shared memory.
    #[must_use]
    pub fn tile([rows, columns]: [u64; 2]) -> Self {
        let blocks = columns.div_ceil(4).div_ceil(tile::THREADS[0].into()) * rows.div_ceil(tile::TILE_ROWS.into());
        Geometry { blocks, block: tile::THREADS, shared_bytes: shared_bytes::<u32>(tile::SHARED.into()) }
    }

    /// Returns how to launch the kernels with a bit for each cell.
    #[must_use]
    pub fn packed([rows, columns]: [u64; 2]) -> Self {
        Self::of_threads([rows.div_ceil(packed::ROWS.into()), columns.div_ceil(32)])
    }

    /// Returns how to launch the kernels that compute several generations.
    #[must_use]
    pub fn blocked(sides: [u64; 2], tuning: &PassTuning) -> Self {
        let (_, _, warps) = warps_of_pass(sides, tuning);
        Geometry { blocks: warps, block: [WARP, 1], shared_bytes: 0 }
    }

    /// Returns how to launch the same kernels if [`CENSUS_WARPS`](Self::CENSUS_WARPS) warps of each block take a census.
    #[must_use]
    pub fn blocked_with_census(sides: [u64; 2], tuning: &PassTuning) -> Self {
        let resident = tuning.resident.saturating_sub(Self::CENSUS_WARPS.into());
        let (_, per_scheduler, warps) = warps_of_pass(sides, &PassTuning { resident, ..*tuning });
        let per_block = per_scheduler * SCHEDULERS;
        let block = [WARP, per_block as u32 + Self::CENSUS_WARPS];
        Geometry { blocks: warps.div_ceil(per_block), block, shared_bytes: 0 }
    }

    /// Returns how to launch the kernels that keep rows in shared memory, with or without censuses.
    #[must_use]
    pub fn resident(board: &Board, band: &Band, has_census: bool) -> Self {
        let (census, slots) = if has_census { (WARP, shared_bytes::<u64>(resident::SLOTS.into())) } else { (0, 0) };
        let threads = Layout::new(board.columns, band.banks).threads(band.strips(board)) as u32 + census;
        let shared_bytes = shared_bytes::<u32>(resident::half_words(band.strip).into()) + slots;
        Geometry { blocks: board.rows.div_ceil(band.rows).into(), block: [threads, 1], shared_bytes }
    }

    /// Returns how to launch a census of `[rows, columns]` cells alone. Each multiprocessor has at most eight blocks at a time.
    #[must_use]
    pub fn census([rows, columns]: [u64; 2], processors: u64) -> Self {
        let width = columns.div_ceil(64);
        let of_warp = u64::from(census::columns_of_warp(width as u32));
        let groups = rows.div_ceil(u64::from(GROUP) * (u64::from(WARP) / of_warp));
        let blocks = (width.div_ceil(of_warp) * groups).div_ceil(u64::from(THREADS / WARP));
        Geometry { blocks: blocks.min(8 * processors.max(1)), block: [THREADS, 1], shared_bytes: 0 }
    }

    /// Returns how to launch a thread for each row and column. Narrow boards have higher blocks.
    fn of_threads([rows, columns]: [u64; 2]) -> Self {
        let width = columns.clamp(1, 32).next_power_of_two() as u32;
        let block = [width, THREADS / width];
        let blocks = columns.div_ceil(width.into()) * rows.div_ceil(block[1].into());
        Geometry { blocks, block, shared_bytes: 0 }
    }
}

/// Returns the time of a launch that computes several generations, in the unit of [`PassTuning::times_of_row`].
#[must_use]
pub fn time_of_pass(sides: [u64; 2], tuning: &PassTuning) -> u64 {
    warps_of_pass(sides, tuning).0
}

/// Returns the time of a pass, how many of its warps each scheduler has at a time, and how many there are in all.
///
/// With few warps, a multiprocessor waits for results; with many, strips are short, and their halos are computed more often. Of the
/// numbers of warps for a scheduler, this chooses the one that takes the shortest time for the rows of a strip.
fn warps_of_pass([rows, columns]: [u64; 2], tuning: &PassTuning) -> (u64, u64, u64) {
    let &PassTuning { processors, resident, times_of_row } = tuning;
    let strips = columns.div_ceil(blocked::COLUMNS.into());
    let of_scheduler = |per_scheduler: u64| {
        let at_once = processors.max(1) * SCHEDULERS * per_scheduler;
        let warps = at_once.clamp(strips, strips * rows);
        let height = rows.div_ceil(warps / strips) + u64::from(2 * blocked::GENERATIONS);
        let time = height * times_of_row[per_scheduler as usize - 1] * warps.div_ceil(at_once);
        (time, per_scheduler, warps)
    };
    let most = (resident / SCHEDULERS).clamp(1, times_of_row.len() as u64);
    (1..=most).map(of_scheduler).min().unwrap_or((0, 1, strips))
}

impl<'l> TryFrom<Args<'l>> for ByteArgs<'l> {
    type Error = Misaligned;

    fn try_from(Args { input, output, board, table }: Args<'l>) -> Result<Self, Misaligned> {
        let board = Board { pitch: board.pitch * size_of::<u32>() as u64, ..board };
        Ok(ByteArgs { input: cast(input, 1)?, output: cast(output, 1)?, board, table })
    }
}

impl<'l> BlockedArgs<'l> {
    /// Returns the arguments for blocks with `census_warps` warps for the census of the input, and with censuses of the generations in
    /// `counted`. The windows must contain all rows of the board.
    #[must_use]
    pub fn new(
        Args { input, output, board, .. }: Args<'l>,
        census_warps: u32,
        counted: u32,
        counts: Counts<'l>,
    ) -> Self {
        let (rows, pitch) = (board.rows.into(), board.pitch);
        let output = GlobalOut2::new(output, rows, pitch, pitch).expect("the window has all rows");
        BlockedArgs { input: rows_of(input, &board), output, board, census_warps, counted, counts }
    }
}

impl<'l> ResidentArgs<'l> {
    /// Returns the arguments for some generations. The windows must contain all rows of the board.
    #[must_use]
    pub fn new(
        Args { input, output, board, .. }: Args<'l>,
        &Band { rows, halo, strip, banks }: &Band,
        generations: u32,
        censuses: Option<Censuses>,
        counts: Counts<'l>,
    ) -> Self {
        let (of_board, pitch) = (board.rows.into(), board.pitch);
        let output = GlobalOut2::new(output, of_board, pitch, pitch).expect("the window has all rows");
        let Censuses { until, every } = censuses.unwrap_or(Censuses { until: 0, every: 0 });
        let input = rows_of(input, &board);
        ResidentArgs { input, output, board, rows, halo, strip, lanes: banks, generations, until, every, counts }
    }
}

impl<'l> CensusArgs<'l> {
    /// Returns the arguments for a board. The window must contain all its rows.
    #[must_use]
    pub fn new(cells: GlobalIn<'l, u32>, board: &Board, counts: Counts<'l>) -> Self {
        CensusArgs { cells: rows_of(cells, board), counts }
    }
}

fn rows_of<'l>(cells: GlobalIn<'l, u32>, board: &Board) -> GlobalIn2<'l, u32> {
    GlobalIn2::new(cells, board.rows.into(), board.pitch, board.pitch).expect("the window has all rows")
}

/// Returns the hash for its two sums. The function is a step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014).
#[must_use]
pub fn hash([a, b]: [u64; 2]) -> u64 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mix(mix(a).wrapping_add(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h200(resident: u64) -> PassTuning {
        PassTuning { processors: 132, resident, times_of_row: [267, 484, 709] }
    }

    #[test]
    fn blocks_cover_the_board() {
        let of = |blocks, block, shared_bytes| Geometry { blocks, block, shared_bytes };
        assert_eq!(Geometry::global([1, 1]), of(1, [1, 256], 0));
        assert_eq!(Geometry::global([17, 33]), of(6, [32, 8], 0));
        assert_eq!(Geometry::packed([64, 1024]), of(1, [32, 8], 0));
        assert_eq!(Geometry::packed([65, 1025]), of(4, [32, 8], 0));
        assert_eq!(Geometry::packed([2049, 65]), of(5, [4, 64], 0));
        assert_eq!(Geometry::tile([32, 128]), of(1, [32, 8], 34 * 34 * 4));
        assert_eq!(Geometry::tile([33, 129]), of(4, [32, 8], 34 * 34 * 4));
        let blocked = |sides| {
            let Geometry { blocks, block: [32, 1], shared_bytes: 0 } = Geometry::blocked(sides, &h200(13)) else {
                panic!()
            };
            blocks
        };
        // Two warps for each scheduler; one for smaller boards, and three for larger ones.
        assert_eq!(blocked([16_384, 16_384]), 2 * 4 * 132);
        assert_eq!(blocked([8192, 8192]), 4 * 132);
        assert_eq!(blocked([65_536, 65_536]), 3 * 4 * 132);
        // No more than a row for each warp, and no less than a warp for each strip.
        assert_eq!(blocked([3, 1920]), 3);
        assert_eq!(blocked([3, 1921]), 6);
        assert_eq!(blocked([1, 1 << 31]), 1_118_482);
        assert_eq!(Geometry::blocked([65_536, 65_536], &h200(0)).blocks, 4 * 132);
    }

    #[test]
    fn warps_of_a_census_have_something_to_count() {
        let census = |sides| Geometry::census(sides, 132).blocks;
        assert_eq!(census([1, 1]), 1);
        // Each warp has 32 x 8 words, or 16 x 16.
        assert_eq!(census([64, 2048]), 1);
        assert_eq!(census([65, 2048]), 2);
        assert_eq!(census([128, 1024]), 1);
        assert_eq!(census([129, 1024]), 2);
        assert_eq!(census([65_536, 65_536]), 8 * 132);
    }

    #[test]
    fn schedulers_have_a_warp_of_the_census_each() {
        let geometry = |sides, resident| {
            let Geometry { blocks, block, .. } = Geometry::blocked_with_census(sides, &h200(resident));
            (blocks, block)
        };
        assert_eq!(geometry([65_536, 65_536], 12), (132, [32, 8 + 4]));
        assert_eq!(geometry([65_536, 65_536], 8), (132, [32, 4 + 4]));
        assert_eq!(geometry([4096, 4096], 12), (132, [32, 4 + 4]));
        assert_eq!(geometry([100, 100], 12), (25, [32, 4 + 4]));
        assert_eq!(geometry([1, 1], 0), (1, [32, 4 + 4]));
    }
}
