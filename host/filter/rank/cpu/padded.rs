//! The rows of samples that a band depends on, as keys and continued beyond the borders.

use crate::Result;
use crate::cpu::allocation;
use crate::cpu::vector::vectorised;
use crate::filter::two_d::window::{Axis, PictureProblem};
use std::ops::Range;

/// Keys behind each row, so that vectors of outputs may read beyond the last one.
pub(super) const SLACK: usize = 64;

/// Rows of keys. Each row of samples is there once, however many positions continue it.
#[derive(Default)]
pub(super) struct Padded<K> {
    keys: Vec<K>,
    len: usize,
    /// For each row position, from the first one on, its row of keys.
    index: Vec<usize>,
}

impl<K: Copy + Default> Padded<K> {
    /// Replaces the keys by those for some output rows of a plane. `outside` is the constant.
    pub(super) fn fill<T: Copy>(
        &mut self,
        problem: &PictureProblem,
        samples: &[T],
        plane: usize,
        outputs: Range<usize>,
        outside: T,
        key: impl Fn(T) -> K + Copy,
    ) -> Result<()> {
        let (rows, columns, channels) = (problem.rows, problem.columns, problem.channels);
        let (first, count) = positions(rows, outputs);
        let of_rows = allocation::collected((0..count).map(|place| rows.source(first + place as i64)))?;
        let mut distinct = allocation::collected(of_rows.iter().copied())?;
        distinct.sort_unstable();
        distinct.dedup();
        self.index = allocation::collected(of_rows.iter().map(|row| distinct.partition_point(|other| other < row)))?;

        let width = positions(columns, 0..columns.outputs).1 * channels;
        self.len = width + SLACK;
        let keys = allocation::emptied(&mut self.keys, distinct.len().saturating_mul(self.len))?;
        for row in &distinct {
            match row {
                None => keys.extend(std::iter::repeat_n(key(outside), width)),
                Some(row) => {
                    let line = &samples[(plane * rows.samples + row) * problem.input_pitch..];
                    let line = &line[..columns.samples * channels];
                    append_row(keys, (columns, channels), line, outside, key);
                }
            }
            keys.extend([K::default(); SLACK]);
        }
        Ok(())
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

/// Returns the first position of some outputs' windows, and the number of positions.
fn positions(axis: Axis, outputs: Range<usize>) -> (i64, usize) {
    (axis.position(outputs.start, 0), (outputs.len() - 1) * axis.stride + axis.taps)
}

/// Appends the keys of a row, with those beyond its ends.
fn append_row<T: Copy, K: Copy>(
    keys: &mut Vec<K>,
    (columns, channels): (Axis, usize),
    line: &[T],
    outside: T,
    key: impl Fn(T) -> K + Copy,
) {
    let (start, count) = positions(columns, 0..columns.outputs);
    // Columns that are inside are side by side.
    let inside = [-start, columns.samples as i64 - start].map(|place| place.clamp(0, count as i64) as usize);
    let beyond = |keys: &mut Vec<K>, places: Range<usize>| {
        for place in places {
            match columns.source(start + place as i64) {
                Some(column) => keys.extend(line[column * channels..][..channels].iter().map(|&sample| key(sample))),
                None => keys.extend(std::iter::repeat_n(key(outside), channels)),
            }
        }
    };
    beyond(keys, 0..inside[0]);
    if inside[0] < inside[1] {
        let first = (start + inside[0] as i64) as usize;
        let neighbours = &line[first * channels..][..(inside[1] - inside[0]) * channels];
        vectorised!(append(keys, neighbours, key));
    }
    beyond(keys, inside[1]..count);
}

#[inline(always)]
fn append<T: Copy, K>(keys: &mut Vec<K>, samples: &[T], key: impl Fn(T) -> K) {
    keys.extend(samples.iter().map(|&sample| key(sample)));
}
