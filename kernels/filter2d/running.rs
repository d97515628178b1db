//! Sums of windows with equal weights over pixels of four bytes, as running sums: the number of operations per output depends
//! neither on the height nor on the width of the window.
//!
//! `y[r, c] = scale(Σ_i Σ_j X(row(r, i), column(c, j)))`, strides and dilations of 1. Sums are integers, so adding a sample and
//! subtracting it later leaves no error. They are less than 2^23 ([`MOST_SAMPLES`]): exact as `f32`, too.
//!
//! A warp goes down a strip of a band of rows; a block of 32 x [`WARPS`] threads takes strips side by side. Block `(x, y, z)` has the
//! strips from `x` · [`WARPS`] on, of band `y` of plane `z`. A strip has [`STRIP`] pixels of samples. Strips overlap by the columns of
//! the window, bands by its rows.
//!
//! From one row of outputs to the next, a window gets one row of samples and loses another. For each pixel of the strip a lane
//! subtracts the latter sample from the former, two channels in a word: a difference in each half. The sums of such words are
//! those of the halves, with a borrow that is undone at the end. The warp finds the sums of the differences before each pixel. The
//! sum of a window's columns is the difference of two of these, and fits into half a word if the window has at most
//! [`MOST_COLUMNS`] columns. It is added to the sum of the window:
//!
//! ```text
//! new row       + + + + + + + + + + +        difference d = new - old
//! ...             | window  |                S(b) = d(0) + … + d(b - 1)
//! ...             |         |                sum of the window += S(end) - S(begin)
//! old row       - - - - - - - - - - -
//! ```
//!
//! For the sums of differences, lane `l` has the pixels from `8 l` on, in two packs of 4. For the sums of windows it has the
//! pixels `l`, `l + 32`, …, so a warp stores neighbouring words.
//!
//! Shared memory: where each row of samples begins; for each thread, where its words are that are not inside the picture; the sums of
//! differences of a row of each warp, twice, because two rows take turns, and a barrier of the warp per row suffices. No bank
//! conflicts: lanes load neighbouring words. They store packs of 16 bytes; lanes 2 to 5 of any eight begin with their
//! second pack, so the eight access all banks, and so do any four of 16 banks.

use super::lines::{CONSTANT, find_lines};
use super::pixels::{Inverse, Typed};
use super::sources::{NONE, NOTHING, OUTSIDE, place, source, width};
use super::words::Packed;
use super::{Axis, BandArgs, Bytes};
use crate::signal::Border;
use core::array::from_fn;
use core::fmt::Debug;
use cuda_std::math::{fma, opaque};
use cuda_std::warp::{FULL, WARP, shuffle_up, sync_warp};
use cuda_std::{Arena, Argument, GlobalOut, Shared, arguments, kernel, thread};

/// Warps of a block.
pub(super) const WARPS: u32 = 1;

/// Pixels of a lane.
const PIXELS: u32 = 8;

/// Pixels of samples of a strip.
const STRIP: u32 = WARP * PIXELS;

/// Groups of 32 outputs of a strip.
const GROUPS: usize = PIXELS as usize;

/// Channels of a pixel.
const CHANNELS: usize = 4;

/// Maximum number of columns of a window: more bytes have sums that do not fit into 16 bits with a sign.
pub const MOST_COLUMNS: u32 = i16::MAX as u32 / u8::MAX as u32;

/// Maximum number of samples of a window.
pub const MOST_SAMPLES: u32 = INTEGER / u8::MAX as u32;

/// Maximum number of rows of a window. Each takes shared memory.
pub const MOST_ROWS: u32 = 1024;

/// Floats from it on have no bits for a fraction.
const INTEGER: u32 = 1 << 23;

/// Rows of samples that take turns with registers and buffers.
const TURNS: usize = 2;

/// Rows behind the last one whose places are read. They are [`CONSTANT`], so nothing is loaded there.
pub(super) const AHEAD: u32 = TURNS as u32;

/// What an output is, for the sum of its window.
pub trait Scale: Argument + Debug + 'static {
    /// Returns the output for the sum plus `INTEGER`.
    fn of_sum(&self, sum: f32) -> f32;
}

arguments! {
    /// The weight of all samples.
    pub struct EqualWeight {
        /// The weight.
        pub weight: f32,
        /// `-2^23` times the weight.
        pub offset: f32,
    }
}

impl EqualWeight {
    /// Returns the weight, unless its multiples are too large.
    #[must_use]
    pub fn new(weight: f32) -> Option<Self> {
        let offset = -(INTEGER as f32) * weight;
        offset.is_finite().then_some(EqualWeight { weight, offset })
    }
}

