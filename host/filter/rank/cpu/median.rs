//! Medians of 3 x 3, 5 x 5 and 7 x 7 samples: networks whose comparisons are constants, so the numbers are in registers.
//!
//! A network sorts columns, merges them in pairs, and the pairs, by the odd-even merge of K. E. Batcher, *Sorting networks and their
//! applications* (1968). All columns but the last one have an even number of samples together, and the middle ones of these are left with
//! the last column: the median is the least of what can be the greatest of half the samples. Comparisons that do not lead to the median
//! are left out.

use super::network::LANES;
use super::{Band, Sortable};
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;

/// Puts pairs of numbers in order, one pair after another.
macro_rules! order {
    ($x:ident: $($a:literal - $b:literal)*) => {
        $(($x[$a], $x[$b]) = ($x[$a].min($x[$b]), $x[$a].max($x[$b]));)*
    };
}

impl<T: Sortable> Band<'_, T> {
    /// Computes medians of squares of 3, 5 or 7 rows. There are no NaNs, and the stride of columns is 1.
    pub(super) fn medians(&self, outputs: &mut [T]) -> Result<()> {
        let (width, problem) = (self.width(), self.problem);
        let mut medians = allocation::reserved(width.next_multiple_of(LANES))?;
        for row in 0..self.rows {
            let lines = [0, 1, 2, 3, 4, 5, 6].map(|tap| self.line(row, tap.min(problem.rows.taps - 1)));
            medians.clear();
            medians_of_row(lines, [problem.rows.taps, problem.channels], width, &mut medians);
            let outputs = &mut outputs[row * problem.output_pitch..][..width];
            vectorised!(converted(&medians, outputs));
        }
        Ok(())
    }
}

#[inline(always)]
fn converted<T: Sortable>(keys: &[T::Narrow], outputs: &mut [T]) {
    for (output, &key) in outputs.iter_mut().zip(keys) {
        *output = T::of_key(T::widen(key));
    }
}

/// Appends at least `width` medians, for a number of taps and of channels. Types with equal keys share this code, which is long.
fn medians_of_row<K: Number>(lines: [&[K]; 7], [taps, channels]: [usize; 2], width: usize, medians: &mut Vec<K>) {
    for first in (0..width).step_by(LANES) {
        medians.extend_from_slice(&match taps {
            3 => vectorised!(vector::<K, 3, 9>(
                lines,
                first,
                channels,
                #[inline(always)]
                |x| median3(x)
            )),
            5 => vectorised!(vector::<K, 5, 25>(
                lines,
                first,
                channels,
                #[inline(always)]
                |x| median5(x)
            )),
            _ => vectorised!(vector::<K, 7, 49>(
                lines,
                first,
                channels,
                #[inline(always)]
                |x| median7(x)
            )),
        });
    }
}

/// Returns the medians of `S` x `S = N` samples for neighbouring outputs.
#[inline(always)]
fn vector<K: Number, const S: usize, const N: usize>(
    lines: [&[K]; 7],
    first: usize,
    channels: usize,
    median: impl Fn([K; N]) -> K,
) -> [K; LANES] {
    let nothing = [K::default(); LANES];
    let mut samples = [&nothing; N];
    for tap in 0..S {
        for column in 0..S {
            samples[column * S + tap] = lines[tap][first + column * channels..].first_chunk().unwrap_or(&nothing);
        }
    }
    let mut medians = nothing;
    for lane in 0..LANES {
        let mut numbers = [K::default(); N];
        for i in 0..N {
            numbers[i] = samples[i][lane];
        }
        medians[lane] = median(numbers);
    }
    medians
}

/// What networks need of a key.
trait Number: Copy + Ord + Default {}

impl<K: Copy + Ord + Default> Number for K {}

/// Returns the median of 3 x 3 numbers, by 34 minima and maxima.
#[inline(always)]
fn median3<K: Number>(mut x: [K; 9]) -> K {
    order!(x:
        1-2 0-1 2-1 4-5 3-4 5-4 7-8 6-7 8-7 0-3 1-4 1-3 2-5 2-1 5-3 2-7 1-8 5-6 3-7 3-8 3-6
    );
    x[3]
}

