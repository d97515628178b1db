//! The kernel that shuffles rows in place, in shared memory: permutation 2 of `permutation.rs`.
//!
//! Some neighbouring threads, or the whole block, shuffle a row. They load its elements one after another, and scatter them to
//! their places in shared memory. After a barrier, they write the row.
//!
//! Shared memory: a row for each group of threads. Unit `x` of a row is at `swizzled(x)`, which exchanges units among 32
//! neighbours. Reading whole rows has no conflicts if units are words: lanes that read at the same time have neighbouring units of
//! one row, or if a group has less than 32 threads, of several rows, which are that many units further. The conflicts of scattering
//! depend on the matrix: without common divisors, the places of neighbouring elements are `m mod n` apart, where `m` and `n` are the
//! rows and columns. The host chooses the swizzle that spreads multiples of the power of two in this distance.

use super::{ShuffleArgs, Shuffled};
use cuda_std::{Arena, GlobalInOut, Shared, Value, thread};

/// Number of loads that a thread has in flight.
const AT_ONCE: u32 = 4;

/// Returns the position of unit `x` in a row in shared memory. The swizzle is at least 5, so that it is the same for 32 units.
#[inline(always)]
fn swizzled(x: u32, swizzle: u32) -> u32 {
    x ^ (x >> swizzle & 31)
}

/// The terms of the column to which the element at column `j` moves: so further columns need no division.
#[derive(Clone, Copy)]
struct Terms {
    /// `j / alike`, the rows by which permutation 1 has rotated the column.
    turned: u32,
    /// `j mod alike`.
    rest: u32,
    /// The row plus `turned`, modulo the number of columns.
    sum: u32,
    /// `j · rows`, modulo the number of columns.
    product: u32,
}

impl Terms {
    /// Returns the terms of column `j`, which is less than 2^13, so that the product of two numbers fits into 32 bits.
    #[inline(always)]
    fn new(shape: &Shuffled, row: u32, j: u32) -> Self {
        // Never 0; see `Permutation::new`.
        let (alike, columns) = (shape.alike.max(1), shape.columns.max(1));
        let turned = j / alike;
        Terms { turned, rest: j % alike, sum: (row + turned) % columns, product: j * shape.rows_rest % columns }
    }

    /// Returns the terms of column `j + k` from those of columns `j` and `k`.
    #[inline(always)]
    fn plus(self, other: Terms, shape: &Shuffled) -> Self {
        let modulo = |sum: u32| if sum >= shape.columns { sum - shape.columns } else { sum };
        let rest = self.rest + other.rest;
        let carry = (rest >= shape.alike) as u32;
        Terms {
            turned: self.turned + other.turned + carry,
            rest: rest - carry * shape.alike,
            sum: modulo(self.sum + other.sum + carry),
            product: modulo(self.product + other.product),
        }
    }

    /// Returns the column. `below` is the number of rows from the row on.
    #[inline(always)]
    fn column(self, shape: &Shuffled, below: u32) -> u32 {
        let modulo = |sum: u32| if sum >= shape.columns { sum - shape.columns } else { sum };
        let column = modulo(self.sum + self.product);
        // The row plus `turned` is taken modulo the number of rows.
        if self.turned < below { column } else { modulo(column + shape.columns - shape.rows_rest) }
    }
}

#[inline(always)]
pub(super) fn shuffle<U: Value>(arena: Arena, args: &ShuffleArgs<U>) {
    let (shape, t) = (&args.shape, thread::thread_idx_x());
    let (lanes, groups) = (1 << shape.lanes_log2, thread::block_dim_x() >> shape.lanes_log2);
    let (group, lane) = (t >> shape.lanes_log2, t % lanes);
    let (shared, _) = arena.split::<U>(groups * shape.pitch);
    let line = thread::block_idx_x() as u64 * groups as u64 + group as u64;
    let (start, width) = (group * shape.pitch, shape.columns * shape.units);
    let row = args.matrices.at(line * width as u64);
    if line < shape.lines {
        scatter(&shared, &row, shape, line % shape.rows.max(1), [start, lane, lanes]);
    }
    thread::sync_threads();
    let mut x = lane;
    while line < shape.lines && x < width {
        row.set(x, shared.get(start + swizzled(x, shape.swizzle)));
        x += lanes;
    }
}

/// Loads a thread's units of row `i`, and stores them to their places in the shared row that begins at `start`.
#[inline(always)]
fn scatter<U: Value>(
    shared: &Shared<U>,
    row: &GlobalInOut<U, u32>,
    shape: &Shuffled,
    i: u64,
    [start, lane, lanes]: [u32; 3],
) {
    // Never 0: the host gives each group at least as many threads as an element has units. Surplus threads have no units.
    let (units, columns) = (shape.units.max(1), shape.columns.max(1));
    let (first, unit, columns_at_once) = (lane / units, lane % units, (lanes / units).max(1));
    let in_row = (i % columns as u64) as u32;
    let (mut terms, step) = (Terms::new(shape, in_row, first), Terms::new(shape, 0, columns_at_once));
    let below = (shape.rows - i).min(u32::MAX as u64) as u32;
    let mut j = if first < columns_at_once { first } else { columns };
    while j < columns {
        // Indices, because with iterators the array would be in local memory instead of registers.
        let mut values = [U::default(); AT_ONCE as usize];
        for k in 0..AT_ONCE {
            let column = j + k * columns_at_once;
            values[k as usize] = row.get_if(column < columns, column * units + unit, U::default());
        }
        for k in 0..AT_ONCE {
            if j + k * columns_at_once < columns {
                shared.set(
                    start + swizzled(terms.column(shape, below) * units + unit, shape.swizzle),
                    values[k as usize],
                );
            }
            terms = terms.plus(step, shape);
        }
        j += AT_ONCE * columns_at_once;
    }
}