impl Scale for EqualWeight {
    #[inline(always)]
    fn of_sum(&self, sum: f32) -> f32 {
        // The exact product of the sum and the weight, rounded once.
        fma(sum, self.weight, self.offset)
    }
}

impl Scale for Inverse<f32> {
    #[inline(always)]
    fn of_sum(&self, sum: f32) -> f32 {
        self.quotient(sum - INTEGER as f32)
    }
}

arguments! {
    /// Arguments of the kernels.
    pub struct RunningArgs<'l, S: Scale> {
        /// The picture.
        pub picture: BandArgs<Typed<'l, Bytes>>,
        /// What becomes of sums.
        pub scale: S,
    }
}

kernel! {
    for<S: Scale> {
        "filter2d_running_u8x4" { EqualWeight => u8x4; }
        "filter2d_running_mean_u8x4" { Inverse<f32> => mean_u8x4; }
    }

    /// Running sums of windows with equal weights. With 128 registers, a multiprocessor of 65,536 runs 16 warps.
    pub fn filter2d_running<'l>(arena, args: RunningArgs<'l, S>) where registers <= 128 {
        filter(arena, &args);
    }
}

/// Position of a strip's pixels relative to its samples and outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Position of the first pixel: a multiple of a pack, at most that of the first sample.
    first: i64,
    /// Pixels from the first one to the first sample.
    lead: u32,
    /// Outputs in a row of a strip. Any multiple of them is one of 8 words, which are stored together.
    pub(super) outputs: u32,
}

impl Layout {
    /// Returns the layout for windows of at most [`MOST_COLUMNS`] columns.
    #[inline(always)]
    pub(super) fn new(columns: &Axis) -> Self {
        let first = columns.start & -4;
        let lead = (columns.start - first) as u32;
        // The sums before the last window's end are those of all pixels but one.
        Layout { first, lead, outputs: (STRIP - columns.taps - lead) & !7 }
    }
}

/// Words of the sums of differences of a strip, for two channels of its pixels. There are 32 more words, because groups of outputs
/// need not be whole.
const ROW: u32 = STRIP + WARP;

/// Words of the buffers of a warp: for each turn and two pairs of channels.
pub(super) const BUFFERS: u32 = TURNS as u32 * 2 * ROW;

/// Threads of a block.
pub(super) const THREADS: u32 = WARPS * WARP;

/// Words that may be at different places, of a thread.
pub(super) const SOURCES: u32 = PIXELS;

/// The pixels of a lane in a row: two packs.
type Words = [[u32; 4]; 2];

/// No pixels.
const NO_WORDS: Words = [[0; 4]; 2];

/// Maximum number of rows of the first windows that are added at once.
const BATCH: usize = 4;

/// Goes down a strip.
#[inline(always)]
fn filter<S: Scale>(arena: Arena, args: &RunningArgs<S>) {
    let picture = &args.picture;
    let ([plane, first], taps) = (picture.corner(), picture.rows.taps);
    let rows = picture.band_rows(first) + taps - 1;
    let (lines, arena) = arena.split::<u64>(picture.band + taps - 1 + AHEAD);
    find_lines(&lines, picture, [rows, AHEAD]);
    let strip = Strip::new(arena, args, lines, plane * picture.rows.outputs + first);
    thread::sync_threads();
    match strip.has_words {
        true => strip.go_down(rows),
        false => strip.go_down_by_bytes(rows),
    }
}

/// The strip of a warp.
struct Strip<'a, S: Scale> {
    args: &'a RunningArgs<'a, S>,
    /// Where each row of samples begins in the input.
    lines: Shared<'a, u64>,
    /// The sums of differences of the warp's rows.
    buffers: Shared<'a, u32>,
    /// Where words are that are not inside.
    sources: Shared<'a, i32>,
    /// Positions of the lane's packs in a row of samples, the second one first if it `is_swapped`. [`NONE`] if they are not inside.
    packs: [u64; 2],
    /// Pixels of the strip before these packs.
    places: [u32; 2],
    /// Whether the lane's second pack stands first.
    is_swapped: bool,
    /// Whether words are loaded one by one, because packs are not inside.
    is_scattered: bool,
    /// Whether packs of samples are aligned.
    is_aligned: bool,
    /// Whether words of samples and outputs are aligned.
    has_words: bool,
    /// Pixels before the first window.
    lead: u32,
    /// Outputs in a row.
    count: u32,
    /// Position of the lane's first output of the band.
    first: u64,
}

