//! Constants of transpositions, chosen by measurement or derived from properties of the device.
//!
//! `benches/RESULTS.md` has the measurements, on an H200. Nothing depends on the L2 cache: tiles are in shared memory, so each element
//! is read and written once.

use crate::device::info::{Backend, DeviceInfo};
use slm_kernels::transpose as kernels;

/// Constants for a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransposeTuning {
    /// Constants of the kernels' launches.
    pub(super) launches: kernels::LaunchConstants,
    /// Minimum bytes of elements that the naive kernel moves at full speed, because neighbouring threads share an element.
    pub(super) long_element: u64,
    /// Maximum bytes of a matrix that stays in the cache until it is written.
    pub(super) small_matrix: u64,
    /// Maximum rows of matrices that the shared kernel transposes in less time than skewed ones: with elements that one access moves, and
    /// with others.
    pub(super) few_rows: [u64; 2],
}

/// Number of multiprocessors of an H200.
const PROCESSORS_OF_H200: u64 = 132;

/// Minimum number of blocks of long tiles per multiprocessor, 3.4, as a fraction. Fewer blocks took longer for narrow matrices.
const LONG_TILES: [u64; 2] = [17, 5];

impl TransposeTuning {
    pub(super) fn new(info: &DeviceInfo) -> Self {
        // Emulated devices run the same configuration as GPUs.
        let processors = match info.backend {
            Backend::Cuda => info.processors as u64,
            Backend::Cpu | Backend::Emulated => PROCESSORS_OF_H200,
        };
        TransposeTuning {
            launches: launches(processors),
            // Two sectors. Not measured separately.
            long_element: 64,
            // The first-level cache of every GPU so far can hold many such matrices; the second-level cache is not needed. Not
            // measured separately.
            small_matrix: 2048,
            few_rows: [16, 8],
        }
    }
}

/// Returns the constants of the kernels' launches. The sizes of tiles were tried with 16383 x 8191 and 1,000,003 x 7
/// elements of all sizes.
fn launches(processors: u64) -> kernels::LaunchConstants {
    let [tiles, multiprocessors] = LONG_TILES;
    kernels::LaunchConstants {
        // Square tiles of 64 x 64 elements of 4 bytes, and of 128 x 128 bytes.
        tile_bytes: 16 << 10,
        longest_side: 128,
        // For four blocks per multiprocessor of compute capability 9.0, and for one block with 64 KiB.
        shared_bytes: 56 << 10,
        // 16 sectors per row of the output, half as many for elements of 1 and 2 bytes, twice as many for 12 and 16.
        row_bytes: 512,
        // Four blocks are also resident with 64 registers per thread.
        skewed_bytes: 41 << 10,
        // Not measured separately.
        run_bytes: 96,
        narrow_bytes: 24 << 10,
        fewest_blocks: (processors * tiles / multiprocessors).max(1),
        // Chosen with 1,000,003 x 7 elements of 3 bytes.
        few_columns: 8,
        // 8, 12 and 24 KiB took about the same time, or up to 25 % more.
        whole_bytes: 16 << 10,
        // Skewed kernels took 7 to 11 % less time for 100 x 100 and 101 x 101 elements, 35 % more for 63 x 65.
        largest_of_words: 18 << 10,
        // Without gaps, where many lanes have the same bank, 80 x 80 bytes still took 10 % less time than with a skewed kernel. The number itself
        // was not measured.
        most_wavefronts: 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tiles_leave_work_for_all_multiprocessors() {
        assert_eq!([132, 40, 1, 0].map(|processors| launches(processors).fewest_blocks), [448, 136, 3, 1]);
    }
}
