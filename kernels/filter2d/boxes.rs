//! Sums of windows with equal weights. The number of additions per output does not depend on the height of the window, and grows
//! by one for 16 columns if sums have 32 bits.
//!
//! `y[r, c] = weight · Σ_i Σ_j X(row(r, i), column(c, j))`, strides and dilations of 1. There is one instance per type of sums,
//! to which samples of any type are converted, and one each for samples and outputs of `f32` and of `u8` with one channel
//! ([`PixelAccess`]). Those for means of integers ([`Mean`]) add up integers, which is exact, and divide the sum.
//!
//! A block goes down a strip of a band of rows. A thread adds up a pack of neighbouring columns of one channel, 16 bytes of sums.
//! With `T` threads and `C` channels, thread `t` has channel `t mod C` of pack `t / C` of the strip. The last `T mod C` threads
//! load and store nothing, but meet the others at barriers. Block `(x, y, z)` has strip `x` of band `y` of plane `z`. Strips
//! overlap by the columns of the window, bands by its rows.
//!
//! Down the columns, the rows are cut into segments as long as the window. A window is the end of one segment and the beginning
//! of the next one, so its sum is a suffix sum plus a prefix sum:
//!
//! ```text
//! segments    | a b c d e | f g h i j |
//! window          [ c d e   f g ]            (c + d + e) + (f + g)
//! ```
//!
//! The prefix sum of the segment that a thread goes down is in registers. The suffix sums of the segment before it are in shared
//! memory, and each sample takes the place of the suffix sum that was used up a row before. At the end of the segment, the thread
//! goes back over its samples and replaces them by suffix sums. No thread accesses the places of another one.
//!
//! Along the row, the columns of a thread are a segment: 4 sums of `f32`, for example. A window consists of the last sums of one
//! pack, whole packs, and the first sums of another one. Threads exchange their packs of column sums, and the totals of these,
//! through shared memory:
//!
//! ```text
//! packs     | . . x x | x x x x | x x x x | x . . . |
//!               suffix    total     total   prefix
//! ```
//!
//! There is no subtraction, so a sum contains the samples of its own window alone: a NaN or an infinity does not affect others, and
//! nothing cancels. A float is rounded at most once per row and column of the window, and twice more. Integers wrap.
//!
//! Shared memory: where each row of samples begins; one row of column sums, and of totals, for each of the [`BATCH`] rows between
//! two barriers; samples or suffix sums of all rows of a segment but one. No bank conflicts: lanes access neighbouring numbers or
//! packs of 16 bytes, or all the same number. In narrow windows with several channels, lanes whose column is in the next pack of
//! their channel are `C` packs ahead, at other places in these packs than the lanes that are not. The samples of the next rows are
//! loaded while those of a batch are added up.
//!
//! Segments as long as the window are the method of M. van Herk, *A fast algorithm for local minimum and maximum filters on
//! rectangular and octagonal kernels* (Pattern Recognition Letters 13, 1992), and J. Gil and M. Werman, *Computing 2-D min, median,
//! and max filters* (IEEE PAMI 15, 1993), with sums in the place of minima.

use super::lines::{CONSTANT, find_lines};
use super::pixels::{Any, Mean, Pack, PixelAccess, Typed};
use super::{Axis, BandArgs, Bytes};
use crate::signal::{Accumulator, Same, Sample, Sum};
use core::array::from_fn;
use cuda_std::{Arena, Shared, arguments, kernel, thread};

/// Returns the columns of a thread: 16 bytes of sums.
pub(super) const fn pack<A>() -> usize {
    16 / size_of::<A>()
}

/// Maximum number of rows between two barriers. The places of as many rows behind the last one are read. They are
/// [`CONSTANT`], so nothing is loaded there.
pub(super) const BATCH: u32 = 4;

arguments! {
    /// Arguments of the kernels.
    pub struct BoxArgs<M: PixelAccess> {
        /// The picture.
        pub picture: BandArgs<M>,
        /// The weight of all samples.
        pub weight: M::Sum,
        /// Channels of a pixel.
        pub channels: u32,
    }
}

/// Type of the sums of an instance.
type SumOf<M> = <M as PixelAccess>::Sum;

