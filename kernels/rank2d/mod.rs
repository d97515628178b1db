//! Ranks of pictures: the `k`-th smallest sample of the window of each output.
//!
//! Samples are compared as unsigned integers, their [keys](Ranked::key). A window is the samples of a rectangle that belong to some runs of
//! columns, or to all. Pixels have one or several interleaved channels, and planes stand one below the other with a common row pitch.
//!
//! | file | kernels | shared memory |
//! |---|---|---|
//! | `global.rs` | any window, by bisection from global memory | none |
//! | `tile.rs` | any window that fits, by bisection in a tile of keys | tile |
//! | `network_tile.rs` | any window of at most 49 samples, in registers | tile, offsets of a window's samples |
//! | `extreme.rs` | minima and maxima of rectangles, along rows, then down columns | tile, minima along the rows |
//! | `small_extreme.rs` | likewise for small rectangles with strides of 1 | square, minima along the rows |
//! | `run_extreme.rs` | minima and maxima of any flat window with strides of 1, run by run | minima of 1, 2, 4, … neighbours of a tile, their places |
//! | `van_herk` | minima and maxima along rows or down columns, for windows of more than 9 samples | tile, minima of runs |
//! | `median.rs`, `median_seven.rs` | medians of 3 x 3, 5 x 5 and 7 x 7 samples, in registers | tile |
//! | `median_three.rs` | medians of 3 x 3 samples within the picture, in registers | none |
//! | `sorted` | any rank of rectangles with strides of 1, of the sorted samples of a tile | tile, order of the samples, masks of windows |
//! | `any_extreme.rs` | minima and maxima of any window, also with heights and strides | that of `tile.rs` or `global.rs` |
//!
//! `key.rs` has the keys, `select.rs` the bisection, and `network.rs` the networks of comparisons. For medians and extremes of
//! rectangles, `packing.rs` has the words of one or two keys that are compared, and `word_tile.rs` tiles of these.

mod any_extreme;
mod extreme;
mod global;
#[cfg(not(target_os = "cuda"))]
mod host;
mod key;
mod median;
mod median_seven;
mod median_three;
mod network;
mod network_tile;
mod packing;
mod run_extreme;
mod select;
mod small_extreme;
mod sorted;
mod tile;
mod van_herk;
mod word_tile;

#[cfg(not(target_os = "cuda"))]
pub use host::{PassKernel, RankKernel, RankLimits, RankPass, RankProblem, rank_geometry, sorted_tile};
pub use key::{Extreme, Key, Ranked};
pub use packing::Packing;
pub use select::NO_RANK;

use crate::signal::Border;
use cuda_std::{GlobalIn, GlobalOut, arguments, kernel};

/// Threads of a block along a row and along a column.
const BLOCK: [u32; 2] = [32, 8];

arguments! {
    /// The windows along one axis of the picture. Lengths are in pixels.
    pub struct Axis {
        /// Samples.
        pub samples: u64,
        /// Outputs.
        pub outputs: u64,
        /// Position of the first output's first sample.
        pub start: i64,
        /// From one output to the next.
        pub stride: u32,
        /// Rows or columns of a window.
        pub taps: u32,
        /// A [`Border`](crate::signal::Border).
        pub border: u32,
    }
}

impl Axis {
    /// Returns the position of the first sample that output `output` depends on.
    #[inline(always)]
    fn first(&self, output: u64) -> i64 {
        self.start + (output * self.stride as u64) as i64
    }

    /// Returns whether there are `count` samples from a position on.
    #[inline(always)]
    fn has(&self, first: i64, count: u32) -> bool {
        first >= 0 && first as u64 + count as u64 <= self.samples
    }

    /// Returns the sample at a position, or `None` for the constant outside.
    #[inline(always)]
    fn source(&self, position: i64) -> Option<u64> {
        Border::from_number(self.border).source(position, self.samples)
    }
}

arguments! {
    /// Arguments of the kernels. Pitches are in elements.
    pub struct Args<'l, T: Ranked> {
        /// The samples.
        pub input: GlobalIn<'l, T>,
        /// Receives the outputs.
        pub output: GlobalOut<'l, T>,
        /// The row, the first column and the end of each run of a window.
        pub window: GlobalIn<'l, u32>,
        /// The rank for each number of samples that are present, from 0 to `count`; or [`NO_RANK`].
        pub ranks: GlobalIn<'l, u32>,
        /// The height of each sample of a window, in the order of the runs, for extremes; or none.
        pub heights: GlobalIn<'l, T>,
        /// Rows of a plane.
        pub rows: Axis,
        /// Pixels of a row.
        pub columns: Axis,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
        /// Planes.
        pub planes: u64,
        /// First group of rows of this launch: a group takes one row of blocks.
        pub first_group: u64,
        /// The value outside the picture, for constant borders.
        pub outside: T,
        /// Channels of a pixel.
        pub channels: u32,
        /// Tiles of a row.
        pub tiles: u32,
        /// Runs of a window.
        pub runs: u32,
        /// Samples of a window.
        pub count: u32,
        /// Not 0 if NaNs are left out.
        pub omit: u32,
        /// Not 0 if an extreme is the maximum.
        pub greatest: u32,
        /// Rows of outputs of a block whose tile is sorted.
        pub tile_rows: u32,
        /// Likewise, columns: a multiple of 32.
        pub tile_columns: u32,
    }
}