/// Returns the median of 5 x 5 numbers, by 188 minima and maxima.
#[inline(always)]
fn median5<K: Number>(mut x: [K; 25]) -> K {
    order!(x:
        0-1 3-4 2-3 4-3 0-2 3-2 1-4 1-3 4-2 5-6 8-9 7-8 9-8 5-7 8-7 6-9 6-8 9-7 10-11 13-14 12-13 14-13 10-12 13-12
        11-14 11-13 14-12 15-16 18-19 17-18 19-18 15-17 18-17 16-19 16-18 19-17 20-21 23-24 22-23 24-23 20-22 23-22
        21-24 21-23 24-22 0-5 2-7 2-5 3-8 3-2 8-5 1-6 4-9 4-6 1-3 4-2 6-8 9-5 10-15 12-17 12-15 13-18 13-12 18-15
        11-16 14-19 14-16 11-13 14-12 16-18 19-15 0-10 5-15 5-10 2-12 2-5 12-10 3-13 8-18 8-13 8-5 13-12 1-11 7-17
        7-11 6-16 6-7 16-11 4-14 9-19 9-14 9-7 14-16 9-5 7-13 14-12 9-22 5-24 7-23 13-21 14-20 12-22 12-24 12-23 12-21
        12-20
    );
    x[12]
}

/// Returns the median of 7 x 7 numbers, by 546 minima and maxima.
#[inline(always)]
fn median7<K: Number>(mut x: [K; 49]) -> K {
    order!(x:
        1-2 0-1 2-1 3-4 5-6 3-5 4-6 4-5 0-3 1-5 1-3 2-4 6-4 2-1 6-3 4-5 8-9 7-8 9-8 10-11 12-13 10-12 11-13 11-12 7-10
        8-12 8-10 9-11 13-11 9-8 13-10 11-12 15-16 14-15 16-15 17-18 19-20 17-19 18-20 18-19 14-17 15-19 15-17 16-18
        20-18 16-15 20-17 18-19 22-23 21-22 23-22 24-25 26-27 24-26 25-27 25-26 21-24 22-26 22-24 23-25 27-25 23-22
        27-24 25-26 29-30 28-29 30-29 31-32 33-34 31-33 32-34 32-33 28-31 29-33 29-31 30-32 34-32 30-29 34-31 32-33
        36-37 35-36 37-36 38-39 40-41 38-40 39-41 39-40 35-38 36-40 36-38 37-39 41-39 37-36 41-38 39-40 43-44 42-43
        44-43 45-46 47-48 45-47 46-48 46-47 42-45 43-47 43-45 44-46 48-46 44-43 48-45 46-47 0-7 3-10 3-7 1-8 5-12 5-8
        1-3 5-7 8-10 2-9 4-11 4-9 6-13 6-4 13-9 2-1 6-3 4-5 13-7 9-8 11-10 14-21 17-24 17-21 15-22 19-26 19-22 15-17
        19-21 22-24 16-23 18-25 18-23 20-27 20-18 27-23 16-15 20-17 18-19 27-21 23-22 25-24 0-14 7-21 7-14 3-17 10-24
        10-17 3-7 10-14 17-21 1-15 8-22 8-15 5-19 5-8 19-15 1-3 5-7 8-10 19-14 15-17 22-21 2-16 9-23 9-16 4-18 12-26
        12-18 4-9 12-16 18-23 6-20 11-25 11-20 13-27 13-11 27-20 6-4 13-9 11-12 27-16 20-18 25-23 2-1 6-3 4-5 13-7 9-8
        11-10 12-19 27-14 16-15 20-17 18-22 25-21 23-24 28-35 31-38 31-35 29-36 33-40 33-36 29-31 33-35 36-38 30-37
        32-39 32-37 34-41 34-32 41-37 30-29 34-31 32-33 41-35 37-36 39-38 0-28 14-28 7-35 21-35 21-28 3-31 17-31 10-38
        10-17 17-21 1-29 15-29 8-36 24-36 8-15 24-29 5-33 22-33 19-22 19-15 22-24 15-17 22-21 2-30 16-30 9-37 23-37
        9-16 23-30 4-32 18-32 12-40 12-18 12-16 18-23 6-34 20-34 11-39 26-39 11-20 26-34 13-41 25-41 27-25 27-20 25-26
        27-16 20-18 25-23 16-15 20-17 18-22 25-21 16-47 15-46 20-45 17-48 18-43 22-44 25-42 21-47 21-46 21-45 21-48
        21-43 21-44 21-42
    );
    x[21]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with sorting, for zeros and ones at random: a network is right for all numbers if it is right for these.
    fn check<const N: usize>(median: impl Fn([u8; N]) -> u8) {
        let mut state = 1u64;
        for round in 0..200_000u64 {
            let mut numbers = [0; N];
            for number in &mut numbers {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *number = u8::from(state >> 33 & 15 < 6 + round % 5);
            }
            let ones = numbers.iter().filter(|&&number| number == 1).count();
            assert_eq!(median(numbers), u8::from(ones > N / 2), "{numbers:?}");
        }
    }

    #[test]
    fn medians_of_zeros_and_ones() {
        check(median3);
        check(median5);
        check(median7);
    }
}
