//! Ranks and extremes from global memory alone.
//!
//! A block of 32 x 8 threads computes 32 neighbouring outputs of each of 8 rows, one per thread. Each thread reads the samples of its
//! window once for an extreme, otherwise once per bit. Neighbouring threads read neighbouring samples, so the accesses of a warp are contiguous for strides of 1. No
//! shared memory, windows of any size.

use super::key::Ranked;
use super::select::{Window, output as output_of};
use super::{Args, BLOCK};
use cuda_std::thread;

/// The window of an output.
struct Samples<'a, 'l, T: Ranked> {
    args: &'a Args<'l, T>,
    plane: u64,
    /// Position of the first sample: row and column.
    first: [i64; 2],
    channel: u64,
}

impl<T: Ranked> Window<T::Key> for Samples<'_, '_, T> {
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(T::Key)) {
        let args = self.args;
        let mut run = 0;
        while run < args.runs {
            let [row, mut column, end] = args.run(run);
            let line = args.line(self.plane, args.rows.source(self.first[0] + row as i64));
            while column < end {
                let source = args.columns.source(self.first[1] + column as i64);
                visit(args.sample_at(line, source, self.channel).key());
                column += 1;
            }
            run += 1;
        }
    }
}

#[inline(always)]
pub(super) fn outputs<T: Ranked, const IS_EXTREME: bool>(args: &Args<T>) {
    let (block, tiles, channels) = (thread::block_idx_x(), args.tiles, args.channels as u64);
    let element = (block % tiles) as u64 * BLOCK[0] as u64 + thread::thread_idx_x() as u64;
    let group = args.first_group + (block / tiles) as u64;
    let output = group * BLOCK[1] as u64 + thread::thread_idx_y() as u64;
    if output >= args.planes * args.rows.outputs || element >= args.columns.outputs * channels {
        return;
    }
    let (plane, row) = (output / args.rows.outputs, output % args.rows.outputs);
    let first = [args.rows.first(row), args.columns.first(element / channels)];
    let window = Samples { args, plane, first, channel: element % channels };
    args.output.set(output * args.output_pitch + element, output_of::<T, IS_EXTREME>(args, &window));
}
