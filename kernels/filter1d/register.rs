//! Correlation with a tile in shared memory and the sums in registers.
//!
//! A thread computes `R` neighbouring sums of a line at once. It slides a window of `N = R + V` samples along the
//! line: `V` new samples (one 16-byte access along rows) serve `R · V` multiply-adds, so that nine tenths of all
//! instructions are multiply-adds, and shared memory, which is the limit with one sum per thread, is not.
//!
//! The window is a ring: sample `s` is in register `s % N`, and the code is unrolled over the `N` samples after
//! which the ring is back where it was, so that nothing is ever moved from register to register.
//!
//! The taps are the launch's constants, from where a multiply-add takes its
//! factor by way of a uniform register: a thread's own registers then give two operands instead of three, and their
//! banks do not conflict. A launch takes [`CHUNK_BYTES`](super::CHUNK_BYTES) of taps; a longer filter is several launches, each going on with the sums of the one before, in the same order and with the same rounding.
//!
//! The number of taps is rounded up to a multiple of `V` by `pad` places *before* the first tap, which stand for no
//! multiplication (not for one with zero: zero times infinity would be NaN). The tile begins `pad` samples earlier
//! accordingly, and the 16-byte accesses stay aligned.

use super::Args;
use super::line::{Every, Line, tile_of_block};
use crate::{Packed, Sample};
use cuda_std::{Arena, Constants, GlobalInOut, Shared, thread};

/// Threads of a block, along rows; how many of them are on one line is the host's choice.
const ROW_THREADS: u32 = 128;

/// Lines of a block, along columns.
const COLUMN_LINES: u32 = 32;

/// Lines along rows.
///
/// A block of `X × Y` threads computes `X · R` sums of each of `Y` lines; thread `(x, y)` those from `x · R` on of
/// line `y`. Shared memory: for each line `X · R + taps` samples, one after another.
///
/// No bank conflicts: a 16-byte access is served eight lanes at a time, and the lanes are `R` elements, an odd multiple
/// of 16 bytes, apart, so that eight lanes meet eight different groups of four banks. The sums go through the same
/// memory on their way out, so that the stores to global memory are contiguous.
#[inline(always)]
pub(super) fn rows<T: Packed<V>, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<T>,
    taps: &Constants<T, K>,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (width, lines) = (thread::block_dim_x(), ROW_THREADS / thread::block_dim_x());
    let t = y * width + x;
    let outputs = width * R as u32;
    let padded = args.tap_count.next_multiple_of(V as u32);
    let pad = padded - args.tap_count;
    let len = outputs + padded;
    let (tile, _) = arena.split::<T>(len * lines);
    let (first_line, first) = tile_of_block(args, lines, outputs);

    let start = args.start + first as i64 - pad as i64;
    let mut l = 0;
    while l < lines {
        // In the place of a line that does not exist stands the last one; its sums are not stored.
        let input = Line::new(args, (first_line + l as u64).min(args.lines - 1));
        input.load_row::<ROW_THREADS>(&tile, start, t, len, l * len);
        l += 1;
    }
    thread::sync_threads();

    let mut sums = [T::ZERO; R];
    if args.resume != 0 && first_line + (y as u64) < args.lines {
        let output = output_of_line(args, first_line + y as u64, first, outputs);
        for (r, sum) in sums.iter_mut().enumerate() {
            *sum = output.get_or(x * R as u32 + r as u32, T::ZERO);
        }
    }
    let at = y * len + x * R as u32;
    let sums = correlate::<T, V, R, N, K>(taps, [pad, padded], sums, |s| T::get_pack(&tile, at + s));

    let (staged, _) = tile.reuse().split::<T>(outputs * lines);
    for r in (0..R).step_by(V) {
        T::set_pack(&staged, t * R as u32 + r as u32, core::array::from_fn(|k| sums[r + k]));
    }
    thread::sync_threads();

    let mut l = 0;
    while l < lines && first_line + (l as u64) < args.lines {
        store_row(&staged, l * outputs, output_of_line(args, first_line + l as u64, first, outputs), t, outputs);
        l += 1;
    }
}

/// The sums of a line from `first` on, `outputs` at the most.
#[inline(always)]
fn output_of_line<T: Sample>(args: &Args<T>, line: u64, first: u64, outputs: u32) -> GlobalInOut<T, u32> {
    let left = (args.outputs - first).min(outputs as u64) as u32;
    args.output.at(line * args.output_line + first).first(left)
}

/// Stores `outputs` sums from `window[row]` on, of which those exist that `output` has; the thread takes those at `t`,
/// `t + ROW_THREADS`, …
#[inline(always)]
fn store_row<T: Sample>(window: &Shared<T>, row: u32, output: GlobalInOut<T, u32>, t: u32, outputs: u32) {
    let mut o = t;
    while o + 3 * ROW_THREADS < outputs {
        let sums = core::array::from_fn(|k| window.get(row + o + k as u32 * ROW_THREADS));
        output.set4_strided::<ROW_THREADS>(o, sums);
        o += 4 * ROW_THREADS;
    }
    while o < outputs {
        output.set_if(o < output.len(), o, window.get(row + o));
        o += ROW_THREADS;
    }
}

