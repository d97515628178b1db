//! Correlation with a tile in shared memory and the sums in registers.
//!
//! A thread computes `R` neighbouring sums of a line at once. It slides a window of `N = R + V` samples along the
//! line: `V` new samples (one 16-byte access along rows) and `V` taps (one 16-byte access, the same for the whole
//! block) serve `R · V` multiply-adds. Multiply-adds are then nine tenths of all instructions, and shared memory,
//! which would be the limit with one sum per thread, is not.
//!
//! The window is a ring: sample `s` is in register `s % N`, and the code is unrolled over the `N` samples after
//! which the ring is back where it was, so that nothing is ever moved from register to register.
//!
//! The number of taps is rounded up to a multiple of `V` by `pad` taps *before* the first, which stand for no
//! multiplication (not for one with zero: zero times infinity would be NaN). The tile begins `pad` samples earlier
//! accordingly, and the 16-byte accesses stay aligned.

use super::Args;
use super::line::{Every, Line, load_taps, tile_of_block};
use crate::{Packed, Sample};
use cuda_std::{Arena, GlobalOut, Shared, thread};

/// Lines along rows.
///
/// A block of `X × Y` threads computes `X · R` sums of each of `Y` lines; thread `(x, y)` those from `x · R` on of
/// line `y`. Shared memory: the taps, then for each line `X · R + taps` samples, one after another.
///
/// No bank conflicts: a 16-byte access is served eight lanes at a time, and the lanes are `R` elements, an odd multiple
/// of 16 bytes, apart, so that eight lanes meet eight different groups of four banks. The sums go through the same
/// memory on their way out, so that the stores to global memory are contiguous.
#[inline(always)]
pub(super) fn rows<T: Packed<V>, const V: usize, const R: usize, const N: usize>(arena: Arena, args: Args<T>) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (width, lines) = (thread::block_dim_x(), ROW_THREADS / thread::block_dim_x());
    let t = y * width + x;
    let outputs = width * R as u32;
    let padded = args.tap_count.next_multiple_of(V as u32);
    let pad = padded - args.tap_count;
    let (taps, arena) = arena.split::<T>(padded);
    let (tile, _) = arena.split::<T>((outputs + padded) * lines);
    let (first_line, first) = tile_of_block(&args, lines, outputs);

    load_taps(&taps, &args, pad);
    let start = args.start + first as i64 - pad as i64;
    let mut l = 0;
    while l < lines {
        // In the place of a line that does not exist stands the last one; its sums are not stored.
        let input = Line::new(&args, (first_line + l as u64).min(args.lines - 1));
        input.load_row::<ROW_THREADS>(&tile, start, t, outputs + padded, l * (outputs + padded));
        l += 1;
    }
    thread::sync_threads();

    let at = y * (outputs + padded) + x * R as u32;
    let sums = correlate::<T, V, R, N>(&taps, pad, |s| T::get_pack(&tile, at + s));

    let (staged, _) = tile.reuse().split::<T>(outputs * lines);
    for r in (0..R).step_by(V) {
        T::set_pack(&staged, t * R as u32 + r as u32, core::array::from_fn(|k| sums[r + k]));
    }
    thread::sync_threads();

    let mut l = 0;
    while l < lines && first_line + (l as u64) < args.lines {
        let place = (first_line + l as u64) * args.output_line + first;
        let left = (args.outputs - first).min(outputs as u64) as u32;
        store_row(&staged, l * outputs, args.output.at(place).first(left), t, outputs);
        l += 1;
    }
}

/// Threads of a block, along rows; how many of them are on one line is the host's choice.
const ROW_THREADS: u32 = 128;

/// Stores `outputs` sums from `window[row]` on, of which those exist that `output` has; the thread takes those at `t`,
/// `t + ROW_THREADS`, …
#[inline(always)]
fn store_row<T: Sample>(window: &Shared<T>, row: u32, output: GlobalOut<T, u32>, t: u32, outputs: u32) {
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
/// line `c`. Shared memory: the taps, then sample `s` of line `c` at `s * 32 + c`, so that in every access the lanes
/// of a warp have consecutive addresses (samples) or all the same one (taps): no bank conflicts.
#[inline(always)]
pub(super) fn columns<T: Packed<V>, const V: usize, const R: usize, const N: usize>(arena: Arena, args: Args<T>) {
    const LINES: u32 = 32;
    let (c, a) = (thread::thread_idx_x(), thread::thread_idx_y());
    let places = thread::block_dim_y();
    let outputs = places * R as u32;
    let padded = args.tap_count.next_multiple_of(V as u32);
    let pad = padded - args.tap_count;
    let (taps, arena) = arena.split::<T>(padded);
    let (tile, _) = arena.split::<T>((outputs + padded) * LINES);
    let (first_line, first) = tile_of_block(&args, LINES, outputs);
    let line = first_line + c as u64;
    let input = Line::new(&args, line.min(args.lines - 1));

    load_taps(&taps, &args, pad);
    let start = args.start + first as i64 - pad as i64;
    input.load(&tile, start, Every { first: a, len: outputs + padded, step: places }, LINES, c);
    thread::sync_threads();

    let at = a * R as u32;
    let sums =
        correlate::<T, V, R, N>(&taps, pad, |s| core::array::from_fn(|k| tile.get((at + s + k as u32) * LINES + c)));

    for (r, sum) in sums.into_iter().enumerate() {
        let o = first + (at + r as u32) as u64;
        let exists = line < args.lines && o < args.outputs;
        args.output.set_if(exists, line * args.output_line + o * args.output_step, sum);
    }
}

/// The `R` sums `Σ_j x[r + j] · taps[j]` over the taps from `pad` (below `V`) on; `samples(s)` gives `x[s]` to
/// `x[s + V - 1]`, for `s` a multiple of `V`, as is the number of taps.
#[inline(always)]
fn correlate<T: Packed<V>, const V: usize, const R: usize, const N: usize>(
    taps: &Shared<T>,
    pad: u32,
    samples: impl Fn(u32) -> [T; V],
) -> [T; R] {
    const { assert!(N == R + V && R.is_multiple_of(V)) };
    let mut ring = Ring::<T, V, R, N> { window: [T::ZERO; N], sums: [T::ZERO; R] };
    for s in (0..R).step_by(V) {
        ring.window[s..s + V].copy_from_slice(&samples(s as u32));
    }
    ring.step(0, samples(R as u32), T::get_pack(taps, 0), pad);
    let count = taps.len();
    let mut j = V as u32;
    // One turn of the ring, left as soon as there are no more taps.
    'turns: loop {
        for phase in 0..N / V {
            if j >= count {
                break 'turns;
            }
            ring.step(1 + phase, samples(R as u32 + j), T::get_pack(taps, j), 0);
            j += V as u32;
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
    /// Takes in `V` new samples, adds the products with those of the `V` taps that are from number `from` on, and
    /// forgets the `V` oldest samples.
    ///
    /// `phase` counts the steps. It is known when compiling, since all loops around are unrolled: registers have no
    /// index at run time.
    #[inline(always)]
    fn step(&mut self, phase: usize, new: [T; V], taps: [T; V], from: u32) {
        let oldest = phase * V;
        for (k, sample) in new.into_iter().enumerate() {
            self.window[(oldest + R + k) % N] = sample;
        }
        for (u, tap) in taps.into_iter().enumerate() {
            if u as u32 >= from {
                for r in 0..R {
                    self.sums[r] = T::add_product(self.sums[r], self.window[(oldest + u + r) % N], tap);
                }
            }
        }
    }
}
