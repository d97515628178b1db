//! Blurs or counts the samples of a file of any size, in little memory:
//!
//! ```sh
//! cargo run --release --example 08_stream -- blur --type i16 --channels 2 --sigma 30 sound.raw soft.raw
//! cargo run --release --example 08_stream -- count --type f32 --bins 10 --from -1 --to 1 measured.raw
//! ```
//!
//! Files are raw: little-endian numbers one after another, without a header. `--channels` is for interleaved channels. Samples
//! are one line, or with `--columns` the rows of a picture. Outside of it, there is its reflection. `-` is standard input or
//! output:
//!
//! ```sh
//! cat *.raw | cargo run --release --example 08_stream -- count -
//! ```
//!
//! While it runs, a bar in the terminal shows how far it is. At the end it checks that no sample was lost. An output file is
//! complete or is not written at all; `--force` allows overwriting one. Ctrl-C ends it early.

mod common;

use clap::{Args, Parser, Subcommand, ValueEnum};
use common::file::{Cause, FileError, Output};
use common::interrupt;
use common::program::{self, DeviceOption, Report, in_ms, say};
use common::sigma::{self, SigmaError};
use indicatif::{ProgressBar, ProgressStyle};
use slm::histogram::{Counts, HistogramBound, HistogramElement};
use slm::stream::Stream;
use slm::{Boundary, Filter1d, Filter2d, FilterSample, Histogram};
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Blurs or counts the samples of a file of any size.
#[derive(Debug, Parser)]
#[command(name = "08_stream")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    operation: Operation,
}

#[derive(Debug, Subcommand)]
enum Operation {
    /// Blur samples with a Gaussian
    Blur(Blur),
    /// Count samples in bins of equal width
    Count(Count),
}

#[derive(Debug, Args)]
struct Blur {
    /// Input file, or - for standard input
    input: PathBuf,
    /// Output file, or - for standard output
    output: PathBuf,
    /// Type of the samples and of the outputs
    #[arg(long = "type", value_name = "TYPE", default_value = "u8")]
    sample: FilterType,
    /// Standard deviation of the Gaussian, in samples; 0 does not blur
    #[arg(long, default_value_t = 3.0, allow_hyphen_values = true)]
    sigma: f64,
    /// Number of columns of a picture; without it, the samples are one line
    #[arg(long, allow_hyphen_values = true, value_parser = clap::value_parser!(u32).range(1..))]
    columns: Option<u32>,
    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Args)]
struct Count {
    /// Input file, or - for standard input
    input: PathBuf,
    /// Type of the samples
    #[arg(long = "type", value_name = "TYPE", default_value = "u8")]
    sample: HistogramType,
    /// Number of bins
    #[arg(long, default_value_t = 16, allow_hyphen_values = true)]
    bins: u32,
    /// Lower end of the first bin; by default, integers are counted from their least value on
    #[arg(long, allow_hyphen_values = true, requires = "to")]
    from: Option<f64>,
    /// Upper end of the last bin, which does not belong to it
    #[arg(long, allow_hyphen_values = true, requires = "from")]
    to: Option<f64>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Args)]
struct Options {
    /// Number of interleaved channels
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    channels: u32,
    /// Memory for samples and outputs, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20, allow_hyphen_values = true)]
    memory: usize,
    #[command(flatten)]
    device: DeviceOption,
}

/// Types of samples that can be filtered.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FilterType {
    U8,
    U16,
    I16,
    I32,
    F32,
    F64,
}

