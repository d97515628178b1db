//! Kernels whose blocks transpose whole matrices, for many small ones that lie one after the other without gaps.
//!
//! A block copies the words of its matrices into shared memory as they lie. After a barrier, each thread gathers words of the output,
//! unit by unit, and writes them:
//!
//! ```text
//!  input, 3 x 2 bytes             a b c d e f | g h i j k l | …        a word is 4 bytes, and may belong to two matrices
//!  output, 2 x 3 bytes            a c e b d f | g i k h j l | …        the first thread gathers a c e b, the second one d f g i
//! ```
//!
//! The matrices of a block begin and end with whole words, in input and output alike: `host/whole.rs` chooses their number so. Only the last
//! matrices may end in the middle of a word, whose units are moved one by one.
//!
//! The position of a word's first unit follows from two divisions, by the numbers of rows and of columns. They are multiplications by numbers
//! from the host. The other units follow it in its column, or they are at the top of the next one. These products take more time than loads from
//! shared memory: with two divisions for each unit, bytes took 1.4 times as long.
//!
//! Bank conflicts: neighbouring words of the output are `PER_WORD` units of a column, so the units that neighbouring lanes gather at a time
//! are `PER_WORD` rows apart, which is a row's number of columns in words. If that is odd there are no conflicts while lanes stay in a column.
//! Otherwise the host can leave a word empty after each 32 banks ([`Group::gap_log2`]): it counts the wavefronts with and without.

use super::skewed::Unit;
use super::{THREADS, WholeArgs};
use cuda_std::{Arena, Shared, arguments, math, thread};

/// Number of loads that a thread has in flight.
const AT_ONCE: u32 = 8;

arguments! {
    /// The matrices of a launch, and of a block. Rows and columns are the input's.
    #[derive(Default, PartialEq, Eq)]
    pub struct Group {
        /// Index of the launch's first matrix.
        pub first_matrix: u64,
        /// Number of all matrices.
        pub matrices: u64,
        /// Number of matrices of a block.
        pub at_once: u32,
        /// Units of a matrix.
        pub units: u32,
        /// Binary logarithm of the units in shared memory before an empty word; 31 if there is none.
        pub gap_log2: u32,
        /// Number of rows.
        pub rows: Divisor,
        /// Number of columns.
        pub columns: Divisor,
    }
}

arguments! {
    /// A divisor from 2 on, of numbers whose product with it is at most 2^32.
    #[derive(Default, PartialEq, Eq)]
    pub struct Divisor {
        /// The divisor.
        pub divisor: u32,
        /// 2^32 divided by it, rounded up.
        pub reciprocal: u32,
    }
}

impl Group {
    /// Returns the place in shared memory of a unit of the block's matrices, if a word has `per_word` units.
    #[inline(always)]
    pub(super) fn place(&self, unit: u32, per_word: u32) -> u32 {
        unit + (unit >> self.gap_log2) * per_word
    }
}

impl Divisor {
    /// Returns the quotient and the remainder of a number.
    #[inline(always)]
    pub(super) fn divide(&self, number: u32) -> [u32; 2] {
        // Opaque, because otherwise the compiler keeps 64 bits of it, and does not find that the upper half of a product is one instruction.
        let quotient = ((number as u64 * math::opaque(self.reciprocal) as u64) >> 32) as u32;
        [quotient, number - quotient * self.divisor]
    }
}

/// Transposes matrices of elements with `UNITS` units.
#[inline(always)]
pub(super) fn transpose<U: Unit, const UNITS: u32>(arena: Arena, args: &WholeArgs<U>) {
    let group = &args.group;
    let (shared, _) =
        arena.split::<U::Joined>(group.place(group.at_once * group.units, U::PER_WORD).div_ceil(U::PER_WORD));
    let first = group.first_matrix + thread::block_idx_z() as u64 * group.at_once as u64;
    let units = group.matrices.saturating_sub(first).min(group.at_once as u64) as u32 * group.units;
    let base = first * group.units as u64;
    load(&shared, args, base, units);
    thread::sync_threads();
    store::<U, UNITS>(&shared.cast(), args, base, units);
}

