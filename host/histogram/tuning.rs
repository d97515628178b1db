//! Constants of histograms, chosen by measurement or derived from properties of the device.
//!
//! `benches/RESULTS.md` has the measurements.
//!
//! Nothing depends on the L2 cache: all counters that ranges can replace fit into that of every supported GPU, and with more
//! counters than it holds, ranges would be slower still, because each reads all samples.

use crate::device::info::{DeviceInfo, SharedMemory};
use slm_kernels::histogram::{LaunchConstants, SharedLimits};

/// Constants for a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistogramTuning {
    /// Constants of the kernels' launches.
    pub(super) launches: LaunchConstants,
    /// Shared memory of the device.
    pub(super) memory: SharedLimits,
    /// Maximum number of copies of a counter.
    pub(super) copies: u32,
    /// Maximum number of ranges of counters for which reading the samples once per range is faster than additions in global
    /// memory.
    pub(super) ranges: u32,
    /// The same maximum for several channels.
    pub(super) ranges_of_channels: u32,
    /// The same maximum for one channel of samples between edges.
    pub(super) guided_ranges: u32,
    /// The same maximum for several channels of samples between edges.
    pub(super) searched_ranges: u32,
    /// Number of multiprocessors.
    pub(super) processors: u32,
}

impl HistogramTuning {
    pub(super) fn new(info: &DeviceInfo, shared: SharedMemory) -> Self {
        // The maximum number of threads: a block's counters are added up once, for any number of threads. Fewer were not
        // measured separately.
        let threads = 1024;
        let threads_of_multiprocessor = info.threads_per_multiprocessor.unwrap_or(threads);
        // As many blocks of eight warps as fit into a multiprocessor. Not measured separately.
        let weighing_threads = 256;
        HistogramTuning {
            launches: LaunchConstants {
                threads,
                // As many as are resident, so that the samples are distributed to the blocks once. Therefore the kernels
                // have at most 32 registers; with 38 to 40 registers, one block was resident instead of two.
                blocks: (threads_of_multiprocessor / threads).max(1),
                // The maximum number of threads. Atomic additions are faster even so: this algorithm is only for comparison.
                groups: 8,
                weighing_threads,
                weighing_blocks: (threads_of_multiprocessor / weighing_threads).max(1),
                // Two blocks per multiprocessor of an H200. Not measured separately.
                weighing_bytes: shared.max_per_block.min(96 << 10),
                // Enough for 65,536 bins of weights of `f64`. Each range reads all samples; on an H200, four of them took 770 µs for 2^26
                // `f32` weights of uniform samples, additions in global memory 1,000 or more. Larger numbers were not measured.
                weighing_ranges: 6,
            },
            memory: SharedLimits {
                block: shared.max_per_block,
                multiprocessor: shared.per_multiprocessor,
                reserved: shared.reserved_per_block,
            },
            // One per lane of a warp.
            copies: 32,
            // Each range reads all samples, so its time depends on the number of ranges alone. Additions in global memory are
            // faster for data in few bins, and slower, by a larger difference, for data in many bins.
            ranges: 7,
            // Ranges of several channels use a slower path, which was not measured.
            ranges_of_channels: 4,
            // On an H200, 2^18 bins of `f32`, which need 12 ranges, took 827 to 914 us whatever the data, in global memory 786 to
            // 4,272 us. Other numbers and types were not measured.
            guided_ranges: 12,
            // Each range repeats the search.
            searched_ranges: 1,
            processors: info.processors as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::info::Backend;
    use slm_kernels::histogram::{Geometry, KernelFamily};

    fn gpu(compute_capability: (u32, u32), processors: usize, threads: u32, shared_kib: [u64; 2]) -> HistogramTuning {
        let shared = SharedMemory::of_kib(shared_kib[0], shared_kib[1]);
        let info = DeviceInfo {
            backend: Backend::Cuda,
            name: "a GPU".to_owned(),
            selection: "chosen".to_owned(),
            compute_capability: Some(compute_capability),
            processors,
            threads_per_multiprocessor: Some(threads),
            memory: Some(1 << 32),
            l2_cache: None,
            shared_memory: Some(shared),
        };
        HistogramTuning::new(&info, shared)
    }

    #[test]
    fn numbers_follow_the_device() {
        // An H200, an A10 and a T4.
        let [h200, a10, t4] =
            [gpu((9, 0), 132, 2048, [227, 228]), gpu((8, 6), 72, 1536, [99, 100]), gpu((7, 5), 40, 1024, [64, 64])];
        assert_eq!([h200, a10, t4].map(|tuning| tuning.launches.blocks), [2, 1, 1]);
        assert_eq!([h200, a10, t4].map(|tuning| tuning.launches.weighing_blocks), [8, 6, 4]);
        assert_eq!([h200, a10, t4].map(|tuning| tuning.memory.reserved), [1024, 1024, 0]);
        assert_eq!([h200, a10, t4].map(|tuning| tuning.processors), [132, 72, 40]);
    }

    /// The smallest number of counters for which ranges are not used, with the L2 caches of an H200, an A10 and a T4.
    #[test]
    fn counters_of_all_ranges_fit_into_the_l2_cache() {
        let devices = [(gpu((9, 0), 132, 2048, [227, 228]), 60), (gpu((8, 6), 72, 1536, [99, 100]), 6)];
        for (tuning, l2_mib) in devices.into_iter().chain([(gpu((7, 5), 40, 1024, [64, 64]), 4)]) {
            let counters = u64::from(tuning.ranges + 1) * tuning.memory.block / 4;
            assert!(counters * 8 < l2_mib << 20, "{tuning:?}");
        }
    }

    #[test]
    fn grids_have_as_many_blocks_as_are_resident() {
        let grid = |tuning: HistogramTuning, counters| {
            let kernel = KernelFamily::Shared { most_copies: tuning.copies };
            let geometry = Geometry::new(kernel, counters, tuning.memory, &tuning.launches);
            (geometry.grid(1 << 27, tuning.processors), geometry.shared_bytes)
        };
        let (h200, t4) = (gpu((9, 0), 132, 2048, [227, 228]), gpu((7, 5), 40, 1024, [64, 64]));
        assert_eq!(grid(h200, 256), (264, 32 << 10));
        assert_eq!(grid(t4, 256), (40, 32 << 10));
        assert_eq!(grid(h200, 40_000), (132, 160_000));
        // Two ranges.
        assert_eq!(grid(h200, 65_536), (132, 131_088));
    }

    /// The same for bins with a guide: all of a range fits into a block, and a guide has an entry for each bin at least.
    #[test]
    fn ranges_with_guides_fit_at_their_limits() {
        for tuning in [gpu((9, 0), 132, 2048, [227, 228]), gpu((7, 5), 40, 1024, [64, 64])] {
            let HistogramTuning { memory, copies: most_copies, .. } = tuning;
            for edge_bytes in [2u32, 4, 8] {
                let per_bin = 4 + edge_bytes + 2;
                let capacity = memory.block as u32 / per_bin;
                // With 2-byte edges, 16,384 bins have room for as many entries as a guide may have.
                let ends = [1..300, 16_300..16_700];
                for bins in
                    ends.into_iter().flatten().chain((1..=13).flat_map(|k| k * capacity - 60..=k * capacity + 5))
                {
                    let kernel = KernelFamily::Guided { edge_bytes, most_copies };
                    let geometry = Geometry::new(kernel, bins + 3, memory, &tuning.launches);
                    let Geometry { ranges, range, shared_bytes, copies_log2, entries, .. } = geometry;
                    let used = u64::from(((range + 3) << copies_log2) * 4 + range * edge_bytes + entries * 2 + 4);
                    assert!(shared_bytes <= memory.block && shared_bytes >= used, "{bins}: {geometry:?}");
                    assert!((ranges - 1) * range < bins && bins <= ranges * range, "{bins}: {geometry:?}");
                    assert!(geometry.has_guide() && entries >= range && entries <= 1 << 16, "{bins}: {geometry:?}");
                    assert!(ranges == 1 || copies_log2 == 0, "{bins}: {geometry:?}");
                    // As few ranges as possible, but for what is there once and rounded up.
                    let least = bins.div_ceil(capacity)..=bins.div_ceil(capacity - 128 / per_bin - 1);
                    assert!(least.contains(&ranges), "{bins}: {geometry:?}");
                }
            }
        }
    }

    /// Every counter is in a range, no range is empty, and each fits into a block with the counter for samples of other ranges.
    #[test]
    fn ranges_fit_at_their_limits() {
        for tuning in [gpu((9, 0), 132, 2048, [227, 228]), gpu((7, 5), 40, 1024, [64, 64])] {
            let block = tuning.memory.block;
            let capacity = (block / 4) as u32;
            for counters in (1..=4).flat_map(|k| k * capacity - 5..=k * capacity + 5) {
                let kernel = KernelFamily::Shared { most_copies: tuning.copies };
                let geometry = Geometry::new(kernel, counters, tuning.memory, &tuning.launches);
                let Geometry { ranges, range, shared_bytes, copies_log2, .. } = geometry;
                let used = 4 * u64::from(range + u32::from(ranges > 1));
                assert!(shared_bytes <= block && shared_bytes >= used, "{counters}: {geometry:?}");
                assert!((ranges - 1) * range < counters && counters <= ranges * range, "{counters}: {geometry:?}");
                assert_eq!(
                    (copies_log2, geometry.is_alone(), ranges > 1),
                    (0, true, counters > capacity),
                    "{counters}"
                );
            }
        }
    }
}
