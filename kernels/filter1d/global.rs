//! Correlation without shared memory, for any number of taps.
//!
//! Thread `i` of the grid computes one sum and reads all its samples and taps from global memory. Neighbouring threads
//! compute neighbouring elements of the output, so the accesses of a warp are contiguous.

use super::Args;
use crate::signal::{Line, Output, Sum, Types};
use cuda_std::{GlobalIn, thread};

#[inline(always)]
pub(super) fn correlate<F: Types>(args: Args<F>) {
    let i = thread::global_x();
    // Contiguous in memory are neighbouring lines (along columns) or the sums of one line (along rows).
    let along_columns = args.output_line == 1;
    let (line, o) = match along_columns {
        true => (i % args.lines, i / args.lines),
        false => (i / args.outputs, i % args.outputs),
    };
    if line >= args.lines || o >= args.outputs {
        return;
    }
    let input = args.line(line);
    let first = args.start + o as i64;
    let sum = match input.contains(first, args.tap_count) {
        true if args.input_step == 1 => contiguous_sum(&args, args.input.at(line * args.input_line + first as u64)),
        _ => continued_sum(&args, &input, first),
    };
    args.output.set(line * args.output_line + o * args.output_step, F::Output::of_sum(sum));
}

/// Returns `Σ_j samples[j] · w[j]`. Loads four samples and taps at a time.
#[inline(always)]
fn contiguous_sum<F: Types>(args: &Args<F>, samples: GlobalIn<F::Sample, u32>) -> F::Sum {
    let taps = args.taps.at(0);
    let (mut sum, mut j) = (F::Sum::default(), 0);
    while j + 4 <= args.tap_count {
        let (x, w) = (samples.get4_strided::<1>(j), taps.get4_strided::<1>(j));
        for k in 0..4 {
            sum = sum.add_product(x[k], w[k]);
        }
        j += 4;
    }
    while j < args.tap_count {
        sum = sum.add_product(samples.get(j), taps.get(j));
        j += 1;
    }
    sum
}

/// Returns `Σ_j X(first + j) · w[j]`, where `X` is the continued line, with any stride.
#[inline(always)]
fn continued_sum<F: Types>(args: &Args<F>, input: &Line<F::Sample>, first: i64) -> F::Sum {
    let (mut sum, mut j) = (F::Sum::default(), 0);
    while j < args.tap_count {
        sum = sum.add_product(input.get(first + j as i64), args.taps.get(j as u64));
        j += 1;
    }
    sum
}