impl<'a, S: Scale> Strip<'a, S> {
    #[inline(always)]
    fn new(arena: Arena<'a>, args: &'a RunningArgs<'a, S>, lines: Shared<'a, u64>, row: u64) -> Self {
        let picture = &args.picture;
        let (sources, arena) = arena.split::<i32>(SOURCES * THREADS);
        let (buffers, _) = arena.split::<u32>(WARPS * BUFFERS);
        let (lane, layout) = (thread::thread_idx_x(), Layout::new(&picture.columns));
        let number = thread::block_idx_x() as u64 * WARPS as u64 + thread::thread_idx_y() as u64;
        let column = number * layout.outputs as u64;
        let left = picture.columns.outputs.saturating_sub(column);
        let own = layout.first + column as i64 + (PIXELS * lane) as i64;
        let is_swapped = (lane ^ lane >> 1) & 2 != 0;
        let offsets = if is_swapped { [4, 0] } else { [0, 4] };
        let aligned = |elements| picture.are_aligned(elements);
        let has_words = aligned(CHANNELS as u32) == [true; 2];
        let first = offsets.map(|offset| own + offset as i64);
        // Behind the last window nothing is loaded.
        let end = picture.columns.start + picture.columns.outputs as i64 + picture.columns.taps as i64 - 1;
        // A constant of zero outside is loaded as if it were stored there.
        let is_zero = picture.columns.border == Border::Constant as u32 && picture.memory.outside == 0;
        let is_beyond =
            |first: i64| first >= end || is_zero && (first <= -4 || first >= picture.columns.samples as i64);
        let is_inside = first.map(|first| picture.columns.contains(first, 4));
        let strip = Strip {
            args,
            lines,
            buffers,
            sources,
            packs: from_fn(|h| if is_inside[h] { first[h] as u64 * CHANNELS as u64 } else { NONE }),
            places: offsets.map(|offset| PIXELS * lane + offset),
            is_swapped,
            is_scattered: !is_inside[0] && !is_beyond(first[0]) || !is_inside[1] && !is_beyond(first[1]),
            is_aligned: aligned(4 * CHANNELS as u32)[0],
            has_words,
            lead: layout.lead,
            // A 32-bit number from here on.
            count: opaque(if left < layout.outputs as u64 { left as u32 } else { layout.outputs }),
            first: row * picture.output_pitch + (column + lane as u64) * CHANNELS as u64,
        };
        if strip.is_scattered || !has_words {
            strip.find_sources(first[0], 0, end);
            strip.find_sources(first[1], 4, end);
        }
        for row in 0..TURNS as u32 * 2 {
            strip.buffers.set(strip.buffer(row) + STRIP + lane, 0);
        }
        strip
    }

    /// Stores where the words of a pack are, which begins at pixel `first`. Other threads do not read it.
    #[inline(always)]
    fn find_sources(&self, first: i64, number: u32, end: i64) {
        let columns = &self.args.picture.columns;
        let mut k = 0;
        while k < 4 {
            let pixel = first + k as i64;
            let source = if pixel < end { source(columns, CHANNELS, pixel * CHANNELS as i64) } else { NOTHING };
            self.sources.set(self.source_place(number + k), source);
            // One copy of the code suffices.
            k = opaque(k + 1);
        }
    }

    /// Returns where the source of the lane's word `k` stands in shared memory.
    #[inline(always)]
    fn source_place(&self, k: u32) -> u32 {
        k * THREADS + thread::thread_idx_y() * WARP + thread::thread_idx_x()
    }

    /// Returns the first word of a row of sums of the warp.
    #[inline(always)]
    fn buffer(&self, row: u32) -> u32 {
        thread::thread_idx_y() * BUFFERS + row * ROW
    }

    /// Computes the strip, whose words are aligned, from `rows` rows of samples.
    #[inline(always)]
    fn go_down(&self, rows: u32) {
        let (taps, pitch) = (self.args.picture.rows.taps, self.args.picture.output_pitch);
        let mut sums = self.first_sums();
        // The loads of the next row are in progress while a row is added. Rows take turns, so that none is moved between registers,
        // which would wait for its loads.
        let mut loaded = [[[[0; 4]; 2]; 2]; TURNS];
        loaded[0] = self.load::<true>(taps - 1);
        let (mut r, mut output) = (taps - 1, self.first);
        while r < rows {
            each!(i < TURNS <= 4, {
                let [new, old] = loaded[i];
                loaded[(i + 1) % TURNS] = self.load::<true>(r + i as u32 + 1);
                self.exchange(2 * i as u32, from_fn(|h| differences(new[h], old[h])));
                sync_warp(FULL);
                let row = self.row(r + (i as u32) < rows, output);
                each!(k < GROUPS, {
                    if k as u32 * WARP < self.count {
                        sums[k] = self.moved_on(2 * i as u32, k as u32, sums[k]);
                        self.store::<true>(k as u32, &row, sums[k]);
                    }
                });
                output += pitch;
            });
            r += TURNS as u32;
        }
    }

