//! Where the rows of samples of a band begin.

use super::Axis;
use crate::signal::Border;
use cuda_std::{Shared, thread};

/// Instead of a position in a picture: the constant outside.
pub(super) const CONSTANT: u64 = u64::MAX;

/// The rows of a picture.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// Rows of a plane.
    pub(super) axis: &'a Axis,
    /// Row pitch, in elements.
    pub(super) pitch: u64,
    /// A [`Border`].
    pub(super) border: u32,
}

/// Finds where each of `rows` rows of samples begins in the input, from that of output row `first` of a plane on; `ahead` more are
/// the constant outside. All threads of the block take part. Loops over the rows have no branches for borders then.
#[inline(always)]
pub(super) fn find_lines(
    lines: &Shared<u64>,
    Rows { axis, pitch, border }: Rows<'_>,
    [plane, first]: [u64; 2],
    [rows, ahead]: [u32; 2],
) {
    let border = Border::from_number(border);
    let mut r = thread::thread_linear();
    while r < rows + ahead {
        let line = match axis.source(border, axis.first(first), r) {
            Some(row) if r < rows => (plane * axis.samples + row) * pitch,
            _ => CONSTANT,
        };
        lines.set(r, line);
        r += thread::threads_per_block();
    }
}
