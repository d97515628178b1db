//! Correlation with a stride, phase by phase.
//!
//! `y[o] = Σ_j X(start + o · stride + j) · w[j]`. Taps and samples whose indices differ by a multiple of the stride are a *phase*:
//!
//! ```text
//! samples        0 1 2 0 1 2 0 1 2 0 1 2      a stride of 3: three phases
//! phase 0        0     0     0     0          a line of its own: neighbouring outputs meet neighbouring samples,
//! phase 1          1     1     1     1        so it is correlated as in `register.rs`, with a third of the taps
//! phase 2            2     2     2     2
//! ```
//!
//! The sums of all phases are added up in registers. So an output takes as many multiply-adds as without a stride, and others take none.
//! The products of phase 0 are added first, in the order of the taps, then those of phase 1, and so on.
//!
//! The taps are kernel parameters, as in `register.rs`: `entries` places of the table for each phase of a launch. Long filters take
//! several launches. Each has some of the phases, or some taps of one phase, and continues the sums of the one before.

use super::Args;
use super::block::tile_of_block;
use super::register::{Span, correlate};
use super::sums::{self, COLUMN_LINES, InColumn};
use crate::signal::{Line, Sample, Types};
use cuda_std::{Arena, Constants, thread};

/// Number of loads from global memory that a thread has in flight before it stores the first result.
const UNDER_WAY: usize = 8;

/// Returns the number of places for phases in shared memory. It is odd: if the number of phases is even, the last place is empty.
///
/// ```text
/// pack    0          0          0          1          1          1           two phases
/// phase   0          1        (empty)      0          1        (empty)
///       [ . . . . | . . . . |         | . . . . | . . . . |         | ...
/// ```
///
/// Neighbouring lanes store neighbouring samples of this sequence. Lanes that load the same phase are an odd number of packs apart.
#[inline(always)]
pub(crate) const fn places(phases: u32) -> u32 {
    phases | 1
}

/// The taps of a launch in their table.
#[derive(Clone, Copy)]
struct Phases {
    count: u32,
    /// Places for the taps of a phase, whole packs.
    places: u32,
}

impl Phases {
    #[inline(always)]
    fn new<const V: usize>(args: &Args<impl Types>) -> Self {
        Phases { count: args.phases, places: args.entries.next_multiple_of(V as u32) }
    }

    /// Returns the places of the taps of a phase, among its own.
    #[inline(always)]
    fn span<const V: usize>(self, args: &Args<impl Types>, phase: u32) -> Span {
        // Of this launch's taps on, every `stride`-th one from number `phase` on.
        let taps = (args.tap_count - phase) as u64;
        let end = taps.div_ceil(args.stride).min(args.entries as u64) as u32;
        Span { pad: 0, end, padded: end.next_multiple_of(V as u32) }
    }
}

/// Computes lines along rows.
///
/// A block of `X` threads computes `X · R` sums of one line. Thread `x` computes the sums from `x · R` on. Shared memory: for each
/// [place](places) of a phase `X · R` samples and the halo, one sample per entry of the table; packs of all phases one after another.
///
/// No bank conflicts: the loads of windows are 16 bytes wide, and neighbouring lanes are an odd multiple of 16 bytes apart, because packs
/// per thread and places of phases are odd numbers. Stores have consecutive addresses.
#[inline(always)]
pub(super) fn rows<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<F>,
    taps: &Constants<F::Weight, K>,
) {
    const { assert!((R / V) % 2 == 1) };
    let (x, threads) = (thread::thread_idx_x(), thread::block_dim_x());
    let outputs = threads * R as u32;
    let phases = Phases::new::<V>(args);
    let len = outputs + phases.places;
    let places = places(phases.count);
    let (tile, _) = arena.split::<F::Sample>(len * places);
    let (line, first) = tile_of_block(args, 1, outputs);

    let start = args.start + (first * args.stride) as i64;
    let left = (args.outputs - first).min(outputs as u64) as u32;
    let last = (left - 1) as u64 * args.stride + (args.tap_count - 1) as u64;
    let part = Part { start, stride: args.stride, phases: phases.count, len, last };
    part.load::<_, V>(&args.line(line), [x, threads], |i, sample| tile.set(i, sample));
    thread::sync_threads();

    let output = args.output.at(line * args.output_line + first).first(left);
    let mut sums = sums::of_row::<F, R>(args, &output, x * R as u32);
    let mut phase = 0;
    while phase < phases.count {
        let (span, at) = (phases.span::<V>(args, phase), x * R as u32 * places + phase * V as u32);
        let table = phase * phases.places / V as u32;
        sums = correlate::<F, V, R, N, K>(taps, table, span, sums, |s| tile.get_pack(at + s * places));
        phase += 1;
    }
    sums::store_rows::<F, V, R>(tile, sums, &output, [x, threads], [0, 1]);
}

