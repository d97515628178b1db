//! Correlation of pictures with weights: `y[r, c] = Σ_i Σ_j w[i, j] · X(row(r, i), column(c, j))`.
//!
//! `X` is the picture, continued outside by a [`Border`] of each axis. `row(r, i)` is
//! `start + r · stride + i · dilation`, and `column` is alike. The kernels add the products in the order of the weights, row
//! after row, so they agree bit for bit. Those for outer products add along the rows first, and agree with each other; that for
//! equal weights adds samples.
//!
//! A pixel has one or several interleaved channels. Planes stand one below the other with a common row pitch.
//!
//! | file | kernels | shared memory |
//! |---|---|---|
//! | `global.rs` | one output per thread, everything read from global memory | none |
//! | `tile.rs` | one output at a time, a tile of samples and its halo in shared memory | weights, tile |
//! | `register.rs` | several neighbouring outputs per thread, in registers | tile, some of the weights |
//! | `streaming.rs` | weights of sizes that are compiled: sums of all output rows in progress in registers | rows of warps |
//! | `passes.rs` | outer products of any size: along the rows, then down the columns | rows of warps, sums along the rows |
//! | `boxes.rs` | equal weights: sums of segments, down strips of the picture | samples or suffix sums of a segment |
//! | `running.rs` | equal weights and pixels of four bytes: running sums | sums of differences of rows |
//!
//! Of the first three and `boxes.rs` there is one instance per type of sums, for samples and outputs of any types: samples are
//! converted when they are loaded, and sums when they are stored ([`AnyIn`], [`AnyOut`]). `boxes.rs` also has one for one channel of
//! `f32`, and one for bytes. Those of `streaming.rs` are for one channel of `f32` or four of bytes, that of
//! `passes.rs` is for one channel of `f32`, those of `running.rs` are for four channels of bytes. The last four are for steps of 1.

#[macro_use]
mod each;

mod block;
mod boxes;
mod global;
#[cfg(not(target_os = "cuda"))]
mod host;
mod lines;
mod passes;
mod pixels;
mod products;
mod register;
mod running;
mod sources;
mod streaming;
mod tile;
mod words;

#[cfg(not(target_os = "cuda"))]
pub use host::{BandPart, Bands, DirectKernel, DirectPart, Filter2dProblem, Geometry, NoStrips, Strips, passes_places};

pub use boxes::{BoxArgs, filter2d_box};
pub use passes::{Lane, LaneInstance};
pub use pixels::{Any, Inverse, Mean, PixelAccess, Typed};
use products::{Dense, Separable};
pub use products::{ROW, TABLE};
pub use register::{table_len, table_shape};
pub use running::{EqualWeight, MOST_COLUMNS, MOST_ROWS, MOST_SAMPLES, RunningArgs, Scale, filter2d_running};
pub use streaming::{Instance, Size, StreamingArgs};
pub use words::Streamed;

use crate::signal::{Accumulator, AnyIn, AnyOut, Border, Same, Types};
use cuda_std::{Argument, GlobalIn, arguments, kernel, thread};

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
        /// From one weight to the next.
        pub dilation: u32,
        /// Weights.
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

    /// Returns the sample at a position, or `None` for the constant outside.
    #[inline(always)]
    fn source(&self, position: i64) -> Option<u64> {
        Border::from_number(self.border).source(position, self.samples)
    }

    /// Returns whether the samples at `first` to `first + count - 1` are inside.
    #[inline(always)]
    fn contains(&self, first: i64, count: u32) -> bool {
        first >= 0 && first as u64 + count as u64 <= self.samples
    }

    /// Returns the first one and the end of those of `count` samples at `first`, `first + step`, … that are inside.
    #[inline(always)]
    fn inside(&self, first: i64, step: u32, count: u32) -> [u32; 2] {
        [0, self.samples as i64].map(|end| ((end - first).max(0) as u64).div_ceil(step as u64).min(count as u64) as u32)
    }
}

arguments! {
    /// Arguments of the kernels. Pitches are in elements.
    pub struct Args<'l, A: Accumulator> {
        /// The samples.
        pub input: AnyIn<'l>,
        /// Receives the outputs.
        pub output: AnyOut<'l>,
        /// The weights, row after row, in the order in which they meet the samples.
        pub weights: GlobalIn<'l, A>,
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
        /// Sum of the weights, rounded as the kernels add them, if NaNs are missing samples. Otherwise the divisor of all sums: 1
        /// unless the filter is a mean.
        pub total: A,
        /// The value outside the picture, for constant borders.
        pub outside: A,
        // Two of these numbers are loaded together. In another order the register-tiled kernel spills registers.
        /// Channels of a pixel.
        pub channels: u32,
        /// Tiles of a row.
        pub tiles: u32,
        /// Rows of weights in the table of a register-tiled kernel: [`table_shape`].
        pub table_rows: u32,
        /// Packs of a row of weights there.
        pub weight_packs: u32,
        /// Not 0 if NaNs are missing samples.
        pub renormalise: u32,
    }
}

