//! The rows of samples that a band depends on, as keys and continued beyond the borders.

use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use crate::filter::two_d::window::{Axis, PictureProblem};
use std::ops::Range;

/// Keys behind each row, so that vectors of outputs may read beyond the last one.
pub(super) const SLACK: usize = 64;

/// Rows of keys. Each row of samples is there once, however many positions continue it.
pub(super) struct Padded<K> {
    keys: Vec<K>,
    len: usize,
    /// For each row position, from the first one on, its row of keys.
    index: Vec<usize>,
}

#[inline(always)]
fn convert<T: Copy, K>(keys: &mut [K], samples: &[T], key: impl Fn(T) -> K) {
    for (to, &sample) in keys.iter_mut().zip(samples) {
        *to = key(sample);
    }
}

impl<K: Copy + Default> Padded<K> {
    /// Returns the keys for some output rows of a plane. `outside` is the constant.
    pub(super) fn new<T: Copy>(
        problem: &PictureProblem,
        samples: &[T],
        plane: usize,
        outputs: Range<usize>,
        outside: T,
        key: impl Fn(T) -> K + Copy,
    ) -> Result<Self> {
        let (rows, columns, channels) = (problem.rows, problem.columns, problem.channels);
        let sources = |axis: Axis, outputs: Range<usize>| -> Result<Vec<Option<usize>>> {
            let (first, count) = (axis.position(outputs.start, 0), (outputs.len() - 1) * axis.stride + axis.taps);
            allocation::collected((0..count).map(|place| axis.source(first + place as i64)))
        };
        let of_rows = sources(rows, outputs)?;
        let of_columns = sources(columns, 0..columns.outputs)?;
        let mut distinct = allocation::collected(of_rows.iter().copied())?;
        distinct.sort_unstable();
        distinct.dedup();
        let index = allocation::collected(of_rows.iter().map(|row| distinct.partition_point(|other| other < row)))?;

        // Columns that are inside are side by side.
        let inside = columns.samples as i64;
        let start = columns.position(0, 0);
        let [begin, end] = [-start, inside - start].map(|place| place.clamp(0, of_columns.len() as i64) as usize);
        let len = of_columns.len() * channels + SLACK;
        let mut keys: Vec<K> = allocation::reserved(distinct.len().saturating_mul(len))?;
        for (number, row) in distinct.iter().enumerate() {
            match row {
                None => keys.extend(std::iter::repeat_n(key(outside), of_columns.len() * channels)),
                Some(row) => {
                    let line =
                        &samples[(plane * rows.samples + row) * problem.input_pitch..][..columns.samples * channels];
                    let pixel = |keys: &mut Vec<K>, column: Option<usize>| match column {
                        Some(column) => keys.extend(line[column * channels..][..channels].iter().map(|&x| key(x))),
                        None => keys.extend(std::iter::repeat_n(key(outside), channels)),
                    };
                    of_columns[..begin].iter().for_each(|&column| pixel(&mut keys, column));
                    let first = of_columns.get(begin).copied().flatten().filter(|_| begin < end).unwrap_or(0);
                    let neighbours = &line[first * channels..][..(end - begin) * channels];
                    let begin = keys.len();
                    keys.resize(begin + neighbours.len(), K::default());
                    vectorised!(convert(&mut keys[begin..], neighbours, key));
                    of_columns[end..].iter().for_each(|&column| pixel(&mut keys, column));
                }
            }
            keys.resize((number + 1) * len, K::default());
        }
        Ok(Padded { keys, len, index })
    }

    /// Returns the number of keys of a row, without those behind it.
    pub(super) fn width(&self) -> usize {
        self.len - SLACK
    }

    /// Returns all keys. Those behind rows are the least.
    pub(super) fn keys(&self) -> &[K] {
        &self.keys
    }

    /// Returns the number of row positions.
    pub(super) fn positions(&self) -> usize {
        self.index.len()
    }

    /// Returns the keys at a row position.
    pub(super) fn line(&self, position: usize) -> &[K] {
        &self.keys[self.index[position] * self.len..][..self.len]
    }
}
