//! Counts the channels of a picture, or the bytes of a file, and draws the histogram in the terminal and as an SVG:
//!
//! ```sh
//! cargo run --release --example 02_histogram -- assets/astronaut.png --svg astronaut.svg
//! ```
//!
//! Pictures are PNG or JPEG. Their opacity is not counted. `--bytes` counts the bytes of any file. The bins divide all values
//! of a sample evenly. The result is compared with a separate count on the host.

mod common;

use clap::Parser;
use common::chart::{Axis, Bar, Chart, ChartOptions, Color, Panel};
use common::file::{Cause, FileError};
use common::picture::{Picture, Sample};
use common::program::{self, DeviceOption, in_ms};
use slm::histogram::{Counts, HistogramElement};
use slm::{Device, Histogram};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Columns of the longest bar in the terminal.
const BAR: usize = 60;

/// Draws the histogram of a picture, or of the bytes of a file.
#[derive(Debug, Parser)]
#[command(name = "02_histogram")]
pub(crate) struct Arguments {
    /// PNG or JPEG picture, or any file with --bytes
    input: PathBuf,
    /// Number of bins, at most the number of levels of a sample: 256, or 65536 for 16 bits. All bins have equally many levels
    /// if it divides this number
    #[arg(long, default_value_t = 32, allow_hyphen_values = true, value_parser = clap::value_parser!(u32).range(1..=65536))]
    bins: u32,
    /// Count the bytes of the file, whatever its format
    #[arg(long)]
    bytes: bool,
    #[command(flatten)]
    chart: ChartOptions,
    #[command(flatten)]
    device: DeviceOption,
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{0}; --bytes counts the bytes of any file")]
    NoPicture(FileError),
    #[error("--bins {bins}: the samples have {levels} levels, use 1 to {levels} bins")]
    Bins { bins: usize, levels: u64 },
    #[error(transparent)]
    Histogram(#[from] slm::Error),
    #[error("bin {bin} of {channel} has {actual}, expected {expected}")]
    Wrong { channel: &'static str, bin: usize, actual: u64, expected: u64 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let output = arguments.chart.output()?;
    let samples = Samples::read(arguments)?;
    let device = arguments.device.open()?;
    let (histograms, mut report) = samples.count(&device, arguments.bins as usize)?;
    histograms.print(&mut report);
    if let Some(output) = output {
        let chart = samples.chart(&histograms, arguments);
        report.push_str(&output.write(chart.svg().as_bytes())?);
    }
    Ok(report)
}

/// Samples to count.
enum Samples {
    Bytes(Vec<u8>),
    Picture(Picture),
}

impl Samples {
    fn read(arguments: &Arguments) -> Result<Self, Failure> {
        let path = &arguments.input;
        if arguments.bytes {
            return Ok(Samples::Bytes(fs::read(path).map_err(|error| Cause::from(error).at(path))?));
        }
        Picture::read(path).map(Samples::Picture).map_err(|error| match error.cause {
            Cause::Io(_) => error.into(),
            _ => Failure::NoPicture(error),
        })
    }

    /// Returns the counts of the samples, and the plan.
    fn count(&self, device: &Device, bins: usize) -> Result<(Histograms, String), Failure> {
        match self {
            Samples::Bytes(bytes) => count(device, bytes, u8::MAX, &["bytes"], 1, bins),
            Samples::Picture(picture) => {
                let names: &[_] = if picture.color.has_color() { &["red", "green", "blue"] } else { &["grey"] };
                let channels = usize::from(picture.color.channel_count());
                match picture.is_wide() {
                    true => count(device, &u16::of_bytes(&picture.bytes), u16::MAX, names, channels, bins),
                    false => count(device, &picture.bytes, u8::MAX, names, channels, bins),
                }
            }
        }
    }

    /// Returns a panel for each channel.
    fn chart(&self, histograms: &Histograms, arguments: &Arguments) -> Chart {
        let (name, bins) = (short_name(&arguments.input), arguments.bins);
        let (what, label, up) = match self {
            Samples::Bytes(bytes) => {
                (format!("{} bytes", bytes.len()), "value of the byte".to_owned(), "bytes per bin")
            }
            Samples::Picture(picture) => {
                let bits = if picture.is_wide() { 16 } else { 8 };
                let what = format!("{} × {} pixels", picture.columns, picture.rows);
                (what, format!("level, {bits} bits per channel"), "pixels per bin")
            }
        };
        Chart {
            title: format!("{name}: {what} in {bins} bins"),
            across: histograms.axis(label),
            up,
            growth: arguments.chart.growth(10),
            panels: histograms.panels(),
        }
    }
}

/// Returns the name of a file without its folder, shortened to fit into a title.
fn short_name(path: &Path) -> String {
    const MOST: usize = 60;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into_owned(),
    }
}

/// Counts interleaved channels. The first ones have names, and only these are counted. Returns the counts and the plan.
fn count<T: HistogramElement + Into<u64>>(
    device: &Device,
    samples: &[T],
    most: T,
    names: &[&'static str],
    channels: usize,
    bins: usize,
) -> Result<(Histograms, String), Failure> {
    let largest: u64 = most.into();
    let levels = largest + 1;
    if bins == 0 || bins as u64 > levels {
        return Err(Failure::Bins { bins, levels });
    }
    let histogram = Histogram::even(bins, T::default()..most).closed().channels(channels).count(names.len());
    let histogram = histogram.prepare(device)?;
    let buffer = device.upload(samples)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    let ((), time) = device.time(|| histogram.apply_into(&buffer, &mut counts))?;
    let counts = histogram.counts(&counts)?;
    check(samples, largest, names, channels, &counts)?;

    let mut report = format!("{device}\n{}\n", histogram.plan([samples.len()])?);
    let _ = writeln!(report, "time       {}", in_ms(time));
    let counts = names.iter().zip(counts.channels()).map(|(name, channel)| (*name, channel.bins.to_vec())).collect();
    Ok((Histograms { counts, most: largest }, report))
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

/// Counts of some channels, with their names. All have the same number of bins, from 0 to `most`.
struct Histograms {
    counts: Vec<(&'static str, Vec<u64>)>,
    most: u64,
}

impl Histograms {
    /// Returns the smallest value in a bin; for the bin after the last one, the number after the largest value.
    fn first(&self, bin: usize, bins: usize) -> u64 {
        if bin == bins { self.most + 1 } else { (bin as u64 * self.most).div_ceil(bins as u64) }
    }

    /// Returns a line for each bin: its first value, a bar and its count.
    fn print(&self, report: &mut String) {
        let largest = self.counts.iter().flat_map(|(_, counts)| counts).copied().max().unwrap_or(0).max(1);
        for (name, counts) in &self.counts {
            let _ = writeln!(report, "\n{name}");
            for (bin, &count) in counts.iter().enumerate() {
                let bar = "█".repeat((u128::from(count) * BAR as u128).div_ceil(largest.into()) as usize);
                let _ = writeln!(report, "{:>6} {bar} {count}", self.first(bin, counts.len()));
            }
        }
    }

    fn axis(&self, label: String) -> Axis {
        let levels = self.most + 1;
        Axis { label, ends: [0.0, levels as f64], ticks: (0..=8).map(|k| k * levels / 8).collect() }
    }

    fn panels(&self) -> Vec<Panel> {
        self.counts.iter().map(|(name, counts)| self.panel(name, counts)).collect()
    }

    /// Returns bars with the width of the levels that they count.
    fn panel(&self, name: &str, counts: &[u64]) -> Panel {
        let edge = |bin| self.first(bin, counts.len()) as f64;
        let bar = |(bin, &height): (usize, &u64)| Bar { left: edge(bin), right: edge(bin + 1), height };
        let color = match name {
            "red" => Color::Vermillion,
            "green" => Color::Green,
            "blue" => Color::Blue,
            _ => Color::Grey,
        };
        let bars = counts.iter().enumerate().map(bar).collect();
        Panel { name: name.to_owned(), color, bars, measured: Vec::new() }
    }
}