arguments! {
    /// Arguments of the kernels of one axis. Pitches are in elements.
    pub struct PassArgs<'l, T: Ranked> {
        /// The samples.
        pub input: GlobalIn<'l, T>,
        /// Receives the outputs.
        pub output: GlobalOut<'l, T>,
        /// The windows, of more than 9 samples and with a stride of 1.
        pub axis: Axis,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
        /// Rows of outputs of all planes.
        pub rows: u64,
        /// Elements of a row of outputs.
        pub width: u64,
        /// First group of this launch: a group takes one row of blocks.
        pub first_group: u64,
        /// The value outside the picture, for constant borders.
        pub outside: T,
        /// Channels of a pixel.
        pub channels: u32,
        /// Blocks of a group.
        pub tiles: u32,
        /// Lines of words of a block; down columns, a power of two.
        pub lines: u32,
        /// Runs of a tile's line.
        pub runs: u32,
        /// Not 0 if NaNs are left out.
        pub omit: u32,
        /// Not 0 for maxima.
        pub greatest: u32,
    }
}

impl<T: Ranked> Args<'_, T> {
    /// Returns where a row of a plane begins in the input, or `None` for the constant outside.
    #[inline(always)]
    fn line(&self, plane: u64, row: Option<u64>) -> Option<u64> {
        row.map(|row| (plane * self.rows.samples + row) * self.input_pitch)
    }

    /// Returns a channel of a pixel of a line. `None` is the constant outside.
    #[inline(always)]
    #[track_caller]
    fn sample_at(&self, line: Option<u64>, pixel: Option<u64>, channel: u64) -> T {
        match (line, pixel) {
            (Some(line), Some(pixel)) => self.input.get(line + pixel * self.channels as u64 + channel),
            _ => self.outside,
        }
    }

    /// Returns the row, the first column and the end of a run.
    #[inline(always)]
    fn run(&self, run: u32) -> [u32; 3] {
        let first = run as u64 * 3;
        [self.window.get(first), self.window.get(first + 1), self.window.get(first + 2)]
    }
}

kernel! {
    for<T: Ranked> {
        "rank2d_u8" { u8 => u8; }
        "rank2d_u16" { u16 => u16; }
        "rank2d_i16" { i16 => i16; }
        "rank2d_i32" { i32 => i32; }
        "rank2d_f32" { f32 => f32; }
        "rank2d_f64" { f64 => f64; }
    }

    /// One output per thread, by bisection from global memory.
    pub fn rank2d_global<'l>(_arena, args: Args<'l, T>) {
        global::outputs::<T, false>(&args);
    }

    /// Any window, by bisection in a tile in shared memory.
    pub fn rank2d_tile<'l>(arena, args: Args<'l, T>) {
        tile::outputs::<T, false>(arena, &args);
    }

    /// Any rank of any window of at most 25 samples, by a network in registers.
    pub fn rank2d_network<'l>(arena, args: Args<'l, T>) {
        network_tile::outputs::<T, false>(arena, &args);
    }

    /// Any rank of any window of 26 to 49 samples, likewise.
    pub fn rank2d_large_network<'l>(arena, args: Args<'l, T>) {
        network_tile::outputs::<T, true>(arena, &args);
    }

    /// Any rank of rectangles, of the sorted samples of a tile; the strides are 1.
    pub fn rank2d_sorted<'l>(arena, args: Args<'l, T>)
    where registers <= 64
    {
        sorted::outputs(arena, &args);
    }

    /// Minima and maxima of rectangles.
    pub fn rank2d_extreme<'l>(arena, args: Args<'l, T>) {
        extreme::extreme(arena, &args);
    }

    /// Minima and maxima of rectangles of at most 16 x 16 samples; the strides are 1.
    pub fn rank2d_small_extreme<'l>(arena, args: Args<'l, T>) {
        small_extreme::extreme::<<T as Ranked>::Extremes>(arena, &args);
    }

    /// Minima and maxima of any window without heights; the strides are 1.
    pub fn rank2d_run_extreme<'l>(arena, args: Args<'l, T>) {
        run_extreme::extreme(arena, &args);
    }

    /// Minima and maxima of any window, in a tile in shared memory.
    pub fn rank2d_any_extreme<'l>(arena, args: Args<'l, T>) {
        tile::outputs::<T, true>(arena, &args);
    }

    /// Minima and maxima of any window, from global memory.
    pub fn rank2d_any_extreme_global<'l>(_arena, args: Args<'l, T>) {
        global::outputs::<T, true>(&args);
    }

    /// Minima and maxima along rows.
    pub fn rank2d_along<'l>(arena, args: PassArgs<'l, T>)
    where registers <= 56
    {
        van_herk::along::<<T as Ranked>::Extremes>(arena, &args);
    }

    /// Minima and maxima down columns.
    pub fn rank2d_down<'l>(arena, args: PassArgs<'l, T>)
    where registers <= 72
    {
        van_herk::down::<<T as Ranked>::Extremes>(arena, &args);
    }

    /// Medians of 3 x 3 samples; the strides are 1, and NaNs propagate.
    pub fn rank2d_median3<'l>(arena, args: Args<'l, T>) {
        median::median3::<<T as Ranked>::Medians>(arena, &args);
    }

    /// Medians of 5 x 5 samples, likewise.
    pub fn rank2d_median5<'l>(arena, args: Args<'l, T>) {
        median::median5::<<T as Ranked>::Medians>(arena, &args);
    }

    /// Medians of 7 x 7 samples, likewise.
    pub fn rank2d_median7<'l>(arena, args: Args<'l, T>) {
        median_seven::median7::<<T as Ranked>::Medians>(arena, &args);
    }
}
