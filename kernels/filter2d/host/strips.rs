//! How the kernel of boxes divides a picture: what the host has to know.

use super::bands::{MOST_ROWS, band};
use super::{Bands, Filter2dProblem};
use crate::filter2d::boxes::{BATCH, Layout, pack};
use crate::filter2d::pixels::PixelAccess;
use cuda_std::shared_bytes;

/// Threads of a block, the preferred number first. More are for wide windows, fewer for high ones, whose rows would not fit into
/// shared memory.
const THREADS: [u32; 8] = [128, 96, 64, 192, 256, 384, 512, 32];

/// Registers of a multiprocessor.
const REGISTERS: u32 = 1 << 16;

/// Maximum numbers of rows of a band, the preferred one first. Each row takes shared memory.
const ROWS: [u32; 7] = [MOST_ROWS as u32, 768, 512, 384, 256, 192, Bands::TYPICAL];

/// Why a picture cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoStrips {
    /// The window has more columns than fit into the widest strip.
    TooWide {
        /// The maximum number of columns that fit wherever the window begins.
        most: u32,
    },
    /// The rows of the window do not fit into shared memory, not even those of the narrowest strips.
    TooHigh,
}

/// How a picture is divided for windows of some size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strips {
    /// Threads of a block.
    pub threads: u32,
    /// Blocks of a multiprocessor at the same time.
    blocks: u64,
    /// Maximum number of rows of a band. More of them would leave room for fewer blocks.
    most_rows: u32,
    /// Columns of a thread.
    pack: u32,
    /// Rows of the window.
    taps: u32,
    /// Channels of a pixel.
    pub channels: u32,
}

impl Strips {
    /// Rows that a block goes down at a time. They are of the same segment, so the last ones of a segment may be fewer.
    pub const BATCH: u32 = BATCH;

    /// Returns the division for windows over pictures like that of `problem`, on a device with `available` bytes
    /// of shared memory for a block, and `resident(bytes)` blocks of a multiprocessor at the same time: the first one of those whose
    /// throughput is at most a twentieth less than the greatest one, because this is an estimate.
    ///
    /// # Errors
    ///
    /// If the window is too wide or too high.
    pub fn new<M: PixelAccess>(
        problem: &Filter2dProblem,
        available: u64,
        resident: impl Fn(u64) -> u64,
    ) -> Result<Self, NoStrips> {
        let most_threads = REGISTERS / u32::from(M::REGISTERS);
        let all = THREADS.map(|threads| Self::of_threads::<M>(problem, threads, most_threads, &resident));
        let has_outputs = |strips: &&Strips| strips.threads <= most_threads && strips.layout(problem).outputs > 0;
        let possible = || all.iter().filter(has_outputs);
        let needed = |strips: &Strips| strips.shared_bytes(strips.most_rows);
        let fitting = || possible().filter(|strips| needed(strips) <= available);
        let most = fitting().map(|strips| strips.throughput(problem)).max().unwrap_or(0);
        let found = fitting().find(|strips| strips.throughput(problem) >= most - most / 20);
        found.copied().ok_or_else(|| {
            let widest = all.iter().filter(|strips| strips.threads <= most_threads);
            let most = widest.map(Self::most_columns).max().unwrap_or(0);
            if possible().next().is_some() { NoStrips::TooHigh } else { NoStrips::TooWide { most } }
        })
    }

    /// Returns the division by blocks of `threads` threads, of `most_threads` of a multiprocessor at the same time.
    fn of_threads<M: PixelAccess>(
        problem: &Filter2dProblem,
        threads: u32,
        most_threads: u32,
        resident: impl Fn(u64) -> u64,
    ) -> Self {
        let (taps, channels, pack) = (problem.rows.taps, problem.channels, pack::<M::Sum>() as u32);
        let strips = Strips { threads, blocks: 0, most_rows: Bands::TYPICAL, pack, taps, channels };
        let blocks = |rows: u32| resident(strips.shared_bytes(rows)).min((most_threads / threads).into());
        let most_rows = match blocks(Bands::TYPICAL) {
            0 => Bands::TYPICAL,
            same => ROWS.into_iter().find(|&rows| blocks(rows) == same).unwrap_or(Bands::TYPICAL),
        };
        Strips { blocks: blocks(most_rows), most_rows, ..strips }
    }

    /// Returns a number that the outputs per time are about proportional to: that of the threads that run at the same time, times the
    /// parts of columns and rows that are outputs. A single block takes longer, because it has nothing else to do while it waits
    /// at a barrier.
    fn throughput(&self, problem: &Filter2dProblem) -> u64 {
        let (outputs, columns) = (self.layout(problem).outputs, self.packs() * self.pack);
        let [threads, outputs, columns, rows, halo] =
            [self.packs() * self.channels, outputs, columns, self.most_rows, self.taps - 1].map(u64::from);
        let alone = if self.blocks == 1 { 4 } else { 5 };
        alone * 1000 * self.blocks * threads * outputs / columns * rows / (rows + halo)
    }

    /// Returns whether at least half of the columns of a strip are outputs.
    #[must_use]
    pub fn is_wide(&self, problem: &Filter2dProblem) -> bool {
        self.layout(problem).outputs >= self.packs() * self.pack / 2
    }

    /// Returns the maximum number of columns of a window that leave room for outputs wherever it begins.
    fn most_columns(&self) -> u32 {
        (self.packs() * self.pack + 2).saturating_sub(2 * self.pack)
    }

    /// Packs of a channel in a strip.
    fn packs(&self) -> u32 {
        self.threads / self.channels
    }

    fn layout(&self, problem: &Filter2dProblem) -> Layout {
        Layout::new(&problem.columns, self.packs(), self.pack)
    }

    /// Returns the bands for a device that runs `resident` blocks at the same time. The problem has outputs.
    #[must_use]
    pub fn bands(&self, problem: &Filter2dProblem, resident: u64) -> Bands {
        let strips = problem.columns.outputs.div_ceil(self.layout(problem).outputs.into());
        let [rows, columns] = [problem.rows.outputs, strips.saturating_mul(problem.planes)];
        let band = band([rows, columns], u64::from(self.taps) - 1, resident, self.most_rows.into(), 0) as u32;
        Bands {
            band,
            block: [self.threads, 1],
            blocks: [strips, rows.div_ceil(band.into()), problem.planes],
            shared_bytes: self.shared_bytes(band),
            steps: self.steps(band, problem.columns.taps),
        }
    }

    /// Returns the shared memory of a block, in bytes, for bands of `band` rows.
    #[must_use]
    pub fn shared_bytes(&self, band: u32) -> u64 {
        let [threads, taps] = [self.threads, self.taps].map(u64::from);
        let lines = u64::from(band) + taps - 1 + u64::from(BATCH);
        // A pack has 16 bytes, and one total.
        let packs = threads * (u64::from(BATCH) + taps - 1);
        let totals = threads * u64::from(BATCH) / u64::from(self.pack);
        shared_bytes::<u64>(lines) + 16 * (packs + totals)
    }

    /// Returns an upper bound on the accesses and barriers of a block.
    fn steps(&self, band: u32, columns: u32) -> u64 {
        // For each row: a batch of packs of samples, element by element, and where they begin; the segment; the exchange; and as
        // many sums as a pack of outputs depends on.
        let row = u64::from(BATCH * (self.pack + 1) + 4 + 3 * BATCH + self.pack * 10) + u64::from(columns);
        u64::from(self.threads) * (u64::from(band) + u64::from(self.taps) + 2) * row
    }
}
