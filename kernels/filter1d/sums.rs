//! A thread's sums of the register-tiled kernels: continued from the output of the launch before, and stored.

use super::Args;
use crate::signal::{Output, Types};
use cuda_std::{GlobalInOut, Shared, Value, thread};

/// Lines per block, along columns.
pub(super) const COLUMN_LINES: u32 = 32;

/// Returns the sums from number `first` of a row's output on: zeros, unless they are continued.
#[inline(always)]
pub(super) fn of_row<F: Types, const R: usize>(
    args: &Args<F>,
    output: &GlobalInOut<F::Output, u32>,
    first: u32,
) -> [F::Sum; R] {
    let mut sums = [F::Sum::default(); R];
    if args.resume != 0 {
        for (r, sum) in sums.iter_mut().enumerate() {
            *sum = output.get_or(first + r as u32, F::Output::default()).to_sum();
        }
    }
    sums
}

/// Stores the sums of thread `(x, y)` of `width × lines` threads to the output of row `y`. They are staged in the memory of the tile, so
/// that a warp's stores to global memory are contiguous.
#[inline(always)]
pub(super) fn store_rows<F: Types, const V: usize, const R: usize>(
    tile: Shared<F::Sample>,
    sums: [F::Sum; R],
    output: &GlobalInOut<F::Output, u32>,
    [x, width]: [u32; 2],
    [y, lines]: [u32; 2],
) {
    let outputs = width * R as u32;
    let (staged, _) = tile.reuse().split::<F::Output>(outputs * lines);
    for r in (0..R).step_by(V) {
        let pack: [F::Output; V] = core::array::from_fn(|k| F::Output::of_sum(sums[r + k]));
        staged.set_pack(y * outputs + x * R as u32 + r as u32, pack);
    }
    thread::sync_threads();
    store_row::<F::Output, V, R>(&staged, y * outputs, output, [x, width]);
}

/// Stores the sums from `window[row]` on, `R` for each of `threads` threads, up to the end of `output`.
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

/// Where a thread's sums along a column are: from number `at` on among those of the block, which begin with number `first`.
pub(super) struct InColumn {
    pub(super) line: u64,
    pub(super) first: u64,
    pub(super) at: u32,
}

impl InColumn {
    /// Returns whether the output with number `r` of the thread exists, and its index.
    #[inline(always)]
    fn place(&self, args: &Args<impl Types>, r: usize) -> (bool, u64) {
        let o = self.first + (self.at + r as u32) as u64;
        let exists = self.line < args.lines && o < args.outputs;
        (exists, self.line * args.output_line + o * args.output_step)
    }

    /// Returns the sums: zeros, unless they are continued.
    #[inline(always)]
    pub(super) fn sums<F: Types, const R: usize>(&self, args: &Args<F>) -> [F::Sum; R] {
        let mut sums = [F::Sum::default(); R];
        if args.resume != 0 {
            for (r, sum) in sums.iter_mut().enumerate() {
                if let (true, i) = self.place(args, r) {
                    *sum = args.output.get(i).to_sum();
                }
            }
        }
        sums
    }

    /// Stores the sums of outputs that exist.
    #[inline(always)]
    pub(super) fn store<F: Types, const R: usize>(&self, args: &Args<F>, sums: [F::Sum; R]) {
        for (r, sum) in sums.into_iter().enumerate() {
            let (exists, i) = self.place(args, r);
            args.output.set_if(exists, i, F::Output::of_sum(sum));
        }
    }
}