/// Lines along columns.
///
/// A block of `32 × A` threads computes `A · R` sums of each of 32 lines; thread `(c, a)` those from `a · R` on of
/// line `c`. Shared memory: sample `s` of line `c` at `s * 32 + c`, so that in every access the lanes of a warp have
/// consecutive addresses: no bank conflicts.
#[inline(always)]
pub(super) fn columns<T: Packed<V>, const V: usize, const R: usize, const N: usize, const K: usize>(
    arena: Arena,
    args: &Args<T>,
    taps: &Constants<T, K>,
) {
    let (c, a) = (thread::thread_idx_x(), thread::thread_idx_y());
    let places = thread::block_dim_y();
    let outputs = places * R as u32;
    let padded = args.tap_count.next_multiple_of(V as u32);
    let pad = padded - args.tap_count;
    let len = outputs + padded;
    let (tile, _) = arena.split::<T>(len * COLUMN_LINES);
    let (first_line, first) = tile_of_block(args, COLUMN_LINES, outputs);
    let line = first_line + c as u64;
    let input = Line::new(args, line.min(args.lines - 1));

    let start = args.start + first as i64 - pad as i64;
    input.load(&tile, start, Every { first: a, len, step: places }, COLUMN_LINES, c);
    thread::sync_threads();

    let at = a * R as u32;
    let place = |r: usize| {
        let o = first + (at + r as u32) as u64;
        let exists = line < args.lines && o < args.outputs;
        (exists, line * args.output_line + o * args.output_step)
    };
    let mut sums = [T::ZERO; R];
    if args.resume != 0 {
        for (r, sum) in sums.iter_mut().enumerate() {
            if let (true, i) = place(r) {
                *sum = args.output.get(i);
            }
        }
    }
    let sums = correlate::<T, V, R, N, K>(taps, [pad, padded], sums, |s| {
        core::array::from_fn(|k| tile.get((at + s + k as u32) * COLUMN_LINES + c))
    });
    for (r, sum) in sums.into_iter().enumerate() {
        let (exists, i) = place(r);
        args.output.set_if(exists, i, sum);
    }
}

/// `sums[r] + Σ_j x[r + j] · taps[j]` for every `r`, `j` from `pad` to `padded - 1`; `samples(s)` gives `x[s]` to
/// `x[s + V - 1]`, for `s` a multiple of `V`. `padded` is a multiple of `V`, and `pad` is less than that.
#[inline(always)]
fn correlate<T: Packed<V>, const V: usize, const R: usize, const N: usize, const K: usize>(
    taps: &Constants<T, K>,
    [pad, padded]: [u32; 2],
    sums: [T; R],
    samples: impl Fn(u32) -> [T; V],
) -> [T; R] {
    const { assert!(N == R + V && R.is_multiple_of(V) && K.is_multiple_of(V)) };
    let mut ring = Ring::<T, V, R, N> { window: [T::ZERO; N], sums };
    for s in (0..R).step_by(V) {
        ring.window[s..s + V].copy_from_slice(&samples(s as u32));
    }
    ring.step(0, samples(R as u32), T::constant_pack(taps, 0), pad);
    let packs = (padded as usize / V).min(K / V) as u32;
    let mut k = 1;
    // One turn of the ring, left as soon as there are no more taps.
    'turns: loop {
        for phase in 0..N / V {
            if k >= packs {
                break 'turns;
            }
            ring.step(1 + phase, samples(R as u32 + k * V as u32), T::constant_pack(taps, k), 0);
            k += 1;
        }
    }
    ring.sums
}

/// The samples and sums in a thread's registers.
struct Ring<T, const V: usize, const R: usize, const N: usize> {
    window: [T; N],
    sums: [T; R],
}

impl<T: Packed<V>, const V: usize, const R: usize, const N: usize> Ring<T, V, R, N> {
    /// Takes in `V` new samples, adds the products with `V` taps but for the first `skip`, and forgets the `V` oldest
    /// samples.
    ///
    /// `phase` counts the steps, but for full turns. It is known when compiling, since all loops around are unrolled:
    /// registers have no index at run time.
    #[inline(always)]
    fn step(&mut self, phase: usize, new: [T; V], taps: [T; V], skip: u32) {
        let oldest = phase * V;
        for (k, sample) in new.into_iter().enumerate() {
            self.window[(oldest + R + k) % N] = sample;
        }
        for (u, tap) in taps.into_iter().enumerate() {
            if u as u32 >= skip {
                for r in 0..R {
                    self.sums[r] = T::add_product(self.sums[r], self.window[(oldest + u + r) % N], tap);
                }
            }
        }
    }
}
