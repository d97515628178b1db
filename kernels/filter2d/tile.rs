//! Correlation with a tile in shared memory, one output at a time.
//!
//! A block of 32 x 8 threads computes a tile of [`PIXELS`] pixels, with all of their channels, of [`ROWS`] rows. It loads the
//! weights, and the samples that the tile depends on (the tile and its halo), and waits. Then thread `(x, y)` computes the outputs
//! `x`, `x + 32`, … of rows `y`, `y + 8`, ….
//!
//! Shared memory: the weights, then the rows of samples. A row is divided into one phase per column of the stride: pixel `p` of
//! the row stands in phase `p % stride` at place `p / stride`, with its channels side by side.
//!
//! ```text
//! pixels of a row     0 1 2 3 4 5 6 7 8          (stride 3)
//! in shared memory    0 3 6 | 1 4 7 | 2 5 8
//! ```
//!
//! So the samples that neighbouring outputs multiply with the same weight are neighbours. No bank conflicts: in every access the
//! lanes of a warp have consecutive addresses (samples) or all the same one (weights).
//!
//! The tile with its halo is that of Podlozhnyuk's *Image Convolution with CUDA* (NVIDIA, 2007).

use super::block::{BLOCK, load_weights};
use super::{Args, Axis, Sums};
use crate::signal::Accumulator;
use cuda_std::{Arena, Shared, thread};

/// Pixels of a tile's row.
pub(super) const PIXELS: u32 = 32;

/// Rows of a tile.
pub(super) const ROWS: u32 = 16;

/// Returns the samples along an axis that `outputs` neighbouring outputs depend on.
#[inline(always)]
pub(super) fn samples(axis: &Axis, outputs: u32) -> u64 {
    (outputs as u64 - 1) * axis.stride as u64 + (axis.taps as u64 - 1) * axis.dilation as u64 + 1
}

/// The rows of samples in shared memory.
#[derive(Clone, Copy)]
struct Layout {
    rows: u32,
    /// Pixels of a row that have samples.
    pixels: u32,
    /// Pixels of a phase.
    phase: u32,
    /// Elements of a row.
    pitch: u32,
}

impl Layout {
    /// Returns the layout. A launch has shared memory for it, so it fits into 32 bits.
    #[inline(always)]
    fn new<A: Accumulator>(args: &Args<A>) -> Self {
        let (rows, pixels) = (samples(&args.rows, ROWS) as u32, samples(&args.columns, PIXELS) as u32);
        let phase = pixels.div_ceil(args.columns.stride);
        Layout { rows, pixels, phase, pitch: phase * args.columns.stride * args.channels }
    }
}

#[inline(always)]
pub(super) fn correlate<A: Accumulator>(arena: Arena, args: &Args<A>) {
    let layout = Layout::new(args);
    let (weights, arena) = arena.split::<A>(args.rows.taps * args.columns.taps);
    let (tile, _) = arena.split::<A>(layout.rows * layout.pitch);
    let block = thread::block_idx_x();
    // The rows of a tile belong to one plane.
    let tile_rows = args.rows.outputs.div_ceil(ROWS as u64);
    let group = args.first_group + (block / args.tiles) as u64;
    let (plane, first_row) = (group / tile_rows, group % tile_rows * ROWS as u64);
    let first_pixel = (block % args.tiles) as u64 * PIXELS as u64;

    load_weights(&weights, args, 0, args.columns.taps);
    load_tile(&tile, args, &layout, plane, [args.rows.first(first_row), args.columns.first(first_pixel)]);
    thread::sync_threads();

    let width = PIXELS * args.channels;
    let limit = (args.columns.outputs - first_pixel) * args.channels as u64;
    let mut row = thread::thread_idx_y();
    while row < ROWS && first_row + (row as u64) < args.rows.outputs {
        let output = (plane * args.rows.outputs + first_row + row as u64) * args.output_pitch;
        let mut element = thread::thread_idx_x();
        while element < width && (element as u64) < limit {
            let sums = sum(&weights, &tile, args, &layout, [row, element]);
            let place = output + first_pixel * args.channels as u64 + element as u64;
            args.output(sums).store_output(&args.output, place);
            element += BLOCK[0];
        }
        row += BLOCK[1];
    }
}

/// Loads the samples of a tile whose first one is at `first` (row, column) of a plane; all threads of the block take part.
#[inline(always)]
fn load_tile<A: Accumulator>(tile: &Shared<A>, args: &Args<A>, layout: &Layout, plane: u64, first: [i64; 2]) {
    let mut row = thread::thread_idx_y();
    while row < layout.rows {
        let line = args.line(plane, args.rows.source(first[0] + row as i64));
        let mut element = thread::thread_idx_x();
        while element < layout.pitch {
            let (place, channel) = (element / args.channels, element % args.channels);
            let pixel = place % layout.phase * args.columns.stride + place / layout.phase;
            // The last phases may be one pixel shorter.
            if pixel < layout.pixels {
                let source = args.columns.source(first[1] + pixel as i64);
                tile.set(row * layout.pitch + element, args.sample_at(line, source, channel as u64));
            }
            element += BLOCK[0];
        }
        row += BLOCK[1];
    }
}

/// Returns the sums of the output at `[row, element]` of the tile.
#[inline(always)]
fn sum<A: Accumulator>(
    weights: &Shared<A>,
    tile: &Shared<A>,
    args: &Args<A>,
    layout: &Layout,
    [row, element]: [u32; 2],
) -> Sums<A> {
    let stride = args.columns.stride;
    let (whole, rest) = (args.columns.dilation / stride, args.columns.dilation % stride);
    let (mut sums, mut i, mut weight) = (Sums::zero(), 0, 0);
    let mut start = row * args.rows.stride * layout.pitch + element;
    while i < args.rows.taps {
        // The phase and the place there of the pixel that the weight meets, for the first output of the row.
        let (mut phase, mut place, mut j) = (0, 0, 0);
        while j < args.columns.taps {
            let sample = tile.get(start + (phase * layout.phase + place) * args.channels);
            sums = sums.with_product(sample, weights.get(weight), args.renormalise != 0);
            (phase, place) = (phase + rest, place + whole);
            if phase >= stride {
                (phase, place) = (phase - stride, place + 1);
            }
            weight += 1;
            j += 1;
        }
        start += args.rows.dilation * layout.pitch;
        i += 1;
    }
    sums
}
