//! Blurs a picture slightly, equalises its histogram, and transposes it. All steps run on the device:
//!
//! ```sh
//! cargo run --release --example 06_equalise -- assets/camera.png equalised.png --sigma 1
//! ```
//!
//! [`equalised`] is the whole pipeline, ten lines. Each step is enqueued behind the one before it, and only the result is
//! downloaded. Also the histogram stays on the device, where it becomes the table that equalises it.
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits. All channels are counted together and have one table, so that equal samples
//! remain equal. Transparent pictures are laid on white first. The result has the colour profile of the picture. It is compared with the
//! definition. `--force` allows overwriting a file.

mod common;

use clap::Parser;
use common::definition::{Term, blurred, gaussian};
use common::file::{FileError, Output};
use common::picture::{self, Picture, Sample};
use common::program::{self, DeviceOption, in_ms};
use common::sigma::{self, SigmaError};
use ndarray::Array2;
use slm::{
    Boundary, Device, Filter2d, FilterSample, Histogram, HistogramElement, Lookup, LookupElement, Transpose,
    TransposeElement,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Blurs a picture slightly, equalises its histogram, and transposes it.
#[derive(Debug, Parser)]
#[command(name = "06_equalise")]
pub(crate) struct Arguments {
    /// Input picture: PNG or JPEG
    input: PathBuf,
    /// Output picture: PNG or JPEG, by its extension
    output: PathBuf,
    /// Standard deviation of the Gaussian, in pixels; 0 does not blur
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
    Sigma(#[from] SigmaError),
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
    let sigma = sigma::checked("--sigma", arguments.sigma)?;
    let output = Output::new(&arguments.output, &picture::KIND, arguments.force)?;
    let picture = Picture::read(&arguments.input)?.on_white();
    picture.check_format(&output)?;
    let device = arguments.device.open()?;

    let (result, time) = match picture.is_wide() {
        true => result::<u16>(&device, &picture, sigma)?,
        false => result::<u8>(&device, &picture, sigma)?,
    };
    check(&picture, &result, sigma)?;
    let wrote = result.write(&output)?;

    let Picture { columns, rows, color, .. } = picture;
    Ok(format!("{device}\n{columns} x {rows}, {color:?}\ndevice time {}\n{wrote}", in_ms(time)))
}

/// A type of samples that can be equalised.
trait Equalise: Sample + FilterSample<Weight = f32> + LookupElement + HistogramElement + TransposeElement {
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
    let blur = Filter2d::gaussian(sigma).boundary(Boundary::Reflect).channels(channels).prepare(device)?;
    let smooth = blur.apply(&samples)?;
    let histogram = S::histogram().prepare(device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.apply_into(&smooth, &mut counts)?;
    let equal = Lookup::equalise(&counts)?.apply(&smooth)?;
    let transpose = Transpose::new(picture.rows, picture.columns).components(channels).prepare(device)?;
    transpose.apply(&equal)?.download()
}

/// Returns the resulting picture, and the time of the device.
fn result<S: Equalise>(device: &Device, picture: &Picture, sigma: f64) -> slm::Result<(Picture, Duration)> {
    let (samples, time) = device.time(|| equalised::<S>(device, picture, sigma))?;
    let result = picture.with_samples(samples.into_raw_vec_and_offset().0);
    Ok((Picture { rows: picture.columns, columns: picture.rows, ..result }, time))
}

/// Returns an error if a sample of the result differs from the definition.
fn check(picture: &Picture, result: &Picture, sigma: f64) -> Result<(), Failure> {
    let definition = Definition::new(blurred_samples(picture, sigma), picture.most());
    for channel in 0..picture.channels() {
        for (row, column) in (0..picture.rows).flat_map(|row| (0..picture.columns).map(move |column| (row, column))) {
            let sample = (row * picture.columns + column) * picture.channels() + channel;
            let ([least, greatest], actual) =
                (definition.expected(sample), result.sample([column, row], channel).into());
            if !(least..=greatest).contains(&actual) {
                return Err(Failure::Wrong { channel, row, column, actual, least, greatest });
            }
        }
    }
    Ok(())
}

/// Returns the samples of the blurred picture by definition, in the order of the picture. They are rounded, so each is only known to be
/// between two integers.
fn blurred_samples(picture: &Picture, sigma: f64) -> Vec<[u16; 2]> {
    let (vector, most, channels) = (gaussian(sigma), f64::from(picture.most()), picture.channels());
    let error = Term::square(1.0, vector.clone()).rounding() * most;
    let rounded = |x: f64| [x - error, x + error].map(|x| x.round_ties_even().clamp(0.0, most) as u16);
    let mut samples = vec![[0; 2]; picture.rows * picture.columns * channels];
    for channel in 0..channels {
        let rows = blurred(&vector, [picture.rows, picture.columns], |place| picture.sample(place, channel).into());
        let of_channel = samples[channel..].iter_mut().step_by(channels);
        of_channel.zip(rows.flatten()).for_each(|(sample, x)| *sample = rounded(x));
    }
    samples
}

/// What equalising makes of samples that are only known to be between two integers.
struct Definition {
    /// The samples: at least and at most.
    samples: Vec<[u16; 2]>,
    /// For each value, the number of samples that are not larger: at least and at most.
    ranks: [Vec<f64>; 2],
    /// The number of samples with the smallest value: at least and at most.
    first: [f64; 2],
}

impl Definition {
    fn new(samples: Vec<[u16; 2]>, most: u16) -> Self {
        let of = |bound: usize| samples.iter().map(move |sample| sample[bound].into());
        // The more a sample, the fewer values it does not exceed.
        let [many, few] = [0, 1].map(|bound| ranks(of(bound), most));
        let smallest: [usize; 2] = [0, 1].map(|bound| of(bound).min().unwrap_or(0));
        let first = [few[smallest[0]], many[smallest[1]]];
        Definition { ranks: [few, many], first, samples }
    }

    /// Returns the least and the greatest result that a sample may have.
    fn expected(&self, sample: usize) -> [f64; 2] {
        let samples = self.samples[sample];
        let (last, total) = (self.ranks[0].len() - 1, self.ranks[0].last().copied().unwrap_or(0.0));
        let [fewest, _] = self.first;
        if fewest == total {
            return samples.map(f64::from);
        }
        let formula =
            |rank: f64, first: f64| ((rank - first) * last as f64 / (total - first)).max(0.0).round_ties_even();
        let [few, many] = [0, 1].map(|bound| self.ranks[bound][usize::from(samples[bound])]);
        [formula(few, self.first[1]), formula(many, self.first[0])]
    }
}

/// Returns for each value up to `most` the number of samples that are not larger.
fn ranks(samples: impl Iterator<Item = usize>, most: u16) -> Vec<f64> {
    let mut counts = vec![0.0; usize::from(most) + 1];
    samples.for_each(|sample| counts[sample] += 1.0);
    let sum = |sum: &mut f64, count: f64| {
        *sum += count;
        Some(*sum)
    };
    counts.into_iter().scan(0.0, sum).collect()
}
