//! Transposing any matrix in place, by permutations within its rows and within its columns.
//!
//! The method is that of Catanzaro, Keller and Garland, "A Decomposition for In-place Matrix Transposition" (PPoPP 2014):
//! with `c` the greatest common divisor of `m` rows and `n` columns, `a = m / c` and `b = n / c`,
//!
//! 1. column `j` is rotated upwards by `j / b`, which is only needed if `c > 1`,
//! 2. in row `i`, what is at column `j` moves to `((i + j / b) mod m + j · m) mod n`,
//! 3. in column `j`, row `i` receives what is in row `(j + i · n - i / a) mod m`.
//!
//! Afterwards the memory holds the transposed matrix, `n` rows of `m`.
//!
//! A block of 256 threads takes some units of a part of the matrix, row after row. It writes the part, permuted, to
//! another piece of memory, or copies it back from there. There are no accesses to shared memory.

use super::PermuteArgs;
use cuda_std::{Value, thread};

/// What one launch does with its part of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Gathers rotated columns.
    Rotate = 0,
    /// Scatters whole rows.
    Shuffle = 1,
    /// Gathers columns.
    Columns = 2,
    /// Copies back what one of the others has made.
    Back = 3,
}

/// The three permutations for a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    rows: u64,
    columns: u64,
    /// Rows and columns over their greatest common divisor.
    coprime: [u64; 2],
}

impl Permutation {
    /// For a matrix with one row and one column at least. `divisor` is the greatest common divisor of their numbers.
    #[inline(always)]
    #[must_use]
    pub fn new(rows: u64, columns: u64, divisor: u64) -> Self {
        // Never 0, which the compiler has to know.
        let [rows, columns, divisor] = [rows.max(1), columns.max(1), divisor.max(1)];
        Permutation { rows, columns, coprime: [(rows / divisor).max(1), (columns / divisor).max(1)] }
    }

    /// The row of column `j` whose element row `i` receives when columns are rotated.
    #[inline(always)]
    #[must_use]
    pub fn rotated(&self, i: u64, j: u64) -> u64 {
        (i + j / self.coprime[1]) % self.rows
    }

    /// The column that the element at row `i` and column `j` moves to.
    #[inline(always)]
    #[must_use]
    pub fn shuffled(&self, i: u64, j: u64) -> u64 {
        // Below 2^64: a matrix has fewer elements than that.
        (self.rotated(i, j) + j * self.rows) % self.columns
    }

    /// The row of column `j` whose element row `i` receives in the end.
    #[inline(always)]
    #[must_use]
    pub fn gathered(&self, i: u64, j: u64) -> u64 {
        (j + i * self.columns - i / self.coprime[0]) % self.rows
    }
}

#[inline(always)]
pub(super) fn permute<U: Value>(args: &PermuteArgs<U>) {
    let region = &args.region;
    let permutation = Permutation::new(region.rows, region.columns, region.divisor);
    // Never 0, which the compiler has to know.
    let units = region.units.max(1) as u64;
    let width = (region.part_columns * units).max(1);
    let place = |i: u64, j: u64, unit: u64| region.first + (i * region.columns + j) * units + unit;
    let mut at = thread::global_x();
    while at < region.part_rows * width {
        let (line, unit) = (at / width, at % units);
        let (i, j) = (region.first_row + line, region.first_column + at % width / units);
        if region.step == Step::Shuffle as u32 {
            let moved = line * width + permutation.shuffled(i, j) * units + unit;
            args.part.set(moved, args.matrices.get(place(i, j, unit)));
        } else if region.step == Step::Back as u32 {
            args.matrices.set(place(i, j, unit), args.part.get(at));
        } else {
            let rotate = region.step == Step::Rotate as u32;
            let source = if rotate { permutation.rotated(i, j) } else { permutation.gathered(i, j) };
            args.part.set(at, args.matrices.get(place(source, j, unit)));
        }
        at += thread::grid_dim_x() as u64 * thread::block_dim_x() as u64;
    }
}
