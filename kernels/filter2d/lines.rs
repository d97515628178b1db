//! Where the rows of samples of a band begin.

use super::BandArgs;
use cuda_std::{Argument, Shared, thread};

/// Instead of a position in a picture: the constant outside.
pub(super) const CONSTANT: u64 = u64::MAX;

/// Finds where each of `rows` rows of samples of the block's band begins in the input; `ahead` more are the constant outside. All
/// threads of the block take part. Loops over the rows have no branches for borders then.
#[inline(always)]
pub(super) fn find_lines<M: Argument>(lines: &Shared<u64>, args: &BandArgs<M>, [rows, ahead]: [u32; 2]) {
    let [plane, first] = args.corner();
    let mut r = thread::thread_linear();
    while r < rows + ahead {
        let line = match args.rows.source(args.rows.first(first) + r as i64) {
            Some(row) if r < rows => (plane * args.rows.samples + row) * args.input_pitch,
            _ => CONSTANT,
        };
        lines.set(r, line);
        r += thread::threads_per_block();
    }
}
