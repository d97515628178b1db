//! Small medians of samples themselves: their comparisons need no keys, and only windows at the ends of rows need a copy.
//!
//! ```text
//!  outputs of a row   | of a copy |        of the samples in memory        |   of a copy   |
//! ```
//!
//! Windows in the middle are within the row, and so are the vectors of samples that are read for the last ones.

use super::median::{Part, Strip, medians};
use super::network::LANES;
use super::number::Number;
use super::padded::Padded;
use crate::Result;
use crate::cpu::allocation;
use crate::filter::two_d::window::{Axis, PictureProblem};
use std::ops::Range;

/// Computes medians of some rows of a plane: squares of 3, 5 or 7 rows, with a stride of columns of 1. Returns whether all samples are in the
/// order of comparisons; otherwise only some outputs may be written. `outside` is the constant.
pub(super) fn medians_of_samples<T: Number>(
    (padded, strip): &mut (Padded<T>, Strip<T>),
    (problem, samples): (&PictureProblem, &[T]),
    plane: usize,
    rows: Range<usize>,
    outside: T,
    outputs: &mut [T],
) -> Result<bool> {
    let part = Part { rows: rows.len(), axis: problem.rows, channels: problem.channels, pitch: problem.output_pitch };
    let all = problem.columns.outputs;
    let in_memory = lines_in_memory((problem, samples), plane, rows.clone())?;
    let middle = if in_memory.is_some() { middle(problem) } else { 0..0 };
    if let Some(lines) = &in_memory
        && !middle.is_empty()
        && !medians(&part, lines, elements(&middle, problem), strip, outputs, |sample| sample)?
    {
        return Ok(false);
    }
    for columns in [0..middle.start, middle.end..all] {
        if columns.is_empty() {
            continue;
        }
        padded.fill(&of_columns(problem, &columns), samples, plane, rows.clone(), outside, |sample| sample)?;
        let lines = allocation::collected((0..padded.positions()).map(|position| padded.line(position)))?;
        if !medians(&part, &lines, elements(&columns, problem), strip, outputs, |sample| sample)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the columns of outputs whose windows are inside, and have a vector of samples of the same row behind them.
fn middle(problem: &PictureProblem) -> Range<usize> {
    let Axis { samples, outputs, taps, start, .. } = problem.columns;
    let first = (-start).clamp(0, outputs as i64);
    let end = samples as i64 - start - (taps - 1 + LANES.div_ceil(problem.channels)) as i64;
    first as usize..end.clamp(first, outputs as i64) as usize
}

/// Returns the samples at the row positions of some rows of outputs, from the middle on; `None` if one is outside.
fn lines_in_memory<'a, T>(
    (problem, samples): (&PictureProblem, &'a [T]),
    plane: usize,
    rows: Range<usize>,
) -> Result<Option<Vec<&'a [T]>>> {
    let (axis, width) = (problem.rows, problem.columns.samples * problem.channels);
    let first = (problem.columns.start + middle(problem).start as i64).max(0) as usize * problem.channels;
    let count = (rows.len() - 1) * axis.stride + axis.taps;
    let mut lines = allocation::reserved(count)?;
    for place in 0..count {
        let Some(row) = axis.source(axis.position(rows.start, 0) + place as i64) else {
            return Ok(None);
        };
        let line = &samples[(plane * axis.samples + row) * problem.input_pitch..][..width];
        lines.push(&line[first.min(width)..]);
    }
    Ok(Some(lines))
}

/// Returns the problem of some columns of outputs.
fn of_columns(problem: &PictureProblem, columns: &Range<usize>) -> PictureProblem {
    let start = problem.columns.position(columns.start, 0);
    PictureProblem { columns: Axis { outputs: columns.len(), start, ..problem.columns }, ..*problem }
}

/// Returns the elements of some columns.
fn elements(columns: &Range<usize>, problem: &PictureProblem) -> Range<usize> {
    columns.start * problem.channels..columns.end * problem.channels
}

#[cfg(test)]
mod tests {
    use super::*;
    use slm_kernels::signal::Border;

    #[test]
    fn vectors_of_the_middle_are_inside() {
        let axis = Axis { taps: 5, start: -2, border: Border::Nearest, ..Axis::single(1) };
        let some = [(300, 1, -2), (300, 3, -2), (300, 1, 7), (69, 1, 0), (65, 4, 0)].map(|case| (case, true));
        let none = [(300, 1, -400), (300, 1, 400), (68, 1, 0), (20, 1, -2), (1, 1, 0)].map(|case| (case, false));
        for ((samples, channels, start), has_middle) in some.into_iter().chain(none) {
            let columns = Axis { samples, outputs: samples, start, ..axis };
            let problem = PictureProblem {
                planes: 1,
                rows: axis,
                columns,
                channels,
                input_pitch: samples * channels,
                output_pitch: samples * channels,
                whole_rows: None,
            };
            let middle = middle(&problem);
            assert!(middle.end <= samples);
            for column in middle.clone() {
                assert!(columns.position(column, 0) >= 0);
                assert!(columns.position(column, 4) + LANES.div_ceil(channels) as i64 <= samples as i64);
            }
            assert_eq!(!middle.is_empty(), has_middle, "{samples} x {channels} from {start} on");
        }
    }
}
