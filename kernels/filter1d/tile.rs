//! Correlation with a tile in shared memory, one sum at a time.
//!
//! Along rows, a block of 256 × 1 threads computes 256 sums of one line. Along columns, a block of 32 × 8 threads computes
//! 64 sums of each of 32 neighbouring lines: thread `(c, a)` the sums `a`, `a + 8`, … of line `c`. The block loads the
//! taps, the tile and its halo into shared memory and waits at a barrier:
//!
//! ```text
//!  samples of a line   . . |<- tile: one sample per sum ->|<- halo: taps - 1 ->| . .
//!  sums of the block       |<---------------------------->|
//! ```
//!
//! Shared memory: the taps, rounded up to a multiple of `V`, then the tile with sample `s` of line `c` at index
//! `s * lines + c`. No bank conflicts: in every access the lanes of a warp have consecutive addresses (samples of
//! neighbouring sums or of neighbouring lines) or the same address (taps).
//!
//! Source: the tile with its halo is that of Podlozhnyuk's *Image Convolution with CUDA* (NVIDIA, 2007).

use super::block::{load_taps, tile_of_block};
use super::{Args, Halo};
use crate::signal::{Every, Line, Output, Sum, Types};
use cuda_std::{Arena, Shared, thread};

/// Sums per thread, along columns.
const COLUMN_SUMS: u32 = 8;

/// Lines per block, along columns.
const COLUMN_LINES: u32 = 32;

/// Computes lines along rows if the block has one row of threads, otherwise along columns. Reads `V` taps at a time.
#[inline(always)]
pub(super) fn correlate<F: Types, const V: usize>(arena: Arena, args: Args<F>) {
    const { assert!(V == F::PACK) };
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (width, height) = (thread::block_dim_x(), thread::block_dim_y());
    let (c, lines, a, places) = if height == 1 { (0, 1, x, width) } else { (x, COLUMN_LINES, y, height) };
    let outputs = places * if height == 1 { 1 } else { COLUMN_SUMS };
    let (taps, arena) = arena.split::<F::Weight>(args.tap_count.next_multiple_of(V as u32));
    let (tile, _) = arena.split::<F::Sample>((outputs + args.tap_count - 1) * lines);
    let (first_line, first) = tile_of_block(&args, lines, outputs);

    load_taps(&taps, &args);
    let line = first_line + c as u64;
    if line < args.lines {
        let input = args.line(line);
        load_tile(&tile, &args, &input, first, Place { c, a, places, lines, outputs });
    }
    thread::sync_threads();

    let mut s = a;
    while s < outputs {
        let o = first + s as u64;
        if line < args.lines && o < args.outputs {
            // The stride between samples is a constant in each call, so it becomes part of the instructions.
            let sum = match height {
                1 => sum::<F, V, 1>(&taps, &tile, args.tap_count, s),
                _ => sum::<F, V, COLUMN_LINES>(&taps, &tile, args.tap_count, s * lines + c),
            };
            args.output.set(line * args.output_line + o * args.output_step, F::Output::of_sum(sum));
        }
        s += places;
    }
}

/// A thread's position in its block: line `c` of `lines`, and thread `a` of the line's `places` threads. A tile has
/// `outputs` sums per line.
struct Place {
    c: u32,
    a: u32,
    places: u32,
    lines: u32,
    outputs: u32,
}

/// Loads the tile and its halo into shared memory.
#[inline(always)]
fn load_tile<F: Types>(tile: &Shared<F::Sample>, args: &Args<F>, input: &Line<F::Sample>, first: u64, place: Place) {
    let Place { c, a, places, lines, outputs } = place;
    let start = args.start + first as i64;
    let len = outputs + args.tap_count - 1;
    let alone = args.halo == Halo::EdgeThread as u32;
    // With a cooperative halo, all threads load all samples. Otherwise they load the tile, and the first one the halo.
    let mut every = Every { first: a, len: if alone { outputs } else { len }, step: places };
    loop {
        input.load(tile, start, every, lines, c);
        if every.len == len || a > 0 {
            break;
        }
        every = Every { first: outputs, len, step: 1 };
    }
}

/// Returns the sum whose first sample is `tile[at]`. Its samples are `STEP` elements apart.
#[inline(always)]
fn sum<F: Types, const V: usize, const STEP: u32>(
    taps: &Shared<F::Weight>,
    tile: &Shared<F::Sample>,
    count: u32,
    at: u32,
) -> F::Sum {
    let mut sum = F::Sum::default();
    let mut j = 0;
    while j + V as u32 <= count {
        for (u, tap) in taps.get_pack::<V>(j).into_iter().enumerate() {
            sum = sum.add_product(tile.get(at + (j + u as u32) * STEP), tap);
        }
        j += V as u32;
    }
    while j < count {
        sum = sum.add_product(tile.get(at + j * STEP), taps.get(j));
        j += 1;
    }
    sum
}
