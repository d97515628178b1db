//! Counts of columns: a column has counts of its samples in a window, and those of a window are the sum of its columns'.
//!
//! From one row to the next, a column gets a sample and loses one; from one output to the next, a window gets a column and loses one. So
//! the cost does not depend on the size of the window: S. Perreault and P. Hébert, *Median filtering in constant time* (2007).
//!
//! Bins have two digits of 16 values, and counts are cumulative: of the samples whose first digit is at most `i`, and, for each first digit,
//! of those whose second one is at most `i`. So each digit of a rank's bin is the number of counts that do not exceed the rank, and a vector
//! has them all. A window's counts of second digits are brought up to date only for the first digit of the rank, as in the paper.

use crate::Result;
use crate::cpu::allocation;

/// Number of bins.
pub(super) const BINS: usize = 256;

/// Values of a digit.
const DIGIT: usize = 16;

/// What a sample adds to cumulative counts, for each value of its digit.
const STEPS: [[u16; DIGIT]; DIGIT] = steps();

const fn steps() -> [[u16; DIGIT]; DIGIT] {
    let (mut steps, mut place) = ([[0; DIGIT]; DIGIT], 0);
    while place < DIGIT * DIGIT {
        let (digit, i) = (place / DIGIT, place % DIGIT);
        steps[digit][i] = (i >= digit) as u16;
        place += 1;
    }
    steps
}

/// Counts of the samples of each column.
pub(super) struct Columns {
    width: usize,
    /// Of first digits.
    coarse: Vec<[u16; DIGIT]>,
    /// Of second digits: those of all columns for a first digit, then for the next one.
    fine: Vec<[u16; DIGIT]>,
}

impl Columns {
    /// Returns the counts of columns without samples.
    pub(super) fn new(width: usize) -> Result<Self> {
        let zeros = |len: usize| allocation::collected((0..len).map(|_| [0; DIGIT]));
        Ok(Columns { width, coarse: zeros(width)?, fine: zeros(width * DIGIT)? })
    }

    pub(super) fn clear(&mut self) {
        self.coarse.fill([0; DIGIT]);
        self.fine.fill([0; DIGIT]);
    }

    /// Adds a row of samples.
    #[inline(always)]
    pub(super) fn add(&mut self, bins: &[u8]) {
        self.change(bins, |count, step| count + step);
    }

    /// Removes a row of samples.
    #[inline(always)]
    pub(super) fn remove(&mut self, bins: &[u8]) {
        self.change(bins, |count, step| count - step);
    }

    #[inline(always)]
    fn change(&mut self, bins: &[u8], changed: impl Fn(u16, u16) -> u16) {
        for (column, (coarse, &bin)) in self.coarse.iter_mut().zip(bins).enumerate() {
            let [first, second] = [bin as usize / DIGIT, bin as usize % DIGIT];
            let fine = &mut self.fine[first * self.width + column];
            *coarse = paired(*coarse, STEPS[first], &changed);
            *fine = paired(*fine, STEPS[second], &changed);
        }
    }
}

/// Returns `f` of each pair of numbers. Copies of the arrays make it plain that they do not overlap.
#[inline(always)]
fn paired(a: [u16; DIGIT], b: [u16; DIGIT], f: impl Fn(u16, u16) -> u16) -> [u16; DIGIT] {
    let mut results = [0; DIGIT];
    for i in 0..DIGIT {
        results[i] = f(a[i], b[i]);
    }
    results
}

/// Counts of the samples of a window, which moves along the columns.
pub(super) struct Moving<'a> {
    columns: &'a Columns,
    /// Columns of the window.
    taps: usize,
    /// End of the window's columns.
    end: usize,
    coarse: [u32; DIGIT],
    fine: [[u32; DIGIT]; DIGIT],
    /// For each first digit, the end of the columns that `fine` has counted; 0 for none.
    ends: [usize; DIGIT],
}

impl<'a> Moving<'a> {
    /// Returns the counts of the first window.
    #[inline(always)]
    pub(super) fn new(columns: &'a Columns, taps: usize) -> Self {
        let coarse = sum(&columns.coarse[..taps]);
        Moving { columns, taps, end: taps, coarse, fine: [[0; DIGIT]; DIGIT], ends: [0; DIGIT] }
    }

    /// Moves the window by a column.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        replace(&mut self.coarse, &self.columns.coarse[self.end - self.taps], &self.columns.coarse[self.end]);
        self.end += 1;
    }

    /// Returns the bin of a rank, and the rank among the samples of the bin.
    #[inline(always)]
    pub(super) fn find(&mut self, rank: u32) -> (u8, u32) {
        let (first, rank) = digit(&self.coarse, rank);
        self.count(first);
        let (second, rank) = digit(&self.fine[first], rank);
        ((first * DIGIT + second) as u8, rank)
    }

    /// Brings the counts of second digits up to date.
    #[inline(always)]
    fn count(&mut self, first: usize) {
        let (end, width) = (self.end, self.columns.width);
        let (counts, last) = (&mut self.fine[first], self.ends[first]);
        let columns = &self.columns.fine[first * width..][..width];
        if 2 * (end - last) > self.taps {
            *counts = sum(&columns[end - self.taps..end]);
        } else {
            for column in last..end {
                replace(counts, &columns[column - self.taps], &columns[column]);
            }
        }
        self.ends[first] = end;
    }
}

#[inline(always)]
fn replace(counts: &mut [u32; DIGIT], old: &[u16; DIGIT], new: &[u16; DIGIT]) {
    let (mut replaced, old, new) = (*counts, *old, *new);
    for i in 0..DIGIT {
        replaced[i] = replaced[i] + u32::from(new[i]) - u32::from(old[i]);
    }
    *counts = replaced;
}

#[inline(always)]
fn sum(columns: &[[u16; DIGIT]]) -> [u32; DIGIT] {
    let mut counts = [0; DIGIT];
    for column in columns {
        replace(&mut counts, &[0; DIGIT], column);
    }
    counts
}

/// Returns the digit of a rank, and the rank among the samples with this digit.
#[inline(always)]
fn digit(counts: &[u32; DIGIT], rank: u32) -> (usize, u32) {
    // The upper bit of a negative difference: numbers are far below 2^31. Comparisons would not be compiled to vectors.
    let is_less = |count: u32| count.wrapping_sub(rank + 1) >> 31;
    let digit = counts.iter().map(|&count| is_less(count)).sum::<u32>() as usize % DIGIT;
    let less = if digit == 0 { 0 } else { counts[digit - 1] };
    (digit, rank - less)
}
