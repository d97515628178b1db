//! Constants of filters that were chosen by measurement: `benches/RESULTS.md`, "Why the tuning is as it is".

use slm_kernels::filter1d::LaunchConstants;

/// Returns the constants for all devices, chosen on an H200.
///
/// With these constants, little more time is taken than by the multiply-adds alone. The number of sums per thread is compiled into
/// the kernels (`ROW_PACKS` and `COLUMN_PACKS` of `slm_kernels::filter1d`).
///
/// They are the same for all devices:
///
/// * Shared memory limits the taps of a launch, which `Geometry::chunk` computes from the device's. A tile of 3,584 outputs
///   and a halo of 256 samples takes 15 KiB, so four blocks fit even on a multiprocessor with 64 KiB.
/// * The number of multiprocessors matters only for signals with fewer tiles than multiprocessors: 473,088 outputs on an H200.
///   Smaller tiles for these were not measured.
/// * The L2 cache does not matter: each sample is read once, except for halos.
pub(super) const fn tuning() -> LaunchConstants {
    LaunchConstants {
        // Four warps: with 28 sums per thread, a tile has 3,584 outputs, so several blocks fit on a multiprocessor. Not measured
        // separately.
        row_threads: 128,
        // A line's halo is as long as its taps: with more taps, the halos of several lines would be most of a tile. Not measured
        // separately.
        most_taps_of_short_lines: 1024,
        // With 32 columns, these are 256 threads, and 160 outputs of `f32` per column. Not measured separately.
        column_threads: 8,
    }
}
