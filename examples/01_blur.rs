//! Blurs a picture with a Gaussian, in one pass along the rows and one down the columns:
//!
//! ```sh
//! cargo run --release --example 01_blur -- assets/camera.png blurred.png --sigma 3
//! ```
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits, with and without transparency. The stored numbers are blurred without
//! conversion, as SciPy's `gaussian_filter` does, and the result has the colour profile of the picture. Before it is written, it is
//! compared with a naive evaluation at some pixels. `--force` allows overwriting a file.

mod common;

use clap::Parser;
use common::definition::{Reflected, gaussian};
use common::file::{FileError, Output};
use common::picture::{self, Picture};
use common::program::{self, DeviceOption, in_ms};
use common::sigma::{self, SigmaError};
use ndarray::{Array2, Axis};
use slm::filter1d::PreparedFilter1d;
use slm::{Boundary, Buffer2, Filter1d};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Samples that are on the device at a time, unless a single row or column has more. Larger pictures are blurred in bands, so
/// they may be larger than its memory.
const BAND: usize = 1 << 22;

/// Blurs a picture with a Gaussian.
#[derive(Debug, Parser)]
#[command(name = "01_blur")]
pub(crate) struct Arguments {
    /// Input picture: PNG or JPEG
    input: PathBuf,
    /// Output picture: PNG or JPEG, by its extension
    output: PathBuf,
    /// Standard deviation of the Gaussian, in pixels; 0 does not blur
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
    #[error(transparent)]
    Sigma(#[from] SigmaError),
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
    let taps: Vec<_> = gaussian(sigma::checked("--sigma", arguments.sigma)?).iter().map(|&tap| tap as f32).collect();
    let output = Output::new(&arguments.output, &picture::KIND, arguments.force)?;
    let picture = Picture::read(&arguments.input)?;
    picture.check_format(&output)?;
    let device = arguments.device.open()?;
    let filter = Filter1d::correlate(&taps).boundary(Boundary::Reflect).prepare(&device)?;

    let (blurred, device_time) = blur(&filter, &picture, &taps)?;
    let mut report = report(&filter, &picture, &taps)?;
    drop(picture);
    let wrote = blurred.write(&output)?;

    let _ = writeln!(report, "device time {}, in total {}", in_ms(device_time), in_ms(start.elapsed()));
    report.push_str(&wrote);
    Ok(report)
}

/// Returns the blurred picture, which is checked, and the time of the device.
fn blur(filter: &PreparedFilter1d<f32>, picture: &Picture, taps: &[f32]) -> Result<(Picture, Duration), Failure> {
    let (mut blurred, mut time, mut opacity) = (picture.clone(), Duration::ZERO, None);
    // The opacity is the last channel, and the first one here, because the colours depend on it.
    for channel in (0..picture.channels()).rev() {
        let before = Channel { picture, channel };
        let mut plane = before.plane();
        time += blur_plane(filter, &mut plane)?;
        before.check(&plane, taps)?;
        store(&mut blurred, channel, &plane, opacity.as_ref());
        if before.is_opacity() {
            opacity = Some(plane);
        }
    }
    Ok((blurred, time))
}

/// Returns the shape of the bands that a picture is blurred in along an axis. They consist of whole rows or columns.
fn band(shape: [usize; 2], axis: usize) -> [usize; 2] {
    let mut band = shape;
    band[1 - axis] = shape[1 - axis].min((BAND / shape[axis]).max(1));
    band
}

/// Blurs a plane along its rows and down its columns. Returns the time of the device.
fn blur_plane(filter: &PreparedFilter1d<f32>, plane: &mut Array2<f32>) -> slm::Result<Duration> {
    let (device, mut time) = (filter.device(), Duration::ZERO);
    for axis in [1, 0] {
        let lines = band(plane.dim().into(), axis)[1 - axis];
        for mut band in plane.axis_chunks_iter_mut(Axis(1 - axis), lines) {
            let samples = Buffer2::upload(device, band.view())?;
            let mut outputs = Buffer2::zeroed(device, samples.rows(), samples.columns())?;
            let ((), took) = device.time(|| filter.along(axis).apply_into(&samples, &mut outputs))?;
            band.assign(&outputs.download()?);
            time += took;
        }
    }
    Ok(time)
}

/// Returns what runs on the device, and on which one.
fn report(filter: &PreparedFilter1d<f32>, picture: &Picture, taps: &[f32]) -> slm::Result<String> {
    let mut report = format!("{}\n", filter.device());
    let _ = writeln!(report, "channels {}, taps {}", picture.channels(), taps.len());
    for (name, axis) in [("along the rows", 1), ("down the columns", 0)] {
        let band = band([picture.rows, picture.columns], axis);
        let _ = writeln!(report, "{name}:\n{}", filter.along(axis).plan(band)?);
    }
    Ok(report)
}

/// Replaces a channel by a blurred plane, rounded. Colours are divided by the blurred opacity: the inverse of [`Channel::get`].
fn store(picture: &mut Picture, channel: usize, plane: &Array2<f32>, opacity: Option<&Array2<f32>>) {
    let most = f32::from(picture.most());
    for ((row, column), &blurred) in plane.indexed_iter() {
        let color = match opacity.map(|opacity| opacity[[row, column]]) {
            // Where the opacity is rounded to zero, the colour would be noise.
            Some(opacity) if opacity < 0.5 => 0.0,
            Some(opacity) => blurred * (most / opacity),
            None => blurred,
        };
        picture.set_sample([row, column], channel, color.round().clamp(0.0, most) as u16);
    }
}

/// A channel of a picture as numbers.
#[derive(Clone, Copy)]
struct Channel<'a> {
    picture: &'a Picture,
    channel: usize,
}

