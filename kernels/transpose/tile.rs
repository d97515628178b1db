//! The part of a matrix that a block transposes, and the way of its threads through it.

use super::Layout;
use cuda_std::thread;

/// A tile of one of the matrices: rows and columns of elements of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) matrix: u64,
    /// The first row.
    pub(super) row: u64,
    /// The first column.
    pub(super) column: u64,
    /// How many rows of it there are; fewer than elsewhere at the matrix's end.
    pub(super) rows: u32,
    /// How many columns of it there are.
    pub(super) columns: u32,
}

impl Tile {
    /// The block's: along x of the grid tiles follow each other down, along y are the columns of tiles, along z
    /// matrices. So blocks that run at a time write neighbouring parts of the same rows of the output. If there are
    /// more columns of tiles than a grid has blocks along y, several stand side by side along x; blocks beyond the last
    /// one have neither rows nor columns.
    #[inline(always)]
    pub(super) fn of_block(layout: &Layout) -> Self {
        let (block, across) = (thread::block_idx_x(), thread::block_idx_y() << layout.across_log2);
        let place = [block >> layout.across_log2, across + block % (1 << layout.across_log2)];
        Tile::at(layout, layout.first_matrix + thread::block_idx_z() as u64, place)
    }

    /// The tile at a place, counted in tiles down and across.
    #[inline(always)]
    pub(super) fn at(layout: &Layout, matrix: u64, [down, across]: [u32; 2]) -> Self {
        let row = down as u64 * layout.tile_rows as u64;
        let column = across as u64 * layout.tile_columns as u64;
        let columns = layout.columns.saturating_sub(column).min(layout.tile_columns as u64) as u32;
        let rows = layout.rows.saturating_sub(row).min(layout.tile_rows as u64) as u32;
        // Beyond the last column there is nothing to do for any kernel: no rows either.
        let rows = if columns == 0 { 0 } else { rows };
        Tile { matrix, row, column, rows, columns }
    }

    /// Returns the start of the tile in the input, for groups of `elements` elements with `units` units each.
    #[inline(always)]
    pub(super) fn source(&self, layout: &Layout, elements: u32, units: u32) -> u64 {
        let in_row = self.column / elements as u64 * units as u64;
        self.matrix * layout.input_matrix + self.row * layout.input_pitch + in_row
    }

    /// Where it begins, transposed, in the output.
    #[inline(always)]
    pub(super) fn target(&self, layout: &Layout, elements: u32, units: u32) -> u64 {
        let in_row = self.row / elements as u64 * units as u64;
        self.matrix * layout.output_matrix + self.column * layout.output_pitch + in_row
    }
}

/// Iterates over a thread's positions in row-major order, striding by the block size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    pub(super) line: u32,
    pub(super) place: u32,
    width: u32,
    lines: u32,
    places: u32,
}

impl Walk {
    /// The thread's first place.
    #[inline(always)]
    pub(super) fn new(width: u32) -> Self {
        let (t, threads, width) = (thread::thread_idx_x(), thread::block_dim_x(), width.max(1));
        Walk { line: t / width, place: t % width, width, lines: threads / width, places: threads % width }
    }

    /// On to its next place; without a division.
    #[inline(always)]
    pub(super) fn step(&mut self) {
        self.line += self.lines;
        self.place += self.places;
        if self.place >= self.width {
            self.place -= self.width;
            self.line += 1;
        }
    }
}

/// Element and unit of a place in a line of elements of `units` units.
#[inline(always)]
pub(super) fn element_of(place: u32, units: u32) -> (u32, u32) {
    match units {
        1 => (place, 0),
        _ => (place / units.max(1), place % units.max(1)),
    }
}
