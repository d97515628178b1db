//! Which elements a thread computes.

use cuda_std::{arguments, thread};

arguments! {
    /// The rows of a matrix. The threads of a block are neighbours along x in a row, and along y in several rows. The blocks
    /// along x divide a row into tiles.
    pub struct Lines {
        /// Rows.
        pub rows: u64,
        /// Elements of a row.
        pub columns: u64,
        /// First group of rows of this launch: a group takes one row of blocks.
        pub first_group: u64,
        /// Not 0 if the rows of all matrices begin at multiples of packs.
        pub aligned: u32,
    }
}

/// The elements of a thread: neighbours in a row.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    row: u64,
    column: u64,
    /// Number of elements, which may be 0.
    pub(super) len: u32,
    /// Whether they are a pack that can be moved in one access.
    pub(super) is_pack: bool,
}

impl Lines {
    /// Returns the place of the calling thread, which computes up to `pack` elements.
    #[inline(always)]
    pub(super) fn place(&self, pack: u32) -> Place {
        let group = self.first_group + thread::block_idx_y() as u64;
        let row = group * thread::block_dim_y() as u64 + thread::thread_idx_y() as u64;
        let tile = thread::block_idx_x() as u64 * thread::block_dim_x() as u64;
        let column = (tile + thread::thread_idx_x() as u64) * pack as u64;
        let left = if row < self.rows { self.columns.saturating_sub(column) } else { 0 };
        let len = left.min(pack as u64) as u32;
        Place { row, column, len, is_pack: len == pack && self.aligned != 0 }
    }
}

impl Place {
    /// Returns the index of the thread's first element in a matrix with this row pitch. It wraps around only for threads without
    /// elements.
    #[inline(always)]
    pub(super) fn index(&self, pitch: u64) -> u64 {
        self.row.wrapping_mul(pitch).wrapping_add(self.column)
    }

    /// The same for the first channel of the thread's first pixel.
    #[inline(always)]
    pub(super) fn pixel(&self, pitch: u64, channels: u32) -> u64 {
        self.row.wrapping_mul(pitch).wrapping_add(self.column * channels as u64)
    }
}
