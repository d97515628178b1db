//! Outer products on the CPU whose weights are long, by Fourier transforms of `f64`: down all columns, then along the rows of these sums.
//!
//! They are for integers of 8 and 16 bits. With the largest samples, sums have errors below 10^-6, less than the bound of sums of `f32`
//! products wherever an output is not 0, so outputs are as good. The sums of the whole picture are in temporary memory.

use super::strips::{Input, Strips};
use crate::cpu::allocation;
use crate::cpu::parallel::{for_chunks, try_for_chunks};
use crate::filter::generated::WeightSource;
use crate::filter1d::{CpuLines, Lines, Reach, Taps, cpu_transforms};
use crate::filter2d::accumulator::{Accumulator, zeros};
use crate::filter2d::element::Slice;
use crate::filter2d::weights::{Values, Weights};
use crate::filter2d::window::{Axis, PictureProblem};
use crate::{Element, Extent, Result};
use slm_kernels::filter1d::Orientation;

/// Minimum number of rows and of columns of weights, and of outputs. Fewer take less time as sums (`benches/RESULTS.md`).
const LEAST: usize = 320;

/// Returns whether transforms take less time, and their errors are small enough. `O` is the type of the outputs.
pub(super) fn pays<A: Accumulator, O: Element>(weights: &Weights<A>, strips: &Strips<'_, A>) -> bool {
    let PictureProblem { rows, columns, .. } = strips.problem;
    let is_narrow = matches!(strips.input, Input::Samples(Slice::U8(_) | Slice::U16(_) | Slice::I16(_)));
    let is_long = |axis: &Axis| axis.taps >= LEAST && axis.outputs >= LEAST && [axis.stride, axis.dilation] == [1; 2];
    // Other types of outputs are larger.
    A::IS_FLOAT && is_narrow && size_of::<O>() <= 2 && weights.is_product() && is_long(rows) && is_long(columns)
}

/// Computes all outputs of an outer product, and calls `store` with sums and their outputs.
pub(super) fn filter<A: Accumulator, O: Element>(
    [row, column]: &[Weights<A>; 2],
    strips: &Strips<'_, A>,
    outputs: &mut [O],
    store: &(dyn Fn(&[A], &mut [O]) + Sync),
) -> Result<()> {
    let PictureProblem { rows, columns, channels, output_pitch, .. } = *strips.problem;
    let [wide, output_width] = [columns.samples, columns.outputs].map(|count| count * channels);
    let down = transforms(column, &rows, strips.outside)?;
    let along = transforms(row, &columns, column.sum_of(strips.outside))?;
    for (plane, outputs) in
        (0..strips.problem.planes).zip(outputs.chunks_mut(rows.outputs.saturating_mul(output_pitch)))
    {
        let mut sums = allocation::filled(0.0, rows.outputs * wide)?;
        down.run(&lines(&rows, wide, Orientation::Columns), &samples(strips, plane)?, &mut sums)?;
        let mut filtered = allocation::filled(0.0, rows.outputs * output_width)?;
        if channels == 1 {
            along.run(&lines(&columns, rows.outputs, Orientation::Rows), &sums, &mut filtered)?;
        } else {
            let mut line = allocation::filled(0.0, rows.outputs * columns.samples)?;
            let mut of_channel = allocation::filled(0.0, rows.outputs * columns.outputs)?;
            for channel in 0..channels {
                take_channel(&sums, &mut line, [channel, channels]);
                along.run(&lines(&columns, rows.outputs, Orientation::Rows), &line, &mut of_channel)?;
                put_channel(&of_channel, &mut filtered, [channel, channels]);
            }
        }
        try_for_chunks(outputs, output_pitch, rows.outputs, &|row, outputs| {
            let mut sums = zeros(output_width)?;
            for (sum, number) in sums.iter_mut().zip(&filtered[row * output_width..]) {
                *sum = A::of_f64(*number);
            }
            store(&sums, &mut outputs[..output_width]);
            Ok(())
        })?;
    }
    Ok(())
}

/// Returns the filter of lines along an axis.
fn transforms<A: Accumulator>(weights: &Weights<A>, axis: &Axis, outside: A) -> Result<Box<dyn CpuLines<f64>>> {
    let Values::Dense(values) = &weights.values else { unreachable!("a pass has one row or one column") };
    let taps: Vec<f64> = allocation::collected(values.iter().map(|weight| weight.as_f64()))?;
    let reach = Reach { taps: taps.len(), left: 0, extent: Extent::Same, channels: 1 };
    let source = WeightSource::Given;
    let taps = Taps { taps: taps.into(), source, border: axis.border, outside: outside.as_f64(), reach };
    cpu_transforms(&taps, axis.outputs)
}

/// Returns the lines along an axis, without gaps.
fn lines(axis: &Axis, lines: usize, orientation: Orientation) -> Lines {
    let [input_pitch, output_pitch] = match orientation {
        Orientation::Rows => [axis.samples, axis.outputs],
        Orientation::Columns => [lines; 2],
    };
    let Axis { samples, outputs, start, .. } = *axis;
    Lines { lines, samples, outputs, start, orientation, input_pitch, output_pitch }
}

/// Returns the samples of a plane, without gaps.
fn samples<A: Accumulator>(strips: &Strips<'_, A>, plane: usize) -> Result<Vec<f64>> {
    let PictureProblem { rows, columns, channels, input_pitch, .. } = *strips.problem;
    let width = columns.samples * channels;
    let mut samples = allocation::filled(0.0, rows.samples * width)?;
    for_chunks(&mut samples, width, rows.samples, &|row, samples| {
        let mut converted = Vec::with_capacity(width);
        strips.input.extend(&mut converted, (plane * rows.samples + row) * input_pitch, [width, 1, 0]);
        samples.iter_mut().zip(&converted).for_each(|(sample, number)| *sample = number.as_f64());
    });
    Ok(samples)
}

/// Elements that are copied together.
const TOGETHER: usize = 1 << 14;

/// Copies one of several interleaved channels.
fn take_channel(interleaved: &[f64], channel: &mut [f64], [number, channels]: [usize; 2]) {
    for_chunks(channel, TOGETHER, usize::MAX, &|chunk, channel| {
        let from = &interleaved[chunk * TOGETHER * channels + number..];
        channel.iter_mut().zip(from.iter().step_by(channels)).for_each(|(to, from)| *to = *from);
    });
}

/// Replaces one of several interleaved channels.
fn put_channel(channel: &[f64], interleaved: &mut [f64], [number, channels]: [usize; 2]) {
    for_chunks(interleaved, TOGETHER * channels, usize::MAX, &|chunk, interleaved| {
        let from = &channel[chunk * TOGETHER..];
        interleaved[number..].iter_mut().step_by(channels).zip(from).for_each(|(to, from)| *to = *from);
    });
}
