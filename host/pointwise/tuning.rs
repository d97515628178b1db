//! Constants of pointwise operations, derived from properties of the device.

use crate::device::info::DeviceInfo;
use slm_kernels::pointwise::LaunchConstants;

/// Returns the constants for a device.
///
/// Kernels have no tiles, shared memory or iterations, so nothing else depends on the device: each thread computes one pack, and
/// memory limits them all. The size of a pack is compiled into the kernels.
pub(super) fn tuning(info: &DeviceInfo) -> LaunchConstants {
    // With eight warps, rows of few packs leave few threads idle, and blocks are few. Not measured separately.
    let threads = 256;
    // A multiprocessor is full only if its threads are a multiple of a block's; the number of every GPU so far is one.
    let resident = info.threads_per_multiprocessor.unwrap_or(threads);
    LaunchConstants { threads: if resident.is_multiple_of(threads) { threads } else { threads / 2 } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn blocks_fill_a_multiprocessor() {
        let of = |threads_per_multiprocessor| {
            let info = DeviceInfo { threads_per_multiprocessor, ..Device::cpu().info().clone() };
            tuning(&info).threads
        };
        // Compute capabilities 7.5, 8.6 and 9.0, and one that does not exist.
        assert_eq!([1024, 1536, 2048, 1920].map(|threads| of(Some(threads))), [256, 256, 256, 128]);
        assert_eq!(of(None), 256);
    }
}
