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
//! Pixels of four bytes are words, so that is how they are loaded, exchanged and stored. If a pitch or a window is not a multiple of a
//! word, the strip is computed by a second loop, sample by sample and without loads ahead.
//!
//! Sums in registers that move down the rows are described by Micikevicius, *3D Finite Difference Computation on GPUs using
//! CUDA* (GPGPU 2009).

use super::lines::{CONSTANT, find_lines};
use super::pixels::Typed;
use super::products::{Products, TABLE};
use super::sources::{NONE, NOTHING, OUTSIDE, place, source, width};
use super::words::{Packed, Streamed};
use super::{Axis, BandArgs};
use crate::signal::{Border, Sample, Types};
use core::fmt::Debug;
use cuda_std::math::opaque;
use cuda_std::warp::{FULL, Lane, WARP, sync_warp};
use cuda_std::{Arena, Shared, Table, arguments, thread};

/// Warps of a block.
pub(super) const WARPS: u32 = 4;

/// What is known at compile time: samples of the types `F` with `CHANNELS` channels, weights of `TAPS` rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Size<F, const CHANNELS: usize, const TAPS: usize>(F);

/// A [`Size`].
pub trait Instance: Copy + Debug + Send + Sync + 'static {
    /// The types of the numbers.
    type Types: Streamed;
    /// Interleaved channels.
    const CHANNELS: usize;
    /// Rows and columns of the weights, an odd number.
    const TAPS: usize;
    /// Elements of a pack.
    const PACK: usize = pack::<Self::Types>();
    /// Words of a pack of samples.
    const WORDS: usize = words::<Self::Types>();
    /// Maximum number of registers of a thread, so that a multiprocessor of 65,536 runs 36 warps with 56, 32 with 64, 24 with 80, 16
    /// with 128, 12 with 168, and 8 with 255.
    const REGISTERS: u8 = match (size_of::<<Self::Types as Types>::Sample>(), Self::TAPS) {
        (1, ..5) => 128,
        (1, 5) => 168,
        (1, _) => u8::MAX,
        (_, ..5) => 56,
        (_, 5) => 64,
        (_, ..9) => 80,
        _ => 128,
    };
    /// Words of a pack of the halo.
    const HALO: usize = halo_words::<Self::Types>(Self::CHANNELS, Self::TAPS);
    /// Samples that a pack of outputs depends on in a row.
    const WINDOW: usize = Self::PACK + (Self::TAPS - 1) * Self::CHANNELS;
}

impl<F: Streamed, const CHANNELS: usize, const TAPS: usize> Instance for Size<F, CHANNELS, TAPS> {
    type Types = F;
    const CHANNELS: usize = CHANNELS;
    const TAPS: usize = TAPS;
}

/// Returns the elements of a pack, of at most 16 bytes.
pub(super) const fn pack<F: Types>() -> usize {
    let [sample, output] = [size_of::<F::Sample>(), size_of::<F::Output>()];
    16 / if sample > output { sample } else { output }
}

/// Returns the words of a pack of samples.
pub(super) const fn words<F: Streamed>() -> usize {
    pack::<F>() / <F::Sample as Packed<F::Sum>>::PER_WORD
}

/// Returns the words of a pack of the halo: all of those on one side of a strip, if a pack has room for them.
pub(super) const fn halo_words<F: Streamed>(channels: usize, taps: usize) -> usize {
    let samples = (taps / 2 * channels).next_power_of_two();
    let pack = pack::<F>();
    (if samples < pack { samples } else { pack }) / <F::Sample as Packed<F::Sum>>::PER_WORD
}

