//! Correlation with a tile in shared memory and the sums in registers.
//!
//! A thread computes `R` neighbouring sums of a line at once. It slides a window of `N = R + V` samples along the
//! line: `V` new samples (one 16-byte access along rows) serve `R · V` multiply-adds, so that nine tenths of all
//! instructions are multiply-adds, and shared memory, which is the limit with one sum per thread, is not.
//!
//! The window is a ring: sample `s` is in register `s % N`, and the code is unrolled over the `N` samples after
//! which the ring is back where it was, so that nothing is ever moved from register to register.
//!
//! To compute several results per thread, so that registers take what shared memory would have to deliver, is the advice
//! of Volkov's *Better Performance at Lower Occupancy* (GTC 2010); the tile is that of `tile.rs`.
//!
//! The taps are the launch's constants, from where a multiply-add takes its factor by way of a uniform register: a
//! thread's own registers then give two operands instead of three, and their banks do not conflict. A launch takes
//! [`CHUNK_BYTES`](super::CHUNK_BYTES) of taps; a longer filter is several launches, each going on with the sums of the
//! one before, in the same order and with the same rounding.
//!
//! A tile begins at a multiple of `V` samples from the line's first one, so that its samples come from global memory 16
//! bytes at a time. The first tap is then up to `V - 1` places into its pack, its *pad*, and the last pack may not be
//! whole either. The places without a tap stand for no multiplication (not for one with zero: zero times infinity would
//! be NaN).

use super::block::tile_of_block;
use super::{Args, pad, staged_in};
use crate::signal::{Every, Output, Sample, Sum, Types};
use cuda_std::{Arena, Constants, GlobalInOut, Shared, Value, thread};

/// Lines of a block, along columns.
const COLUMN_LINES: u32 = 32;

/// Lines along rows.
///
/// A block of `X × Y` threads computes `X · R` sums of each of `Y` lines; thread `(x, y)` those from `x · R` on of
/// line `y`. Shared memory: for each line `X · R` samples and a halo of as many as there are taps, in whole packs, one
/// after another.
///
/// No bank conflicts: a 16-byte access is served eight lanes at a time, and the lanes are `R` elements, an odd multiple
/// of 16 bytes, apart, so that eight lanes meet eight different groups of four banks. The sums go through the same
/// memory on their way out, so that a warp's stores to global memory are contiguous.
#[inline(always)]
pub(super) fn rows<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<F>,
    taps: &Constants<F::Weight, K>,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (width, lines) = (thread::block_dim_x(), thread::block_dim_y());
    let outputs = width * R as u32;
    let span = Span::new::<V>(args);
    let len = outputs + span.padded;
    let places = if F::WIDENS { staged_in::<F>(len * lines, outputs * lines) } else { len * lines };
    let (tile, _) = arena.split::<F::Sample>(places);
    let (first_line, first) = tile_of_block(args, lines, outputs);
    let line = first_line + y as u64;

    // In the place of a line that does not exist stands the last one; its sums are not stored.
    let input = args.line(line.min(args.lines - 1));
    input.load_row::<V>(&tile, args.start + first as i64 - span.pad as i64, [x, width], [y * len, len]);
    thread::sync_threads();

    let left = if line < args.lines { (args.outputs - first).min(outputs as u64) as u32 } else { 0 };
    let output = args.output.at(line * args.output_line + first).first(left);
    let mut sums = [F::Sum::default(); R];
    if args.resume != 0 {
        for (r, sum) in sums.iter_mut().enumerate() {
            *sum = output.get_or(x * R as u32 + r as u32, F::Output::default()).to_sum();
        }
    }
    let at = y * len + x * R as u32;
    let sums = correlate::<F, V, R, N, K>(taps, span, sums, |s| tile.get_pack(at + s));

    let (staged, _) = tile.reuse().split::<F::Output>(outputs * lines);
    for r in (0..R).step_by(V) {
        let pack: [F::Output; V] = core::array::from_fn(|k| F::Output::of_sum(sums[r + k]));
        staged.set_pack(y * outputs + x * R as u32 + r as u32, pack);
    }
    thread::sync_threads();
    store_row::<F::Output, V, R>(&staged, y * outputs, &output, [x, width]);
}

/// Stores the sums from `window[row]` on, `R` for each of `threads` threads. Sums outside of `output` do not exist.
#[inline(always)]
fn store_row<O: Value, const V: usize, const R: usize>(
    window: &Shared<O>,
    row: u32,
    output: &GlobalInOut<O, u32>,
    [t, threads]: [u32; 2],
) {
    if output.len() == threads * R as u32 && output.is_aligned(V as u32) {
        for k in 0..(R / V) as u32 {
            let o = (t + k * threads) * V as u32;
            output.set_pack(o, window.get_pack::<V>(row + o));
        }
        return;
    }
    let mut o = t;
    while o < output.len() {
        output.set(o, window.get(row + o));
        o += threads;
    }
}

/// Where the taps are in their table: from place `pad` to `end - 1`. `padded` is `end`, rounded up to whole packs.
#[derive(Clone, Copy)]
struct Span {
    pad: u32,
    end: u32,
    padded: u32,
}