arguments! {
    /// Arguments of kernels that go down bands of rows. Pitches are in elements, strides and dilations are 1.
    pub struct BandArgs<M: Argument> {
        /// Samples and outputs: [`Typed`] or [`Any`].
        pub memory: M,
        /// Rows of a plane.
        pub rows: Axis,
        /// Pixels of a row.
        pub columns: Axis,
        /// Row pitch of the input.
        pub input_pitch: u64,
        /// Row pitch of the output.
        pub output_pitch: u64,
        /// First band of this launch.
        pub first_band: u64,
        /// First plane of this launch.
        pub first_plane: u64,
        /// Output rows of a band.
        pub band: u32,
    }
}

impl<M: Argument> BandArgs<M> {
    /// Returns the plane of the block, and the first output row of its band there.
    #[inline(always)]
    fn corner(&self) -> [u64; 2] {
        let band = self.first_band + thread::block_idx_y() as u64;
        [self.first_plane + thread::block_idx_z() as u64, band * self.band as u64]
    }

    /// Returns the output rows of the block's band, which begins at row `first` of a plane.
    #[inline(always)]
    fn band_rows(&self, first: u64) -> u32 {
        (self.rows.outputs - first).min(self.band as u64) as u32
    }
}

impl<M: PixelAccess> BandArgs<M> {
    /// Returns whether rows of samples, and of outputs, begin at multiples of some elements. Without branches.
    #[inline(always)]
    fn are_aligned(&self, elements: u32) -> [bool; 2] {
        let [input, output] = self.memory.are_aligned(elements);
        let are_multiples = |pitch: u64| pitch.is_multiple_of(elements as u64);
        [input & are_multiples(self.input_pitch), output & are_multiples(self.output_pitch)]
    }
}

arguments! {
    /// Weights in the table of [`filter2d_passes`]: whole packs, the first of which begins with empty entries. The host computes both
    /// numbers, so that the compiler sees that they are the same for all threads.
    pub struct Packs {
        /// Number of packs.
        pub packs: u32,
        /// Number of empty entries.
        pub pad: u32,
    }
}

arguments! {
    /// Arguments of [`filter2d_passes`].
    pub struct PassesArgs<'l, F: Types> {
        /// The picture.
        pub picture: BandArgs<Typed<'l, F>>,
        /// Packs of the column of weights.
        pub column: Packs,
        /// Packs of the row of weights.
        pub row: Packs,
    }
}

/// A sum of products, and the sum of its weights whose samples are present.
#[derive(Clone, Copy)]
struct Sums<A> {
    products: A,
    weights: A,
}

impl<A: Accumulator> Sums<A> {
    #[inline(always)]
    fn zero() -> Self {
        Sums { products: A::ZERO, weights: A::ZERO }
    }

    /// Returns the sums with one more product. If `renormalise`, a NaN is a missing sample.
    #[inline(always)]
    fn with_product(self, sample: A, weight: A, renormalise: bool) -> Self {
        let products = self.products.add_product(sample, weight);
        if !renormalise {
            return Sums { products, ..self };
        }
        match sample.is_nan() {
            true => self,
            false => Sums { products, weights: self.weights.add_product(A::ONE, weight) },
        }
    }
}

impl<A: Accumulator> Args<'_, A> {
    /// Returns the plane of an output row and its row there.
    #[inline(always)]
    fn place(&self, row: u64) -> (u64, u64) {
        (row / self.rows.outputs, row % self.rows.outputs)
    }

    /// Returns where a row of a plane begins in the input, or `None` for the constant outside.
    #[inline(always)]
    fn line(&self, plane: u64, row: Option<u64>) -> Option<u64> {
        row.map(|row| (plane * self.rows.samples + row) * self.input_pitch)
    }

    /// Returns a channel of a pixel of a line. `None` is the constant outside.
    #[inline(always)]
    #[track_caller]
    fn sample_at(&self, line: Option<u64>, pixel: Option<u64>, channel: u64) -> A {
        match (line, pixel) {
            (Some(line), Some(pixel)) => A::load_sample(&self.input, line + pixel * self.channels as u64 + channel),
            _ => self.outside,
        }
    }

    /// Returns the output for some sums.
    #[inline(always)]
    fn output(&self, sums: Sums<A>) -> A {
        match self.renormalise {
            0 if self.total.is_divisor() => sums.products.quotient(self.total),
            0 => sums.products,
            _ => sums.products.renormalised(self.total, sums.weights),
        }
    }
}