arguments! {
    /// Arguments of the kernels.
    pub struct StreamingArgs<'l, F: Types> {
        /// The picture.
        pub picture: BandArgs<Typed<'l, F>>,
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

/// Goes down a strip.
#[inline(always)]
pub(super) fn correlate<
    F: Streamed,
    const P: usize,
    const M: usize,
    const H: usize,
    const C: usize,
    const K: usize,
    const N: usize,
>(
    arena: Arena,
    args: &BandArgs<Typed<F>>,
    products: &impl Products<F, P, C, K, N>,
) {
    const {
        assert!(N == P + (K - 1) * C && P.is_power_of_two() && K % 2 == 1);
        assert!(C.is_multiple_of(<F::Sample as Packed<F::Sum>>::PER_WORD), "a pixel consists of whole words");
    };
    let [plane, first] = args.corner();
    let rows = args.band_rows(first) + K as u32 - 1;
    let (lines, arena) = arena.split::<u64>(args.band + K as u32 - 1 + AHEAD);
    find_lines(&lines, args, [rows, AHEAD]);
    let strip = Strip::<F, P, M, H, C>::new::<K>(arena, args, lines, plane * args.rows.outputs + first);
    thread::sync_threads();

    match strip.has_words {
        true => strip.go_down(rows, products),
        false => strip.go_down_by_samples(rows, products),
    }
}

/// Returns the same sums, computed here. The compiler would move products behind the next branch, and keep their samples until then,
/// which are more numbers than the words that they come from.
#[inline(always)]
fn pinned<A: Lane, const P: usize, const K: usize>(mut sums: [[A; P]; K]) -> [[A; P]; K] {
    for row in &mut sums {
        *row = row.map(|sum| A::from_words(sum.to_words().map(opaque)));
    }
    sums
}

/// Rows behind the last one whose places are read: at most 3 up to a multiple of 4 rows in flight, and 4 that are loaded ahead. They
/// are [`CONSTANT`], so nothing is loaded there.
pub(super) const AHEAD: u32 = 7;

/// Returns the rows of samples in flight: 4 of bytes, whose kernels run fewer warps, otherwise 2. So are those with so many products
/// that the instructions of 4 rows do not fit into the instruction cache.
const fn turns<F: Types>(products: usize) -> usize {
    if size_of::<F::Sample>() == 1 && products <= MOST_PRODUCTS { 4 } else { 2 }
}

/// Maximum number of products of an output of which 4 rows are in flight.
const MOST_PRODUCTS: usize = 25;

/// The strip of a warp.
struct Strip<'a, F: Streamed, const P: usize, const M: usize, const H: usize, const C: usize> {
    args: &'a BandArgs<Typed<'a, F>>,
    /// Where each row of samples begins in the input.
    lines: Shared<'a, u64>,
    /// Two rows of samples of each warp.
    buffers: Shared<'a, Word<F>>,
    /// Positions of the lane's own pack in a row of samples, and of its pack of the halo. [`NONE`] if they are not inside, or if
    /// there is none.
    packs: [u64; 2],
    /// Whether the lane has a pack of the halo.
    has_halo: bool,
    /// Whether words are loaded one by one, because packs are not inside.
    is_scattered: bool,
    /// Where these words are.
    sources: Shared<'a, i32>,
    /// Position of the lane's first output of the band, which may be outside of the row.
    first: u64,
    /// Which of the lane's outputs of a row are inside: a bit for each.
    inside: u32,
    /// Whether packs of samples are aligned.
    is_aligned: bool,
    /// Whether words of samples and outputs are aligned.
    has_words: bool,
    /// Whether the lane's outputs are an aligned pack.
    is_whole: bool,
}

/// The word of samples.
type Word<F> = <<F as Types>::Sample as Packed<<F as Types>::Sum>>::Unit;

/// A lane's samples of a row.
#[derive(Clone, Copy)]
struct Row<W, const M: usize, const H: usize> {
    own: [W; M],
    /// In the first and last lanes: a pack of the halo.
    halo: [W; H],
}

/// Threads of a block.
const THREADS: u32 = WARPS * WARP;

impl<'a, F: Streamed, const P: usize, const M: usize, const H: usize, const C: usize> Strip<'a, F, P, M, H, C> {
    /// Samples of a pack of the halo.
    const HALO: usize = H * Self::PER_WORD;
    /// Samples of a word.
    const PER_WORD: usize = <F::Sample as Packed<F::Sum>>::PER_WORD;

