//! Adds salt-and-pepper noise to a picture, and removes it by a median or another rank of the samples around each pixel:
//!
//! ```sh
//! cargo run --release --example 09_denoise -- assets/camera.png denoised.png --noise 0.1 --window 3
//! ```
//!
//! The output is a sheet with the picture, the noisy one and the filtered one. Its title has their mean differences from the picture. A
//! pixel is noisy with the probability `--noise`: then all of its channels are black or white, either with the same probability. `--seed`
//! selects the pixels. `--percentile` takes another rank than the median: 50.
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits. Each channel is filtered by itself. Transparent pictures are laid on white first. Outside a
//! picture, there is its reflection. The result is compared with sorted windows at some pixels. `--force` allows overwriting a file.

mod common;

use clap::Parser;
use common::file::{FileError, Output};
use common::number::Short;
use common::picture::{self, Picture, Sample};
use common::program::{self, DeviceOption, in_ms};
use common::sheet::Sheet;
use slm::{Boundary, Device, Rank2d, RankElement};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Adds salt-and-pepper noise to a picture, and removes it by a median or another rank.
#[derive(Debug, Parser)]
#[command(name = "09_denoise")]
pub(crate) struct Arguments {
    /// Input picture: PNG or JPEG
    input: PathBuf,
    /// Sheet with the picture, the noisy and the filtered one: PNG or JPEG, by its extension
    output: PathBuf,
    /// Probability that a pixel becomes black or white, from 0 to 1
    #[arg(long, default_value_t = 0.1, allow_hyphen_values = true)]
    noise: f64,
    /// Seed of the noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rows and columns of the window around a pixel
    #[arg(long, default_value_t = 3)]
    window: usize,
    /// Percentile of the samples in the window: 0 is their minimum, 50 their median, 100 their maximum
    #[arg(long, default_value_t = 50.0, allow_hyphen_values = true)]
    percentile: f64,
    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    device: DeviceOption,
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("--noise {}: a probability must be from 0 to 1", Short(*.0))]
    Noise(f64),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Filter(#[from] slm::Error),
    #[error("channel {channel} at row {row}, column {column} became {actual}, expected {expected}")]
    Wrong { channel: usize, row: usize, column: usize, actual: u16, expected: u16 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    if !(0.0..=1.0).contains(&arguments.noise) {
        return Err(Failure::Noise(arguments.noise));
    }
    let output = Output::new(&arguments.output, &picture::KIND, arguments.force)?;
    let picture = Picture::read(&arguments.input)?.on_white();
    let device = arguments.device.open()?;
    let filter = Filter { window: arguments.window, percentile: arguments.percentile };

    let (noisy, filtered, time) = match picture.is_wide() {
        true => filter.denoise::<u16>(&device, &picture, arguments)?,
        false => filter.denoise::<u8>(&device, &picture, arguments)?,
    };
    filter.check(&noisy, &filtered)?;

    let Picture { columns, rows, color, .. } = picture;
    let title = format!("{columns} x {rows}, {color:?}");
    let [before, after] = [&noisy, &filtered].map(|other| format!("{:.2}", difference(&picture, other)));
    let mut sheet = Sheet::default();
    sheet.begin_row(format!("{title}, difference {before} to {after}"));
    sheet.add("original".to_owned(), &picture);
    sheet.add(format!("noise {}", Short(arguments.noise)), &noisy);
    sheet.add(filter.to_string(), &filtered);
    let wrote = sheet.draw().write(&output)?;
    let report = format!("mean difference {before} with noise, {after} filtered");
    Ok(format!("{device}\n{title}\ndevice time {}\n{report}\n{wrote}", in_ms(time)))
}

/// The rank filter.
#[derive(Clone, Copy, Debug)]
struct Filter {
    /// Rows and columns.
    window: usize,
    percentile: f64,
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percentile {
            50.0 => write!(f, "median {0} x {0}", self.window),
            percentile => write!(f, "{}% of {1} x {1}", Short(percentile), self.window),
        }
    }
}

