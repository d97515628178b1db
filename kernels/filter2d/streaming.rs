//! Correlation with weights of a size that is known at compile time: warps go down strips of the picture.
//!
//! A warp computes a strip of 32 packs of `P` neighbouring elements of a band of rows; a block of 32 x [`WARPS`] threads takes
//! strips side by side. Block `(x, y, z)` has the strips from `x` · [`WARPS`] on, of band `y` of plane `z`. For each row of samples,
//! a lane loads the pack at its place; the last and the first lanes also load a pack of the halo. Through a buffer in shared memory
//! each lane gets its neighbours' packs. It adds their products to the sums of the `K` output rows that depend on the row, and stores
//! the sums that are complete. So a sample is loaded once per strip, but for the halo.
//!
//! ```text
//! row r of samples    … | a b c d | e f g h | i j k l | …       lane l has e f g h; K = 3: it needs d and i
//! sums of output row  r - 1   + (d e f g h i) · last row of weights      complete: stored
//!                     r       + (d e f g h i) · middle row
//!                     r + 1   0 + (d e f g h i) · first row
//! ```
//!
//! Shared memory: where each row of samples begins; for each thread, where the samples of its packs are that are not inside the
//! picture; two rows of samples of each warp. No bank conflicts: lanes access neighbouring numbers or packs of 8 or 16 bytes, or
//! all the same number.
//!
//! With separable weights a row of samples is first multiplied by the row of weights, and the sums then by the column.
//!
//! Sums in registers that move down the rows are described by Micikevicius, *3D Finite Difference Computation on GPUs using
//! CUDA* (GPGPU 2009).

use super::lines::{CONSTANT, find_lines};
use super::{Axis, BandArgs};
use crate::signal::{Border, Output, Sample, Sum, Types};
use core::fmt::Debug;
use cuda_std::warp::{FULL, Lane, WARP, sync_warp};
use cuda_std::{Arena, Shared, Table, arguments, thread};

/// Warps of a block.
pub(super) const WARPS: u32 = 4;

/// Numbers of the table of weights.
pub const TABLE: usize = 96;

/// Place of the row of separable weights in the table, behind the column.
pub const ROW: usize = TABLE / 2;

/// What is known at compile time: samples of the types `F` with `CHANNELS` channels, weights of `TAPS` rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Size<F, const CHANNELS: usize, const TAPS: usize>(F);

/// A [`Size`].
pub trait Instance: Copy + Debug + Send + Sync + 'static {
    /// The types of the numbers.
    type Types: Types;
    /// Interleaved channels.
    const CHANNELS: usize;
    /// Rows and columns of the weights, an odd number.
    const TAPS: usize;
    /// Elements of a pack.
    const PACK: usize = pack::<Self::Types>();
    /// Samples that a pack of outputs depends on in a row.
    const WINDOW: usize = Self::PACK + (Self::TAPS - 1) * Self::CHANNELS;
}

impl<F: Types, const CHANNELS: usize, const TAPS: usize> Instance for Size<F, CHANNELS, TAPS> {
    type Types = F;
    const CHANNELS: usize = CHANNELS;
    const TAPS: usize = TAPS;
}

/// Returns the elements of a pack, of at most 16 bytes. Sums of more than 8 elements do not fit into registers.
pub(super) const fn pack<F: Types>() -> usize {
    let [sample, output] = [size_of::<F::Sample>(), size_of::<F::Output>()];
    let pack = 16 / if sample > output { sample } else { output };
    if pack < 8 { pack } else { 8 }
}

arguments! {
    /// Arguments of the kernels.
    pub struct StreamingArgs<F: Types> {
        /// The picture.
        pub picture: BandArgs<F>,
        /// The weights. Their places are known at compile time, so instructions read them from constant memory.
        pub weights: Table<F::Weight, TABLE>,
    }
}

