//! Grid, block and shared memory of permutations.

use crate::transpose::{Cycles, Panel, Shuffled, THREADS, gather, rotate};
use cuda_std::shared_bytes;

/// Bytes of a pack.
const PACK: u64 = 16;

/// Threads of a block that shuffles rows. (256 and 1024 were slower for 16384 x 12288 elements of 4 bytes.)
const SHUFFLING_THREADS: u32 = 512;

/// Bytes of rows from which on a block has twice as many threads, because less than four blocks are resident. Not measured separately.
const LONG_ROW: u64 = 56 << 10;

/// Returns the binary logarithm of the number of threads for `units` units: enough, but not more than `most`.
fn lanes_log2(units: u64, most: u32) -> u32 {
    units.min(u64::from(most)).next_power_of_two().ilog2()
}

impl Panel {
    /// Returns the panel with the sizes that follow from the others, for units of `unit` bytes.
    #[must_use]
    pub fn completed(self, unit: u32) -> Self {
        // The cast is exact: an element, and so a panel that is wider than memory can have rows, has less than 2^32 units.
        let tiles_across = self.width.div_ceil(u64::from(rotate::columns(unit))) as u32;
        Panel { tiles_across, lanes_log2: lanes_log2(self.width, 32), ..self }
    }

    /// Returns the same panel in packs of 16 bytes instead of units of `unit` bytes, or `None` if its rows are not whole aligned packs.
    /// Only for the kernel that gathers.
    #[must_use]
    pub fn in_packs(self, unit: u32) -> Option<Self> {
        let per_pack = PACK / u64::from(unit);
        let sizes = [self.first, self.pitch, self.first_unit, self.width];
        let [first, pitch, first_unit, width] = sizes.map(|size| size / per_pack);
        let whole = sizes.iter().all(|size| size.is_multiple_of(per_pack));
        whole.then_some(Panel { first, pitch, first_unit, width, lanes_log2: lanes_log2(width, 32), ..self })
    }

    /// Returns the threads, the blocks and the shared bytes of a block for the kernel that rotates columns.
    #[must_use]
    pub fn rotating(&self, unit: u32) -> (u32, u64, u64) {
        let blocks = self.rows.div_ceil(rotate::ROWS.into()).saturating_mul(self.tiles_across.into());
        (THREADS, blocks, shared_bytes::<u8>(u64::from(rotate::ROWS * rotate::pitch(unit) * unit)))
    }

    /// Returns the threads and the blocks for the kernel that gathers rows.
    #[must_use]
    pub fn gathering(&self) -> (u32, u64) {
        (THREADS, self.rows.div_ceil(gather::rows(self.lanes_log2).into()))
    }
}

impl Shuffled {
    /// Returns the shuffled rows of `matrices` matrices with the given greatest common divisor of rows and columns, of elements of
    /// `units` units of `unit` bytes. `None` if an element has more units than a block has threads, or if the units of a row do not
    /// fit into 32 bits.
    #[must_use]
    pub fn new(matrices: u64, [rows, columns]: [u64; 2], divisor: u64, units: u32, unit: u32) -> Option<Self> {
        let width = u32::try_from(columns.checked_mul(units.into())?).ok()?;
        let columns = u32::try_from(columns).ok()?;
        // A thread has about 16 units of a row, unless rows are short.
        let most =
            if u64::from(width) * u64::from(unit) > LONG_ROW { 2 * SHUFFLING_THREADS } else { SHUFFLING_THREADS };
        let lanes = (width / 16).clamp(width.min(32), most).max(units);
        if lanes > most {
            return None;
        }
        let lanes_log2 = lanes.next_power_of_two().ilog2();
        let rows_rest = (rows % u64::from(columns)) as u32;
        // Rows of different groups in a warp are in different banks.
        let between_groups = if lanes_log2 < 5 { 1 << lanes_log2 } else { 0 };
        let pitch = width.checked_next_multiple_of(32)?.checked_add(between_groups)?;
        // Odd distances need no swizzle: it is 0 for all units.
        let swizzle = if rows_rest % 2 == 1 || rows_rest == 0 { 31 } else { rows_rest.trailing_zeros().max(5) };
        let alike = columns / divisor as u32;
        Some(Shuffled { lines: rows * matrices, rows, columns, rows_rest, alike, units, pitch, lanes_log2, swizzle })
    }

    /// Returns the threads, the blocks and the shared bytes of a block, for units of `unit` bytes.
    #[must_use]
    pub fn launch(&self, unit: u32) -> (u32, u64, u64) {
        let threads = SHUFFLING_THREADS.max(1 << self.lanes_log2);
        let groups = threads >> self.lanes_log2;
        let shared = shared_bytes::<u8>(u64::from(groups) * u64::from(self.pitch) * u64::from(unit));
        (threads, self.lines.div_ceil(groups.into()), shared)
    }
}

impl Cycles {
    /// Returns the sizes for `chunks` chunks of `chunk` words in at most `segments` segments.
    #[must_use]
    pub fn new(chunks: u32, chunk: u32, segments: u32) -> Self {
        let per_segment = chunks.div_ceil(segments.max(1)).max(1);
        let lanes_log2 = lanes_log2(u64::from(chunk) * 4 / PACK, THREADS);
        Cycles { chunks, chunk, segments: chunks.div_ceil(per_segment), per_segment, lanes_log2 }
    }

    /// Returns the threads, and the blocks along x and y.
    #[must_use]
    pub fn launch(&self) -> (u32, [u64; 2]) {
        let packs = u64::from(self.chunk) * 4 / PACK;
        let blocks = self.segments.div_ceil(THREADS >> self.lanes_log2);
        (THREADS, [blocks.into(), packs.div_ceil(1 << self.lanes_log2)])
    }
}
