//! Work on more samples and elements than fit into 32 bits.

use rayon::prelude::*;
use slm::filter1d::Filter1dAlgorithm;
use slm::ndarray::{Array2, array};
use slm::{Buffer2, Device, Filter1d, Filter2d, Transpose};

/// An error of the device, or a result that is wrong.
pub type Problem = Box<dyn std::error::Error>;

/// Pixels of a row, of four bytes each.
pub const PIXELS: usize = 1_100_000_000;

/// Filters one row of pixels along it, with zeros outside.
pub fn pixels(device: &Device) -> Result<(), Problem> {
    const COLUMNS: usize = 4 * PIXELS;
    let byte = |i: usize| (i % 65_521 % 251) as u8;
    let samples: Vec<u8> = (0..COLUMNS).into_par_iter().map(byte).collect();
    let weights = array![[0.0f32, 0.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]];
    let filter = Filter2d::<u8, f32>::correlate(weights.view()).channels(4).prepare(device)?;
    if !filter.plan([1, PIXELS])?.kernels()[0].contains("u8x4") {
        return Err("another kernel".into());
    }
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
pub fn filter(device: &Device, samples: usize, algorithms: &[Filter1dAlgorithm]) -> Result<(), Problem> {
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
pub fn transpose(device: &Device, [rows, columns]: [usize; 2]) -> Result<(), Problem> {
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
pub fn copies(device: &Device, shape: [usize; 2]) -> Result<(), Problem> {
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
