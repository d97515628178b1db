//! The tile of a block, and the positions of its threads in the tile.

use super::Layout;
use cuda_std::thread;

/// A tile of one of the matrices. Rows and columns are the input's, in elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) matrix: u64,
    /// Index of the first row.
    pub(super) row: u64,
    /// Index of the first column.
    pub(super) column: u64,
    /// Number of rows; smaller at the end of the matrix.
    pub(super) rows: u32,
    /// Number of columns; smaller at the end of the matrix.
    pub(super) columns: u32,
}

impl Tile {
    /// Returns the tile of the block.
    ///
    /// The x axis of the grid runs down the rows of tiles, y across the columns of tiles, and z over the matrices. So blocks
    /// that run at the same time write neighbouring parts of the same output rows. If there are more columns of tiles than a
    /// grid has blocks along y, several columns are side by side along x. Blocks beyond the last column have an empty tile.
    #[inline(always)]
    pub(super) fn of_block(layout: &Layout) -> Self {
        let (block, across) = (thread::block_idx_x(), thread::block_idx_y() << layout.across_log2);
        let place = [block >> layout.across_log2, across + block % (1 << layout.across_log2)];
        Tile::at(layout, layout.first_matrix + thread::block_idx_z() as u64, place)
    }

    /// Returns the tile with the given index down and across.
    #[inline(always)]
    pub(super) fn at(layout: &Layout, matrix: u64, [down, across]: [u32; 2]) -> Self {
        let row = down as u64 * layout.tile_rows as u64;
        let column = across as u64 * layout.tile_columns as u64;
        let columns = layout.columns.saturating_sub(column).min(layout.tile_columns as u64) as u32;
        let rows = layout.rows.saturating_sub(row).min(layout.tile_rows as u64) as u32;
        // Without columns there are no rows either, so that no kernel does anything.
        let rows = if columns == 0 { 0 } else { rows };
        Tile { matrix, row, column, rows, columns }
    }

    /// Returns the start of the tile in the input, for groups of `elements` elements with `units` units each.
    #[inline(always)]
    pub(super) fn source(&self, layout: &Layout, elements: u32, units: u32) -> u64 {
        let in_row = self.column / elements as u64 * units as u64;
        self.matrix * layout.input_matrix + self.row * layout.input_pitch + in_row
    }

    /// Returns the start of the transposed tile in the output, for groups of `elements` elements with `units` units each.
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
    /// Returns the thread's first position, in rows of `width` units.
    #[inline(always)]
    pub(super) fn new(width: u32) -> Self {
        let (t, threads, width) = (thread::thread_idx_x(), thread::block_dim_x(), width.max(1));
        Walk { line: t / width, place: t % width, width, lines: threads / width, places: threads % width }
    }

    /// Advances to the thread's next position, without a division.
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

/// Returns the element, and the unit in the element, of a position in a row of elements with `units` units each.
#[inline(always)]
pub(super) fn element_of(place: u32, units: u32) -> (u32, u32) {
    match units {
        1 => (place, 0),
        _ => (place / units.max(1), place % units.max(1)),
    }
}