/// How the elements of a row of samples lie to those of outputs and to packs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Position of the sample at the centre of the first output's window.
    centre: i64,
    /// Position of the first pack: at most `centre`, and a multiple of the pack.
    first: i64,
}

impl Layout {
    #[inline(always)]
    pub(super) fn new(columns: &Axis, taps: usize, channels: usize, pack: usize) -> Self {
        let centre = (columns.start + taps as i64 / 2) * channels as i64;
        Layout { centre, first: centre & -(pack as i64) }
    }

    /// Returns the elements from the first pack to the last output.
    #[inline(always)]
    pub(super) fn len(&self, outputs: u64) -> u64 {
        outputs.saturating_add((self.centre - self.first) as u64)
    }
}

/// What is done with a row of samples.
pub(super) trait Products<F: Types, const P: usize, const C: usize, const K: usize, const N: usize> {
    /// Returns the sums with the products of a row of samples. The sums of the oldest output row, which are then complete, stand
    /// first; the last ones are of a new row.
    fn add(&self, sums: [[F::Sum; P]; K], window: [F::Sample; N]) -> [[F::Sum; P]; K];
}

/// `K` x `K` weights, row after row.
pub(super) struct Dense<'a, W>(pub(super) &'a Table<W, TABLE>);

impl<F: Types, const P: usize, const C: usize, const K: usize, const N: usize> Products<F, P, C, K, N>
    for Dense<'_, F::Weight>
{
    #[inline(always)]
    fn add(&self, sums: [[F::Sum; P]; K], window: [F::Sample; N]) -> [[F::Sum; P]; K] {
        let (weights, mut next) = (&self.0.0, [[F::Sum::default(); P]; K]);
        for t in 0..K {
            next[t] = if t + 1 < K { sums[t + 1] } else { next[t] };
            for j in 0..K {
                let weight = weights[(K - 1 - t) * K + j];
                for p in 0..P {
                    next[t][p] = next[t][p].add_product(window[p + j * C], weight);
                }
            }
        }
        next
    }
}

/// The outer product of a column of `K` weights and a row of as many: sums along the rows first.
pub(super) struct Separable<'a, W>(pub(super) &'a Table<W, TABLE>);

impl<F: Types, const P: usize, const C: usize, const K: usize, const N: usize> Products<F, P, C, K, N>
    for Separable<'_, F::Weight>
where
    F::Sum: Sample + Sum<F::Sum, F::Weight>,
{
    #[inline(always)]
    fn add(&self, sums: [[F::Sum; P]; K], window: [F::Sample; N]) -> [[F::Sum; P]; K] {
        let (weights, mut along) = (&self.0.0, [F::Sum::default(); P]);
        each!(j < K, {
            for p in 0..P {
                along[p] = Sum::<F::Sample, F::Weight>::add_product(along[p], window[p + j * C], weights[ROW + j]);
            }
        });
        let mut next = [[F::Sum::default(); P]; K];
        each!(t < K, {
            for p in 0..P {
                let sum = if t + 1 < K { sums[t + 1][p] } else { F::Sum::default() };
                next[t][p] = Sum::<F::Sum, F::Weight>::add_product(sum, along[p], weights[K - 1 - t]);
            }
        });
        next
    }
}

