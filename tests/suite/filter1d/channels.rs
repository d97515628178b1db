//! Interleaved channels: each one must be filtered as a line of its own, bit for bit.

use super::oracle::{Direction, Sample};
use super::{EXTENTS, Matrix, SUITE, algorithms_for_pictures, boundaries, direction};
use crate::common::{Random, ensure, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::ndarray::ArrayView2;
use slm::{Boundary, Buffer2, Device, Extent, Filter1d};

/// Samples per channel, channels and taps. Emulated devices use `FEW_LINES`.
const LINES: [(usize, usize, usize); 9] = [
    (0, 3, 4),
    (1, 2, 1),
    (5, 2, 7),
    (33, 3, 4),
    (64, 4, 5),
    (200, 5, 33),
    (4097, 2, 32),
    (1000, 3, 257),
    (3, 1000, 5),
];
const FEW_LINES: [(usize, usize, usize); 3] = [(0, 3, 4), (5, 2, 7), (33, 3, 4)];

pub(super) fn trials() -> Vec<Trial> {
    [of_type::<f32>(), of_type::<f64>(), of_type::<i32>()].into_iter().flatten().collect()
}

fn of_type<T: Sample>() -> Vec<Trial> {
    let trial = |(number, (name, boundary)): (usize, (&'static str, Boundary<T>))| {
        let name = format!("channels::{}::{name}", T::NAME);
        on_every_backend(SUITE, &name, move |device| {
            // All extents, but one for each boundary on emulated devices.
            let extents = if is_slow(device) { &EXTENTS[number % 3..][..1] } else { &EXTENTS };
            extents.iter().try_for_each(|&extent| check(device, boundary, extent))
        })
    };
    boundaries::<T>().into_iter().enumerate().flat_map(trial).collect()
}

fn check<T: Sample>(device: &Device, boundary: Boundary<T>, extent: Extent) -> Result<(), Failed> {
    for &(samples, channels, taps) in if is_slow(device) { &FEW_LINES[..] } else { &LINES } {
        let taps: Vec<T> = Random::new(taps as u64).values(taps);
        let filter = match direction(taps.len()) {
            Direction::Convolve => Filter1d::convolve(&taps),
            Direction::Correlate => Filter1d::correlate(&taps),
        };
        check_filter(device, &filter.boundary(boundary).extent(extent), [samples, channels, taps.len()]).map_err(
            |failed| {
                let message = failed.message().unwrap_or("failed");
                format!("{samples} samples, {channels} channels, {} taps, {extent:?}: {message}", taps.len())
            },
        )?;
    }
    Ok(())
}

/// Compares three rows of interleaved channels with the same channels one by one.
fn check_filter<T: Sample>(
    device: &Device,
    filter: &Filter1d<T>,
    [samples, channels, taps]: [usize; 3],
) -> Result<(), Failed> {
    let (rows, columns) = (3, samples * channels);
    let x: Vec<T> = Random::new(columns as u64).values(rows * columns);
    let single = filter.prepare(device)?;
    for &algorithm in algorithms_for_pictures(device, taps, channels) {
        let interleaved = filter.clone().algorithm(algorithm).channels(channels).prepare(device)?;
        let mut expected = Vec::new();
        for row in x.chunks(columns.max(1)) {
            let outputs = alone(row, channels).map(|channel| single.apply(&channel));
            let line = interleave(&outputs.collect::<Result<Vec<_>, _>>()?);
            equal(interleaved.output_shape([columns])?, [line.len()])?;
            equal(bits(&interleaved.apply(row)?), bits(&line))?;
            expected.extend(line);
        }
        let matrix = ArrayView2::from_shape((rows, columns), &x).expect("three rows");
        let outputs = interleaved.along(1).apply(matrix)?;
        equal(bits(outputs.as_slice().expect("row after row")), bits(&expected))?;
        let [output_rows, output_columns] = interleaved.along(1).output_shape([rows, columns])?;
        equal(outputs.dim(), (output_rows, output_columns))?;
        // Gaps between rows are neither read nor written.
        let padded = Matrix { numbers: padded(&x, columns), shape: [rows, columns], pitch: columns + 3 };
        let (pitch, gap) = (output_columns + 2, T::random(9));
        let target = device.upload(&vec![gap; rows * pitch])?;
        let mut target = Buffer2::from_buffer(target, rows, output_columns, pitch)?;
        interleaved.along(1).apply_into(&padded.on_device(device)?, &mut target)?;
        equal(target.download()?, outputs)?;
        let memory = target.into_buffer().download()?;
        let stays = |at: usize| at % pitch < output_columns || memory[at].bits() == gap.bits();
        ensure((0..memory.len()).all(stays), || "a gap has changed".to_owned())?;
        // Along the other axis, channels are columns of their own.
        let down = interleaved.along(0).apply(matrix)?;
        let expected = single.along(0).apply(matrix)?;
        equal(bits(down.as_slice().expect("row after row")), bits(expected.as_slice().expect("row after row")))?;
        equal(&*interleaved.plan([columns])?.outputs, &[channels * single.output_shape([samples])?[0]][..])?;
    }
    Ok(())
}

/// The channels of a line.
fn alone<T: Sample>(line: &[T], channels: usize) -> impl Iterator<Item = Vec<T>> {
    (0..channels).map(move |channel| line.iter().skip(channel).step_by(channels).copied().collect())
}

fn interleave<T: Sample>(channels: &[Vec<T>]) -> Vec<T> {
    (0..channels[0].len()).flat_map(|i| channels.iter().map(move |channel| channel[i])).collect()
}

/// The memory of a matrix whose rows are three elements further apart than they are long.
fn padded<T: Sample>(numbers: &[T], columns: usize) -> Vec<T> {
    let rows = numbers.chunks(columns.max(1));
    let mut padded: Vec<T> = rows.flat_map(|row| row.iter().copied().chain([T::random(1); 3])).collect();
    padded.resize(3 * (columns + 3), T::random(1));
    padded
}

fn bits<T: Sample>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|number| number.bits()).collect()
}
