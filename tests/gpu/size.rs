//! More samples and elements than fit into 32 bits.

use super::{Failed, Trial, ensure, exclusive_trial};
use crate::filter1d::ALGORITHMS;
use rayon::prelude::*;
use slm::filter1d::FilterAlgorithm;
use slm::ndarray::{Array2, array};
use slm::{Buffer2, Device, Filter1d, Filter2d, Transpose};

pub(super) fn trials() -> Vec<Trial> {
    let filter = |name, samples: usize, algorithms: &'static [FilterAlgorithm]| {
        trial(name, 4 * samples as u64, move |device| filter(device, samples, algorithms))
    };
    let transposition =
        |name, shape: [usize; 2]| trial(name, (shape[0] * shape[1]) as u64, move |device| transpose(device, shape));
    vec![
        filter("more_than_2_to_the_31_samples", (1 << 31) + 12_345, &ALGORITHMS),
        filter(
            "more_than_2_to_the_32_samples",
            (1 << 32) + 12_345,
            &[FilterAlgorithm::Auto, FilterAlgorithm::GlobalMemory],
        ),
        // With a kernel for rows aligned to sectors, and with one for other rows.
        transposition("more_than_2_to_the_32_elements", [1 << 16, (1 << 16) + 32]),
        transposition("more_than_2_to_the_32_elements_of_odd_rows", [(1 << 16) + 3, (1 << 16) + 1]),
        // With and without gaps between rows.
        trial("matrices_of_more_than_2_to_the_31_bytes", 1 << 32, |device| {
            copies(device, [(1 << 15) + 3, (1 << 15) + 1])
        }),
        // More than 2^31 bytes from both ends, with words that are aligned and others.
        trial("pixels_in_the_middle_of_a_row", 4 * MANY_PIXELS as u64, pixels),
    ]
}

/// Returns a test with a signal or matrix of `bytes` bytes, and a result of the same size. It is ignored, with the reason,
/// if there is too little memory.
fn trial(name: &str, bytes: u64, work: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static) -> Trial {
    const GIGABYTE: u64 = 1 << 30;
    let trial = exclusive_trial(name, work);
    let on_device = Device::cuda(0).ok().and_then(|device| device.info().memory);
    if on_device.is_some_and(|memory| memory < 2 * bytes + 4 * GIGABYTE) {
        return trial.with_ignored_flag(true).with_kind("too little memory on the device");
    }
    if on_device.is_some() && free_memory().is_some_and(|memory| memory < bytes + 8 * GIGABYTE) {
        return trial.with_ignored_flag(true).with_kind("too little memory");
    }
    trial
}

/// Returns the machine's available memory in bytes.
fn free_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// Pixels of a row, of four bytes each.
const MANY_PIXELS: usize = 1_100_000_000;

/// Filters one row of pixels along it, with zeros outside.
fn pixels(device: &Device) -> Result<(), Failed> {
    const COLUMNS: usize = 4 * MANY_PIXELS;
    let byte = |i: usize| (i % 65_521 % 251) as u8;
    let samples: Vec<u8> = (0..COLUMNS).into_par_iter().map(byte).collect();
    let weights = array![[0.0f32, 0.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]];
    let filter = Filter2d::<u8, f32>::correlate(weights.view()).channels(4).prepare(device)?;
    ensure(filter.plan([1, MANY_PIXELS])?.kernel.contains("u8x4"), || "another kernel".to_owned())?;
    let at = |i: Option<usize>| i.filter(|&i| i < COLUMNS).map_or(0.0, |i| f32::from(byte(i)));
    for gap in [0, 1] {
        let input = Buffer2::from_buffer(device.upload(&samples)?, 1, COLUMNS, COLUMNS + gap)?;
        let mut output = Buffer2::from_buffer(device.zeroed(COLUMNS)?, 1, COLUMNS, COLUMNS + gap)?;
        filter.apply_into(&input, &mut output)?;
        drop(input);
        let outputs = output.into_buffer().download()?;
        let expected = |i: usize| {
            let sum = 0.25 * at(i.checked_sub(4)) + 0.5 * at(Some(i)) + 0.25 * at(Some(i + 4));
            sum.round_ties_even() as u8
        };
        let wrong = outputs.par_iter().enumerate().find_first(|&(i, &output)| output != expected(i));
        if let Some((i, output)) = wrong {
            return Err(format!("a gap of {gap}: output {i} is {output} instead of {}", expected(i)).into());
        }
    }
    Ok(())
}