/// Goes down a strip.
#[inline(always)]
pub(super) fn correlate<F: Types, const P: usize, const C: usize, const K: usize, const N: usize>(
    arena: Arena,
    args: &BandArgs<F>,
    products: &impl Products<F, P, C, K, N>,
) where
    F::Sample: Lane,
{
    const { assert!(N == P + (K - 1) * C && P.is_power_of_two() && K % 2 == 1) };
    let (band, plane) =
        (args.first_band + thread::block_idx_y() as u64, args.first_plane + thread::block_idx_z() as u64);
    let first = band * args.band as u64;
    let rows = (args.rows.outputs - first).min(args.band as u64) as u32 + K as u32 - 1;
    let (lines, arena) = arena.split::<u64>(args.band + K as u32 - 1 + AHEAD);
    find_lines(&lines, args, [plane, first], [rows, AHEAD]);
    let strip = Strip::<F, P, C>::new::<K>(arena, args, lines, plane * args.rows.outputs + first);
    thread::sync_threads();

    let mut sums = [[F::Sum::default(); P]; K];
    // The loads of a row are in progress while the row before it is multiplied. Two rows take turns, so that none is moved
    // between registers, which would wait for its loads.
    let (mut even, mut next, mut r) = (strip.load(strip.lines.get(0)), strip.lines.get(1), 0);
    while r < rows {
        // Where a row begins is known one row before its loads, which would wait for it otherwise.
        let odd = strip.load(next);
        next = strip.lines.get(r + 2);
        sums = products.add(sums, strip.window(0, even));
        strip.store::<K>(r, rows, sums[0]);
        even = strip.load(next);
        next = strip.lines.get(r + 3);
        sums = products.add(sums, strip.window(1, odd));
        strip.store::<K>(r + 1, rows, sums[0]);
        r += 2;
    }
}

/// Rows behind the last one whose places are read: the constant outside, which is not read from memory.
pub(super) const AHEAD: u32 = 3;

/// The strip of a warp.
struct Strip<'a, F: Types, const P: usize, const C: usize> {
    args: &'a BandArgs<F>,
    /// Where each row of samples begins in the input.
    lines: Shared<u64>,
    /// Two rows of samples of each warp.
    buffers: Shared<F::Sample>,
    /// The first row in the output.
    row: u64,
    /// Positions of the lane's own pack in a row of samples, and of its pack of the halo. [`NONE`] if they are not inside, or if
    /// there is none.
    packs: [u64; 2],
    /// Whether the lane has a pack of the halo.
    has_halo: bool,
    /// Whether packs are not inside.
    has_outside: [bool; 2],
    /// Where the samples of packs that are not inside are.
    sources: Shared<i32>,
    /// Position of the lane's first output in a row of outputs, which may be outside.
    output: i64,
    /// Whether packs of samples are aligned.
    is_aligned: bool,
    /// Whether the lane's outputs are an aligned pack.
    is_whole: bool,
}

/// A lane's samples of a row, as words: four bytes take one register.
#[derive(Clone, Copy)]
struct Row {
    own: [u32; WORDS],
    /// In the first and last lanes: a pack of the halo.
    halo: [u32; WORDS],
}

/// Words of a pack of 16 bytes.
const WORDS: usize = 4;

/// Returns the words of a pack, and zeros.
#[inline(always)]
fn join<X: Lane, const P: usize>(pack: [X; P]) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    for (k, sample) in pack.into_iter().enumerate() {
        let at = k * size_of::<X>();
        words[at / 4] |= sample.to_words()[0] << (at % 4 * 8);
    }
    words
}

/// Returns the pack that consists of these words.
#[inline(always)]
fn split<X: Lane, const P: usize>(words: [u32; WORDS]) -> [X; P] {
    core::array::from_fn(|k| {
        let at = k * size_of::<X>();
        X::from_words([words[at / 4] >> (at % 4 * 8), 0])
    })
}

/// The position of a pack that is not inside: beyond all memory, so that zeros are loaded.
const NONE: u64 = 1 << 62;

/// The source of the constant outside. Others are positions in a row, counted from its end if they are negative.
const OUTSIDE: i32 = i32::MIN;

/// Pixels of a row whose positions are counted from its beginning.
const NEAR: u64 = 1 << 28;

/// Threads of a block.
const THREADS: u32 = WARPS * WARP;