impl Span {
    #[inline(always)]
    fn new<const V: usize>(args: &Args<impl Types>) -> Self {
        let pad = pad(args.start, V as u32);
        let end = pad + args.tap_count;
        Span { pad, end, padded: end.next_multiple_of(V as u32) }
    }
}

/// Lines along columns.
///
/// A block of `32 × A` threads computes `A · R` sums of each of 32 lines; thread `(c, a)` those from `a · R` on of
/// line `c`. Shared memory: sample `s` of line `c` at `s * 32 + c`, so that in every access the lanes of a warp have
/// consecutive addresses: no bank conflicts.
#[inline(always)]
pub(super) fn columns<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<F>,
    taps: &Constants<F::Weight, K>,
) {
    let (c, a) = (thread::thread_idx_x(), thread::thread_idx_y());
    let places = thread::block_dim_y();
    let outputs = places * R as u32;
    let span = Span::new::<V>(args);
    let len = outputs + span.padded;
    let (tile, _) = arena.split::<F::Sample>(len * COLUMN_LINES);
    let (first_line, first) = tile_of_block(args, COLUMN_LINES, outputs);
    let line = first_line + c as u64;
    let input = args.line(line.min(args.lines - 1));

    let start = args.start + first as i64 - span.pad as i64;
    input.load(&tile, start, Every { first: a, len, step: places }, COLUMN_LINES, c);
    thread::sync_threads();

    let at = a * R as u32;
    let place = |r: usize| {
        let o = first + (at + r as u32) as u64;
        let exists = line < args.lines && o < args.outputs;
        (exists, line * args.output_line + o * args.output_step)
    };
    let mut sums = [F::Sum::default(); R];
    if args.resume != 0 {
        for (r, sum) in sums.iter_mut().enumerate() {
            if let (true, i) = place(r) {
                *sum = args.output.get(i).to_sum();
            }
        }
    }
    let sums = correlate::<F, V, R, N, K>(taps, span, sums, |s| {
        core::array::from_fn(|k| tile.get((at + s + k as u32) * COLUMN_LINES + c))
    });
    for (r, sum) in sums.into_iter().enumerate() {
        let (exists, i) = place(r);
        args.output.set_if(exists, i, F::Output::of_sum(sum));
    }
}

/// `sums[r] + Σ_j x[r + j] · taps[j]` for every `r`, `j` from `span.pad` to `span.end - 1`; `samples(s)` gives `x[s]`
/// to `x[s + V - 1]`, for `s` a multiple of `V`.
#[inline(always)]
fn correlate<F: Types, const V: usize, const R: usize, const N: usize, const K: usize>(
    taps: &Constants<F::Weight, K>,
    span: Span,
    sums: [F::Sum; R],
    samples: impl Fn(u32) -> [F::Sample; V],
) -> [F::Sum; R] {
    const { assert!(V == F::PACK && N == R + V && R.is_multiple_of(V) && K.is_multiple_of(V)) };
    let mut ring = Ring::<F, V, R, N> { window: [F::Sample::ZERO; N], sums };
    let in_table = |packs: u32| packs.min((K / V) as u32);
    let (packs, whole) = (in_table(span.padded / V as u32), in_table(span.end / V as u32));
    let mut k = 0;
    // At most two iterations: first from the first pack of taps, which may leave out some taps, to the last complete pack;
    // then the last pack, if it is incomplete.
    while k < packs {
        let at = k * V as u32;
        for s in (0..R).step_by(V) {
            ring.window[s..s + V].copy_from_slice(&samples(at + s as u32));
        }
        ring.step(0, samples(at + R as u32), taps.pack(k), |u| (span.pad..span.end).contains(&(at + u)));
        k += 1;
        // One turn of the ring, left as soon as there are no more whole packs.
        'turns: loop {
            for phase in 0..N / V {
                if k >= whole {
                    break 'turns;
                }
                let s = R as u32 + k * V as u32;
                ring.step(1 + phase, samples(s), taps.pack(k), |_| true);
                k += 1;
            }
        }
    }
    ring.sums
}

/// The samples and sums in a thread's registers.
struct Ring<F: Types, const V: usize, const R: usize, const N: usize> {
    window: [F::Sample; N],
    sums: [F::Sum; R],
}

impl<F: Types, const V: usize, const R: usize, const N: usize> Ring<F, V, R, N> {
    /// Takes in `V` new samples, adds the products with those of `V` taps that are `wanted`, and forgets the `V` oldest
    /// samples.
    ///
    /// `phase` counts the steps, but for full turns. It is known when compiling, since all loops around are unrolled:
    /// registers have no index at run time.
    #[inline(always)]
    fn step(&mut self, phase: usize, new: [F::Sample; V], taps: [F::Weight; V], wanted: impl Fn(u32) -> bool) {
        let oldest = phase * V;
        for (k, sample) in new.into_iter().enumerate() {
            self.window[(oldest + R + k) % N] = sample;
        }
        for (u, tap) in taps.into_iter().enumerate() {
            if wanted(u as u32) {
                for r in 0..R {
                    self.sums[r] = self.sums[r].add_product(self.window[(oldest + u + r) % N], tap);
                }
            }
        }
    }
}
