//! Counts a file's bytes, or the channels of a picture, and draws the histogram in the terminal and as an SVG:
//!
//! ```sh
//! cargo run --release --example 02_histogram -- assets/astronaut.png --svg astronaut.svg
//! ```
//!
//! PNG and JPEG are pictures, unless `--bytes` says that their bytes are meant; opacity is not counted. The bins divide
//! all values of a sample evenly. The result is compared with a count of the example's own.

#[path = "common/jpeg.rs"]
mod jpeg;

use clap::Parser;
use image::{DynamicImage, ImageError, ImageFormat};
use plotters::prelude::*;
use slm::histogram::{Counts, HistogramElement};
use slm::{Device, Histogram};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

/// The columns that the longest bar of the terminal takes.
const BAR: usize = 60;

/// Draws the histogram of a file.
#[derive(Debug, Parser)]
#[command(name = "02_histogram")]
struct Arguments {
    /// The file: a PNG or JPEG picture, or any other
    input: PathBuf,
    /// How many bins
    #[arg(long, default_value_t = 32)]
    bins: usize,
    /// Count the bytes of the file, even if it is a picture
    #[arg(long)]
    bytes: bool,
    /// Where to draw the histogram as an SVG
    #[arg(long)]
    svg: Option<PathBuf>,
    /// The device: auto, cpu, cuda, cuda:N, emulated, emulated:PROFILE or emulated:PROFILE:SEED; without it, SLM_DEVICE
    /// decides
    #[arg(long)]
    device: Option<String>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("{}: {cause}", path.display())]
    Picture { path: PathBuf, cause: ImageError },
    #[error("{}: the JPEG data end too early", .0.display())]
    EndsEarly(PathBuf),
    #[error("the chart cannot be drawn: {0}")]
    Chart(String),
    #[error(transparent)]
    Histogram(#[from] slm::Error),
    #[error("bin {bin} of {channel} has {actual}, expected {expected}")]
    Wrong { channel: &'static str, bin: usize, actual: u64, expected: u64 },
}

fn main() -> ExitCode {
    // A closed pipe on the other side is no failure, so nothing is made of errors while printing.
    match run(&Arguments::parse()) {
        Ok(report) => {
            let _ = write!(io::stdout(), "{report}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let message = failure.to_string().replace('\n', "; ");
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let device = arguments.device.as_deref().map_or_else(Device::open, Device::named)?;
    let bytes = fs::read(&arguments.input).map_err(|cause| at(&arguments.input, cause))?;
    let (chart, mut report) = match picture(arguments, &bytes)? {
        None => count(&device, &bytes, u8::MAX, &["bytes"], 1, arguments.bins)?,
        Some(picture) => count_picture(&device, &picture, arguments.bins)?,
    };
    chart.print(&mut report);
    if let Some(path) = &arguments.svg {
        fs::write(path, chart.svg()?).map_err(|cause| at(path, cause))?;
    }
    Ok(report)
}

fn at(path: &Path, cause: io::Error) -> Failure {
    Failure::File { path: path.to_owned(), cause }
}

/// The picture that the bytes are, if they are one and it is asked for.
fn picture(arguments: &Arguments, bytes: &[u8]) -> Result<Option<DynamicImage>, Failure> {
    match image::guess_format(bytes) {
        Ok(ImageFormat::Jpeg) if !arguments.bytes && !jpeg::is_complete(bytes) => {
            Err(Failure::EndsEarly(arguments.input.clone()))
        }
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) if !arguments.bytes => {
            let picture = image::load_from_memory_with_format(bytes, format);
            picture.map(Some).map_err(|cause| Failure::Picture { path: arguments.input.clone(), cause })
        }
        _ => Ok(None),
    }
}

/// Counts the colours of 8 or 16 bits.
fn count_picture(device: &Device, picture: &DynamicImage, bins: usize) -> Result<(Chart, String), Failure> {
    let color = picture.color();
    let names: &[_] = if color.has_color() { &["red", "green", "blue"] } else { &["grey"] };
    let channels = usize::from(color.channel_count());
    match picture.as_flat_samples_u16() {
        Some(samples) => count(device, samples.as_slice(), u16::MAX, names, channels, bins),
        None => count(device, picture.as_bytes(), u8::MAX, names, channels, bins),
    }
}

/// Counts interleaved channels, of which those with names come first: what came of it, and how it was done.
fn count<T: HistogramElement + Into<u64>>(
    device: &Device,
    samples: &[T],
    most: T,
    names: &[&'static str],
    channels: usize,
    bins: usize,
) -> Result<(Chart, String), Failure> {
    let histogram = Histogram::even(bins, T::default()..most).closed().channels(channels).count(names.len());
    let histogram = histogram.prepare(device)?;
    let buffer = device.upload(samples)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    let ((), time) = device.time(|| histogram.apply_into(&buffer, &mut counts))?;
    let counts = histogram.counts(&counts)?;
    check(samples, most.into(), names, channels, &counts)?;

    let mut report = format!("{device}: {}\n{}\n", device.info().selection, histogram.plan(samples.len()));
    let _ = writeln!(report, "time       {}", in_ms(time));
    let counts = names.iter().zip(counts.channels()).map(|(name, channel)| (*name, channel.bins.to_vec())).collect();
    Ok((Chart { counts, most: most.into() }, report))
}

fn in_ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// Counts again, one sample after another.
fn check<T: HistogramElement + Into<u64>>(
    samples: &[T],
    most: u64,
    names: &[&'static str],
    channels: usize,
    counts: &Counts<T>,
) -> Result<(), Failure> {
    for (c, (name, counted)) in names.iter().zip(counts.channels()).enumerate() {
        let bins = counted.bins.len() as u64;
        let mut expected = vec![0; counted.bins.len()];
        for &sample in samples[c.min(samples.len())..].iter().step_by(channels) {
            let value: u64 = sample.into();
            expected[(value * bins / most).min(bins - 1) as usize] += 1;
        }
        for (bin, (&actual, expected)) in counted.bins.iter().zip(expected).enumerate() {
            if actual != expected {
                return Err(Failure::Wrong { channel: name, bin, actual, expected });
            }
        }
    }
    Ok(())
}

/// The counts of some channels, with their names. All have as many bins, from 0 to `most`.
struct Chart {
    counts: Vec<(&'static str, Vec<u64>)>,
    most: u64,
}

impl Chart {
    fn largest(&self) -> u64 {
        self.counts.iter().flat_map(|(_, counts)| counts).copied().max().unwrap_or(0).max(1)
    }

    /// The least value in a bin.
    fn first(&self, bin: usize, bins: usize) -> u64 {
        (bin as u64 * self.most).div_ceil(bins as u64)
    }

    /// A line for each bin: its first value, a bar and its count.
    fn print(&self, report: &mut String) {
        let largest = self.largest();
        for (name, counts) in &self.counts {
            let _ = writeln!(report, "\n{name}");
            for (bin, &count) in counts.iter().enumerate() {
                let bar = "█".repeat((u128::from(count) * BAR as u128).div_ceil(largest.into()) as usize);
                let _ = writeln!(report, "{:>6} {bar} {count}", self.first(bin, counts.len()));
            }
        }
    }

    fn svg(&self) -> Result<String, Failure> {
        let mut svg = String::new();
        self.draw(&SVGBackend::with_string(&mut svg, (960, 480)).into_drawing_area())
            .map_err(|error| Failure::Chart(error.to_string()))?;
        Ok(svg)
    }

    /// A transparent bar for each count, those of all channels over each other.
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
        area.fill(&WHITE)?;
        let mut builder = ChartBuilder::on(area);
        builder.margin(10).x_label_area_size(30).y_label_area_size(80);
        let mut chart = builder.build_cartesian_2d(0.0..self.most as f64, 0..self.largest())?;
        chart.configure_mesh().disable_x_mesh().draw()?;
        for (name, counts) in &self.counts {
            let (color, width) = (color(name), self.most as f64 / counts.len() as f64);
            chart.draw_series(counts.iter().enumerate().map(|(bin, &count)| {
                let left = bin as f64 * width;
                Rectangle::new([(left, 0), (left + width, count)], color.mix(0.5).filled())
            }))?;
        }
        area.present()
    }
}

fn color(name: &str) -> RGBColor {
    match name {
        "red" => RED,
        "green" => GREEN,
        "blue" => BLUE,
        _ => BLACK,
    }
}
