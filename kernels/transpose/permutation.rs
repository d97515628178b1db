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
//! Permutation 3 is a rotation of column `j` upwards by `j`, followed by a permutation of whole rows: row `i` receives row
//! `(i · n - i / a) mod m`. So permutations 1 and 3 are made by the same two kernels, for some neighbouring columns at a time,
//! a *panel*. It is small enough to stay in the cache:
//!
//! ```text
//!  matrix            other memory            matrix
//!  . . a b c . .       a e i                 . . a e i . .
//!  . . d e f . .  -->  d h c    rotate.rs    . . g b f . .
//!  . . g h i . .       g b f    gather.rs -> . . d h c . .
//! ```
//!
//! Permutation 2 needs no other memory if a row fits into shared memory (`shuffle.rs`). Longer rows are permuted into other memory and
//! copied back (`permute.rs`).
//!
//! Source: Catanzaro, Keller and Garland, *A Decomposition for In-place Matrix Transposition* (PPoPP 2014).

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