    #[inline(always)]
    fn new<const K: usize>(arena: Arena<'a>, args: &'a BandArgs<Typed<F>>, lines: Shared<'a, u64>, row: u64) -> Self {
        let (sources, arena) = arena.split::<i32>((M + H) as u32 * THREADS);
        let (buffers, _) = arena.split::<Word<F>>(2 * WARPS * row_buffer((K - 1) * C, P) / Self::PER_WORD as u32);
        let (lane, strip) = (thread::thread_idx_x(), thread::block_idx_x() * WARPS + thread::thread_idx_y());
        let layout = Layout::new(&args.columns, K, C, P);
        let own = layout.first + (strip as i64 * WARP as i64 + lane as i64) * P as i64;
        // Packs of the halo on one side.
        let lanes = halo_packs((K - 1) * C, P);
        let far = (WARP as usize * P) as i64;
        // The last packs before the strip end where it begins.
        let halo = if lane < lanes { own + far } else { own - far + (P - Self::HALO) as i64 };
        let has_halo = lane < lanes || lane >= WARP - lanes;
        let is_inside = |element: i64, len: usize| element >= 0 && element + len as i64 <= width(&args.columns, C);
        // A constant of zero outside is loaded as if it were stored there.
        let is_zero = args.columns.border == Border::Constant as u32 && F::Sample::is_zero(args.memory.outside);
        let is_beyond =
            |element: i64, len: usize| is_zero && (element + len as i64 <= 0 || element >= width(&args.columns, C));
        let inside = [is_inside(own, P), is_inside(halo, Self::HALO)];
        let beyond = [is_beyond(own, P), is_beyond(halo, Self::HALO)];
        let output = (own - layout.centre) as u64;
        let outputs = Self::outputs_inside(args, output);
        let words_are_aligned = args.are_aligned(Self::PER_WORD as u32);
        let are_aligned = args.are_aligned(P as u32);
        let strip = Strip {
            args,
            lines,
            buffers,
            has_halo,
            packs: [if inside[0] { own as u64 } else { NONE }, if has_halo && inside[1] { halo as u64 } else { NONE }],
            is_scattered: !inside[0] && !beyond[0] || has_halo && !inside[1] && !beyond[1],
            sources,
            first: (row * args.output_pitch).wrapping_add(output),
            inside: outputs,
            is_aligned: are_aligned[0],
            // Without branches: with them, the assembler keeps the weights in registers of each thread.
            has_words: (Self::PER_WORD == 1) | words_are_aligned[0] & words_are_aligned[1],
            is_whole: are_aligned[1] && layout.first == layout.centre && outputs == (1 << P) - 1,
        };
        if strip.is_scattered {
            strip.find_sources(0, own, !beyond[0]);
            strip.find_sources(1, halo, has_halo && !beyond[1]);
        }
        strip.clear_halo((K - 1) * C);
        strip
    }

    /// Returns which of the lane's outputs, from place `first` of a row on, are inside of it: a bit for each.
    #[inline(always)]
    fn outputs_inside(args: &BandArgs<Typed<F>>, first: u64) -> u32 {
        let mut inside = 0;
        for k in 0..P {
            inside |= ((first.wrapping_add(k as u64) < args.columns.outputs * C as u64) as u32) << k;
        }
        inside
    }

    /// Sets the lane's packs of the halo to zero in both buffers. Neighbours load whole packs, but only some of the words may be
    /// samples.
    #[inline(always)]
    fn clear_halo(&self, halo: usize) {
        let (lane, lanes) = (thread::thread_idx_x(), halo_packs(halo, P));
        if self.has_halo && H < M {
            let pack = if lane < lanes { lanes + WARP + lane } else { lanes + lane - WARP };
            for buffer in 0..2 {
                self.buffers.set_pack(self.buffer(halo, buffer) + pack * M as u32, [Default::default(); M]);
            }
        }
    }

    /// Stores where the words of a pack are, which begins at `element` and is near an edge of the picture. Other threads do not read
    /// it.
    #[inline(always)]
    fn find_sources(&self, pack: usize, element: i64, is_needed: bool) {
        let mut k = 0;
        while k < if pack == 0 { M } else { H } as u32 {
            let place = element + k as i64 * Self::PER_WORD as i64;
            let source = if is_needed { source(&self.args.columns, C, place) } else { NOTHING };
            self.sources.set(self.place(pack, k), source);
            k += 1;
        }
    }

