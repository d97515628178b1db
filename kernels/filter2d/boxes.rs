//! Sums of windows with equal weights, in a time that hardly depends on the size of the window.
//!
//! `y[r, c] = weight · Σ_i Σ_j X(row(r, i), column(c, j))` for one channel of `f32`, strides and dilations of 1.
//!
//! A block of `T` threads goes down a strip of `4 T` columns of samples, of a band of rows; a thread adds up 4 neighbouring
//! columns. Block `(x, y, z)` has strip `x` of band `y` of plane `z`. Strips overlap by the columns of the window, bands by its
//! rows.
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
//! Along the row, the columns of a thread are such a segment, of 4 sums. A window consists of the last sums of one pack, whole
//! packs, and the first sums of another one. Threads exchange their packs of column sums, and the totals of these, through shared
//! memory:
//!
//! ```text
//! packs     | . . x x | x x x x | x x x x | x . . . |
//!               suffix    total     total   prefix
//! ```
//!
//! There is no subtraction, so a sum contains the samples of its own window alone: a NaN or an infinity does not affect others, and
//! nothing cancels. A sample is rounded at most once per row and column of the window, and twice more.
//!
//! Shared memory: where each row of samples begins; one row of column sums, and of totals, for each of the [`BATCH`] rows between
//! two barriers; samples or suffix sums of all rows of a segment but one. No bank conflicts: lanes access neighbouring numbers or
//! packs of 16 bytes, or all the same number. The samples of the next rows are loaded while those of a batch are added up.
//!
//! Segments as long as the window are the method of M. van Herk, *A fast algorithm for local minimum and maximum filters on
//! rectangular and octagonal kernels* (Pattern Recognition Letters 13, 1992), and J. Gil and M. Werman, *Computing 2-D min, median,
//! and max filters* (IEEE PAMI 15, 1993), with sums in the place of minima.

use super::lines::{CONSTANT, find_lines};
use super::{Axis, BandArgs};
use crate::signal::{Border, Same};
use core::array::from_fn;
use cuda_std::{Arena, Shared, arguments, kernel, thread};

/// Columns of a thread: 16 bytes.
pub(super) const PACK: u32 = 4;

/// Maximum number of rows between two barriers. As many rows are loaded behind the last one: the constant outside, which is not
/// read from memory.
pub(super) const BATCH: u32 = 4;

/// Minimum number of columns of a window that is summed by packs. In narrower ones there may be no whole pack.
pub(super) const LEAST_BY_PACKS: u32 = 9;

arguments! {
    /// Arguments of the kernel.
    pub struct BoxArgs {
        /// The picture.
        pub picture: BandArgs<Same<f32>>,
        /// The weight of all samples.
        pub weight: f32,
    }
}

kernel! {
    /// Sums of windows with equal weights, times the weight.
    pub fn filter2d_box_f32(arena, args: BoxArgs) in "filter2d_box_f32" {
        filter(arena, &args.picture, args.weight);
    }
}

/// How the columns of samples lie to those of outputs and to packs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Position of the first pack: a multiple of the pack, at most that of the first sample.
    first: i64,
    /// Columns from the first pack to the first sample.
    lead: u32,
    /// Outputs of a row of a strip, a multiple of the pack.
    pub(super) outputs: u32,
}

impl Layout {
    /// Returns the layout for strips of `threads` threads. Without an output per strip they are too narrow.
    #[inline(always)]
    pub(super) fn new(columns: &Axis, threads: u32) -> Self {
        let first = columns.start & -(PACK as i64);
        let lead = (columns.start - first) as u32;
        let outputs = (PACK * threads).saturating_sub(columns.taps - 1 + lead);
        Layout { first, lead, outputs: outputs - outputs % PACK }
    }
}

/// A thread's samples of a row, or sums of such.
type Pack = [f32; PACK as usize];

#[inline(always)]
fn plus(a: Pack, b: Pack) -> Pack {
    from_fn(|p| a[p] + b[p])
}

