//! Correlation from global memory alone.
//!
//! A block of 32 x 8 threads computes 32 neighbouring outputs of each of 8 rows, one per thread. Each thread reads its samples
//! and weights from global memory. Neighbouring threads read neighbouring samples, so the accesses of a warp are contiguous for
//! strides of 1. No shared memory, any number of weights.

use super::block::BLOCK;
use super::{Args, Sums};
use crate::signal::Accumulator;
use cuda_std::thread;

#[inline(always)]
pub(super) fn correlate<A: Accumulator>(args: &Args<A>) {
    let (block, tiles) = (thread::block_idx_x(), args.tiles);
    let element = (block % tiles) as u64 * BLOCK[0] as u64 + thread::thread_idx_x() as u64;
    let group = args.first_group + (block / tiles) as u64;
    let row = group * BLOCK[1] as u64 + thread::thread_idx_y() as u64;
    if row >= args.planes * args.rows.outputs || element >= args.columns.outputs * args.channels as u64 {
        return;
    }
    let sums = sum(args, row, element);
    args.output(sums).store_output(&args.output, row * args.output_pitch + element);
}

/// Returns the sums of an output.
#[inline(always)]
fn sum<A: Accumulator>(args: &Args<A>, row: u64, element: u64) -> Sums<A> {
    let channels = args.channels as u64;
    let (plane, row) = args.place(row);
    let (pixel, channel) = (element / channels, element % channels);
    let [first_row, first_column] = [args.rows.first(row), args.columns.first(pixel)];
    let (mut sums, mut i) = (Sums::zero(), 0);
    while i < args.rows.taps {
        let line = args.line(plane, args.rows.source(first_row + (i * args.rows.dilation) as i64));
        let mut j = 0;
        while j < args.columns.taps {
            let source = args.columns.source(first_column + (j * args.columns.dilation) as i64);
            let sample = args.sample_at(line, source, channel);
            let weight = args.weights.get(i as u64 * args.columns.taps as u64 + j as u64);
            sums = sums.with_product(sample, weight, args.renormalise != 0);
            j += 1;
        }
        i += 1;
    }
    sums
}
