//! Medians of 3 x 3, 5 x 5 and 7 x 7 samples: networks whose comparisons are constants, so the numbers are in registers.
//!
//! A network sorts columns, which all windows of a row share that contain them. Then it merges them in pairs, and the pairs, by the odd-even
//! merge of K. E. Batcher, *Sorting networks and their applications* (1968). All columns but the last one have an even number of samples
//! together, and the middle ones of these are left with the last column: the median is the least of what can be the greatest of half the
//! samples. Comparisons that do not lead to the median are left out.
//!
//! Of three sorted columns, the median is that of the greatest of the least keys, the median of the middle ones, and the least of the
//! greatest ones.

use super::network::LANES;
use super::number::Number;
use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use crate::filter::two_d::window::Axis;
use std::ops::Range;

/// Puts pairs of numbers in order, one pair after another.
macro_rules! order {
    ($x:ident: $($a:literal - $b:literal)*) => {
        $(($x[$a], $x[$b]) = ($x[$a].lesser($x[$b]), $x[$a].greater($x[$b]));)*
    };
}

/// Minimum number of neighbouring outputs whose columns are sorted before. So these are in the processor's fastest cache.
const STRIP: usize = 8 * LANES;

/// Bytes of a line of the processor's cache.
const CACHE_LINE: usize = 64;

/// Some columns of rows of outputs.
pub(super) struct Part {
    /// Rows of outputs.
    pub(super) rows: usize,
    pub(super) axis: Axis,
    pub(super) channels: usize,
    /// Distance of rows of outputs.
    pub(super) pitch: usize,
}

/// Computes medians of squares of 3, 5 or 7 rows: `of` the medians of numbers. `lines` are the numbers at each row position, from the first
/// window of the columns on, and at least a vector behind the last one; the stride of columns is 1. Returns whether all numbers are in the
/// order of comparisons; otherwise only some outputs are written.
pub(super) fn medians<K: Number, T: Number>(
    part: &Part,
    lines: &[&[K]],
    columns: Range<usize>,
    strip: &mut Strip<K>,
    outputs: &mut [T],
    of: impl Fn(K) -> T + Copy,
) -> Result<bool> {
    let (taps, stride) = (part.axis.taps, part.axis.stride);
    let beyond = (taps - 1) * part.channels;
    strip.resize([taps, part.channels], columns.len())?;
    for row in 0..part.rows {
        let lines = &lines[row * stride..][..taps];
        let new = &lines[if row == 0 { 0 } else { taps.saturating_sub(stride) }..];
        let outputs = &mut outputs[row * part.pitch..][columns.clone()];
        for (number, outputs) in outputs.chunks_mut(strip.len).enumerate() {
            let first = number * strip.len;
            // Just before they are used, while the next ones come from memory.
            if !new.iter().all(|line| vectorised!(are_plain(&line[first..][..outputs.len() + beyond]))) {
                return Ok(false);
            }
            strip.medians(lines, part.channels, first, outputs, of);
        }
    }
    Ok(true)
}

#[inline(always)]
fn are_plain<K: Number>(numbers: &[K]) -> bool {
    numbers.iter().fold(true, |are_plain, number| are_plain & number.is_plain())
}

/// The sorted columns of neighbouring outputs' windows.
#[derive(Default)]
pub(super) struct Strip<K> {
    /// Number of outputs.
    len: usize,
    /// Distance of a column's keys.
    pitch: usize,
    /// From `aligned` on, so that vectors do not cross the cache's lines: the first keys of all columns as they are sorted, then the second
    /// ones, and so on.
    keys: Vec<K>,
    aligned: usize,
}

impl<K: Number> Strip<K> {
    /// Makes room for a number of taps and of channels, and rows of `width` outputs.
    fn resize(&mut self, [taps, channels]: [usize; 2], width: usize) -> Result<()> {
        let beyond = ((taps - 1) * channels).next_multiple_of(LANES);
        // The columns beyond a strip are sorted again for the next one.
        self.len = STRIP.max(4 * beyond).min(width.next_multiple_of(LANES));
        self.pitch = self.len + beyond;
        let len = taps * self.pitch + LANES;
        if self.keys.len() != len {
            allocation::emptied(&mut self.keys, len)?.resize(len, K::default());
            self.aligned = self.keys.as_ptr().align_offset(CACHE_LINE).min(LANES);
        }
        Ok(())
    }

