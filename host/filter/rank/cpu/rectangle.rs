//! Extremes of rectangles: minima of keys, down the columns first, then along the rows.
//!
//! The minimum of `4 n` neighbours is the least one of four minima of `n` neighbours, `n` apart. After the last power of four, minima that
//! overlap have the minimum of any number of neighbours. So a window of `n` samples along an axis takes `log4(n)` steps of three comparisons,
//! rounded up, and each of them compares vectors of neighbouring columns. Steps of one comparison would be twice as many, and each one
//! reads and writes all keys. Segments as in van Herk's method take about three comparisons per sample, but along rows these depend on
//! each other.

use super::{Band, Sortable, room};
use crate::Result;
use crate::cpu::vector::vectorised;
use slm_kernels::rank2d::Extreme;
use std::iter::successors;
use std::mem::swap;

/// Bytes of a row of a strip, whose minima are in the processor's fastest cache.
const STRIP: usize = 1 << 10;

/// Returns the distances of the keys that each step compares with one, for windows of `taps` samples.
#[inline(always)]
fn steps(taps: usize) -> impl Iterator<Item = [usize; 3]> {
    let spans = successors(Some(1), move |span| Some(4 * span).filter(|&span| span < taps));
    spans.map(move |span| [1, 2, 3].map(|i| (i * span).min(taps - span)))
}

/// Memory for the minima of a band.
#[derive(Default)]
pub(super) struct Minima<K> {
    /// Down the columns.
    columns: Vec<K>,
    /// Those of a step down the columns of a strip, and of the next one.
    strips: [Vec<K>; 2],
    /// Those of a step along a row.
    line: Vec<K>,
}

impl<T: Sortable> Band<'_, T> {
    /// Computes the extremes, whose keys are in the band.
    pub(super) fn extremes(&self, extreme: Extreme, memory: &mut Minima<T::Narrow>, outputs: &mut [T]) -> Result<()> {
        let (width, problem) = (self.padded.width(), self.problem);
        let columns = room(&mut memory.columns, self.rows.saturating_mul(width))?;
        let strip = (STRIP / size_of::<T::Narrow>()).min(width);
        // The last strip has the rest, too.
        let longest = strip + width % strip;
        let len = self.padded.positions().saturating_mul(longest);
        let [minima, others] = &mut memory.strips;
        let (minima, others) = (room(minima, len)?, room(others, len)?);
        for first in (0..width + 1 - strip).step_by(strip) {
            let len = if width - first == longest { longest } else { strip };
            vectorised!(self.down(columns, [first, len], [minima, others]));
        }
        let other = room(&mut memory.line, width)?;
        for (row, line) in columns.chunks_exact_mut(width).enumerate() {
            let outputs = &mut outputs[row * problem.output_pitch..][..self.width()];
            vectorised!(self.along(extreme, [line, other], outputs));
        }
        Ok(())
    }

    /// Computes the minima down some columns. `minima` is temporary memory.
    #[inline(always)]
    fn down(
        &self,
        columns: &mut [T::Narrow],
        [first, len]: [usize; 2],
        [mut minima, mut other]: [&mut [T::Narrow]; 2],
    ) {
        let (axis, width) = (self.problem.rows, self.padded.width());
        let (mut count, mut is_first) = (self.padded.positions(), true);
        let mut steps = steps(axis.taps).peekable();
        while let Some([a, b, c]) = steps.next() {
            let row = |position: usize| match is_first {
                true => &self.padded.line(position)[first..][..len],
                false => &minima[position * len..][..len],
            };
            let rows = |position: usize| [row(position), row(position + a), row(position + b), row(position + c)];
            if steps.peek().is_none() {
                for number in 0..self.rows {
                    least(&mut columns[number * width + first..][..len], rows(number * axis.stride), |key| key);
                }
                return;
            }
            count -= c;
            for (position, minima) in other.chunks_exact_mut(len).take(count).enumerate() {
                least(minima, rows(position), |key| key);
            }
            swap(&mut minima, &mut other);
            is_first = false;
        }
    }

    /// Computes the outputs of a row from the minima of its columns, which change.
    #[inline(always)]
    fn along(&self, extreme: Extreme, [mut line, mut other]: [&mut [T::Narrow]; 2], outputs: &mut [T]) {
        let (axis, channels) = (self.problem.columns, self.problem.channels);
        let mut steps = steps(axis.taps).peekable();
        while let Some([a, b, c]) = steps.next() {
            let lines = [&*line, &line[a * channels..], &line[b * channels..], &line[c * channels..]];
            if steps.peek().is_none() && axis.stride == 1 {
                return least(outputs, lines, |key| extreme.sample(T::widen(key)));
            }
            let len = lines[3].len();
            least(&mut other[..len], lines, |key| key);
            swap(&mut line, &mut other);
        }
        for (element, output) in outputs.iter_mut().enumerate() {
            *output = extreme.sample(T::widen(line[self.place(element)]));
        }
    }
}

/// Sets results to `f` of the least one of four keys.
#[inline(always)]
fn least<K: Copy + Ord, R>(results: &mut [R], [a, b, c, d]: [&[K]; 4], f: impl Fn(K) -> R) {
    let len = results.len();
    let (a, b, c, d) = (&a[..len], &b[..len], &c[..len], &d[..len]);
    for i in 0..len {
        results[i] = f(a[i].min(b[i]).min(c[i].min(d[i])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number of samples is reached, and no step leaves a gap.
    #[test]
    fn steps_make_windows() {
        for taps in 1..300 {
            let span = steps(taps).fold(1, |span, distances| {
                let reached = distances.iter().fold(0, |reached, &distance| {
                    assert!(distance <= reached + span);
                    distance
                });
                span + reached
            });
            assert_eq!(span, taps);
        }
    }
}
