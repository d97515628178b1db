//! Correlation with a tile in shared memory, one sum at a time.
//!
//! A block of `C × A` threads (`C` neighbouring lines, `A` places along each) computes `A · P` sums of each of its
//! lines. It brings the taps, the tile and its halo of `taps - 1` samples to shared memory, waits, and every thread
//! then computes `P` sums, `A` apart: thread `(c, a)` those at `a`, `a + A`, …
//!
//! Shared memory: the taps (rounded up to a multiple of `V`), then the tile with sample `s` of line `c` at
//! `s * C + c`. No bank conflicts: in every access the lanes of a warp have consecutive addresses (samples: `C` is 1
//! or 32, and neighbouring lanes are neighbouring lines or places) or all the same one (taps).

use super::line::{Every, Line, load_taps, tile_of_block};
use super::{Args, Halo};
use crate::{Packed, Sample};
use cuda_std::{Arena, Shared, thread};

/// `C` lines per block and `P` sums per thread and line; `V` taps are read at a time.
#[inline(always)]
pub(super) fn correlate<T: Packed<V>, const V: usize, const C: u32, const P: u32>(arena: Arena, args: Args<T>) {
    let (c, a, places) = match C {
        1 => (0, thread::thread_idx_x(), thread::block_dim_x()),
        _ => (thread::thread_idx_x(), thread::thread_idx_y(), thread::block_dim_y()),
    };
    let outputs = places * P;
    let (taps, arena) = arena.split::<T>(args.tap_count.next_multiple_of(V as u32));
    let (tile, _) = arena.split::<T>((outputs + args.tap_count - 1) * C);
    let (first_line, first) = tile_of_block(&args, C, outputs);

    load_taps(&taps, &args, 0);
    let line = first_line + c as u64;
    if line < args.lines {
        let input = Line::new(&args, line);
        load_tile(&tile, &args, &input, first, Place { c, a, places, lines: C, outputs });
    }
    thread::sync_threads();

    let mut s = a;
    while s < outputs {
        let o = first + s as u64;
        if line < args.lines && o < args.outputs {
            let sum = sum::<T, V, C>(&taps, &tile, args.tap_count, s * C + c);
            args.output.set(line * args.output_line + o * args.output_step, sum);
        }
        s += places;
    }
}

/// Where a thread stands in its block: line `c` of `lines`, place `a` of `places`, in a tile of `outputs` sums.
struct Place {
    c: u32,
    a: u32,
    places: u32,
    lines: u32,
    outputs: u32,
}

/// Brings the tile and its halo to shared memory.
#[inline(always)]
fn load_tile<T: Sample>(tile: &Shared<T>, args: &Args<T>, input: &Line<T>, first: u64, place: Place) {
    let Place { c, a, places, lines, outputs } = place;
    let start = args.start + first as i64;
    let len = outputs + args.tap_count - 1;
    let alone = args.halo == Halo::EdgeThread as u32;
    // Together, the threads bring all samples; otherwise those of the tile, and the halo is left to the first one.
    let mut every = Every { first: a, len: if alone { outputs } else { len }, step: places };
    loop {
        input.load(tile, start, every, lines, c);
        if every.len == len || a > 0 {
            break;
        }
        every = Every { first: outputs, len, step: 1 };
    }
}

/// The sum whose first sample is `tile[at]`; the next ones are `C` apart.
#[inline(always)]
fn sum<T: Packed<V>, const V: usize, const C: u32>(taps: &Shared<T>, tile: &Shared<T>, count: u32, at: u32) -> T {
    let mut sum = T::ZERO;
    let mut j = 0;
    while j + V as u32 <= count {
        let pack = T::get_pack(taps, j);
        for (u, tap) in pack.into_iter().enumerate() {
            sum = T::add_product(sum, tile.get(at + (j + u as u32) * C), tap);
        }
        j += V as u32;
    }
    while j < count {
        sum = T::add_product(sum, tile.get(at + j * C), taps.get(j));
        j += 1;
    }
    sum
}
