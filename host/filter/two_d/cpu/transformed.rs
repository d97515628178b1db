//! Outer products with many weights on the CPU by Fourier transforms of lines: along all rows first, then down the columns of the result.
//!
//! ```text
//!            1 x v weights              h x 1 weights
//!  samples -----------------> row sums -----------------> sums, which are converted to outputs
//! ```
//!
//! Each of the two passes is a one-dimensional filter with an [error bound per segment](crate::filter1d#fourier-transforms); one with few
//! weights adds up products. Row sums and sums of the whole picture are in temporary memory. Outside of a constant border, a row consists of
//! the constant, and its row sum is that of the constant.

use super::strips::{Input, Strips};
use crate::cpu::allocation;
use crate::cpu::parallel::{for_chunks, try_for_chunks};
use crate::filter::generated::WeightSource;
use crate::filter1d::{CpuLines, Filtering, Lines, Number, Reach, Taps, of_many_taps};
use crate::filter2d::accumulator::{Accumulator, zeros};
use crate::filter2d::weights::{Values, Weights};
use crate::filter2d::window::{Axis, PictureProblem};
use crate::{Element, Extent, Result};
use slm_kernels::filter1d::Orientation;

/// Computes all outputs of an outer product, and calls `store` with sums and their outputs.
pub(super) fn filter<A: Accumulator + Number, O: Element>(
    [row, column]: &[Weights<A>; 2],
    strips: &Strips<'_, A>,
    outputs: &mut [O],
    store: &(dyn Fn(&[A], &mut [O]) + Sync),
) -> Result<()> {
    let problem = strips.problem;
    let row_sums = along_rows(row, strips)?;
    let sums = down_columns(column, problem, &row_sums, row.sum_of(strips.outside))?;
    let width = problem.output_width();
    for_chunks(outputs, problem.output_pitch, problem.output_rows(), &|number, outputs| {
        store(&sums[number * width..][..width], &mut outputs[..width]);
    });
    Ok(())
}

/// Returns what the lines of both passes are filtered by: down the columns, and along the rows.
pub(super) fn plan<A: Accumulator + Number>(
    [row, column]: &[Weights<A>; 2],
    problem: &PictureProblem,
    outside: A,
) -> Result<[Filtering; 2]> {
    let &PictureProblem { planes, rows, columns, channels, .. } = problem;
    let of = |weights, axis: &Axis, count: usize| -> Result<Filtering> {
        Ok(filter_of(weights, axis, outside)?.plan(&lines(axis, count, Orientation::Rows))?.details)
    };
    Ok([
        of(column, &rows, planes.saturating_mul(problem.output_width()))?,
        of(row, &columns, planes.saturating_mul(rows.samples).saturating_mul(channels))?,
    ])
}

/// Returns the sums along the rows of samples of all planes, without gaps.
fn along_rows<A: Accumulator + Number>(weights: &Weights<A>, strips: &Strips<'_, A>) -> Result<Vec<A>> {
    let &PictureProblem { planes, rows, columns, channels, input_pitch, .. } = strips.problem;
    let (filter, width) = (filter_of(weights, &columns, strips.outside)?, strips.problem.output_width());
    // The pixels of a row are the rows of a matrix whose columns are the channels.
    let lines = lines(&columns, channels, if channels == 1 { Orientation::Rows } else { Orientation::Columns });
    let mut sums = zeros(planes * rows.samples * width)?;
    try_for_chunks(&mut sums, width, usize::MAX, &|number, sums| {
        let Input::Samples(samples) = strips.input else { unreachable!("the first pass reads samples") };
        let mut row = allocation::reserved(columns.samples * channels)?;
        A::extend(&mut row, samples, number * input_pitch, [columns.samples * channels, 1, 0]);
        filter.run(&lines, &row, sums)
    })?;
    Ok(sums)
}

/// Returns the sums down the columns of the row sums.
fn down_columns<A: Accumulator + Number>(
    weights: &Weights<A>,
    problem: &PictureProblem,
    row_sums: &[A],
    outside: A,
) -> Result<Vec<A>> {
    let (rows, width) = (problem.rows, problem.output_width());
    let filter = filter_of(weights, &rows, outside)?;
    let lines = lines(&rows, width, Orientation::Columns);
    let mut sums = zeros(problem.len()?)?;
    for plane in 0..problem.planes {
        let of_plane = &mut sums[plane * rows.outputs * width..][..rows.outputs * width];
        filter.run(&lines, &row_sums[plane * rows.samples * width..][..rows.samples * width], of_plane)?;
    }
    Ok(sums)
}

/// Returns the filter of lines along an axis.
fn filter_of<A: Accumulator + Number>(weights: &Weights<A>, axis: &Axis, outside: A) -> Result<Box<dyn CpuLines<A>>> {
    let Values::Dense(values) = &weights.values else { unreachable!("a pass has one row or one column of weights") };
    let reach = Reach { taps: axis.taps, left: 0, extent: Extent::Same, channels: 1, stride: 1 };
    let taps = Taps { taps: values.clone(), source: WeightSource::Given, border: axis.border, outside, reach };
    of_many_taps(&taps, axis.outputs)
}

/// Returns the lines along an axis: one without gaps along rows, or `count` neighbouring columns.
fn lines(axis: &Axis, count: usize, orientation: Orientation) -> Lines {
    let &Axis { samples, outputs, start, .. } = axis;
    let [input_pitch, output_pitch] = match orientation {
        Orientation::Rows => [samples, outputs],
        Orientation::Columns => [count; 2],
    };
    Lines { lines: count, samples, outputs, start, orientation, input_pitch, output_pitch }
}