kernel! {
    // The memory of any launch.
    for<M: PixelAccess> {
        "filter2d_box_f32" { Typed<'static, Same<f32>> => f32; }
        "filter2d_box_u8" { Typed<'static, Bytes> => u8; }
        "filter2d_box_any_i32" { Any<'static, i32> => any_i32; }
        "filter2d_box_any_i64" { Any<'static, i64> => any_i64; }
        "filter2d_box_any_f32" { Any<'static, f32> => any_f32; }
        "filter2d_box_any_f64" { Any<'static, f64> => any_f64; }
        "filter2d_box_mean_u8" { Mean<Typed<'static, Bytes>> => mean_u8; }
        "filter2d_box_mean_f32" { Mean<Any<'static, f32>> => mean_f32; }
        "filter2d_box_mean_f64" { Mean<Any<'static, f64>> => mean_f64; }
    }

    /// Sums of windows with equal weights, times the weight.
    pub fn filter2d_box<'l>(arena, args: BoxArgs<<M as PixelAccess>::At<'l>>) where registers <= { M::REGISTERS } {
        filter::<_, { pack::<SumOf<M>>() }>(arena, &args);
    }
}

/// Position of a strip's packs relative to its samples and outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Position of the first pack: a multiple of the pack, at most that of the first sample.
    first: i64,
    /// Columns from the first pack to the first sample.
    lead: u32,
    /// Pixels with outputs in a row of a strip, a multiple of the pack.
    pub(super) outputs: u32,
}

impl Layout {
    /// Returns the layout for strips of `packs` packs of `pack` columns. Without an output per strip they are too narrow.
    #[inline(always)]
    pub(super) fn new(columns: &Axis, packs: u32, pack: u32) -> Self {
        let first = columns.start & -(pack as i64);
        let lead = (columns.start - first) as u32;
        let outputs = (pack * packs).saturating_sub(columns.taps - 1 + lead);
        Layout { first, lead, outputs: outputs - outputs % pack }
    }
}

/// A thread's samples of some rows, or sums of such.
type Batch<A, const V: usize> = [[A; V]; BATCH as usize];

#[inline(always)]
fn plus<A: Accumulator, const V: usize>(a: [A; V], b: [A; V]) -> [A; V] {
    from_fn(|p| a[p].plus(b[p]))
}

/// Goes down a strip.
#[inline(always)]
fn filter<M: PixelAccess, const V: usize>(arena: Arena, args: &BoxArgs<M>) {
    let picture = &args.picture;
    let ([plane, first], taps) = (picture.corner(), picture.rows.taps);
    let rows = picture.band_rows(first) + taps - 1;
    let (lines, arena) = arena.split::<u64>(picture.band + taps - 1 + BATCH);
    find_lines(&lines, picture, [rows, BATCH]);
    let strip = Strip::<M, V>::new(arena, args, lines, plane * picture.rows.outputs + first);
    thread::sync_threads();

    let mut samples = strip.load(0);
    let mut segment = Segment { prefix: [M::Sum::ZERO; V], has_suffixes: false, place: 0 };
    let mut r = 0;
    while r < rows {
        let count = BATCH.min(taps - segment.place).min(rows - r);
        let sums = segment.column_sums(&strip, samples, count);
        samples = strip.load(r + count);
        segment.advance(&strip, count);
        if r + count >= taps {
            strip.exchange(sums);
            // Only the last rows of the first segment complete a window.
            let skipped = if r + 1 < taps { taps - 1 - r } else { 0 };
            strip.store([skipped, count], (r + skipped + 1 - taps) as u64, sums);
        }
        r += count;
    }
}

/// The segment of rows that a thread goes down.
struct Segment<A, const V: usize> {
    /// Sums of its rows so far.
    prefix: [A; V],
    /// Whether there is a segment before it, whose suffix sums are in shared memory.
    has_suffixes: bool,
    /// Its next row.
    place: u32,
}

impl<A: Accumulator, const V: usize> Segment<A, V> {
    /// Returns the sums of the windows that end with the next `count` rows, and keeps these rows' samples.
    #[inline(always)]
    fn column_sums<M: PixelAccess<Sum = A>>(
        &mut self,
        strip: &Strip<'_, M, V>,
        samples: Batch<M::Loaded, V>,
        count: u32,
    ) -> Batch<A, V> {
        // All of them are loaded before the first one is replaced.
        let mut sums: Batch<A, V> = from_fn(|k| strip.suffix(self.has_suffixes, self.place + k as u32 + 1));
        for k in 0..BATCH {
            if k < count {
                let row = samples[k as usize].map(M::to_sum);
                self.prefix = plus(self.prefix, row);
                sums[k as usize] = plus(sums[k as usize], self.prefix);
                strip.keep(self.place + k, row);
            }
        }
        sums
    }

    /// Goes on by `count` rows, to the next segment if they are the last ones.
    #[inline(always)]
    fn advance<M: PixelAccess<Sum = A>>(&mut self, strip: &Strip<'_, M, V>, count: u32) {
        self.place += count;
        if self.place == strip.picture.rows.taps {
            strip.find_suffixes();
            *self = Segment { prefix: [A::ZERO; V], has_suffixes: true, place: 0 };
        }
    }
}

/// A thread's columns of the strip.
struct Strip<'a, M: PixelAccess, const V: usize> {
    picture: &'a BandArgs<M>,
    /// The weight of all samples.
    weight: M::Sum,
    layout: Layout,
    /// Channels of a pixel.
    channels: u32,
    /// The thread's pack, of those of its channel.
    number: u32,
    channel: u32,
    /// Where each row of samples begins in the input.
    lines: Shared<'a, u64>,
    /// Column sums of a batch of rows.
    sums: Shared<'a, M::Sum>,
    /// Totals of their packs.
    totals: Shared<'a, M::Sum>,
    /// The rows of a segment but the first: samples, or suffix sums.
    segment: Shared<'a, M::Sum>,
    /// Where the thread's samples are.
    pack: Pack<V>,
    /// The first row in the output.
    row: u64,
    /// The strip's first pixel in a row of outputs.
    column: u64,
    /// Whether packs of outputs are aligned.
    is_aligned: bool,
}

impl<'a, M: PixelAccess, const V: usize> Strip<'a, M, V> {
    /// Columns of a pack.
    const PACK: u32 = V as u32;

    /// Minimum number of columns of a window that is summed by packs. In narrower ones there may be no whole pack.
    const LEAST_BY_PACKS: u32 = 2 * Self::PACK + 1;

    #[inline(always)]
    fn new(arena: Arena<'a>, args: &'a BoxArgs<M>, lines: Shared<'a, u64>, row: u64) -> Self {
        let (picture, threads) = (&args.picture, thread::block_dim_x());
        let channels = if M::HAS_ONE_CHANNEL { 1 } else { args.channels };
        let (sums, arena) = arena.split::<M::Sum>(BATCH * Self::PACK * threads);
        let (totals, arena) = arena.split::<M::Sum>(BATCH * threads);
        let (segment, _) = arena.split::<M::Sum>((picture.rows.taps - 1) * Self::PACK * threads);
        let layout = Layout::new(&picture.columns, threads / channels, Self::PACK);
        let [number, channel] = [thread::thread_idx_x() / channels, thread::thread_idx_x() % channels];
        let column = thread::block_idx_x() as u64 * layout.outputs as u64;
        let first = layout.first + column as i64 + (Self::PACK * number) as i64;
        let is_spare = number >= threads / channels;
        Strip {
            picture,
            weight: args.weight,
            layout,
            channels,
            number,
            channel,
            lines,
            sums,
            totals,
            segment,
            pack: Self::pack(picture, first, [channels, channel], is_spare),
            row,
            column,
            is_aligned: channels == 1 && picture.are_aligned(Self::PACK)[1],
        }
    }

    /// Returns where the samples of a thread's pack are, whose columns begin at `first`. A spare thread loads nothing.
    #[inline(always)]
    fn pack(picture: &BandArgs<M>, first: i64, [channels, channel]: [u32; 2], is_spare: bool) -> Pack<V> {
        let columns = &picture.columns;
        // Behind the last window nothing is loaded.
        let end = columns.start + columns.outputs as i64 + columns.taps as i64 - 1;
        let source = |k: usize| match columns.source(first + k as i64) {
            Some(pixel) if first + (k as i64) < end && !is_spare => pixel * channels as u64 + channel as u64,
            _ => CONSTANT,
        };
        let is_inside = channels == 1 && columns.contains(first, V as u32);
        Pack { sources: from_fn(source), is_aligned: is_inside && picture.are_aligned(Self::PACK)[0] }
    }

    /// Loads the thread's samples of a batch of those rows that the strip depends on, from row `r` on. No instruction here waits for
    /// them, unless they are converted.
    #[inline(always)]
    fn load(&self, r: u32) -> Batch<M::Loaded, V> {
        let lines: [u64; BATCH as usize] = from_fn(|k| self.lines.get(r + k as u32));
        self.picture.memory.load(&self.pack, lines)
    }

    /// Returns the index of the thread's pack of row `place` of a segment, which is not the first one.
    #[inline(always)]
    fn index(&self, place: u32) -> u32 {
        ((place - 1) * thread::block_dim_x() + thread::thread_idx_x()) * Self::PACK
    }

    /// Returns the sums of the segment before from row `place` on, if there are any.
    #[inline(always)]
    fn suffix(&self, has_suffixes: bool, place: u32) -> [M::Sum; V] {
        match has_suffixes && place < self.picture.rows.taps {
            true => self.segment.get_pack(self.index(place)),
            false => [M::Sum::ZERO; V],
        }
    }

    /// Keeps the samples of row `place` of a segment, except the first one: the only suffix sum with it is the sum of the whole
    /// segment, which is a prefix sum, too.
    #[inline(always)]
    fn keep(&self, place: u32, samples: [M::Sum; V]) {
        if place > 0 {
            self.segment.set_pack(self.index(place), samples);
        }
    }

    /// Replaces the samples of a segment by suffix sums.
    #[inline(always)]
    fn find_suffixes(&self) {
        let (mut place, mut sum) = (self.picture.rows.taps, [M::Sum::ZERO; V]);
        // Several loads are in progress at the same time.
        while place > BATCH {
            let samples: Batch<M::Sum, V> = from_fn(|k| self.segment.get_pack(self.index(place - 1 - k as u32)));
            for k in 0..BATCH {
                sum = plus(sum, samples[k as usize]);
                self.segment.set_pack(self.index(place - 1 - k), sum);
            }
            place -= BATCH;
        }
        while place > 1 {
            place -= 1;
            sum = plus(sum, self.segment.get_pack(self.index(place)));
            self.segment.set_pack(self.index(place), sum);
        }
    }

    /// Makes the column sums of a batch known to all threads.
    #[inline(always)]
    fn exchange(&self, sums: Batch<M::Sum, V>) {
        let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        thread::sync_threads();
        for k in 0..BATCH {
            let pack = sums[k as usize];
            self.sums.set_pack((k * threads + t) * Self::PACK, pack);
            self.totals.set(k * threads + t, total(pack));
        }
        thread::sync_threads();
    }

    /// Stores the outputs of rows `first` to `end - 1` of a batch, which are output rows of the strip from `row` on.
    #[inline(always)]
    fn store(&self, [first, end]: [u32; 2], row: u64, own: Batch<M::Sum, V>) {
        let picture = self.picture;
        let left = picture.columns.outputs - self.column;
        let count = if left < self.layout.outputs as u64 { left as u32 } else { self.layout.outputs };
        let begin = (self.row + row) * picture.output_pitch + self.column * self.channels as u64;
        if picture.columns.taps < Self::LEAST_BY_PACKS {
            let mut k = first;
            while k < end {
                self.store_narrow(k, begin + (k - first) as u64 * picture.output_pitch, count);
                k += 1;
            }
        } else if Self::PACK * self.number < count {
            let whole = self.whole_packs();
            // Not in a loop, because indices of registers must be constants; and also rows that are not stored, to avoid branches.
            let outputs = [
                self.wide(0, own[0], whole[0]),
                self.wide(1, own[1], whole[1]),
                self.wide(2, own[2], whole[2]),
                self.wide(3, own[3], whole[3]),
            ];
            let mut at = begin;
            for k in 0..BATCH {
                if k >= first && k < end {
                    self.store_pack(at, Self::PACK * self.number, count, outputs[k as usize]);
                    at += picture.output_pitch;
                }
            }
        }
    }

    /// Stores the thread's outputs, which begin at pixel `column` of a row of `count` pixels that begins at `begin`.
    #[inline(always)]
    fn store_pack(&self, begin: u64, column: u32, count: u32, outputs: [M::Sum; V]) {
        if self.is_aligned && column + Self::PACK <= count {
            self.picture.memory.store_pack(begin + column as u64, outputs);
            return;
        }
        for p in 0..Self::PACK {
            if column + p < count {
                let at = begin + ((column + p) * self.channels + self.channel) as u64;
                self.picture.memory.store_output(at, outputs[p as usize]);
            }
        }
    }

    /// Stores the outputs of narrow windows in row `k` of a batch: a row of `count` pixels that begins at `begin`. Threads take them in
    /// the order of the column sums, pack after pack.
    #[inline(always)]
    fn store_narrow(&self, k: u32, begin: u64, count: u32) {
        let (channels, mut number) = (self.channels, thread::thread_idx_x());
        while number < count.div_ceil(Self::PACK) * Self::PACK * channels {
            let (pack, place) = (number / Self::PACK, number % Self::PACK);
            let (column, channel) = (pack / channels * Self::PACK + place, pack % channels);
            if column < count {
                let at = begin + (column * channels + channel) as u64;
                self.picture.memory.store_output(at, self.narrow(k, column, channel));
            }
            number += thread::block_dim_x();
        }
    }

    /// Returns an output of a narrow window.
    #[inline(always)]
    fn narrow(&self, k: u32, column: u32, channel: u32) -> M::Sum {
        let (mut sum, mut j) = (M::Sum::ZERO, self.layout.lead);
        while j < self.layout.lead + self.picture.columns.taps {
            let [pack, place] = [(column + j) / Self::PACK, (column + j) % Self::PACK];
            let thread = k * thread::block_dim_x() + pack * self.channels + channel;
            sum = sum.plus(self.sums.get(thread * Self::PACK + place));
            j += 1;
        }
        self.weighted(sum)
    }

    #[inline(always)]
    fn weighted(&self, sum: M::Sum) -> M::Sum {
        M::Sum::ZERO.add_product(sum, self.weight)
    }

    /// Returns where the window of the thread's first output ends, from the thread's pack on.
    #[inline(always)]
    fn last_column(&self) -> u32 {
        self.layout.lead + self.picture.columns.taps - 1
    }

    /// Returns the thread that has the last pack but one of the thread's windows.
    #[inline(always)]
    fn end_thread(&self) -> u32 {
        thread::thread_idx_x() + self.last_column() / Self::PACK * self.channels
    }

    /// Returns the sums of the packs that are part of all windows of the thread, for each row of a batch.
    #[inline(always)]
    fn whole_packs(&self) -> [M::Sum; BATCH as usize] {
        let (threads, channels, end) = (thread::block_dim_x(), self.channels, self.end_thread());
        let (mut sums, mut at) = ([M::Sum::ZERO; BATCH as usize], thread::thread_idx_x() + 2 * channels);
        while at < end {
            let totals: [M::Sum; BATCH as usize] = from_fn(|k| self.totals.get(k as u32 * threads + at));
            sums = plus(sums, totals);
            at += channels;
        }
        sums
    }

    /// Returns the thread's outputs of a wide window, in row `k` of a batch. `own` are its column sums, and `whole` is the sum of
    /// the packs that are part of all its windows.
    #[inline(always)]
    fn wide(&self, k: u32, own: [M::Sum; V], whole: M::Sum) -> [M::Sum; V] {
        let (t, threads, channels) = (thread::thread_idx_x(), thread::block_dim_x(), self.channels);
        let pack = |at: u32| -> [M::Sum; V] { self.sums.get_pack((k * threads + at) * Self::PACK) };
        let (next, end) = (pack(t + channels), self.end_thread());
        // The strip may end with the former pack; the latter one is not used then.
        let behind = [pack(end), pack((end + channels).min(threads - 1))];
        let suffixes = select(self.layout.lead, suffix_sums([own, next]));
        let prefixes = select(self.last_column() % Self::PACK, prefix_sums(behind));
        from_fn(|p| self.weighted(suffixes[p].plus(whole).plus(prefixes[p])))
    }
}

/// Returns the sum of a pack.
#[inline(always)]
fn total<A: Accumulator, const V: usize>(pack: [A; V]) -> A {
    let half: A = pack[0].plus(pack[1]);
    if V == 2 { half } else { half.plus(pack[2].plus(pack[3])) }
}

/// Returns the sums of two packs from each number on.
#[inline(always)]
fn suffix_sums<A: Accumulator, const V: usize>([a, b]: [[A; V]; 2]) -> [[A; V]; 2] {
    let [b, a] = prefix_sums([reversed(b), reversed(a)]);
    [reversed(a), reversed(b)]
}

#[inline(always)]
fn reversed<A: Copy, const V: usize>(numbers: [A; V]) -> [A; V] {
    from_fn(|p| numbers[V - 1 - p])
}

/// Returns the sums of two packs up to each number.
#[inline(always)]
fn prefix_sums<A: Accumulator, const V: usize>([mut a, mut b]: [[A; V]; 2]) -> [[A; V]; 2] {
    for p in 1..V {
        a[p] = a[p - 1].plus(a[p]);
    }
    b[0] = a[V - 1].plus(b[0]);
    for p in 1..V {
        b[p] = b[p - 1].plus(b[p]);
    }
    [a, b]
}

/// Returns numbers `first` to `first + V - 1` of two packs. Indices of registers must be constants, so shifts select them.
#[inline(always)]
fn select<A: Copy, const V: usize>(first: u32, [mut a, mut b]: [[A; V]; 2]) -> [A; V] {
    let mut shift = V / 2;
    while shift > 0 {
        if first & shift as u32 != 0 {
            a = from_fn(|p| if p + shift < V { a[p + shift] } else { b[p + shift - V] });
            b = from_fn(|p| b[(p + shift) % V]);
        }
        shift /= 2;
    }
    a
}
