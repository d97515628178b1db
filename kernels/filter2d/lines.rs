//! Where the rows of samples of a band begin.

use super::BandArgs;
use crate::signal::{Border, Types};
use cuda_std::{Shared, thread};

/// Instead of a line: the constant outside.
pub(super) const CONSTANT: u64 = u64::MAX;

/// Finds where each of `rows` rows of samples begins in the input, from that of output row `first` of a plane on; `ahead` more are
/// the constant outside. All threads of the block take part. Loops over the rows have no branches for borders then.
#[inline(always)]
pub(super) fn find_lines<F: Types>(
    lines: &Shared<u64>,
    args: &BandArgs<F>,
    [plane, first]: [u64; 2],
    [rows, ahead]: [u32; 2],
) {
    let border = Border::from_number(args.border);
    let mut r = thread::thread_linear();
    while r < rows + ahead {
        let line = match args.rows.source(border, args.rows.first(first), r) {
            Some(row) if r < rows => (plane * args.rows.samples + row) * args.input_pitch,
            _ => CONSTANT,
        };
        lines.set(r, line);
        r += thread::threads_per_block();
    }
}
