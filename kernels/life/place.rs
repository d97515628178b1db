//! The words that a thread computes. Blocks have one index, along x of the grid, and cover the board row of blocks by row of
//! blocks.

use cuda_std::thread;

/// A column of words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Index of the word in its row, or of the cell.
    pub(super) column: u32,
    /// The first row.
    pub(super) row: u32,
}

impl Place {
    /// Returns the place of the thread, for rows of `width` words and threads that compute `rows` rows. It may be outside of
    /// the board.
    #[inline(always)]
    pub(super) fn of_thread(width: u32, rows: u32) -> Self {
        let [across, down] = block(width.div_ceil(thread::block_dim_x()));
        let column = across * thread::block_dim_x() + thread::thread_idx_x();
        let row = (down * thread::block_dim_y() + thread::thread_idx_y()).saturating_mul(rows);
        Place { column, row }
    }
}

/// The warps of a grid that share some work.
pub(super) struct Warps {
    /// Number of this warp, from 0.
    pub(super) index: u32,
    /// Number of warps.
    pub(super) count: u32,
}

impl Warps {
    /// Returns the warps if `per_block` of each block share the work, and this is number `warp` of them in its block.
    #[inline(always)]
    pub(super) fn of_blocks(per_block: u32, warp: u32) -> Self {
        Warps { index: thread::block_idx_x() * per_block + warp, count: thread::grid_dim_x() * per_block }
    }
}

/// Returns the indices of the block across and down, if `across` blocks cover a row.
#[inline(always)]
pub(super) fn block(across: u32) -> [u32; 2] {
    across_and_down(thread::block_idx_x(), across)
}

/// Returns the indices across and down of block or warp number `index`, if `across` of them cover a row.
#[inline(always)]
pub(super) fn across_and_down(index: u32, across: u32) -> [u32; 2] {
    // Never 0; `max` shows that to the compiler, which then omits its check for division by zero.
    let across = across.max(1);
    [index % across, index / across]
}
