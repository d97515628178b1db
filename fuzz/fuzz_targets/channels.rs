//! `Channels`: pixels to planes and back, of slices and of matrices with gaps, against the formula.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slm::{Buffer2, Channels, Device, PointwiseElement};
use slm_fuzz::{Reader, contents, devices, expect, matrix};
use slm_test_support::numbers::{Kind, Number, bits, converted};

#[derive(Debug)]
struct Problem {
    rows: usize,
    columns: usize,
    channels: usize,
    /// Elements between the rows of pixels, and of planes.
    gaps: [usize; 2],
    /// Row by row, with the channels of a pixel one after another.
    pixels: Vec<f64>,
}

type Check = fn(&Problem, &Device);

fuzz_target!(|input: &[u8]| {
    let reader = &mut Reader::new(input);
    let checks: [(Kind, Check); 6] = slm_fuzz::for_rank_types!(check);
    let (kind, check) = reader.pick(&checks);
    let devices = devices(reader);
    let channels = reader.pick(&[1, 2, 3, 3, 4, 5, 7, 16, 33]);
    let rows = reader.below(9);
    let columns = reader.below(600 / (rows * channels + 1) + 2);
    let gaps = [reader.below(5), reader.below(5)];
    let pixels = reader.numbers(rows * columns * channels, kind, true);
    let problem = Problem { rows, columns, channels, gaps, pixels };
    devices.iter().for_each(|device| check(&problem, device));
});

impl Problem {
    /// Returns the planes, one below the other.
    fn planes(&self) -> Vec<f64> {
        let of_channel = |channel: usize| self.pixels.iter().skip(channel).step_by(self.channels);
        (0..self.channels).flat_map(of_channel).copied().collect()
    }
}

fn check<T: PointwiseElement + Number>(problem: &Problem, device: &Device) {
    let what = (device.to_string(), problem);
    expect(of_slices::<T>(problem, device), &what);
    expect(of_matrices::<T>(problem, device), &what);
}

/// A slice is a single row of pixels, so its planes are those of the whole picture.
fn of_slices<T: PointwiseElement + Number>(problem: &Problem, device: &Device) -> slm::Result<()> {
    let (pixels, planes) = (converted::<T>(&problem.pixels), converted::<T>(&problem.planes()));
    let numbers = |elements: Vec<T>| bits(&elements.into_iter().map(T::to).collect::<Vec<_>>());
    let split = Channels::split(problem.channels).prepare(device)?.apply(&pixels)?;
    assert_eq!(numbers(split), numbers(planes.clone()), "{problem:?}");
    let merged = Channels::merge(problem.channels).prepare(device)?.apply(&planes)?;
    assert_eq!(numbers(merged), numbers(pixels), "{problem:?}");
    Ok(())
}

fn of_matrices<T: PointwiseElement + Number>(problem: &Problem, device: &Device) -> slm::Result<()> {
    let &Problem { rows, columns, channels, gaps, .. } = problem;
    let [of_pixels, of_planes] = [[rows, columns * channels], [channels * rows, columns]];
    let zeros = vec![0.0; problem.pixels.len()];
    let mut planes: Buffer2<T> = matrix(device, &zeros, of_planes, gaps[1])?;
    let pixels: Buffer2<T> = matrix(device, &problem.pixels, of_pixels, gaps[0])?;
    Channels::split(channels).prepare(device)?.apply_into(&pixels, &mut planes)?;
    let mut merged: Buffer2<T> = matrix(device, &zeros, of_pixels, gaps[0])?;
    Channels::merge(channels).prepare(device)?.apply_into(&planes, &mut merged)?;
    let typed = |numbers: &[f64]| bits(&converted::<T>(numbers).into_iter().map(T::to).collect::<Vec<_>>());
    assert_eq!(bits(&contents(planes)?), typed(&problem.planes()), "{problem:?}");
    assert_eq!(bits(&contents(merged)?), typed(&problem.pixels), "{problem:?}");
    Ok(())
}