    /// Computes neighbouring outputs of a row, from `first` on.
    fn medians<T: Number>(
        &mut self,
        lines: &[&[K]],
        channels: usize,
        first: usize,
        outputs: &mut [T],
        of: impl Fn(K) -> T + Copy,
    ) {
        let sorted = &mut self.keys[self.aligned..][..lines.len() * self.pitch];
        let mut vectors = Vectors { sorted, pitch: self.pitch, channels };
        let places = [first, outputs.len()];
        match lines.len() {
            3 => vectorised!({
                vectors.sort::<3>(
                    lines,
                    places,
                    #[inline(always)]
                    |x| sort3(x),
                );
                vectors.merge::<3, 9, T>(
                    outputs,
                    #[inline(always)]
                    |x| of(median3(x)),
                );
            }),
            5 => vectorised!({
                vectors.sort::<5>(
                    lines,
                    places,
                    #[inline(always)]
                    |x| sort5(x),
                );
                vectors.merge::<5, 25, T>(
                    outputs,
                    #[inline(always)]
                    |x| of(median5(x)),
                );
            }),
            _ => vectorised!({
                vectors.sort::<7>(
                    lines,
                    places,
                    #[inline(always)]
                    |x| sort7(x),
                );
                vectors.merge::<7, 49, T>(
                    outputs,
                    #[inline(always)]
                    |x| of(median7(x)),
                );
            }),
        }
    }
}

/// The sorted columns of a strip, as vectors work on them.
struct Vectors<'a, K> {
    sorted: &'a mut [K],
    pitch: usize,
    channels: usize,
}

impl<K: Number> Vectors<'_, K> {
    /// Sorts the columns, of `S` rows, of some outputs.
    #[inline(always)]
    fn sort<const S: usize>(&mut self, lines: &[&[K]], [first, outputs]: [usize; 2], sort: impl Fn([K; S]) -> [K; S]) {
        let count = (outputs + (S - 1) * self.channels).div_ceil(LANES);
        let nothing = [K::default(); LANES];
        let mut rows = [&[][..]; S];
        for (row, line) in rows.iter_mut().zip(lines) {
            *row = vectors(&line[first..], count);
        }
        for vector in 0..count {
            let (mut samples, mut sorted) = ([&nothing; S], [nothing; S]);
            for (samples, row) in samples.iter_mut().zip(&rows) {
                *samples = &row[vector];
            }
            for lane in 0..LANES {
                let mut numbers = [K::default(); S];
                for i in 0..S {
                    numbers[i] = samples[i][lane];
                }
                let numbers = sort(numbers);
                for i in 0..S {
                    sorted[i][lane] = numbers[i];
                }
            }
            for (sorted, keys) in sorted.iter().zip(self.sorted.chunks_exact_mut(self.pitch)) {
                keys[vector * LANES..][..LANES].copy_from_slice(sorted);
            }
        }
    }

    /// Computes the medians of `S` sorted columns with `S * S = N` keys.
    #[inline(always)]
    fn merge<const S: usize, const N: usize, T: Number>(&mut self, outputs: &mut [T], median: impl Fn([K; N]) -> T) {
        let (count, nothing) = (outputs.len().div_ceil(LANES), [K::default(); LANES]);
        let mut keys = [&[][..]; N];
        for (i, keys) in keys.iter_mut().enumerate() {
            *keys = vectors(&self.sorted[i % S * self.pitch + i / S * self.channels..], count);
        }
        for (vector, outputs) in outputs.chunks_mut(LANES).enumerate() {
            let mut samples = [&nothing; N];
            for (samples, keys) in samples.iter_mut().zip(&keys) {
                *samples = &keys[vector];
            }
            let mut medians = [T::default(); LANES];
            for lane in 0..LANES {
                let mut numbers = [K::default(); N];
                for i in 0..N {
                    numbers[i] = samples[i][lane];
                }
                medians[lane] = median(numbers);
            }
            match outputs.first_chunk_mut() {
                Some(outputs) => *outputs = medians,
                None => outputs.copy_from_slice(&medians[..outputs.len()]),
            }
        }
    }
}

/// Returns neighbouring keys as vectors.
#[inline(always)]
fn vectors<K>(keys: &[K], count: usize) -> &[[K; LANES]] {
    &keys.as_chunks().0[..count]
}

/// Sorts 3 numbers of a column.
#[inline(always)]
fn sort3<K: Number>(mut x: [K; 3]) -> [K; 3] {
    order!(x: 1-2 0-1 1-2);
    x
}

