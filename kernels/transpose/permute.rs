//! The kernel that copies a part of a matrix into other memory or back. On the way out it can shuffle rows, which is permutation
//! 2 of `permutation.rs`, for rows that do not fit into shared memory.
//!
//! Thread `i` of a grid of `n` threads moves units `i`, `i + n`, … of the part, in row-major order. No shared memory.

use super::PermuteArgs;
use super::permutation::Permutation;
use cuda_std::{Value, thread};

/// The operation of one launch on its part of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartCopy {
    /// Copies the part into other memory.
    Out = 0,
    /// The same, and shuffles its rows, which must be whole rows of the matrix.
    Shuffled = 1,
    /// Copies the other memory to the part.
    Back = 2,
}

#[inline(always)]
pub(super) fn permute<U: Value>(args: &PermuteArgs<U>) {
    let region = &args.region;
    let permutation = Permutation::new(region.rows, region.columns, region.divisor);
    // Never 0; see `Permutation::new`.
    let units = region.units.max(1) as u64;
    let width = (region.part_columns * units).max(1);
    let mut at = thread::global_x();
    while at < region.part_rows * width {
        let (line, place) = (at / width, at % width);
        let in_matrix = region.first + line * region.columns * units + place;
        if region.copy == PartCopy::Back as u32 {
            args.matrices.set(in_matrix, args.part.get(at));
        } else {
            let mut moved = at;
            if region.copy == PartCopy::Shuffled as u32 {
                let column = permutation.shuffled(region.first_row + line, place / units);
                moved = line * width + column * units + place % units;
            }
            args.part.set(moved, args.matrices.get(in_matrix));
        }
        at += thread::grid_dim_x() as u64 * thread::block_dim_x() as u64;
    }
}
