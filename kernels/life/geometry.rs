//! From a board's size to grid, block and shared memory: what the host has to know.

use super::{census, packed, tile};
use cuda_std::shared_bytes;

/// Threads of a block.
const THREADS: u32 = 256;

/// Minimum number of words of 64 cells that each thread of a census counts, unless there are fewer.
const WORDS_OF_CENSUS: u64 = 8;

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

    /// Returns how to launch a census of `words` words of 64 cells. Each multiprocessor has at most eight blocks at a time.
    #[must_use]
    pub fn census(words: u64, processors: u64) -> Self {
        let blocks = words.div_ceil(u64::from(census::THREADS) * WORDS_OF_CENSUS);
        let blocks = blocks.clamp(1, 8 * processors.max(1));
        Geometry { blocks, block: [census::THREADS, 1], shared_bytes: 0 }
    }

    /// Returns how to launch a thread for each of so many rows and columns. Narrow boards have higher blocks.
    fn of_threads([rows, columns]: [u64; 2]) -> Self {
        let width = columns.clamp(1, 32).next_power_of_two() as u32;
        let block = [width, THREADS / width];
        let blocks = columns.div_ceil(width.into()) * rows.div_ceil(block[1].into());
        Geometry { blocks, block, shared_bytes: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(Geometry::census(1, 132), of(1, [256, 1], 0));
        assert_eq!(Geometry::census(1 << 40, 132), of(1056, [256, 1], 0));
    }
}
