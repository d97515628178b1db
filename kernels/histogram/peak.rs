//! The kernel that finds the largest weight.

use cuda_std::{GlobalIn, GlobalInOut, Ordering, arguments, kernel, thread, warp};

arguments! {
    /// Arguments of the search for the largest weight.
    pub struct PeakArgs<'l> {
        /// The weights.
        pub weights: GlobalIn<'l, f32>,
        /// Number of weights.
        pub count: u32,
        /// Receives the bits of the largest magnitude, unless it already contains larger ones. As bits, NaN is larger than
        /// infinity, and infinity is larger than all other numbers.
        pub peak: GlobalInOut<'l, u32>,
    }
}

kernel! {
    /// Finds the largest magnitude of the weights. Thread `i` of a grid of `n` threads visits weights `i`, `i + n`, … The
    /// lanes of a warp combine their results by shuffles, and the warps by one atomic operation each. No shared memory.
    pub fn histogram_peak<'l>(_arena, args: PeakArgs<'l>) in "histogram_peak" {
        let threads = thread::block_dim_x();
        let (mut peak, mut i) = (0, thread::block_idx_x() * threads + thread::thread_idx_x());
        while i < args.count {
            peak = (args.weights.get(i.into()).to_bits() & i32::MAX as u32).max(peak);
            i += thread::grid_dim_x() * threads;
        }
        let mut distance = warp::WARP / 2;
        while distance > 0 {
            peak = warp::shuffle_xor(warp::FULL, peak, distance).max(peak);
            distance /= 2;
        }
        if warp::lane() == 0 {
            args.peak.fetch_max(0, peak, Ordering::Relaxed);
        }
    }
}
