//! Correlation of lines with taps: `y[o] = Σ_j X(start + o · stride + j) · w[j]`, `j` from 0 to `taps - 1`.
//!
//! `X` is the line, continued beyond its ends by a [`Border`](crate::signal::Border). All kernels with a stride of 1 but those of `fft/` add
//! the products in the order of `j`, so their results have the same bits.
//!
//! An array consists of `lines` parallel lines. Along rows, the samples of a line are contiguous. Along columns, samples of
//! neighbouring lines are contiguous, and a warp computes 32 neighbouring lines, so that its accesses are contiguous too.
//!
//! | file | kernels | shared memory |
//! |---|---|---|
//! | `global.rs` | one sum per thread, every sample read from global memory | none |
//! | `tile.rs` | one sum at a time, a tile and its halo in shared memory | taps, tile |
//! | `register.rs` | several neighbouring sums per thread, in registers | tile |
//! | `phases.rs` | as `register.rs`, with a stride | tile, phase by phase |
//! | `tensor.rs` | sums of `i32` by products of bytes on tensor cores | bytes of a tile |
//! | `fft/` | all sums of a segment, by Fourier transforms | points of a transform |
//!
//! Samples, weights, sums and outputs can have different types ([`Types`]). An instance for other types is one line in each
//! of the lists at the end of this file.

mod block;
pub mod fft;
mod global;
#[cfg(not(target_os = "cuda"))]
mod host;
mod phases;
mod register;
mod sums;
#[cfg(any(not(target_os = "cuda"), feature = "filter1d_tensor_i32"))]
mod tensor;
mod tile;

#[cfg(not(target_os = "cuda"))]
pub use host::{
    Filter1dKernel, Filter1dProblem, Geometry, LaunchConstants, LinePart, Orientation, tensor_bytes, tensor_steps,
    tensor_taps,
};

use crate::signal::{Line, Same, Types};
use cuda_std::{GlobalIn, GlobalInOut, arguments, kernel};
use fft::{FftArgs, Points, Transformed};

/// The threads that load the halo of a tile into shared memory (`tile.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Halo {
    /// All threads of the block share the loads.
    Cooperative = 0,
    /// The first thread along the line loads the whole halo while the others wait.
    EdgeThread = 1,
}

arguments! {
    /// Arguments of the kernels. Lengths and strides are in elements.
    pub struct Args<'l, F: Types> {
        /// The samples.
        pub input: GlobalIn<'l, F::Sample>,
        /// Receives the sums.
        pub output: GlobalInOut<'l, F::Output>,
        /// The taps `w[0]`, `w[1]`, …; for `tensor.rs` their matrices, as the host orders them.
        pub taps: GlobalIn<'l, F::Weight>,
        /// Samples per line.
        pub samples: u64,
        /// Sums per line.
        pub outputs: u64,
        /// Number of lines.
        pub lines: u64,
        /// Index in the line of the first sum's first sample; may be negative.
        pub start: i64,
        /// Stride between the samples of a line in `input`.
        pub input_step: u64,
        /// Stride between lines in `input`.
        pub input_line: u64,
        /// Stride between the sums of a line in `output`.
        pub output_step: u64,
        /// Stride between lines in `output`.
        pub output_line: u64,
        /// Value outside the line, for a constant border.
        pub outside: F::Sample,
        /// A [`Border`](crate::signal::Border).
        pub border: u32,
        /// A [`Halo`].
        pub halo: u32,
        /// Tiles per line.
        pub tiles: u32,
        /// Number of taps, from the first one of the launch on.
        pub tap_count: u32,
        /// Samples from one sum to the next one: 1, except in the kernels of `phases.rs`.
        pub stride: u64,
        /// Phases of the launch (`phases.rs`).
        pub phases: u32,
        /// Maximum number of taps of a phase in the launch (`phases.rs`), or number of steps (`tensor.rs`).
        pub entries: u32,
        /// Not 0 if the kernel adds to the sums in the output (register-tiled kernels).
        pub resume: u32,
    }
}

impl<'l, F: Types> Args<'l, F> {
    /// Returns the line with index `line` of the input.
    #[inline(always)]
    fn line(&self, line: u64) -> Line<'l, F::Sample> {
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

/// Maximum bytes of taps per launch of a register-tiled kernel: a multiple of 16. Together with the arguments, they fit
/// into the 4096 bytes of kernel parameters.
pub const CHUNK_BYTES: usize = 3840;

/// Returns the number of entries of the table of taps of a register-tiled kernel, including empty ones.
#[must_use]
pub const fn table_len<F: Types>() -> usize {
    CHUNK_BYTES / size_of::<F::Weight>()
}

/// Weight type of an instance.
type Weight<F> = <F as Types>::Weight;

/// Returns the length of a tile, in samples, that has room for `samples` samples and later for `outputs` outputs.
#[inline(always)]
pub(crate) const fn staged_in<F: Types>(samples: u32, outputs: u32) -> u32 {
    let (sample, output) = (size_of::<F::Sample>() as u32, size_of::<F::Output>() as u32);
    let staged = (outputs * output).div_ceil(sample);
    if staged > samples { staged } else { samples }
}

/// Returns the number of empty entries of the table before the first tap. They make a tile begin at a multiple of `pack`
/// samples relative to the line's first sample, so that its samples can be loaded `pack` at a time. `start` is the index
/// of the first sum's first sample; `pack` is a power of two.
#[inline(always)]
#[must_use]
pub fn pad(start: i64, pack: u32) -> u32 {
    start as u32 & (pack - 1)
}

/// Sums per thread of the register-tiled kernel along rows, in packs of 16 bytes. Odd, to avoid bank conflicts. A larger
/// number means fewer instructions other than multiply-adds, but fewer resident warps. Of 5, 7, 9 and 11, this was the
/// fastest on an H200, with 257 taps and `f32`.
pub(crate) const ROW_PACKS: usize = 7;

/// Sums per thread of the kernel for few phases, in packs. Odd, to avoid bank conflicts.
pub(crate) const PHASE_PACKS: usize = 3;

/// Sums per thread of the kernel for many phases, in packs: more phases need more shared memory.
pub(crate) const MANY_PHASE_PACKS: usize = 1;

/// Sums per thread along columns, in packs. A larger number would need more shared memory.
pub(crate) const COLUMN_PACKS: usize = 5;

kernel! {
    for<F: Types> {
        "filter1d_simple_f32" { Same<f32> => f32; }
        "filter1d_simple_f64" { Same<f64> => f64; }
        "filter1d_simple_i32" { Same<i32> => i32; }
    }

    /// Computes one sum per thread, without shared memory. Rows and columns.
    pub fn filter1d_global<'l>(_arena, args: Args<'l, F>) {
        global::correlate(args);
    }