/// Computes lines along columns.
///
/// A block of `32 × A` threads computes `A · R` sums of each of 32 lines. Thread `(c, a)` computes the sums from `a · R` on of line `c`.
/// Shared memory, for one phase after another: its sample `s` of line `c` at index `s * 32 + c`. No bank conflicts: in every access the
/// lanes of a warp have consecutive addresses.
#[inline(always)]
pub(super) fn columns<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<F>,
    taps: &Constants<F::Weight, K>,
) {
    let (c, a) = (thread::thread_idx_x(), thread::thread_idx_y());
    let places = thread::block_dim_y();
    let outputs = places * R as u32;
    let phases = Phases::new::<V>(args);
    let len = outputs + phases.places;
    let (tile, _) = arena.split::<F::Sample>(len * COLUMN_LINES);
    let (first_line, first) = tile_of_block(args, COLUMN_LINES, outputs);
    let line = first_line + c as u64;
    // Threads without a line load the last one again. Their sums are not stored.
    let input = args.line(line.min(args.lines - 1));

    let left = (args.outputs - first).min(outputs as u64);
    let last = (left - 1) * args.stride + (args.tap_count - 1) as u64;

    let of_thread = InColumn { line, first, at: a * R as u32 };
    let mut sums = of_thread.sums::<F, R>(args);
    let mut phase = 0;
    while phase < phases.count {
        let start = args.start + (first * args.stride) as i64 + phase as i64;
        let part = Part { start, stride: args.stride, phases: 1, len, last: last - phase as u64 };
        part.load::<_, 1>(&input, [a, places], |s, sample| tile.set(s * COLUMN_LINES + c, sample));
        thread::sync_threads();
        let (span, table) = (phases.span::<V>(args, phase), phase * phases.places / V as u32);
        sums = correlate::<F, V, R, N, K>(taps, table, span, sums, |s| {
            core::array::from_fn(|k| tile.get((of_thread.at + s + k as u32) * COLUMN_LINES + c))
        });
        thread::sync_threads();
        phase += 1;
    }
    of_thread.store::<F, R>(args, sums);
}

/// Samples of a line: `len` of each of the phases from sample `start` on.
struct Part {
    start: i64,
    stride: u64,
    phases: u32,
    len: u32,
    /// Distance to the last sample that an output meets. Places behind it get this one: samples far behind the end of a line are not
    /// defined.
    last: u64,
}

impl Part {
    /// Calls `put` with the index and the sample, for all samples in packs of `V` of each [place](places) of a phase. The calling thread is
    /// thread `t` of `threads`, a multiple of `V`.
    #[inline(always)]
    fn load<X: Sample, const V: usize>(&self, line: &Line<X>, [t, threads]: [u32; 2], put: impl Fn(u32, X)) {
        let (pack, places, packs) = (V as u32, places(self.phases), self.len / V as u32);
        let step = [threads / pack / places, threads / pack % places];
        let is_inside = self.start >= 0 && self.start as u64 + self.last < line.samples;
        let next = |[q, phase]: [u32; 2]| {
            let (q, phase) = (q + step[0], phase + step[1]);
            if phase < places { [q, phase] } else { [q + 1, phase - places] }
        };
        let (mut i, mut place) = (t, [t / pack / places, t / pack % places]);
        while place[0] < packs {
            let all: [[u32; 2]; UNDER_WAY] = core::array::from_fn(|_| {
                let here = place;
                place = next(place);
                here
            });
            let exists = all.map(|[q, phase]| q < packs && phase < self.phases);
            let offsets =
                all.map(|[q, phase]| ((q * pack + t % pack) as u64 * self.stride + phase as u64).min(self.last));
            let samples: [X; UNDER_WAY] = core::array::from_fn(|k| match exists[k] {
                true if is_inside => line.inside(self.start as u64 + offsets[k]),
                true => line.get(self.start + offsets[k] as i64),
                false => X::ZERO,
            });
            for k in 0..UNDER_WAY {
                if exists[k] {
                    put(i + k as u32 * threads, samples[k]);
                }
            }
            i += UNDER_WAY as u32 * threads;
        }
    }
}
