//! Transposing any matrix in place, by permutations within its rows and within its columns.
//!
//! With `c` the greatest common divisor of `m` rows and `n` columns, `a = m / c` and `b = n / c`:
//!
//! 1. Column `j` is rotated upwards by `j / b`. This is only needed if `c > 1`.
//! 2. In row `i`, the element at column `j` moves to column `((i + j / b) mod m + j · m) mod n`.
//! 3. In column `j`, row `i` receives the element of row `(j + i · n - i / a) mod m`.
//!
//! Afterwards the memory contains the transposed matrix, `n` rows of `m` elements.
//!
//! A launch permutes a part of the matrix into other memory, or copies that memory back. Thread `i` of a grid of `n` threads
//! moves units `i`, `i + n`, … of the part, in row-major order. No shared memory.
//!
//! Source: Catanzaro, Keller and Garland, *A Decomposition for In-place Matrix Transposition* (PPoPP 2014).

use super::PermuteArgs;
use cuda_std::{Value, thread};

/// The operation of one launch on its part of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Permutation 1: gathers rotated columns.
    Rotate = 0,
    /// Permutation 2: scatters whole rows.
    Shuffle = 1,
    /// Permutation 3: gathers columns.
    Columns = 2,
    /// Copies the result of a permutation back to the matrix.
    Back = 3,
}

/// The three permutations of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    rows: u64,
    columns: u64,
    /// Rows and columns, divided by their greatest common divisor.
    coprime: [u64; 2],
}

impl Permutation {
    /// Returns the permutations of a matrix with at least one row and one column. `divisor` is the greatest common divisor of
    /// `rows` and `columns`.
    #[inline(always)]
    #[must_use]
    pub fn new(rows: u64, columns: u64, divisor: u64) -> Self {
        // Never 0; `max` shows that to the compiler, which then omits its checks for division by zero.
        let [rows, columns, divisor] = [rows.max(1), columns.max(1), divisor.max(1)];
        Permutation { rows, columns, coprime: [(rows / divisor).max(1), (columns / divisor).max(1)] }
    }

    /// Returns the row of column `j` from which row `i` receives its element in permutation 1.
    #[inline(always)]
    #[must_use]
    pub fn rotated(&self, i: u64, j: u64) -> u64 {
        (i + j / self.coprime[1]) % self.rows
    }

    /// Returns the column to which the element at row `i` and column `j` moves in permutation 2.
    #[inline(always)]
    #[must_use]
    pub fn shuffled(&self, i: u64, j: u64) -> u64 {
        // No overflow: a matrix has less than 2^64 elements.
        (self.rotated(i, j) + j * self.rows) % self.columns
    }

    /// Returns the row of column `j` from which row `i` receives its element in permutation 3.
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
    // Never 0; see `Permutation::new`.
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