    /// Computes one sum at a time, from a tile in shared memory. Rows and columns.
    pub fn filter1d_tile<'l>(arena, args: Args<'l, F>) {
        tile::correlate::<F, { <F as Types>::PACK }>(arena, args);
    }
}

kernel! {
    for<F: Types> {
        "filter1d_rows_f32" { Same<f32> => f32; }
        "filter1d_rows_f64" { Same<f64> => f64; }
        "filter1d_rows_i32" { Same<i32> => i32; }
    }

    /// Computes several sums per thread in registers, from a tile in shared memory. Rows.
    pub fn filter1d_register_rows<'l>(arena, args: Args<'l, F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
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

    /// Computes several sums per thread in registers, from a tile in shared memory. Columns.
    pub fn filter1d_register_columns<'l>(arena, args: Args<'l, F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
        const V: usize = <F as Types>::PACK;
        register::columns::<F, V, { COLUMN_PACKS * V }, { (COLUMN_PACKS + 1) * V }, _>(arena, &args, &taps);
    }
}

kernel! {
    for<F: Types> {
        "filter1d_phases_f32" { Same<f32> => f32; }
        "filter1d_phases_f64" { Same<f64> => f64; }
        "filter1d_phases_i32" { Same<i32> => i32; }
    }

    /// Computes sums with a stride, several per thread in registers, from a tile in shared memory. Rows, few phases.
    pub fn filter1d_phases<'l>(arena, args: Args<'l, F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
        const V: usize = <F as Types>::PACK;
        phases::rows::<F, V, { PHASE_PACKS * V }, { (PHASE_PACKS + 1) * V }, _>(arena, &args, &taps);
    }

    /// As [`filter1d_phases`], with fewer sums per thread, for many phases.
    pub fn filter1d_many_phases<'l>(arena, args: Args<'l, F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
        const V: usize = <F as Types>::PACK;
        phases::rows::<F, V, { MANY_PHASE_PACKS * V }, { (MANY_PHASE_PACKS + 1) * V }, _>(arena, &args, &taps);
    }

    /// As [`filter1d_phases`]. Columns.
    pub fn filter1d_phases_of_columns<'l>(arena, args: Args<'l, F>, taps: Constants<Weight<F>, { table_len::<F>() }>) {
        const V: usize = <F as Types>::PACK;
        phases::columns::<F, V, { COLUMN_PACKS * V }, { (COLUMN_PACKS + 1) * V }, _>(arena, &args, &taps);
    }
}

#[cfg(any(not(target_os = "cuda"), feature = "filter1d_tensor_i32"))]
kernel! {
    /// Computes sums of `i32` by products of bytes. Rows and columns.
    pub fn filter1d_tensor_i32<'l>(arena, args: Args<'l, Same<i32>>) in "filter1d_tensor_i32"
    where registers <= 128
    {
        tensor::correlate(arena, &args);
    }
}

kernel! {
    for<F: Transformed> {
        "filter1d_fft_f32" {
            Points<f32, 1024> => f32_1024;
            Points<f32, 2048> => f32_2048;
            Points<f32, 4096> => f32_4096;
            Points<f32, 8192> => f32_8192;
        }
        "filter1d_fft_f64" {
            Points<f64, 1024> => f64_1024;
            Points<f64, 2048> => f64_2048;
            Points<f64, 4096> => f64_4096;
        }
    }

    /// Computes the sums of two segments by Fourier transforms. Rows and columns.
    pub fn filter1d_fft<'l>(arena, args: FftArgs<'l, <F as Transformed>::Real>)
    where registers <= { <F as Transformed>::REGISTERS }
    {
        const R: usize = <F as Transformed>::RADIX;
        const E: usize = <F as Transformed>::PER_THREAD;
        const T: u32 = <F as Transformed>::THREADS;
        const V: usize = <F as Transformed>::PACK;
        fft::filter::<<F as Transformed>::Real, R, E, T, V, false>(arena, &args);
    }
}

kernel! {
    for<F: Transformed> {
        "filter1d_fft_f32" { Points<f32, 4096> => f32_4096; }
        "filter1d_fft_f64" { Points<f64, 2048> => f64_2048; }
    }

    /// As [`filter1d_fft`], for taps in several parts.
    pub fn filter1d_fft_parts<'l>(arena, args: FftArgs<'l, <F as Transformed>::Real>)
    where registers <= { <F as Transformed>::REGISTERS_OF_PARTS }
    {
        const R: usize = <F as Transformed>::RADIX;
        const E: usize = <F as Transformed>::PER_THREAD;
        const T: u32 = <F as Transformed>::THREADS;
        const V: usize = <F as Transformed>::PACK;
        fft::filter::<<F as Transformed>::Real, R, E, T, V, true>(arena, &args);
    }
}