    /// The same for words that are not aligned, byte by byte.
    #[inline(always)]
    fn go_down_by_bytes(&self, rows: u32) {
        let taps = self.args.picture.rows.taps;
        let (mut sums, mut r, mut output) = ([[INTEGER_BITS; CHANNELS]; GROUPS], 0, self.first);
        while r < rows {
            let [new, old] = self.load::<false>(r);
            self.exchange(0, from_fn(|h| differences(new[h], old[h])));
            sync_warp(FULL);
            let is_complete = r + 1 >= taps;
            let row = self.row(is_complete, output);
            each!(k < GROUPS, {
                if k as u32 * WARP < self.count {
                    sums[k] = self.moved_on(0, k as u32, sums[k]);
                    self.store::<false>(k as u32, &row, sums[k]);
                }
            });
            sync_warp(FULL);
            output += if is_complete { self.args.picture.output_pitch } else { 0 };
            // One copy of the code suffices.
            r = opaque(r + 1);
        }
    }

    /// Returns the sums of the rows of the first windows, but for their last row. Several rows are added at once.
    #[inline(always)]
    fn first_sums(&self) -> [[u32; CHANNELS]; GROUPS] {
        let [rows, columns] = [self.args.picture.rows.taps - 1, self.args.picture.columns.taps];
        let most = (MOST_COLUMNS / columns).min(BATCH as u32);
        let (mut sums, mut r) = ([[INTEGER_BITS; CHANNELS]; GROUPS], 0);
        while r < rows {
            let count = most.min(rows - r);
            let mut loaded = [NO_WORDS; BATCH];
            each!(i < BATCH <= 4, {
                if (i as u32) < count {
                    loaded[i] = self.load_line::<true>(self.lines.get(r + i as u32));
                }
            });
            let mut all = [[[0u32; 4]; 2]; 2];
            for words in loaded {
                let row: [[[u32; 4]; 2]; 2] = from_fn(|h| differences(words[h], [0; 4]));
                all = from_fn(|h| from_fn(|pair| from_fn(|k| all[h][pair][k] + row[h][pair][k])));
            }
            self.exchange(0, all);
            sync_warp(FULL);
            each!(k < GROUPS, {
                if k as u32 * WARP < self.count {
                    sums[k] = self.moved_on(0, k as u32, sums[k]);
                }
            });
            sync_warp(FULL);
            r += count;
        }
        sums
    }

    /// Loads the lane's pixels of a row of samples, and of the one that windows lose with it. The first windows lose none.
    #[inline(always)]
    fn load<const WORDS: bool>(&self, r: u32) -> [Words; 2] {
        let taps = self.args.picture.rows.taps;
        let old = if r < taps { NO_WORDS } else { self.load_line::<WORDS>(self.lines.get(r - taps)) };
        [self.load_line::<WORDS>(self.lines.get(r)), old]
    }

    #[inline(always)]
    fn load_line<const WORDS: bool>(&self, line: u64) -> Words {
        if line == CONSTANT {
            return [[self.outside(); 4]; 2];
        }
        if !WORDS || self.is_scattered {
            return [0, 4].map(|number| self.load_words::<WORDS>(number, line));
        }
        let input = &self.args.picture.memory.input;
        self.packs.map(|pack| u8::load(input, line.wrapping_add(pack), self.is_aligned))
    }

    /// Returns a pixel of the constant outside.
    #[inline(always)]
    fn outside(&self) -> u32 {
        u32::from_le_bytes([self.args.picture.memory.outside; CHANNELS])
    }

    /// Loads a pack whose words are at different places, or are not aligned.
    #[inline(always)]
    fn load_words<const WORDS: bool>(&self, number: u32, line: u64) -> [u32; 4] {
        let (picture, mut words) = (&self.args.picture, [self.outside(); 4]);
        for (k, word) in words.iter_mut().enumerate() {
            let source = self.sources.get(self.source_place(number + k as u32));
            let at = place(source, line, width(&picture.columns, CHANNELS));
            if WORDS {
                let [loaded] = u8::load(&picture.memory.input, at, true);
                *word = if source == OUTSIDE { *word } else { loaded };
            } else {
                let byte =
                    |c| picture.memory.input.get_if(at != NONE, at.wrapping_add(c as u64), picture.memory.outside);
                *word = u32::from_le_bytes(from_fn(byte));
            }
        }
        words
    }

