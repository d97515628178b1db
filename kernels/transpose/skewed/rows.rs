//! The rows that a block needs, and their positions in shared memory.

use super::unit::{Skew, Unit};
use crate::transpose::tile::Tile;
use crate::transpose::{Layout, Places, SkewedArgs};

impl Places {
    #[inline(always)]
    pub(super) fn is_run(&self) -> bool {
        self.rows == 0
    }
}

/// The rows of a tile and its halo that exist in the matrix.
pub(super) struct Rows {
    /// Number of rows of the halo that would be before the matrix.
    pub(super) skipped: u32,
    /// Number of rows that exist.
    pub(super) count: u32,
    /// Index in the input of the tile's first unit in the first of these rows.
    pub(super) first: u64,
    /// Position in its word of the tile's first unit in the halo's first row, whether that row exists or not.
    shift: u32,
}

impl Rows {
    #[inline(always)]
    pub(super) fn new(layout: &Layout, tile: &Tile, skew: Skew) -> Self {
        let halo = skew.halo();
        let skipped = if tile.row < halo as u64 { halo - tile.row as u32 } else { 0 };
        let count = (layout.rows + halo as u64).saturating_sub(tile.row).min((layout.tile_rows + halo) as u64) as u32;
        let source = tile.source(layout, 1, skew.units);
        let before = (halo - skipped) as u64 * layout.input_pitch;
        let shift = (source as u32).wrapping_sub(halo * layout.input_pitch as u32) % skew.per_word;
        Rows { skipped, count: count.saturating_sub(skipped), first: source.wrapping_sub(before), shift }
    }

    /// Returns the position in shared memory of unit `n` of the tile's first column, counted from the halo's first row.
    #[inline(always)]
    pub(super) fn place<U: Unit>(&self, args: &SkewedArgs<U>, skew: Skew, n: u32) -> u32 {
        let (row, per_word) = (n / skew.units, skew.per_word);
        // In a run, all rows have the same shift.
        let pitch = if args.places.is_run() { 0 } else { args.layout.input_pitch as u32 };
        let shift = self.shift.wrapping_add(row.wrapping_mul(pitch)) % per_word;
        let start = row % per_word * args.places.row_pitch + row / per_word * args.layout.tile_pitch * per_word;
        start + shift + n % skew.units
    }
}