impl<'a, F: Types, const P: usize, const C: usize> Strip<'a, F, P, C>
where
    F::Sample: Lane,
{
    #[inline(always)]
    fn new<const K: usize>(arena: Arena, args: &'a BandArgs<F>, lines: Shared<u64>, row: u64) -> Self {
        let (sources, arena) = arena.split::<i32>(2 * P as u32 * THREADS);
        let (buffers, _) = arena.split::<F::Sample>(2 * WARPS * row_buffer((K - 1) * C, P));
        let (lane, strip) = (thread::thread_idx_x(), thread::block_idx_x() * WARPS + thread::thread_idx_y());
        let layout = Layout::new(&args.columns, K, C, P);
        let own = layout.first + (strip as i64 * WARP as i64 + lane as i64) * P as i64;
        // Packs of the halo on one side.
        let lanes = halo_packs((K - 1) * C, P);
        let far = (WARP as usize * P) as i64;
        let halo = if lane < lanes { own + far } else { own - far };
        let has_halo = lane < lanes || lane >= WARP - lanes;
        let is_inside = |element: i64| element >= 0 && element + P as i64 <= width::<F, C>(args);
        // A constant of zero outside is loaded as if it were stored there.
        let is_zero = args.border == Border::Constant as u32 && args.outside.to_words() == [0; 2];
        let is_beyond = |element: i64| is_zero && (element + P as i64 <= 0 || element >= width::<F, C>(args));
        let (inside, beyond) = ([is_inside(own), is_inside(halo)], [is_beyond(own), is_beyond(halo)]);
        let output = own - layout.centre;
        let packed = args.output.is_aligned(P as u32)
            && args.output_pitch.is_multiple_of(P as u64)
            && layout.first == layout.centre;
        let strip = Strip {
            args,
            lines,
            buffers,
            row,
            has_halo,
            packs: [if inside[0] { own as u64 } else { NONE }, if has_halo && inside[1] { halo as u64 } else { NONE }],
            has_outside: [!inside[0] && !beyond[0], has_halo && !inside[1] && !beyond[1]],
            sources,
            output,
            is_aligned: args.input.is_aligned(P as u32) && args.input_pitch.is_multiple_of(P as u64),
            is_whole: packed && output + P as i64 <= (args.columns.outputs * C as u64) as i64,
        };
        for (part, element) in [own, halo].into_iter().enumerate() {
            if strip.has_outside[part] {
                strip.find_sources(part, element);
            }
        }
        strip
    }

    /// Stores where the samples of a pack are, which begins at `element`. Other threads do not read it.
    #[inline(always)]
    fn find_sources(&self, part: usize, element: i64) {
        let border = Border::from_number(self.args.border);
        let mut k = 0;
        while k < P as u32 {
            let place = element + k as i64;
            let (pixel, channel) = (place.div_euclid(C as i64), place.rem_euclid(C as i64));
            // Less than 2^31 from one of the ends.
            let source = match border.source(pixel, self.args.columns.samples) {
                Some(pixel) if pixel < NEAR => (pixel as i64 * C as i64 + channel) as i32,
                Some(pixel) => (pixel as i64 * C as i64 + channel - width::<F, C>(self.args)) as i32,
                None => OUTSIDE,
            };
            self.sources.set(self.place(part, k), source);
            k += 1;
        }
    }

    /// Returns where the source of element `k` of a pack stands in shared memory.
    #[inline(always)]
    fn place(&self, part: usize, k: u32) -> u32 {
        (part as u32 * P as u32 + k) * THREADS + thread::thread_idx_y() * WARP + thread::thread_idx_x()
    }

    /// Loads the lane's samples of the row that begins at `line`.
    #[inline(always)]
    fn load(&self, line: u64) -> Row {
        let args = self.args;
        if line == CONSTANT {
            return Row { own: join([args.outside; P]), halo: join([args.outside; P]) };
        }
        // In each branch, so that nothing waits for the loads where branches meet.
        let mut words = self.packs.map(|pack| match self.is_aligned {
            true => join(args.input.get_pack_masked::<P>(line + pack)),
            false => join::<_, P>(core::array::from_fn(|k| args.input.get_masked(line + pack + k as u64))),
        });
        if self.has_outside[0] || self.has_outside[1] {
            for (part, words) in words.iter_mut().enumerate() {
                let mut pack = split::<F::Sample, P>(*words);
                for (k, sample) in pack.iter_mut().enumerate() {
                    // Not outside of the loop: the kernels for `f32` would take more registers.
                    if self.has_outside[part] {
                        *sample = self.load_outside(part, line, k as u32);
                    }
                }
                *words = join(pack);
            }
        }
        Row { own: words[0], halo: words[1] }
    }

    /// Loads sample `k` of a pack that is not inside.
    #[inline(always)]
    #[track_caller]
    fn load_outside(&self, part: usize, line: u64, k: u32) -> F::Sample {
        let source = self.sources.get(self.place(part, k));
        let end = line + width::<F, C>(self.args) as u64;
        let at = if source < 0 { end.wrapping_add_signed(source as i64) } else { line + source as u64 };
        self.args.input.get_if(source != OUTSIDE, at, self.args.outside)
    }

    /// Returns the samples that the lane's outputs depend on; all lanes of the warp take part. Two rows take turns with the buffers,
    /// so a barrier per row suffices.
    #[inline(always)]
    fn window<const N: usize>(&self, buffer: u32, row: Row) -> [F::Sample; N] {
        let (lane, before, lanes) = (thread::thread_idx_x(), (N - P) / 2, halo_packs(N - P, P));
        let first = (thread::thread_idx_y() * 2 + buffer) * row_buffer(N - P, P);
        self.buffers.set_pack(first + (lanes + lane) * P as u32, split::<_, P>(row.own));
        if self.has_halo {
            // Those of the last lanes stand before the first one's, those of the first lanes behind the last one's.
            let place = if lane < lanes { lanes + WARP + lane } else { lanes + lane - WARP };
            self.buffers.set_pack(first + place * P as u32, split::<_, P>(row.halo));
        }
        sync_warp(FULL);
        let mut window = [F::Sample::ZERO; N];
        let mut pack = [F::Sample::ZERO; P];
        each!(i < N, {
            let place = lanes as usize * P + i - before;
            if i == 0 || place.is_multiple_of(P) {
                pack = match place / P == lanes as usize {
                    true => split(row.own),
                    false => self.buffers.get_pack(first + (lane + (place / P) as u32) * P as u32),
                };
            }
            window[i] = pack[place % P];
        });
        window
    }

    /// Stores the sums that are complete after row `r` of `rows` rows of samples, if there are any.
    #[inline(always)]
    fn store<const K: usize>(&self, r: u32, rows: u32, sums: [F::Sum; P]) {
        let args = self.args;
        if r < K as u32 - 1 || r >= rows {
            return;
        }
        let row = self.row + (r - (K as u32 - 1)) as u64;
        let first = (row * args.output_pitch).wrapping_add(self.output as u64);
        let outputs = sums.map(F::Output::of_sum);
        if self.is_whole {
            args.output.set_pack(first, outputs);
            return;
        }
        for (k, output) in outputs.into_iter().enumerate() {
            let is_inside = ((self.output + k as i64) as u64) < args.columns.outputs * C as u64;
            args.output.set_if(is_inside, first.wrapping_add(k as u64), output);
        }
    }
}

/// Returns the packs on one side of a strip that its outputs depend on, for `halo` elements on both sides.
#[inline(always)]
pub(super) const fn halo_packs(halo: usize, pack: usize) -> u32 {
    (halo / 2).div_ceil(pack) as u32
}

/// Returns the elements of a row of samples that a strip depends on, in whole packs.
#[inline(always)]
pub(super) const fn row_buffer(halo: usize, pack: usize) -> u32 {
    (WARP + 2 * halo_packs(halo, pack)) * pack as u32
}

/// Returns the elements of a row of samples.
#[inline(always)]
fn width<F: Types, const C: usize>(args: &BandArgs<F>) -> i64 {
    (args.columns.samples * C as u64) as i64
}