impl Channel<'_> {
    fn is_opacity(&self) -> bool {
        self.picture.color.has_alpha() && self.channel == self.picture.channels() - 1
    }

    /// Returns a number. Colours are multiplied by the opacity, so that invisible colours do not show in the blur.
    fn get(&self, place: [usize; 2]) -> f32 {
        let sample = f32::from(self.picture.sample(place, self.channel));
        if !self.picture.color.has_alpha() || self.is_opacity() {
            return sample;
        }
        let opacity = f32::from(self.picture.sample(place, self.picture.channels() - 1));
        sample * (opacity / f32::from(self.picture.most()))
    }

    fn plane(&self) -> Array2<f32> {
        Array2::from_shape_fn((self.picture.rows, self.picture.columns), |place| self.get(place.into()))
    }

    /// Returns an error if the blurred plane leaves the range of the original, or differs from the definition at the corners or
    /// at some pixels between them.
    fn check(&self, after: &Array2<f32>, taps: &[f32]) -> Result<(), Failure> {
        let (rows, columns) = after.dim();
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column]));
        let numbers = places.map(|place| self.get(place));
        let (least, greatest) = numbers.fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(x), b.max(x)));
        let bound = rounding(greatest, taps);
        let compare = |(row, column): (usize, usize), expected: f64| {
            let (actual, channel) = (after[[row, column]], self.channel);
            // A NaN must fail.
            let agrees = (f64::from(actual) - expected).abs() <= bound;
            if agrees { Ok(()) } else { Err(Failure::Wrong { channel, row, column, actual, expected, bound }) }
        };
        for (place, &actual) in after.indexed_iter() {
            compare(place, f64::from(actual).clamp(least.into(), greatest.into()))?;
        }
        let (down, along) = (Reflected::new(taps, rows), Reflected::new(taps, columns));
        let some = |n: usize| [0, n / 3, n / 2, n - 1];
        for row in some(rows) {
            for column in some(columns) {
                compare((row, column), self.blurred(&down.at(row), &along.at(column)))?;
            }
        }
        Ok(())
    }

    /// Returns a pixel of the blurred plane for the weights of rows and columns, in double precision.
    fn blurred(&self, rows: &[(usize, f64)], columns: &[(usize, f64)]) -> f64 {
        let row = |r: usize| columns.iter().map(|&(c, weight)| weight * f64::from(self.get([r, c]))).sum::<f64>();
        rows.iter().map(|&(r, weight)| weight * row(r)).sum()
    }
}

/// Returns the maximum distance of both passes from the exact result, for numbers from 0 to `largest`: twice the bound that the
/// library documents, plus the rounding error of the sum of the taps.
fn rounding(largest: f32, taps: &[f32]) -> f64 {
    let relative = 1.0 + taps.len() as f64 * f64::from(f32::EPSILON) / 2.0;
    let sum: f64 = taps.iter().copied().map(f64::from).sum();
    f64::from(largest) * ((sum * relative).powi(2) - 1.0 + 2.0 * (sum.powi(2) - 1.0).abs())
}