/// Types of samples that can be counted.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum HistogramType {
    U8,
    U16,
    U32,
    I32,
    F32,
    F64,
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Sigma(#[from] SigmaError),
    #[error("--from and --to are needed for floats")]
    NoRange,
    #[error("--from and --to must be whole numbers for integers, not {from} and {to}")]
    NotWhole { from: f64, to: f64 },
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Stream(#[from] slm::Error),
    #[error("{error}; {} was not written", path.display())]
    NotWritten { error: slm::Error, path: PathBuf },
    #[error("{results} results of {bytes} bytes of input, expected {expected}")]
    Wrong { results: u64, bytes: u64, expected: u64 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<Report, Failure> {
    interrupt::expect();
    let result = match &arguments.operation {
        Operation::Blur(blur) => blur.run(),
        Operation::Count(count) => count.run(),
    };
    match result {
        Err(failure) if interrupt::has_come() => {
            say(format!("interrupted {failure}"));
            Ok(Report { text: String::new(), status: interrupt::STATUS.into() })
        }
        result => result.map(Report::from),
    }
}

impl Blur {
    fn run(&self) -> Result<String, Failure> {
        sigma::checked("--sigma", self.sigma)?;
        if is_standard(&self.output) {
            // Standard output has the samples, so there is no report.
            return self.write(io::stdout()).map(|_| String::new());
        }
        let output = Output::of_any_kind(&self.output, self.force)?;
        let report = output.write_with(|file| self.write(file)).map_err(|failure| match failure {
            Failure::Stream(error) => Failure::NotWritten { error, path: self.output.clone() },
            other => other,
        })?;
        Ok(report + &output.report())
    }

    /// Writes the blurred samples. Returns the report.
    fn write(&self, output: impl Write) -> Result<String, Failure> {
        match self.sample {
            FilterType::U8 => self.write_as::<u8>(output),
            FilterType::U16 => self.write_as::<u16>(output),
            FilterType::I16 => self.write_as::<i16>(output),
            FilterType::I32 => self.write_as::<i32>(output),
            FilterType::F32 => self.write_as::<f32>(output),
            FilterType::F64 => self.write_as::<f64>(output),
        }
    }

    fn write_as<T: FilterSample>(&self, output: impl Write) -> Result<String, Failure> {
        let (input, device) = (Input::open(&self.input)?, self.options.device.open()?);
        let (channels, boundary) = (self.options.channels as usize, Boundary::Reflect);
        let done = if let Some(columns) = self.columns {
            let filter =
                Filter2d::<T, _>::gaussian(self.sigma).channels(channels).boundary(boundary).prepare(&device)?;
            let columns = (columns as usize).saturating_mul(channels);
            self.options.run(&input.bar, filter.stream(input.samples, output, columns)?)?
        } else {
            let filter =
                Filter1d::<T, _>::gaussian(self.sigma).channels(channels).boundary(boundary).prepare(&device)?;
            self.options.run(&input.bar, filter.stream(input.samples, output))?
        };
        done.check::<T>(done.result)?;
        Ok(format!("{device}\n{}", done.report))
    }
}

impl Count {
    fn run(&self) -> Result<String, Failure> {
        let (bins, [from, to]) = (self.bins as usize, self.range()?);
        match self.sample {
            HistogramType::U8 => self.count(self.whole::<u8>()?),
            HistogramType::U16 => self.count(self.whole::<u16>()?),
            HistogramType::U32 => self.count(self.whole::<u32>()?),
            HistogramType::I32 => self.count(self.whole::<i32>()?),
            HistogramType::F32 => self.count(Histogram::even(bins, from..to).single_precision()),
            HistogramType::F64 => self.count(Histogram::even(bins, from..to)),
        }
    }

    /// Returns the ends of the bins.
    fn range(&self) -> Result<[f64; 2], Failure> {
        if let (Some(from), Some(to)) = (self.from, self.to) {
            return Ok([from, to]);
        }
        match self.sample {
            HistogramType::U8 => Ok([0.0, 256.0]),
            HistogramType::U16 => Ok([0.0, 65_536.0]),
            HistogramType::U32 => Ok([0.0, 2f64.powi(32)]),
            HistogramType::I32 => Ok([-2f64.powi(31), 2f64.powi(31)]),
            HistogramType::F32 | HistogramType::F64 => Err(Failure::NoRange),
        }
    }

    /// Returns the histogram of integers.
    fn whole<T: HistogramElement>(&self) -> Result<Histogram<T>, Failure>
    where
        i64: HistogramBound<T>,
    {
        let [from, to] = self.range()?;
        if from.fract() != 0.0 || to.fract() != 0.0 {
            return Err(Failure::NotWhole { from, to });
        }
        Ok(Histogram::even(self.bins as usize, from as i64..to as i64))
    }

    /// Counts the samples. Returns the report.
    fn count<T: HistogramElement<Bound: Display>>(&self, histogram: Histogram<T>) -> Result<String, Failure> {
        let (input, device) = (Input::open(&self.input)?, self.options.device.open()?);
        let histogram = histogram.channels(self.options.channels as usize).prepare(&device)?;
        let done = self.options.run(&input.bar, histogram.stream(input.samples)?)?;
        done.check::<T>(done.result.total())?;
        Ok(format!("{device}\n{}{}", done.report, table(histogram.edges(), &done.result)))
    }
}

/// Returns a line for each bin of each channel: where it begins, and its count.
fn table<T: HistogramElement<Bound: Display>>(edges: &[T::Bound], counts: &Counts<T>) -> String {
    let mut table = String::new();
    for (number, channel) in counts.channels().enumerate() {
        let _ = writeln!(table, "\nchannel {number}");
        for (edge, count) in edges.iter().zip(channel.bins) {
            let _ = writeln!(table, "{edge:>12} {count:>20}");
        }
        for (name, count) in [("below", channel.below), ("above", channel.above), ("NaN", channel.nan)] {
            let _ = writeln!(table, "{name:>12} {count:>20}");
        }
    }
    table
}

/// What a stream has done.
struct Done<T> {
    result: T,
    /// Bytes of the input.
    bytes: u64,
    report: String,
}

impl Options {
    /// Runs a stream, and shows how far it is.
    fn run<R: Read + Send, W: Write, T>(
        &self,
        bar: &ProgressBar,
        stream: Stream<'_, R, W, T>,
    ) -> Result<Done<T>, slm::Error> {
        let (start, mut bytes) = (Instant::now(), 0);
        let stream = stream.memory(self.memory).progress(|progress| {
            bytes = progress.done;
            bar.set_position(bytes);
            if interrupt::has_come() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let result = stream.run();
        bar.finish_and_clear();
        let (result, time) = (result?, start.elapsed());
        let rate = bytes as f64 / time.as_secs_f64() / 1e6;
        Ok(Done { result, bytes, report: format!("{bytes} bytes in {}, {rate:.0} MB/s\n", in_ms(time)) })
    }
}

impl<T> Done<T> {
    /// Returns an error unless each sample of type `S` has one result.
    fn check<S>(&self, results: u64) -> Result<(), Failure> {
        let (bytes, expected) = (self.bytes, self.bytes / size_of::<S>() as u64);
        if results == expected { Ok(()) } else { Err(Failure::Wrong { results, bytes, expected }) }
    }
}

/// Returns whether a path means standard input or output.
fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Samples that can be read, and the bar that shows how many have been.
struct Input {
    samples: Box<dyn Read + Send>,
    /// It is invisible if standard error is not a terminal.
    bar: ProgressBar,
}

impl Input {
    fn open(path: &Path) -> Result<Self, FileError> {
        if is_standard(path) {
            return Ok(Input { samples: Box::new(io::stdin()), bar: spinner() });
        }
        let at = |cause: Cause| cause.at(path);
        let file = File::open(path).map_err(|error| at(error.into()))?;
        let about = file.metadata().map_err(|error| at(error.into()))?;
        if about.is_dir() {
            return Err(at(Cause::IsFolder));
        }
        // Others have no length, such as pipes.
        let bar = if about.is_file() { bar(about.len()) } else { spinner() };
        Ok(Input { samples: Box::new(file), bar })
    }
}

/// Returns a bar for this number of bytes.
fn bar(bytes: u64) -> ProgressBar {
    let text = "{bar:40} {decimal_bytes}/{decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left";
    ProgressBar::new(bytes).with_style(ProgressStyle::with_template(text).expect("the template is right"))
}

/// Returns a spinner, for bytes whose number is not known.
fn spinner() -> ProgressBar {
    let text = "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}";
    ProgressBar::no_length().with_style(ProgressStyle::with_template(text).expect("the template is right"))
}
