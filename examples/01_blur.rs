//! Blurs a picture with a Gaussian, in one pass along the rows and one down the columns:
//!
//! ```sh
//! cargo run --release --example 01_blur -- assets/camera.png blurred.png --sigma 3
//! ```
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits, with and without transparency. The stored numbers are blurred without
//! conversion, as SciPy's `gaussian_filter` does. Before the result is written, it is compared with a naive evaluation at some
//! pixels. `--force` allows overwriting a file.

mod common;

use clap::Parser;
use common::definition::{self, reflected};
use common::file::{FileError, Output};
use common::picture::{self, Picture};
use common::program::{self, DeviceOption, in_ms};
use ndarray::Array2;
use slm::{Boundary, Buffer2, Device, Filter1d};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Above it, every picture of a usual size becomes one even colour.
const MOST_SIGMA: f64 = 100_000.0;

/// Blurs a picture with a Gaussian.
#[derive(Debug, Parser)]
#[command(name = "01_blur")]
struct Arguments {
    /// Input picture: PNG or JPEG
    input: PathBuf,
    /// Output picture: PNG or JPEG, by its extension
    output: PathBuf,
    /// Standard deviation of the Gaussian, in pixels
    #[arg(long, default_value_t = 3.0, allow_hyphen_values = true)]
    sigma: f64,
    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    device: DeviceOption,
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("--sigma {0}: it must be more than 0 and at most {MOST_SIGMA}")]
    Sigma(f64),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Filter(#[from] slm::Error),
    #[error("channel {channel} at row {row}, column {column} became {actual}, expected {expected} within {bound:e}")]
    Wrong { channel: usize, row: usize, column: usize, actual: f32, expected: f64, bound: f64 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let start = Instant::now();
    let taps = gaussian(arguments.sigma)?;
    let output = Output::new(&arguments.output, &picture::KIND, arguments.force)?;
    let picture = Picture::read(&arguments.input)?;
    picture.check_format(&output)?;
    let device = arguments.device.open()?;

    let planes = planes(&picture);
    let (blurred, mut report, device_time) = blur(&device, &planes, &taps)?;
    for (channel, (before, after)) in planes.iter().zip(&blurred).enumerate() {
        check(channel, before, after, &taps)?;
    }
    let wrote = with_planes(&picture, blurred).write(&output)?;

    let _ = writeln!(report, "device time {}, in total {}", in_ms(device_time), in_ms(start.elapsed()));
    report.push_str(&wrote);
    Ok(report)
}

/// Returns the taps of the Gaussian.
fn gaussian(sigma: f64) -> Result<Vec<f32>, Failure> {
    if !(sigma > 0.0 && sigma <= MOST_SIGMA) {
        return Err(Failure::Sigma(sigma));
    }
    Ok(definition::gaussian(sigma).into_iter().map(|weight| weight as f32).collect())
}

/// Blurs every plane. Returns the planes, the plan, and the time of the device.
fn blur(
    device: &Device,
    planes: &[Array2<f32>],
    taps: &[f32],
) -> Result<(Vec<Array2<f32>>, String, Duration), slm::Error> {
    let filter = Filter1d::correlate(taps).boundary(Boundary::Reflect).prepare(device)?;
    let mut buffers = Vec::new();
    for plane in planes {
        let (rows, columns) = plane.dim();
        buffers.push((Buffer2::upload(device, plane.view())?, Buffer2::zeroed(device, rows, columns)?));
    }
    let passes = || {
        for (picture, between) in &mut buffers {
            filter.apply_axis_into(picture, 1, between)?;
            filter.apply_axis_into(between, 0, picture)?;
        }
        Ok(())
    };
    let ((), time) = device.time(passes)?;

    let shape = planes.first().map_or([0, 0], |plane| plane.dim().into());
    let mut report = format!("{device}\n");
    let _ = writeln!(report, "channels {}, taps {}", planes.len(), taps.len());
    for (name, axis) in [("along the rows", 1), ("down the columns", 0)] {
        let _ = writeln!(report, "{name}:\n{}", filter.plan_axis(shape, axis)?);
    }
    let blurred = buffers.iter().map(|(picture, _)| picture.download()).collect::<Result<_, _>>()?;
    Ok((blurred, report, time))
}

/// Returns an error if a blurred plane leaves the range of the original, or differs from the definition at the corners or at
/// some pixels between them.
fn check(channel: usize, before: &Array2<f32>, after: &Array2<f32>, taps: &[f32]) -> Result<(), Failure> {
    let bound = rounding(before, taps);
    let compare = |(row, column): (usize, usize), expected: f64| {
        let actual = after[[row, column]];
        // A NaN must fail.
        let agrees = (f64::from(actual) - expected).abs() <= bound;
        if agrees { Ok(()) } else { Err(Failure::Wrong { channel, row, column, actual, expected, bound }) }
    };
    let (least, greatest) = before.iter().fold((f32::MAX, f32::MIN), |(a, b), &x| (a.min(x), b.max(x)));
    for (place, &actual) in after.indexed_iter() {
        compare(place, f64::from(actual).clamp(least.into(), greatest.into()))?;
    }
    let (rows, columns) = before.dim();
    let some = |n: usize| [0, n / 3, n / 2, n - 1];
    for row in some(rows) {
        for column in some(columns) {
            compare((row, column), naive(before, taps, row, column))?;
        }
    }
    Ok(())
}

/// Returns the maximum distance of both passes from the exact result: twice the bound that the library documents, plus the
/// rounding error of the sum of the taps.
fn rounding(plane: &Array2<f32>, taps: &[f32]) -> f64 {
    let relative = 1.0 + taps.len() as f64 * f64::from(f32::EPSILON) / 2.0;
    let sum: f64 = taps.iter().copied().map(f64::from).sum();
    let largest = plane.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
    f64::from(largest) * ((sum * relative).powi(2) - 1.0 + 2.0 * (sum.powi(2) - 1.0).abs())
}

/// Returns a pixel of the blurred plane, in double precision.
fn naive(plane: &Array2<f32>, taps: &[f32], row: usize, column: usize) -> f64 {
    let (rows, columns) = plane.dim();
    let (rows, columns) = (reflected(taps, row, rows), reflected(taps, column, columns));
    let row = |r: usize| columns.iter().map(|&(c, weight)| weight * f64::from(plane[[r, c]])).sum::<f64>();
    rows.iter().map(|&(r, weight)| weight * row(r)).sum()
}

/// Returns the channels as planes. Colours are multiplied by the opacity, so that invisible colours do not show in the blur.
fn planes(picture: &Picture) -> Vec<Array2<f32>> {
    let (samples, channels) = (picture.samples(), usize::from(picture.color.channel_count()));
    let plane = |channel| {
        let sample = |(r, c)| f32::from(samples[(r * picture.columns + c) * channels + channel]);
        Array2::from_shape_fn((picture.rows, picture.columns), sample)
    };
    let mut planes: Vec<_> = (0..channels).map(plane).collect();
    if let Some((alpha, colors)) = planes.split_last_mut().filter(|_| picture.color.has_alpha()) {
        let most = f32::from(picture.most());
        colors.iter_mut().for_each(|color| color.zip_mut_with(alpha, |c, a| *c *= a / most));
    }
    planes
}

/// Returns the picture with other planes, rounded: the inverse of [`planes`].
fn with_planes(picture: &Picture, mut planes: Vec<Array2<f32>>) -> Picture {
    let most = f32::from(picture.most());
    if let Some((alpha, colors)) = planes.split_last_mut().filter(|_| picture.color.has_alpha()) {
        // Where the opacity is rounded to zero, the colour would be noise.
        let divide = |c: &mut f32, &a: &f32| *c = if a < 0.5 { 0.0 } else { *c * (most / a) };
        colors.iter_mut().for_each(|color| color.zip_mut_with(alpha, divide));
    }
    let places = (0..picture.rows).flat_map(|r| (0..picture.columns).map(move |c| [r, c]));
    let pixel = |place: [usize; 2]| planes.iter().map(move |plane| plane[place].round().clamp(0.0, most) as u16);
    picture.with_samples(places.flat_map(pixel))
}