/// Returns the median of 3 sorted columns of 3 numbers, by 12 minima and maxima.
#[inline(always)]
fn median3<K: Number>(mut x: [K; 9]) -> K {
    order!(x:
        0-3 3-6 5-8 2-5 4-7 1-4 4-7 6-4 4-2 6-4
    );
    x[4]
}

/// Sorts 5 numbers of a column.
#[inline(always)]
fn sort5<K: Number>(mut x: [K; 5]) -> [K; 5] {
    order!(x: 0-1 3-4 2-3 4-3 0-2 3-2 1-4 1-3 4-2);
    x
}

/// Returns the median of 5 sorted columns of 5 numbers, by 98 minima and maxima.
#[inline(always)]
fn median5<K: Number>(mut x: [K; 25]) -> K {
    order!(x:
        0-5 2-7 2-5 3-8 3-2 8-5 1-6 4-9 4-6 1-3 4-2 6-8 9-5 10-15 12-17 12-15 13-18 13-12 18-15 11-16 14-19
        14-16 11-13 14-12 16-18 19-15 0-10 5-15 5-10 2-12 2-5 12-10 3-13 8-18 8-13 8-5 13-12 1-11 7-17 7-11
        6-16 6-7 16-11 4-14 9-19 9-14 9-7 14-16 9-5 7-13 14-12 9-22 5-24 7-23 13-21 14-20 12-22 12-24 12-23
        12-21 12-20
    );
    x[12]
}

/// Sorts 7 numbers of a column.
#[inline(always)]
fn sort7<K: Number>(mut x: [K; 7]) -> [K; 7] {
    order!(x: 1-2 0-1 2-1 3-4 5-6 3-5 4-6 4-5 0-3 1-5 1-3 2-4 6-4 2-1 6-3 4-5);
    x
}

/// Returns the median of 7 sorted columns of 7 numbers, by 322 minima and maxima.
#[inline(always)]
fn median7<K: Number>(mut x: [K; 49]) -> K {
    order!(x:
        0-7 3-10 3-7 1-8 5-12 5-8 1-3 5-7 8-10 2-9 4-11 4-9 6-13 6-4 13-9 2-1 6-3 4-5 13-7 9-8 11-10 14-21
        17-24 17-21 15-22 19-26 19-22 15-17 19-21 22-24 16-23 18-25 18-23 20-27 20-18 27-23 16-15 20-17 18-19
        27-21 23-22 25-24 0-14 7-21 7-14 3-17 10-24 10-17 3-7 10-14 17-21 1-15 8-22 8-15 5-19 5-8 19-15 1-3
        5-7 8-10 19-14 15-17 22-21 2-16 9-23 9-16 4-18 12-26 12-18 4-9 12-16 18-23 6-20 11-25 11-20 13-27
        13-11 27-20 6-4 13-9 11-12 27-16 20-18 25-23 2-1 6-3 4-5 13-7 9-8 11-10 12-19 27-14 16-15 20-17 18-22
        25-21 23-24 28-35 31-38 31-35 29-36 33-40 33-36 29-31 33-35 36-38 30-37 32-39 32-37 34-41 34-32 41-37
        30-29 34-31 32-33 41-35 37-36 39-38 0-28 14-28 7-35 21-35 21-28 3-31 17-31 10-38 10-17 17-21 1-29
        15-29 8-36 24-36 8-15 24-29 5-33 22-33 19-22 19-15 22-24 15-17 22-21 2-30 16-30 9-37 23-37 9-16 23-30
        4-32 18-32 12-40 12-18 12-16 18-23 6-34 20-34 11-39 26-39 11-20 26-34 13-41 25-41 27-25 27-20 25-26
        27-16 20-18 25-23 16-15 20-17 18-22 25-21 16-47 15-46 20-45 17-48 18-43 22-44 25-42 21-47 21-46 21-45
        21-48 21-43 21-44 21-42
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

    /// Sorts the columns of numbers.
    fn sorted<const S: usize, const N: usize>(mut numbers: [u8; N], sort: impl Fn([u8; S]) -> [u8; S]) -> [u8; N] {
        for column in numbers.as_chunks_mut().0 {
            *column = sort(*column);
        }
        numbers
    }

    #[test]
    fn medians_of_zeros_and_ones() {
        check(|numbers| median3::<u8>(sorted(numbers, sort3)));
        check(|numbers| median5::<u8>(sorted(numbers, sort5)));
        check(|numbers| median7::<u8>(sorted(numbers, sort7)));
    }
}