kernel! {
    for<A: Accumulator> {
        "filter2d_i32" { i32 => i32; }
        "filter2d_i64" { i64 => i64; }
        "filter2d_f32" { f32 => f32; }
        "filter2d_f64" { f64 => f64; }
    }

    /// One output per thread, from global memory alone.
    pub fn filter2d_global<'l>(_arena, args: Args<'l, A>) {
        global::correlate(&args);
    }

    /// Tiles in shared memory.
    pub fn filter2d_tile<'l>(arena, args: Args<'l, A>) {
        tile::correlate(arena, &args);
    }

    /// Tiles in shared memory, sums in registers; strides and column dilations of 1, NaNs propagate. The table has the first rows of
    /// weights.
    /// With 128 registers, a multiprocessor of 65,536 runs 16 warps.
    pub fn filter2d_register<'l>(arena, args: Args<'l, A>, table: Constants<A, { table_len::<A>() }>) where registers <= 128 {
        const V: usize = register::pack::<A>();
        const R: usize = register::PACKS * V;
        register::correlate::<A, V, R, { R + V }, { register::loads::<A>() }, _>(arena, &args, &table);
    }
}

/// Types of the numbers of an instance of the streaming kernels.
type TypesOf<T> = <T as Instance>::Types;

/// Samples and outputs are bytes.
pub type Bytes = (u8, f32, f32, u8);

kernel! {
    for<T: Instance> {
        "filter2d_streaming_f32" {
            Size<Same<f32>, 1, 3> => f32_3;
            Size<Same<f32>, 1, 5> => f32_5;
            Size<Same<f32>, 1, 7> => f32_7;
            Size<Same<f32>, 1, 9> => f32_9;
        }
        "filter2d_streaming_u8" {
            Size<Bytes, 4, 3> => u8x4_3;
            Size<Bytes, 4, 5> => u8x4_5;
            Size<Bytes, 4, 7> => u8x4_7;
        }
    }

    /// Strips of the picture, sums in registers. The table has the weights, row after row.
    pub fn filter2d_streaming<'l>(arena, args: StreamingArgs<'l, TypesOf<T>>) where registers <= { T::REGISTERS } {
        let products = Dense(&args.weights);
        streaming::correlate::<_, { T::PACK }, { T::WORDS }, { T::HALO }, { T::CHANNELS }, { T::TAPS }, { T::WINDOW }>(
            arena,
            &args.picture,
            &products,
        );
    }
}

kernel! {
    for<T: Instance> {
        "filter2d_separable_u8" {
            Size<Bytes, 4, 3> => u8x4_3;
            Size<Bytes, 4, 5> => u8x4_5;
            Size<Bytes, 4, 7> => u8x4_7;
        }
    }

    /// As [`filter2d_streaming`], along the rows first. The table has the column of weights from place 0 on, and the row from
    /// [`ROW`] on.
    pub fn filter2d_separable<'l>(arena, args: StreamingArgs<'l, TypesOf<T>>) where registers <= { T::REGISTERS } {
        let products = Separable(&args.weights);
        streaming::correlate::<_, { T::PACK }, { T::WORDS }, { T::HALO }, { T::CHANNELS }, { T::TAPS }, { T::WINDOW }>(
            arena,
            &args.picture,
            &products,
        );
    }
}

/// Bytes of the table of weights of [`filter2d_passes`], a multiple of 16. Together with the arguments, they fit into the 4096 bytes
/// of kernel parameters.
const PASSES_TABLE_BYTES: usize = 3840;

/// Returns the number of entries of the table of weights of [`filter2d_passes`].
#[must_use]
pub const fn passes_table_len<F: Types>() -> usize {
    PASSES_TABLE_BYTES / size_of::<F::Weight>()
}

/// Weight type of an instance.
type Weight<F> = <F as Types>::Weight;

/// Types of the numbers of an instance of [`filter2d_passes`].
type LaneTypes<L> = <L as LaneInstance>::Types;

kernel! {
    for<L: LaneInstance> {
        "filter2d_passes_f32" { Lane<Same<f32>, 3> => f32; }
        "filter2d_passes_narrow_f32" { Lane<Same<f32>, 1> => narrow_f32; }
    }

    /// An outer product of any size: along the rows into shared memory, then down the columns. The table has the column and the row of
    /// weights, each behind empty entries that make it end with a whole pack (`passes_places`). With 80 registers, a multiprocessor
    /// of 65,536 runs 24 warps: two blocks of 12, or one of 24.
    pub fn filter2d_passes<'l>(
        arena,
        args: PassesArgs<'l, LaneTypes<L>>,
        weights: Constants<Weight<LaneTypes<L>>, { passes_table_len::<LaneTypes<L>>() }>,
    ) where registers <= 80 {
        const V: usize = <LaneTypes<L> as Types>::PACK;
        const R: usize = <L as LaneInstance>::PACKS * V;
        passes::correlate::<LaneTypes<L>, V, R, { R + V }, { R + passes::HALO_LOADS }, _>(arena, &args, &weights);
    }
}
