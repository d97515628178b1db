//! The rows that a block needs, and where they are in shared memory.

use super::unit::{Skew, Unit};
use crate::transpose::tile::Tile;
use crate::transpose::{Layout, Places, SkewedArgs};

impl Places {
    #[inline(always)]
    pub(super) fn is_run(&self) -> bool {
        self.rows == 0
    }
}

/// Which rows of a tile, and of those before it, there are.
pub(super) struct Rows {
    /// So many of the halo's rows would be before the matrix.
    pub(super) skipped: u32,
    /// How many there are.
    pub(super) count: u32,
    /// The first unit of the first one, counted from the input's.
    pub(super) first: u64,
    /// The first unit of the halo's first row, whether it exists or not, in its word.
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

    /// Where in shared memory the unit `n` of the tile's first column is, counted from the halo's first row on.
    #[inline(always)]
    pub(super) fn place<U: Unit>(&self, args: &SkewedArgs<U>, skew: Skew, n: u32) -> u32 {
        let (row, per_word) = (n / skew.units, skew.per_word);
        // In a run, all rows are shifted alike.
        let pitch = if args.places.is_run() { 0 } else { args.layout.input_pitch as u32 };
        let shift = self.shift.wrapping_add(row.wrapping_mul(pitch)) % per_word;
        let start = row % per_word * args.places.row_pitch + row / per_word * args.layout.tile_pitch * per_word;
        start + shift + n % skew.units
    }
}
