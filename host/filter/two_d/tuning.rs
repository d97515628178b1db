//! Constants of filters on GPUs that were chosen by measurement.

/// Constants for the choice of kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter2dTuning {
    /// Minimum number of rows plus columns of a box for which `Auto` chooses the kernel of boxes, where one launch makes two passes
    /// for other products.
    pub(super) least_box: usize,
    /// The same for other types and channels.
    pub(super) least_box_of_others: usize,
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
/// other GPUs. How many blocks and warps a device runs is asked for each kernel (`BandFilter::new`, `Correlation::register_tiled`).
pub(super) const fn tuning() -> Filter2dTuning {
    Filter2dTuning {
        // `f32` took 167 µs with 15 x 15 weights, 206 with 31 x 31, 281 with 45 x 45, 371 with 63 x 63 and 629 with 101 x 101; as
        // outer products, 185, 268, 332, 427 and 759 µs. 9 x 9 takes 187 instead of 157. Windows of 1, 2, 3, 4, 5 and 7 rows take 476,
        // 287, 212, 171, 242 and 190 µs with 33 columns, instead of 192 to 211, and 640, 361, 265, 210, 300 and 241 with 101, instead
        // of 409 to 435. Windows of 1, 2, 3 and 5 columns take 302, 356, 384 and 427 µs with 31 rows, instead of 211 to 222.
        least_box: 28,
        // 9 x 9 and 11 x 11 weights took 237 and 226 µs for one channel of `u8`, and 437 and 536 with `RegisterTiled`; for three
        // channels 1,551 and 1,615 instead of 1,510 and 1,799, for four 2,027 and 2,005 instead of 1,997 and 2,392, for four of `f32`
        // 1,406 and 1,383 instead of 2,152 and 2,490. 7 x 7 took 460 instead of 352 for one channel of `u8`, and more than twice as
        // much for three or four. Windows of 2, 3, 4, 5 and 7 rows and 17 columns took 313, 252, 217, 270 and 228 µs for one channel of
        // `u8`, and 277, 317, 355, 391 and 471 with `RegisterTiled`; for four 2,155, 1,734, 1,541, 1,911 and 1,647 instead of 1,353,
        // 1,506, 1,652, 1,801 and 2,125.
        least_box_of_others: 18,
        // 3 x 3 weights leave time between the loads: `f32` took 155.5, 151.0, 151.4 and 149.2 µs with 1 to 4 waves, but with 7 x 7
        // weights 204, 210, 216 and 223, and four `u8` with 3 x 3 192, 195, 199 and 203.
        spare_for_waves: 8,
        // In µs, for pixels of four `u8` and of three `f32`:
        //
        // | weights | `RegisterTiled` | two passes | `RegisterTiled` | two passes |
        // |---|---|---|---|---|
        // | 3 x 3 | 1,128 | 3,809 | 979 | 2,666 |
        // | 5 x 5 | 1,323 | 3,678 | 1,065 | 2,691 |
        // | 9 x 9 | 1,983 | 3,940 | 1,537 | 2,843 |
        // | 15 x 15 | 3,533 | 4,362 | 2,601 | 3,113 |
        // | 21 x 21 | 5,796 | 4,706 | 4,318 | 3,366 |
        //
        // Filters that run without a wait in between reuse the memory. Then the second column is 2,380 for 3 x 3, and 3,558 for
        // 21 x 21.
        over_register_tiled: Threshold { overhead: 200, cost: 3 },
        // With a dilation of the columns, of four `u8`, `SharedTile` took 4,520, 8,127, 20,620, 51,871 and 97,445 µs for the same
        // weights, and two passes 5,493, 5,977, 7,392, 9,478 and 11,375.
        over_others: Threshold { overhead: 0, cost: 2 },
    }
}