/// Goes down a strip.
#[inline(always)]
fn filter(arena: Arena, args: &BandArgs<Same<f32>>, weight: f32) {
    let (band, plane) =
        (args.first_band + thread::block_idx_y() as u64, args.first_plane + thread::block_idx_z() as u64);
    let first = band * args.band as u64;
    let taps = args.rows.taps;
    let rows = (args.rows.outputs - first).min(args.band as u64) as u32 + taps - 1;
    let (lines, arena) = arena.split::<u64>(args.band + taps - 1 + BATCH);
    find_lines(&lines, args, [plane, first], [rows, BATCH]);
    let strip = Strip::new(arena, (args, weight), lines, plane * args.rows.outputs + first);
    thread::sync_threads();

    let mut samples = strip.load(0);
    let (mut prefix, mut has_suffixes) = (Pack::default(), false);
    // The row, and its place in its segment.
    let (mut r, mut place) = (0, 0);
    while r < rows {
        let count = BATCH.min(taps - place).min(rows - r);
        let suffixes: [Pack; BATCH as usize] = from_fn(|k| strip.suffix(has_suffixes, place + k as u32 + 1));
        let mut sums = suffixes;
        for k in 0..BATCH {
            if k < count {
                prefix = plus(prefix, samples[k as usize]);
                sums[k as usize] = plus(suffixes[k as usize], prefix);
                strip.keep(place + k, samples[k as usize]);
            }
        }
        samples = strip.load(r + count);
        place += count;
        if place == taps {
            strip.find_suffixes();
            (prefix, place, has_suffixes) = (Pack::default(), 0, true);
        }
        if r + count >= taps {
            strip.exchange(sums);
            // Only the last rows of the first segment complete a window.
            let skipped = if r + 1 < taps { taps - 1 - r } else { 0 };
            strip.store([skipped, count], (r + skipped + 1 - taps) as u64, sums);
        }
        r += count;
    }
}

/// Instead of the position of a sample: the constant outside.
const OUTSIDE: u64 = u64::MAX;

/// A thread's columns of the strip.
struct Strip<'a> {
    args: &'a BandArgs<Same<f32>>,
    /// The weight of all samples.
    weight: f32,
    layout: Layout,
    /// Where each row of samples begins in the input.
    lines: Shared<u64>,
    /// Column sums of a batch of rows.
    sums: Shared<f32>,
    /// Totals of their packs.
    totals: Shared<f32>,
    /// The rows of a segment but the first: samples, or suffix sums.
    segment: Shared<f32>,
    /// Positions in a row of samples.
    sources: [u64; PACK as usize],
    /// Whether the samples are an aligned pack inside the picture.
    is_packed: bool,
    /// The first row in the output.
    row: u64,
    /// Position of the strip's first output in a row of outputs.
    column: u64,
    /// Whether packs of outputs are aligned.
    is_aligned: bool,
}

