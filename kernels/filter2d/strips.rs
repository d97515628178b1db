//! How the kernel of boxes divides a picture: what the host has to know.

use super::bands::{MOST_ROWS, band};
use super::boxes::{BATCH, Layout, PACK};
use super::{Bands, Problem};
use cuda_std::shared_bytes;

/// Threads of a block, the preferred number first. More are for wide windows, fewer for high ones, whose rows would not fit into
/// shared memory.
const THREADS: [u32; 6] = [128, 64, 256, 512, 1024, 32];

/// How boxes of some size are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strips {
    /// Threads of a block.
    pub threads: u32,
    /// Rows of the window.
    taps: u32,
}

impl Strips {
    /// Returns the division for windows over pictures like that of `problem`, on a device with `available` bytes of shared memory
    /// for a block. At least half of a strip's columns are outputs, if that is possible; otherwise as many as possible.
    ///
    /// # Errors
    ///
    /// The bytes of shared memory that the narrowest strips need, if none fit.
    pub fn new(problem: &Problem, available: u64) -> Result<Self, u64> {
        let taps = problem.rows.taps;
        let outputs = |threads| Layout::new(&problem.columns, threads).outputs;
        let all = THREADS.map(|threads| Strips { threads, taps });
        let possible = || all.into_iter().filter(|strips| outputs(strips.threads) > 0);
        let fitting = || possible().filter(|strips| strips.shared_bytes(MOST_ROWS as u32) <= available);
        let wide = fitting().find(|strips| outputs(strips.threads) >= strips.threads * PACK / 2);
        let found = wide.or_else(|| fitting().max_by_key(|strips| outputs(strips.threads)));
        let needed = possible().map(|strips| strips.shared_bytes(MOST_ROWS as u32)).min();
        found.ok_or(needed.unwrap_or(u64::MAX))
    }

    /// Returns the bands for a device that runs `resident` blocks at the same time. The problem has outputs.
    #[must_use]
    pub fn bands(&self, problem: &Problem, resident: u64) -> Bands {
        let outputs = Layout::new(&problem.columns, self.threads).outputs;
        let strips = problem.columns.outputs.div_ceil(outputs.into());
        let rows = problem.rows.outputs;
        let band =
            band(rows, strips.saturating_mul(problem.planes), u64::from(self.taps) - 1, resident, MOST_ROWS) as u32;
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
        let rows = |count: u64| shared_bytes::<f32>(count * u64::from(PACK) * threads);
        let totals = shared_bytes::<f32>(u64::from(BATCH) * threads);
        shared_bytes::<u64>(lines) + rows(BATCH.into()) + totals + rows(taps - 1)
    }

    /// Returns more than the accesses and barriers of a block.
    fn steps(&self, band: u32, columns: u32) -> u64 {
        // For each row: a batch of packs of samples, element by element, and where they begin; the segment; the exchange; and as
        // many sums as a pack of outputs depends on.
        let row = u64::from(BATCH * (PACK + 1) + 4 + 3 * BATCH + PACK * 10) + u64::from(columns);
        u64::from(self.threads) * (u64::from(band) + u64::from(self.taps) + 2) * row
    }
}
