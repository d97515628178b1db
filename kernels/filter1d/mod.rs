//! Correlation of lines with taps: `y[o] = Σ_j X(start + o + j) · w[j]`, `j` from 0 to `taps - 1`.
//!
//! `X` is the line, continued outside by a [`Border`](crate::signal::Border). All kernels add the products in the order of
//! `j`, so they agree bit for bit.
//!
//! An array is `lines` parallel lines. Along rows a line is contiguous and lines are a pitch apart; along columns it
//! is the other way round, and a warp takes 32 neighbouring lines so that its accesses are contiguous too.
//!
//! | file | kernels | shared memory |
//! |---|---|---|
//! | `global.rs` | one sum per thread, every sample read from global memory | none |
//! | `tile.rs` | one sum at a time, a tile and its halo in shared memory | taps, tile |
//! | `register.rs` | several neighbouring sums per thread, in registers | tile |
//!
//! Samples, weights, sums and outputs have types of their own ([`Types`]). An instance for other ones is a line in each of the
//! lists at the end of this file.

mod block;
#[cfg(not(target_os = "cuda"))]
mod geometry;
mod global;
mod register;
mod tile;

#[cfg(not(target_os = "cuda"))]
pub use geometry::{Geometry, Kernel, Orientation, Part, Problem, Tuning};

use crate::signal::{Line, Same, Types};
use cuda_std::{GlobalIn, GlobalInOut, arguments, kernel};

/// Which threads bring the halo of a [tile](self) to shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Halo {
    /// All threads of the block, each some of it.
    Cooperative = 0,
    /// The first thread along the line loads all of it while the others wait.
    EdgeThread = 1,
}

arguments! {
    /// What the kernels are launched with. Lengths and strides are in elements.
    pub struct Args<F: Types> {
        /// The samples.
        pub input: GlobalIn<F::Sample>,
        /// Receives the sums.
        pub output: GlobalInOut<F::Output>,
        /// The taps, in the order in which they meet the samples.
        pub taps: GlobalIn<F::Weight>,
        /// Samples of a line.
        pub samples: u64,
        /// Sums of a line.
        pub outputs: u64,
        /// Lines.
        pub lines: u64,
        /// The place in the line of the first sum's first sample.
        pub start: i64,
        /// From one sample of a line to the next in `input`.
        pub input_step: u64,
        /// From one line to the next in `input`.
        pub input_line: u64,
        /// From one sum of a line to the next in `output`.
        pub output_step: u64,
        /// From one line to the next in `output`.
        pub output_line: u64,
        /// The value outside the line, for a constant border.
        pub outside: F::Sample,
        /// A [`Border`](crate::signal::Border).
        pub border: u32,
        /// A [`Halo`].
        pub halo: u32,
        /// Tiles of a line.
        pub tiles: u32,
        /// Taps.
        pub tap_count: u32,
        /// Not 0 if the sums go on from what is in the output (register-tiled kernels).
        pub resume: u32,
    }
}

impl<F: Types> Args<F> {
    /// Returns line number `line` of the input.
    #[inline(always)]
    fn line(&self, line: u64) -> Line<F::Sample> {
        Line {
            input: self.input,
            first: line * self.input_line,
            step: self.input_step,
            samples: self.samples,
            border: self.border,
            outside: self.outside,
        }
    }
}

/// The bytes of taps that one launch of a register-tiled kernel takes: a multiple of 16, and together with the arguments
/// no more than the 4096 bytes that parameters can have.
pub const CHUNK_BYTES: usize = 3840;

/// The taps that one launch of a register-tiled kernel takes, the places without one included.
#[must_use]
pub const fn table_len<F: Types>() -> usize {
    CHUNK_BYTES / size_of::<F::Weight>()
}

/// The weights of an instance.
type Weight<F> = <F as Types>::Weight;

/// Returns the places of a tile of `samples` samples, through whose memory `outputs` outputs go on their way out.
#[inline(always)]
pub(crate) const fn staged_in<F: Types>(samples: u32, outputs: u32) -> u32 {
    let (sample, output) = (size_of::<F::Sample>() as u32, size_of::<F::Output>() as u32);
    let staged = (outputs * output).div_ceil(sample);
    if staged > samples { staged } else { samples }
}

/// How many places of the table stay empty before the first tap: the tile then begins at a multiple of `pack` samples
/// before or behind the line's first one, so that its samples can be brought `pack` at a time. `start` is the place of
/// the first sum's first sample, `pack` a power of two.
#[inline(always)]
#[must_use]
pub fn pad(start: i64, pack: u32) -> u32 {
    start as u32 & (pack - 1)
}

/// Sums per thread of the register-tiled kernel along rows, in packs of 16 bytes. Odd, so that there are no bank
/// conflicts. More means fewer instructions other than multiply-adds, and fewer warps that fit on a multiprocessor: of 5,
/// 7, 9 and 11 this was the fastest on an H200, with 257 taps and `f32`.
pub(crate) const ROW_PACKS: usize = 7;

/// The same along columns, where more sums would take more shared memory.
pub(crate) const COLUMN_PACKS: usize = 5;

kernel! {
    for<F: Types> {
        "filter1d_simple_f32" { Same<f32> => f32; }
        "filter1d_simple_f64" { Same<f64> => f64; }
        "filter1d_simple_i32" { Same<i32> => i32; }
    }

    /// One sum per thread, from global memory alone. Lines of either kind.
    pub fn filter1d_global(_arena, args: Args<F>) {
        global::correlate(args);
    }

    /// Tiles in shared memory. Lines of either kind.
    pub fn filter1d_tile(arena, args: Args<F>) {
        tile::correlate::<F, { <F as Types>::PACK }>(arena, args);
    }
}

kernel! {
    for<F: Types> {
        "filter1d_rows_f32" { Same<f32> => f32; }
        "filter1d_rows_f64" { Same<f64> => f64; }
        "filter1d_rows_i32" { Same<i32> => i32; }
    }

    /// Lines along rows, tiles in shared memory, sums in registers.
    pub fn filter1d_register_rows(arena, args: Args<F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
        const V: usize = <F as Types>::PACK;
        register::rows::<F, V, { ROW_PACKS * V }, { (ROW_PACKS + 1) * V }, _>(arena, &args, &taps);
    }
}

kernel! {
    for<F: Types> {
        "filter1d_columns_f32" { Same<f32> => f32; }
        "filter1d_columns_f64" { Same<f64> => f64; }
        "filter1d_columns_i32" { Same<i32> => i32; }
    }

    /// Lines along columns, tiles in shared memory, sums in registers.
    pub fn filter1d_register_columns(arena, args: Args<F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
        const V: usize = <F as Types>::PACK;
        register::columns::<F, V, { COLUMN_PACKS * V }, { (COLUMN_PACKS + 1) * V }, _>(arena, &args, &taps);
    }
}