impl<'a> Strip<'a> {
    #[inline(always)]
    fn new(arena: Arena, (args, weight): (&'a BandArgs<Same<f32>>, f32), lines: Shared<u64>, row: u64) -> Self {
        let threads = thread::block_dim_x();
        let (sums, arena) = arena.split::<f32>(BATCH * PACK * threads);
        let (totals, arena) = arena.split::<f32>(BATCH * threads);
        let (segment, _) = arena.split::<f32>((args.rows.taps - 1) * PACK * threads);
        let layout = Layout::new(&args.columns, threads);
        let column = thread::block_idx_x() as u64 * layout.outputs as u64;
        let first = layout.first + column as i64 + (PACK * thread::thread_idx_x()) as i64;
        let (border, samples) = (Border::from_number(args.border), args.columns.samples as i64);
        // Behind the last window nothing is loaded.
        let end = args.columns.start + args.columns.outputs as i64 + args.columns.taps as i64 - 1;
        let source = |k: usize| match first + (k as i64) < end {
            true => border.source(first + k as i64, samples as u64).unwrap_or(OUTSIDE),
            false => OUTSIDE,
        };
        let is_inside = first >= 0 && first + PACK as i64 <= samples;
        let is_aligned = |pitch: u64| pitch.is_multiple_of(PACK as u64);
        Strip {
            args,
            weight,
            layout,
            lines,
            sums,
            totals,
            segment,
            sources: from_fn(source),
            is_packed: is_inside && args.input.is_aligned(PACK) && is_aligned(args.input_pitch),
            row,
            column,
            is_aligned: args.output.is_aligned(PACK) && is_aligned(args.output_pitch),
        }
    }

    /// Loads the thread's samples of a batch of those rows that the strip depends on, from row `r` on. No instruction here waits
    /// for them.
    #[inline(always)]
    fn load(&self, r: u32) -> [Pack; BATCH as usize] {
        let lines: [u64; BATCH as usize] = from_fn(|k| self.lines.get(r + k as u32));
        lines.map(|line| match line {
            CONSTANT => [self.args.outside; PACK as usize],
            _ if self.is_packed => self.args.input.get_pack(line + self.sources[0]),
            _ => self.sources.map(|source| match source {
                OUTSIDE => self.args.outside,
                _ => self.args.input.get(line + source),
            }),
        })
    }

    /// Returns the index of the thread's pack of row `place` of a segment, which is not the first one.
    #[inline(always)]
    fn index(&self, place: u32) -> u32 {
        ((place - 1) * thread::block_dim_x() + thread::thread_idx_x()) * PACK
    }

    /// Returns the sums of the segment before from row `place` on, if there are any.
    #[inline(always)]
    fn suffix(&self, has_suffixes: bool, place: u32) -> Pack {
        match has_suffixes && place < self.args.rows.taps {
            true => self.segment.get_pack(self.index(place)),
            false => Pack::default(),
        }
    }

    /// Keeps the samples of row `place` of a segment, except the first one: the only suffix sum with it is the sum of the whole
    /// segment, which is a prefix sum, too.
    #[inline(always)]
    fn keep(&self, place: u32, samples: Pack) {
        if place > 0 {
            self.segment.set_pack(self.index(place), samples);
        }
    }

    /// Replaces the samples of a segment by suffix sums.
    #[inline(always)]
    fn find_suffixes(&self) {
        let (mut place, mut sum) = (self.args.rows.taps, Pack::default());
        // Several loads are in progress at the same time.
        while place > BATCH {
            let samples: [Pack; BATCH as usize] = from_fn(|k| self.segment.get_pack(self.index(place - 1 - k as u32)));
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
    fn exchange(&self, sums: [Pack; BATCH as usize]) {
        let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        thread::sync_threads();
        for k in 0..BATCH {
            let pack = sums[k as usize];
            self.sums.set_pack((k * threads + t) * PACK, pack);
            self.totals.set(k * threads + t, (pack[0] + pack[1]) + (pack[2] + pack[3]));
        }
        thread::sync_threads();
    }

    /// Stores the outputs of rows `first` to `end - 1` of a batch, which are output rows of the strip from `row` on.
    #[inline(always)]
    fn store(&self, [first, end]: [u32; 2], row: u64, own: [Pack; BATCH as usize]) {
        let t = thread::thread_idx_x();
        let left = self.args.columns.outputs - self.column;
        let count = if left < self.layout.outputs as u64 { left as u32 } else { self.layout.outputs };
        let begin = (self.row + row) * self.args.output_pitch + self.column;
        if self.args.columns.taps < LEAST_BY_PACKS {
            let mut k = first;
            while k < end {
                let mut column = t;
                while column < count {
                    let at = begin + (k - first) as u64 * self.args.output_pitch + column as u64;
                    self.args.output.set(at, self.narrow(k, column));
                    column += thread::block_dim_x();
                }
                k += 1;
            }
        } else if PACK * t < count {
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
                    self.store_pack(at, PACK * t, count, outputs[k as usize]);
                    at += self.args.output_pitch;
                }
            }
        }
    }

    /// Stores a pack of outputs from `column` on, of a row of `count` outputs that begins at `begin`.
    #[inline(always)]
    fn store_pack(&self, begin: u64, column: u32, count: u32, outputs: Pack) {
        let first = begin + column as u64;
        if self.is_aligned && column + PACK <= count {
            self.args.output.set_pack(first, outputs);
            return;
        }
        for p in 0..PACK {
            self.args.output.set_if(column + p < count, first + p as u64, outputs[p as usize]);
        }
    }

    /// Returns an output of a narrow window.
    #[inline(always)]
    fn narrow(&self, k: u32, column: u32) -> f32 {
        let first = k * PACK * thread::block_dim_x() + column + self.layout.lead;
        let (mut sum, mut j) = (0.0, 0);
        while j < self.args.columns.taps {
            sum += self.sums.get(first + j);
            j += 1;
        }
        self.weight * sum
    }

    /// Returns where the window of the thread's first output ends, from the thread's pack on.
    #[inline(always)]
    fn last(&self) -> u32 {
        self.layout.lead + self.args.columns.taps - 1
    }

    /// Returns the sums of the packs that are part of all windows of the thread, for each row of a batch.
    #[inline(always)]
    fn whole_packs(&self) -> [f32; BATCH as usize] {
        let (t, threads) = (thread::thread_idx_x(), thread::block_dim_x());
        let (mut sums, mut at) = ([0.0; BATCH as usize], t + 2);
        while at < t + self.last() / PACK {
            let totals: [f32; BATCH as usize] = from_fn(|k| self.totals.get(k as u32 * threads + at));
            sums = from_fn(|k| sums[k] + totals[k]);
            at += 1;
        }
        sums
    }

    /// Returns the thread's outputs of a wide window, in row `k` of a batch. `own` are its column sums, and `whole` is the sum of
    /// the packs that are part of all its windows.
    #[inline(always)]
    fn wide(&self, k: u32, own: Pack, whole: f32) -> Pack {
        let (t, threads, last) = (thread::thread_idx_x(), thread::block_dim_x(), self.last());
        let pack = |at: u32| -> Pack { self.sums.get_pack((k * threads + at) * PACK) };
        let (next, end) = (pack(t + 1), t + last / PACK);
        // The strip may end with the former pack; the latter one is not used then.
        let behind = [pack(end), pack((end + 1).min(threads - 1))];
        let suffixes = from(self.layout.lead, suffix_sums([own, next]));
        let prefixes = from(last % PACK, prefix_sums(behind));
        from_fn(|p| self.weight * (suffixes[p] + whole + prefixes[p]))
    }
}

/// Returns the sums of two packs from each number on.
#[inline(always)]
fn suffix_sums([[a, b, c, d], [e, f, g, h]]: [Pack; 2]) -> [f32; 8] {
    let [h, g, f, e, d, c, b, a] = prefix_sums([[h, g, f, e], [d, c, b, a]]);
    [a, b, c, d, e, f, g, h]
}

/// Returns the sums of two packs up to each number.
#[inline(always)]
fn prefix_sums([a, b]: [Pack; 2]) -> [f32; 8] {
    let (two, three) = (a[0] + a[1], a[0] + a[1] + a[2]);
    let four = three + a[3];
    let (five, six) = (four + b[0], four + b[0] + b[1]);
    [a[0], two, three, four, five, six, six + b[2], six + b[2] + b[3]]
}

/// Returns numbers `first` to `first + 3` of eight. Indices of registers must be constants, so two shifts select them.
#[inline(always)]
fn from(first: u32, [a, b, c, d, e, f, g, _]: [f32; 8]) -> Pack {
    let two = |x: f32, behind: f32| if first & 2 == 0 { x } else { behind };
    let one = |x: f32, behind: f32| if first & 1 == 0 { x } else { behind };
    let (a, b, c, d, e) = (two(a, c), two(b, d), two(c, e), two(d, f), two(e, g));
    [one(a, b), one(b, c), one(c, d), one(d, e)]
}