fn sample(i: usize) -> i32 {
    (i % 1_000_003) as i32
}

/// Never holds more than one of the two signals in host memory.
fn filter(device: &Device, samples: usize, algorithms: &[FilterAlgorithm]) -> Result<(), Failed> {
    let x: Vec<i32> = (0..samples).into_par_iter().map(sample).collect();
    let input = device.upload(&x)?;
    drop(x);
    let mut output = device.zeroed(samples)?;
    let mut y = vec![0; samples];
    for &algorithm in algorithms {
        // Each algorithm has different taps, so that outputs that it does not write are wrong.
        let scale = 1 + algorithms.iter().position(|&a| a == algorithm).unwrap_or(0) as i32;
        let filter = Filter1d::correlate(&[scale, 2 * scale, 3 * scale]).algorithm(algorithm).prepare(device)?;
        filter.apply_into(&input, &mut output)?;
        output.download_into(&mut y)?;
        let wrong = y.par_iter().enumerate().find_first(|&(i, &y)| y != scale * expected(i, samples));
        if let Some((i, y)) = wrong {
            let expected = scale * expected(i, samples);
            return Err(format!("{algorithm:?}: output {i} is {y} instead of {expected}").into());
        }
    }
    Ok(())
}

/// Returns output `i` for the taps 1, 2, 3, with zeros outside.
fn expected(i: usize, samples: usize) -> i32 {
    let before = if i == 0 { 0 } else { sample(i - 1) };
    let after = if i + 1 == samples { 0 } else { sample(i + 1) };
    before + 2 * sample(i) + 3 * after
}

/// Transposes a matrix of bytes, then transposes it back in place.
fn transpose(device: &Device, [rows, columns]: [usize; 2]) -> Result<(), Failed> {
    let element = |i: usize| (i % 251) as u8;
    let x: Vec<u8> = (0..rows * columns).into_par_iter().map(element).collect();
    let (input, mut output) = (device.upload(&x)?, device.zeroed(x.len())?);
    drop(x);
    let mut y = vec![0; rows * columns];
    Transpose::new(rows, columns).prepare(device)?.apply_into(&input, &mut output)?;
    output.download_into(&mut y)?;
    let wrong = y.par_iter().enumerate().find_first(|&(i, &y)| y != element(i % rows * columns + i / rows));
    if let Some((i, y)) = wrong {
        let expected = element(i % rows * columns + i / rows);
        return Err(format!("element {i} is {y} instead of {expected}").into());
    }
    drop(input);
    Transpose::new(columns, rows).prepare_in_place(device)?.apply(&mut output)?;
    output.download_into(&mut y)?;
    match y.par_iter().enumerate().find_first(|&(i, &y)| y != element(i)) {
        Some((i, y)) => Err(format!("in place, element {i} is {y} instead of {}", element(i)).into()),
        None => Ok(()),
    }
}

/// Copies a matrix to the device, on the device, and back, with and without gaps between rows.
fn copies(device: &Device, shape: [usize; 2]) -> Result<(), Failed> {
    let [rows, columns] = shape;
    let matrix = Array2::from_shape_fn(shape, |(row, column)| (row * columns + column) as u16);
    for pitch in [columns, columns + 7] {
        let source = Buffer2::upload_pitched(device, matrix.view(), pitch)?;
        let mut target = Buffer2::<u16>::zeroed_pitched(device, rows, columns, pitch)?;
        target.copy_from(&source)?;
        if target.download()? != matrix {
            return Err(format!("the copy with row pitch {pitch} differs").into());
        }
    }
    Ok(())
}