impl Filter {
    /// Returns the picture with noise, the filtered one, and the time of the device.
    fn denoise<S: Sample + RankElement>(
        self,
        device: &Device,
        picture: &Picture,
        arguments: &Arguments,
    ) -> slm::Result<(Picture, Picture, Duration)> {
        let noisy = picture.with_samples(with_noise::<S>(picture, arguments.noise, arguments.seed));
        let samples = noisy.upload::<S>(device)?;
        let rank = Rank2d::<S>::percentile(self.window, self.percentile).boundary(Boundary::Reflect);
        let rank = rank.channels(picture.channels()).prepare(device)?;
        let (outputs, time) = device.time(|| rank.apply(&samples)?.download())?;
        let filtered = picture.with_samples(outputs.into_raw_vec_and_offset().0);
        Ok((noisy, filtered, time))
    }

    /// Returns an error if a result differs from the sorted window at the corners or at some pixels between them.
    fn check(self, noisy: &Picture, filtered: &Picture) -> Result<(), Failure> {
        let some = |n: usize| [0, n / 3, n / 2, n - 1];
        for channel in 0..noisy.channels() {
            for (row, column) in some(noisy.rows).into_iter().flat_map(|row| some(noisy.columns).map(|c| (row, c))) {
                let mut window = self.samples(noisy, [row, column], channel);
                window.sort_unstable();
                let rank = (window.len() as f64 * self.percentile / 100.0) as usize;
                let expected = window[rank.min(window.len() - 1)];
                let actual = filtered.sample([row, column], channel);
                if actual != expected {
                    return Err(Failure::Wrong { channel, row, column, actual, expected });
                }
            }
        }
        Ok(())
    }

    /// Returns the samples of a window.
    fn samples(self, picture: &Picture, [row, column]: [usize; 2], channel: usize) -> Vec<u16> {
        let places = |place: usize, len: usize| {
            (0..self.window).map(move |tap| reflected((place + tap) as isize - (self.window / 2) as isize, len))
        };
        let columns = || places(column, picture.columns);
        let rows = places(row, picture.rows);
        rows.flat_map(|row| columns().map(move |column| picture.sample([row, column], channel))).collect()
    }
}

/// Returns the sample at a position of a line that is continued by its reflection.
fn reflected(position: isize, len: usize) -> usize {
    let place = position.rem_euclid(2 * len as isize) as usize;
    place.min(2 * len - 1 - place)
}

/// Returns the samples of a noisy picture: some of its pixels are black or white.
fn with_noise<S: Sample>(picture: &Picture, probability: f64, seed: u64) -> Vec<S> {
    let (channels, most) = (picture.channels(), picture.most());
    let pixels = (0..picture.rows).flat_map(|row| (0..picture.columns).map(move |column| [row, column]));
    let mut samples = Vec::with_capacity(picture.rows * picture.columns * channels);
    for (number, place) in pixels.enumerate() {
        let bits = random(seed, number as u64);
        // 53 bits for the probability, another one for the colour.
        let is_noisy = ((bits >> 11) as f64) < probability * (1u64 << 53) as f64;
        let noise = if bits & 1 == 0 { 0 } else { most };
        let sample = |channel| if is_noisy { noise } else { picture.sample(place, channel) };
        samples.extend((0..channels).map(|channel| S::of(sample(channel))));
    }
    samples
}

/// Returns number `number` of a sequence of random bits: SplitMix64, by S. Vigna.
fn random(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Returns the mean absolute difference of the samples of two pictures, of 255 for white.
fn difference(picture: &Picture, other: &Picture) -> f64 {
    let places = (0..picture.rows).flat_map(|row| (0..picture.columns).map(move |column| [row, column]));
    let of_pixel =
        |place| (0..picture.channels()).map(move |c| picture.sample(place, c).abs_diff(other.sample(place, c)));
    let sum: f64 = places.flat_map(of_pixel).map(f64::from).sum();
    let count = picture.rows * picture.columns * picture.channels();
    sum / count as f64 * 255.0 / f64::from(picture.most())
}