/// Copies `units` units of the input into shared memory, from unit `base` on.
#[inline(always)]
fn load<U: Unit>(shared: &Shared<U::Joined>, args: &WholeArgs<U>, base: u64, units: u32) {
    let words = units / U::PER_WORD;
    let source = args.input_words.at(base / U::PER_WORD as u64).first(words).anchored();
    let mut word = thread::thread_idx_x();
    while word < words {
        // Indices, because with iterators the array would be in local memory instead of registers.
        let mut loaded = [U::Joined::default(); AT_ONCE as usize];
        for k in 0..AT_ONCE {
            loaded[k as usize] = source.get_masked(word + k * THREADS);
        }
        for k in 0..AT_ONCE {
            if word < words {
                shared.set(place::<U>(&args.group, word), loaded[k as usize]);
            }
            word += THREADS;
        }
    }
    if U::PER_WORD > 1 && !units.is_multiple_of(U::PER_WORD) && thread::thread_idx_x() == 0 {
        let rest = args.input.at(base + (words * U::PER_WORD) as u64);
        shared.set(place::<U>(&args.group, words), U::join(|i| rest.get_or(i, U::default())));
    }
}

/// Returns the place of a word.
#[inline(always)]
fn place<U: Unit>(group: &Group, word: u32) -> u32 {
    group.place(word * U::PER_WORD, U::PER_WORD) / U::PER_WORD
}

/// Gathers and writes `units` units of the output, from unit `base` on.
#[inline(always)]
fn store<U: Unit, const UNITS: u32>(shared: &Shared<U>, args: &WholeArgs<U>, base: u64, units: u32) {
    // With elements of several units, a word has units of one or two.
    const { assert!(UNITS == 1 || U::PER_WORD <= UNITS + 1) };
    let (group, words) = (&args.group, units / U::PER_WORD);
    let target = args.output_words.at(base / U::PER_WORD as u64).first(words).anchored();
    let mut word = thread::thread_idx_x();
    while word < words {
        let run = Run::new(group, UNITS, word * U::PER_WORD);
        target.set(word, U::join(|i| shared.get(group.place(run.unit(i), U::PER_WORD))));
        word += THREADS;
    }
    let unit = words * U::PER_WORD + thread::thread_idx_x();
    if U::PER_WORD > 1 && unit < units {
        let run = Run::new(group, UNITS, unit);
        args.output.set(base + unit as u64, shared.get(group.place(run.first, U::PER_WORD)));
    }
}

/// Where the units of a word of the output are in the input, as positions in the block's matrices.
pub(super) struct Run {
    /// The first unit.
    first: u32,
    /// Distance to the next one.
    step: u32,
    /// Units that are as far apart, from the first one on.
    len: u32,
    /// The first unit after them.
    next: u32,
}

impl Run {
    /// Returns the run of a unit of the output: its neighbours in an element of `units` units, or in the column if that is 1.
    #[inline(always)]
    pub(super) fn new(group: &Group, units: u32, unit: u32) -> Self {
        let [rows, columns] = [group.rows.divisor, group.columns.divisor];
        let [element, part] = [unit / units, unit % units];
        // Columns of all matrices of the block, one after the other.
        let [column, row] = group.rows.divide(element);
        let [matrix, column] = group.columns.divide(column);
        let top = matrix * rows * columns + column;
        // The top of the next column, behind the last one that of the next matrix.
        let next = top + 1 + if column + 1 == columns { (rows - 1) * columns } else { 0 };
        let first = (top + row * columns) * units + part;
        if units == 1 {
            return Run { first, step: columns, len: rows - row, next };
        }
        let below = top + (row + 1) * columns;
        Run { first, step: 1, len: units - part, next: units * if row + 1 < rows { below } else { next } }
    }

    /// Returns the position of unit `i` of a word: in the run, or in the next one.
    #[inline(always)]
    pub(super) fn unit(&self, i: u32) -> u32 {
        let next = self.next.wrapping_sub(self.len * self.step);
        // The first one is always in the run, which the compiler does not know.
        (if i == 0 || i < self.len { self.first } else { next }).wrapping_add(i * self.step)
    }
}