    /// Returns where the source of word `k` of a pack stands in shared memory.
    #[inline(always)]
    fn place(&self, pack: usize, k: u32) -> u32 {
        (pack as u32 * M as u32 + k) * THREADS + thread::thread_idx_y() * WARP + thread::thread_idx_x()
    }

    /// Computes the strip, whose words are aligned, from `rows` rows of samples.
    #[inline(always)]
    fn go_down<const K: usize, const N: usize, D: Products<F, P, C, K, N>>(&self, rows: u32, products: &D) {
        let mut sums = [[F::Sum::default(); P]; K];
        // The loads of the next rows are in progress while a row is multiplied. The rows take turns, so that none is moved
        // between registers, which would wait for its loads.
        let turns = turns::<F>(D::COUNT);
        let mut loaded = [Row { own: [Default::default(); M], halo: [Default::default(); H] }; 4];
        each!(i < turns <= 4, {
            if i + 1 < turns {
                loaded[i] = self.load(self.lines.get(i as u32));
            }
        });
        // Where a row begins is known one row before its loads, which would wait for it otherwise.
        let (mut next, mut r) = (self.lines.get(turns as u32 - 1), 0);
        while r < rows {
            each!(i < turns <= 4, {
                let row = r + i as u32;
                loaded[(i + turns - 1) % turns] = self.load(next);
                next = self.lines.get(row + turns as u32);
                sums = pinned(products.add(sums, self.window(i as u32 % 2, loaded[i])));
                self.store::<K>(row, rows, sums[0]);
            });
            r += turns as u32;
        }
    }

    /// The same for words that are not aligned, sample by sample.
    #[inline(always)]
    fn go_down_by_samples<const K: usize, const N: usize>(&self, rows: u32, products: &impl Products<F, P, C, K, N>) {
        let (mut sums, mut r) = ([[F::Sum::default(); P]; K], 0);
        while r < rows {
            let line = self.lines.get(r);
            let row = Row { own: self.load_samples(0, line), halo: self.load_samples(1, line) };
            sums = products.add(sums, self.window(r % 2, row));
            if r + 1 >= K as u32 {
                self.store_samples(r + 1 - K as u32, sums[0]);
            }
            // One copy of the code suffices.
            r = opaque(r + 1);
        }
    }

    /// Loads the lane's samples of a row of those that the strip depends on, which begins at `line`.
    #[inline(always)]
    fn load(&self, line: u64) -> Row<Word<F>, M, H> {
        let args = self.args;
        if line == CONSTANT {
            return Row { own: [self.outside(); M], halo: [self.outside(); H] };
        }
        if self.is_scattered {
            return Row { own: self.load_words(0, line), halo: self.load_words(1, line) };
        }
        let [own, halo] = self.packs.map(|pack| line + pack);
        Row {
            own: F::Sample::load(&args.memory.input, own, self.is_aligned),
            halo: F::Sample::load(&args.memory.input, halo, self.is_aligned),
        }
    }

    /// Loads a pack whose words are at different places.
    #[inline(always)]
    fn load_words<const W: usize>(&self, pack: usize, line: u64) -> [Word<F>; W] {
        let mut words = [self.outside(); W];
        for (m, word) in words.iter_mut().enumerate() {
            let source = self.sources.get(self.place(pack, m as u32));
            let [loaded] = F::Sample::load(&self.args.memory.input, self.at(source, line), true);
            *word = if source == OUTSIDE { *word } else { loaded };
        }
        words
    }

    /// Returns a word of the constant outside.
    #[inline(always)]
    fn outside(&self) -> Word<F> {
        let [word] = F::Sample::join([self.args.memory.outside; 4]);
        word
    }

    /// The same, sample by sample.
    #[inline(always)]
    fn load_samples<const W: usize>(&self, pack: usize, line: u64) -> [Word<F>; W] {
        let (mut words, mut first) = ([self.outside(); W], line.wrapping_add(self.packs[pack]));
        for (m, word) in words.iter_mut().enumerate() {
            let at = match self.packs[pack] {
                _ if line == CONSTANT => NONE,
                NONE if self.is_scattered => self.at(self.sources.get(self.place(pack, m as u32)), line),
                NONE => NONE,
                _ => first,
            };
            let mut samples = [self.args.memory.outside; 4];
            for (k, sample) in samples.iter_mut().enumerate() {
                *sample =
                    self.args.memory.input.get_if(at != NONE, at.wrapping_add(k as u64), self.args.memory.outside);
            }
            [*word] = F::Sample::join(samples);
            first = first.wrapping_add(Self::PER_WORD as u64);
        }
        words
    }

