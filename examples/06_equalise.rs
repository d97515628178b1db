//! Blurs a picture slightly, equalises its histogram, and transposes it. All steps run on the device:
//!
//! ```sh
//! cargo run --release --example 06_equalise -- assets/camera.png equalised.png --sigma 1
//! ```
//!
//! [`equalised`] is the whole pipeline, eleven lines. Each step is enqueued behind the one before it, and only the result is
//! downloaded. Also the histogram stays on the device, where it becomes the table that equalises it.
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits. All channels are counted together and have one table, so that equal samples
//! remain equal. Transparent pictures are laid on white first. The result is compared with the definition. `--force` allows
//! overwriting a file.

mod common;

use clap::Parser;
use common::definition::{Term, blurred, gaussian};
use common::file::{FileError, Output};
use common::picture::{self, Picture, Sample};
use common::program::{self, DeviceOption, in_ms};
use ndarray::Array2;
use slm::{
    Boundary, Convert, Device, Filter2d, Histogram, HistogramElement, Lookup, LookupElement, Transpose,
    TransposeElement,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Blurs a picture slightly, equalises its histogram, and transposes it.
#[derive(Debug, Parser)]
#[command(name = "06_equalise")]
struct Arguments {
    /// Input picture: PNG or JPEG
    input: PathBuf,
    /// Output picture: PNG or JPEG, by its extension
    output: PathBuf,
    /// Standard deviation of the Gaussian, in pixels
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
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
    File(#[from] FileError),
    #[error(transparent)]
    Pipeline(#[from] slm::Error),
    #[error("channel {channel} at row {row}, column {column} became {actual}, expected from {least} to {greatest}")]
    Wrong { channel: usize, row: usize, column: usize, actual: f64, least: f64, greatest: f64 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let output = Output::new(&arguments.output, &picture::KIND, arguments.force)?;
    let picture = Picture::read(&arguments.input)?.on_white();
    picture.check_format(&output)?;
    let device = arguments.device.open()?;

    let (result, time) = match picture.is_wide() {
        true => result::<u16>(&device, &picture, arguments.sigma)?,
        false => result::<u8>(&device, &picture, arguments.sigma)?,
    };
    check(&picture, &result, arguments.sigma)?;
    let wrote = result.write(&output)?;

    let Picture { columns, rows, color, .. } = picture;
    Ok(format!("{device}\n{columns} x {rows}, {color:?}\ndevice time {}\n{wrote}", in_ms(time)))
}

/// A type of samples that can be equalised.
trait Equalise: Sample + LookupElement + HistogramElement + TransposeElement {
    /// Returns a histogram with a bin for each value.
    fn histogram() -> Histogram<Self>;
}

impl Equalise for u8 {
    fn histogram() -> Histogram<u8> {
        Histogram::bytes()
    }
}

impl Equalise for u16 {
    fn histogram() -> Histogram<u16> {
        Histogram::low_bits(16)
    }
}

/// Returns the samples of a picture, blurred, equalised and transposed.
fn equalised<S: Equalise>(device: &Device, picture: &Picture, sigma: f64) -> slm::Result<Array2<S>> {
    let channels = picture.channels();
    let samples = picture.upload::<S>(device)?;
    let floats = Convert::<S, f32>::new().prepare(device)?.apply_buffer2(&samples)?;
    let blur = Filter2d::gaussian(sigma).boundary(Boundary::Reflect).channels(channels).prepare(device)?;
    let smooth = Convert::<f32, S>::new().prepare(device)?.apply_buffer2(&blur.apply_buffer2(&floats)?)?;
    let histogram = S::histogram().prepare(device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.apply_into(&smooth, &mut counts)?;
    let equal = Lookup::equalise(&counts)?.apply_buffer2(&smooth)?;
    let transpose = Transpose::new(picture.rows, picture.columns).components(channels).prepare(device)?;
    transpose.apply_buffer2(&equal)?.download()
}

/// Returns the resulting picture, and the time of the device.
fn result<S: Equalise>(device: &Device, picture: &Picture, sigma: f64) -> slm::Result<(Picture, Duration)> {
    let (samples, time) = device.time(|| equalised::<S>(device, picture, sigma))?;
    let result = picture.with_samples(samples.into_iter().map(S::into));
    Ok((Picture { rows: picture.columns, columns: picture.rows, ..result }, time))
}

/// Returns an error if a sample of the result differs from the definition.
fn check(picture: &Picture, result: &Picture, sigma: f64) -> Result<(), Failure> {
    let (vector, most) = (gaussian(sigma), f64::from(picture.most()));
    let smooth: Vec<_> = (0..picture.channels()).map(|channel| blurred(&picture.plane(channel), &vector)).collect();
    let error = Term::square(1.0, vector).rounding() * most;
    let rounded = |error: f64| move |x: f64| (x + error).round_ties_even().clamp(0.0, most) as usize;
    let planes = [-error, error].map(|error| smooth.iter().map(|plane| plane.mapv(rounded(error))).collect());
    let definition = Definition::new(planes, picture.most());
    for channel in 0..picture.channels() {
        for ((column, row), &actual) in result.plane(channel).indexed_iter() {
            let [least, greatest] = definition.expected(channel, [row, column]);
            if !(least..=greatest).contains(&actual) {
                return Err(Failure::Wrong { channel, row, column, actual, least, greatest });
            }
        }
    }
    Ok(())
}

/// What equalising makes of samples that are only known to be between two integers, because they were rounded.
struct Definition {
    /// The samples of each channel: at least and at most.
    planes: [Vec<Array2<usize>>; 2],
    /// For each value, the number of samples that are not larger: at least and at most.
    ranks: [Vec<f64>; 2],
    /// The number of samples with the smallest value: at least and at most.
    first: [f64; 2],
}

impl Definition {
    fn new(planes: [Vec<Array2<usize>>; 2], most: u16) -> Self {
        // The more a sample, the fewer values it does not exceed.
        let [many, few] = planes.each_ref().map(|planes| ranks(planes.iter().flatten(), most));
        let smallest = planes.each_ref().map(|planes| planes.iter().flatten().copied().min().unwrap_or(0));
        let first = [few[smallest[0]], many[smallest[1]]];
        Definition { planes, ranks: [few, many], first }
    }

    /// Returns the least and the greatest result that a sample may have.
    fn expected(&self, channel: usize, place: [usize; 2]) -> [f64; 2] {
        let samples = self.planes.each_ref().map(|planes| planes[channel][place]);
        let (last, total) = (self.ranks[0].len() - 1, self.ranks[0].last().copied().unwrap_or(0.0));
        let [fewest, _] = self.first;
        if fewest == total {
            return samples.map(|sample| sample as f64);
        }
        let formula =
            |rank: f64, first: f64| ((rank - first) * last as f64 / (total - first)).max(0.0).round_ties_even();
        [formula(self.ranks[0][samples[0]], self.first[1]), formula(self.ranks[1][samples[1]], self.first[0])]
    }
}

/// Returns for each value up to `most` the number of samples that are not larger.
fn ranks<'a>(samples: impl Iterator<Item = &'a usize>, most: u16) -> Vec<f64> {
    let mut counts = vec![0.0; usize::from(most) + 1];
    samples.for_each(|&sample| counts[sample] += 1.0);
    let sum = |sum: &mut f64, count: f64| {
        *sum += count;
        Some(*sum)
    };
    counts.into_iter().scan(0.0, sum).collect()
}