    /// Makes the sums of the differences of a lane's packs known to the warp. All of its lanes take part.
    #[inline(always)]
    fn exchange(&self, row: u32, differences: [[[u32; 4]; 2]; 2]) {
        let sums = differences.map(|pack| pack.map(sums_up_to));
        let totals: [[u32; 2]; 2] = from_fn(|h| from_fn(|pair| sums[h][pair][3]));
        let before = sums_before(from_fn(|pair| totals[0][pair].wrapping_add(totals[1][pair])));
        for pair in 0..2 {
            let next = |total: u32, is_second: bool| before[pair].wrapping_add(if is_second { total } else { 0 });
            let begins = [next(totals[1][pair], self.is_swapped), next(totals[0][pair], !self.is_swapped)];
            for h in 0..2 {
                let [a, b, c, _] = sums[h][pair].map(|sum| sum.wrapping_add(begins[h]));
                self.buffers.set_pack(self.buffer(row + pair as u32) + self.places[h], [begins[h], a, b, c]);
            }
        }
    }

    /// Returns the sums of the lane's windows of a group, which were `sums` a row before.
    #[inline(always)]
    fn moved_on(&self, row: u32, group: u32, sums: [u32; CHANNELS]) -> [u32; CHANNELS] {
        let begin = self.lead + thread::thread_idx_x() + group * WARP;
        let [even, odd] = [0, 1].map(|pair| {
            let first = self.buffer(row + pair) + begin;
            let sum = self.buffers.get(first + self.args.picture.columns.taps).wrapping_sub(self.buffers.get(first));
            // The lower half is a number with a sign, which the upper half then lacks.
            let rounded = sum.wrapping_add(1 << 15);
            [(rounded & 0xffff).wrapping_sub(1 << 15), (rounded as i32 >> 16) as u32]
        });
        let differences = [even[0], odd[0], even[1], odd[1]];
        from_fn(|c| sums[c].wrapping_add(differences[c]))
    }

    /// Returns the part of the output from the lane's first output of a row on, which is at `first`. It is empty if the row is not one of
    /// outputs.
    #[inline(always)]
    fn row(&self, is_output: bool, first: u64) -> GlobalOut<'_, u8, u32> {
        let count = if is_output { self.count.saturating_sub(thread::thread_idx_x()) } else { 0 };
        self.args.picture.memory.output.at(first).first(count * CHANNELS as u32).anchored()
    }

    /// Stores the lane's output of a group, if it is in the row.
    #[inline(always)]
    fn store<const WORDS: bool>(&self, group: u32, row: &GlobalOut<u8, u32>, sums: [u32; CHANNELS]) {
        let at = group * WARP * CHANNELS as u32;
        let outputs = u8::of_sums(sums.map(|sum| self.args.scale.of_sum(f32::from_bits(sum))));
        if WORDS {
            row.set_pack_masked(true, at, outputs);
        } else {
            for (c, output) in outputs.into_iter().enumerate() {
                row.set_if(true, at + c as u32, output);
            }
        }
    }
}

/// The bits of the float [`INTEGER`]. A number below it is added to them as to the float.
const INTEGER_BITS: u32 = (INTEGER as f32).to_bits();

/// Returns the differences of two packs: of the first and third channels, and of the others.
#[inline(always)]
fn differences(new: [u32; 4], old: [u32; 4]) -> [[u32; 4]; 2] {
    [0, 8].map(|shift| {
        let channels = |pixel: u32| pixel >> shift & 0x00ff_00ff;
        from_fn(|k| channels(new[k]).wrapping_sub(channels(old[k])))
    })
}

/// Returns the sums of the numbers up to each.
#[inline(always)]
fn sums_up_to([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    let ab = a.wrapping_add(b);
    let abc = ab.wrapping_add(c);
    [a, ab, abc, abc.wrapping_add(d)]
}

/// Returns the sums of the numbers of all lanes before the caller.
#[inline(always)]
fn sums_before(own: [u32; 2]) -> [u32; 2] {
    const STEPS: usize = 5;
    let (lane, mut sums) = (thread::thread_idx_x(), own);
    each!(step < STEPS, {
        let before = [shuffle_up(FULL, sums[0], 1 << step), shuffle_up(FULL, sums[1], 1 << step)];
        if lane >= 1 << step {
            sums = from_fn(|pair| sums[pair].wrapping_add(before[pair]));
        }
    });
    from_fn(|pair| sums[pair].wrapping_sub(own[pair]))
}
