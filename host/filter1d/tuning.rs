//! Constants of filters that were chosen by measurement.

use slm_kernels::filter1d::Tuning;

/// Returns the constants for all devices: those of an H200. None has been measured to depend on a property of the device.
///
/// With them 257 taps of `f32` take 632 µs for 2^26 samples, where the multiply-adds alone take 551; of `i32` 1,089 and 1,066.
/// The sums of a thread are compiled into the kernels (`ROW_PACKS` and `COLUMN_PACKS` of `slm_kernels::filter1d`).
pub(super) const fn tuning() -> Tuning {
    Tuning {
        // Four warps: with 28 sums of a thread a tile has 3,584 outputs, which several blocks have room for.
        row_threads: 128,
        // A line's halo is as long as its taps: with more of them, the halos of several lines would be most of a tile.
        most_taps_of_short_lines: 1024,
        // With 32 columns 256 threads, and 160 outputs of `f32` of each.
        column_threads: 8,
    }
}