    /// Returns the place of a word of a row of samples, or [`NONE`].
    #[inline(always)]
    fn at(&self, source: i32, line: u64) -> u64 {
        place(source, line, width(&self.args.columns, C))
    }

    /// Returns the samples that the lane's outputs depend on; all lanes of the warp take part. Two rows take turns with the buffers,
    /// so a barrier per row suffices.
    #[inline(always)]
    fn window<const N: usize>(&self, buffer: u32, row: Row<Word<F>, M, H>) -> [F::Sum; N] {
        let [own, halo] = self.places(N - P, buffer);
        self.buffers.set_pack(own, row.own);
        if self.has_halo {
            self.buffers.set_pack(halo, row.halo);
        }
        sync_warp(FULL);
        self.neighbours(buffer, row.own)
    }

    /// Returns where the lane's own pack stands in a buffer, and its pack of the halo, if it has one.
    #[inline(always)]
    fn places(&self, halo: usize, buffer: u32) -> [u32; 2] {
        let (lane, lanes) = (thread::thread_idx_x(), halo_packs(halo, P));
        let first = self.buffer(halo, buffer);
        // Those of the last lanes stand before the first one's, those of the first lanes behind the last one's.
        let behind = (lanes + WARP + lane) * M as u32;
        let before = (lanes + 1 + lane).wrapping_sub(WARP).wrapping_mul(M as u32).wrapping_sub(H as u32);
        [first + (lanes + lane) * M as u32, first.wrapping_add(if lane < lanes { behind } else { before })]
    }

    /// Returns the first word of one of the warp's two buffers.
    #[inline(always)]
    fn buffer(&self, halo: usize, buffer: u32) -> u32 {
        (thread::thread_idx_y() * 2 + buffer) * (row_buffer(halo, P) / Self::PER_WORD as u32)
    }

    /// Returns the samples that the lane's outputs depend on, from a buffer; it has its `own` ones.
    #[inline(always)]
    fn neighbours<const N: usize>(&self, buffer: u32, own: [Word<F>; M]) -> [F::Sum; N] {
        let (lane, before, lanes) = (thread::thread_idx_x(), (N - P) / 2, halo_packs(N - P, P));
        let first = self.buffer(N - P, buffer);
        let mut window = [F::Sum::ZERO; N];
        let mut pack = [Word::<F>::default(); M];
        each!(i < N, {
            let place = lanes as usize * P + i - before;
            if i == 0 || place.is_multiple_of(P) {
                pack = match place / P == lanes as usize {
                    true => own,
                    false => self.buffers.get_pack(first + (lane + (place / P) as u32) * M as u32),
                };
            }
            window[i] = F::Sample::of_word(pack[place % P / Self::PER_WORD], place % Self::PER_WORD);
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
        let first = self.first.wrapping_add((r - (K as u32 - 1)) as u64 * args.output_pitch);
        let outputs = F::Output::of_sums(sums);
        if self.is_whole {
            args.memory.output.set_pack(first, outputs);
            return;
        }
        for m in 0..M {
            let k = m * Self::PER_WORD;
            F::Output::store_word(&args.memory.output, self.is_inside(k), first.wrapping_add(k as u64), outputs, m);
        }
    }

    /// Stores the sums of output row `r` of the band, one by one.
    #[inline(always)]
    fn store_samples(&self, r: u32, sums: [F::Sum; P]) {
        let args = self.args;
        let first = self.first.wrapping_add(r as u64 * args.output_pitch);
        for (k, output) in F::Output::of_sums(sums).into_iter().enumerate() {
            args.memory.output.set_if(self.is_inside(k), first.wrapping_add(k as u64), output);
        }
    }

    /// Returns whether output `k` of the lane is inside of the row.
    #[inline(always)]
    fn is_inside(&self, k: usize) -> bool {
        self.inside >> k & 1 == 1
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
