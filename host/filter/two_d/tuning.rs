//! Constants of filters on GPUs that were chosen by measurement: `benches/RESULTS.md`, "Why the tuning is as it is".

/// Constants for the choice of kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter2dTuning {
    /// Minimum number of rows plus columns of a box for which `Auto` chooses the kernel of boxes, where one launch makes two passes
    /// for other products.
    pub(super) least_box: usize,
    /// The same for other types and channels.
    pub(super) least_box_of_others: usize,
    /// Rows and columns of a box of pixels of four bytes that takes less time as an outer product than as running sums.
    pub(super) not_running: [usize; 2],
    /// Percentage by which more waves of blocks may take longer by the estimate of `Bands`, and are taken nevertheless, for 3 x 3
    /// weights of `f32`.
    pub(super) spare_for_waves: u64,
    /// When two launches take less time than `RegisterTiled`.
    pub(super) over_register_tiled: Threshold,
    /// When two launches take less time than other kernels that take all weights at once.
    pub(super) over_others: Threshold,
}

/// From `overhead + cost · (products of both passes)` products on. Two passes also request memory for the row sums, write them and
/// read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub(super) overhead: usize,
    pub(super) cost: usize,
}

impl Threshold {
    /// Returns whether two passes take less time for weights of these rows and columns. The first one also computes rows that the
    /// stride leaves out.
    pub(super) fn is_reached(self, [rows, columns]: [usize; 2], row_stride: usize) -> bool {
        let both = row_stride.saturating_mul(columns).saturating_add(rows);
        rows.saturating_mul(columns) >= both.saturating_mul(self.cost).saturating_add(self.overhead)
    }
}

/// Returns the constants for all devices, chosen on an H200 with 8192 x 8192 pixels. They compare kernels, and were not measured on
/// other GPUs. How many blocks and warps a device runs is asked for each kernel (`BandLaunches::new`, `highest_occupancy`).
pub(super) const fn tuning() -> Filter2dTuning {
    Filter2dTuning {
        // Smaller boxes, and those of few rows or columns, take less time as outer products.
        least_box: 28,
        // From 9 x 9 on, boxes take less time than `RegisterTiled`, or nearly the same for three and four channels of `u8`.
        least_box_of_others: 18,
        // A box of 3 x 3 takes three quarters of the time as an outer product, and one of 5 x 5 takes longer.
        not_running: [3, 3],
        // 3 x 3 weights of `f32` leave time between the loads. Larger weights and other types take the least time with one wave.
        spare_for_waves: 8,
        // Two passes win from between 15 x 15 and 21 x 21 weights on, for pixels of four `u8` and of three `f32`.
        over_register_tiled: Threshold { overhead: 200, cost: 3 },
        // They win over `SharedTile` from 5 x 5 weights on, for pixels of four `u8` and a dilation of the columns.
        over_others: Threshold { overhead: 0, cost: 2 },
    }
}
