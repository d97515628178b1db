//! Correlation from global memory alone.
//!
//! Thread `i` of the grid computes one sum and reads each of its samples and taps from global memory. Neighbouring
//! threads take neighbouring elements of the output, so all accesses of a warp are contiguous. No shared memory,
//! any number of taps.

use super::Args;
use super::line::Line;
use crate::Sample;
use cuda_std::thread;

#[inline(always)]
pub(super) fn correlate<T: Sample>(args: Args<T>) {
    let i = thread::global_x();
    // Along columns neighbouring lines are neighbours in memory, along rows the sums of one line are.
    let along_columns = args.output_line == 1;
    let (line, o) = match along_columns {
        true => (i % args.lines, i / args.lines),
        false => (i / args.outputs, i % args.outputs),
    };
    if line >= args.lines || o >= args.outputs {
        return;
    }
    let input = Line::new(&args, line);
    let first = args.start + o as i64;
    let sum = match input.contains(first, args.tap_count) {
        true => sum(&args, |j| input.inside(first as u64 + j)),
        false => sum(&args, |j| input.get(first + j as i64)),
    };
    args.output.set(line * args.output_line + o * args.output_step, sum);
}

/// `Σ_j sample(j) · w[j]`.
#[inline(always)]
fn sum<T: Sample>(args: &Args<T>, sample: impl Fn(u64) -> T) -> T {
    let mut sum = T::ZERO;
    let mut j = 0;
    while j < args.tap_count {
        sum = T::add_product(sum, sample(j as u64), args.taps.get(j as u64));
        j += 1;
    }
    sum
}
