//! Blurs and sharpens pictures, and finds their edges:
//!
//! ```sh
//! cargo run --release --example 05_picture -- assets/camera.png assets/astronaut.png --gaussian 4 --edges --sheet sheet.png
//! ```
//!
//! | option | result, from the picture `x` and its Gaussian blurs `g(σ)` |
//! |---|---|
//! | `--gaussian σ` | `g(σ)` |
//! | `--unsharp σ,a` | the unsharp mask `x + a · (x - g(σ))` |
//! | `--edges` | the Sobel magnitude `√(dx² + dy²) / 4`: a straight step from black to white becomes white |
//! | `--dog σ,τ` | twice the difference of Gaussians, around middle grey: `most / 2 + 2 · (g(σ) - g(τ))` |
//!
//! `--sheet FILE` writes a contact sheet with the pictures and all results. `--results FOLDER` writes each result as a PNG, such as
//! `camera-edges.png`, with the channels and bits of the picture. If a picture fails, the results of those before it are written.
//!
//! PNG and JPEG, grey and colour, 8 and 16 bits. Each channel is filtered by itself. Transparent pictures are laid on white first.
//! Outside a picture, there is its reflection. Results have the colour profile of their picture, and a sheet that of its pictures if they
//! all have the same. Before a result is written, it is compared with the definition at some pixels.
//! `--force` allows overwriting files.

mod common;

use clap::{Args, Parser};
use common::definition::{Term, gaussian};
use common::file::{FileError, Output};
use common::number::Short;
use common::picture::{self, Picture, Sample};
use common::program::{self, DeviceOption, in_ms};
use common::sheet::Sheet;
use common::sigma::{self, SigmaError};
use indicatif::{ProgressBar, ProgressStyle};
use ndarray::Array2;
use slm::{Boundary, Buffer2, Device, Filter2d, FilterSample};
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Blurs and sharpens pictures, and finds their edges.
#[derive(Debug, Parser)]
#[command(name = "05_picture")]
pub(crate) struct Arguments {
    /// Input pictures: PNG or JPEG
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    operations: Operations,
    #[command(flatten)]
    outputs: Outputs,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    device: DeviceOption,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Operations {
    /// Blur with a Gaussian of this standard deviation, in pixels; 0 does not blur
    #[arg(long, value_name = "SIGMA", allow_hyphen_values = true)]
    gaussian: Option<f64>,
    /// Find edges: the magnitude of the Sobel derivatives
    #[arg(long)]
    edges: bool,
    /// Sharpen: add this multiple of the difference from a Gaussian blur
    #[arg(long, value_name = "SIGMA,AMOUNT", value_parser = pair, allow_hyphen_values = true)]
    unsharp: Option<[f64; 2]>,
    /// Find details of a size: the difference of two Gaussian blurs, the narrow one first
    #[arg(long, value_name = "SIGMA,SIGMA", value_parser = pair, allow_hyphen_values = true)]
    dog: Option<[f64; 2]>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Outputs {
    /// Contact sheet: PNG or JPEG, by its extension
    #[arg(long, value_name = "FILE")]
    sheet: Option<PathBuf>,
    /// Folder for the results
    #[arg(long, value_name = "FOLDER")]
    results: Option<PathBuf>,
}

/// Parses two numbers.
fn pair(text: &str) -> Result<[f64; 2], String> {
    let numbers = text.split_once(',').and_then(|(a, b)| Some([a.parse().ok()?, b.parse().ok()?]));
    numbers.ok_or_else(|| "two numbers with a comma between them are needed, such as 1,2".to_owned())
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Sigma(#[from] SigmaError),
    #[error("--dog {},{}: the second standard deviation must be more than the first", Short(*.0), Short(*.1))]
    Dog(f64, f64),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: two outputs would have this name", .0.display())]
    SameName(PathBuf),
    #[error(transparent)]
    Filter(#[from] slm::Error),
    #[error(
        "{operation}: channel {channel} at row {row}, column {column} became {actual}, expected {expected} within {bound:e}"
    )]
    Wrong { operation: Operation, channel: usize, row: usize, column: usize, actual: f64, expected: f64, bound: f64 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let operations = arguments.operations.list()?;
    let files = Files::new(arguments, &operations)?;
    let device = arguments.device.open()?;
    let (mut report, mut wrote, mut sheet) = (format!("{device}\n"), String::new(), Sheet::default());
    let progress = progress(arguments.inputs.len() * operations.len());
    for (input, outputs) in arguments.inputs.iter().zip(&files.results) {
        let picture = Picture::read(input)?.on_white();
        let title = format!("{}, {} x {}, {:?}", name(input), picture.columns, picture.rows, picture.color);
        let _ = writeln!(report, "{title}");
        sheet.begin_row(title);
        sheet.add("original".to_owned(), &picture);
        let mut results = Vec::new();
        for &operation in &operations {
            progress.set_message(format!("{}: {operation}", name(input)));
            let (result, time) = operation.apply(&device, &picture)?;
            let _ = writeln!(report, "  {:<16} {}", operation.to_string(), in_ms(time));
            sheet.add(operation.to_string(), &result);
            results.push(result);
            progress.inc(1);
        }
        for (result, output) in results.iter().zip(outputs) {
            wrote.push_str(&result.write(output)?);
        }
    }
    progress.finish_and_clear();
    if let Some(output) = files.sheet {
        if sheet.changes_colors() {
            program::note(
                output.path(),
                "it has no colour profile, because those of the pictures differ or are not for RGB",
            );
        }
        wrote.push_str(&sheet.draw().write(&output)?);
    }
    Ok(report + &wrote)
}

/// Returns a bar for all operations. It is invisible if the errors do not go to a terminal.
fn progress(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").expect("the template is right");
    ProgressBar::new(steps as u64).with_style(style)
}

/// Returns the name of a file, without its folder.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The output files.
struct Files {
    /// For each input, the results in the order of the operations; empty if results are not written.
    results: Vec<Vec<Output>>,
    sheet: Option<Output>,
}

impl Files {
    fn new(arguments: &Arguments, operations: &[Operation]) -> Result<Self, Failure> {
        let mut names = HashSet::new();
        let mut output = |path: PathBuf| {
            let output = Output::new(&path, &picture::KIND, arguments.force)?;
            if names.insert(path.clone()) { Ok(output) } else { Err(Failure::SameName(path)) }
        };
        let result = |folder: &Path, input: &Path, operation: &Operation| {
            let stem = input.file_stem().unwrap_or_default().to_string_lossy();
            folder.join(format!("{stem}-{}.png", operation.name()))
        };
        let mut results = Vec::new();
        for input in &arguments.inputs {
            let folder = arguments.outputs.results.iter();
            let paths = folder.flat_map(|folder| operations.iter().map(|operation| result(folder, input, operation)));
            results.push(paths.map(&mut output).collect::<Result<_, _>>()?);
        }
        Ok(Files { results, sheet: arguments.outputs.sheet.clone().map(output).transpose()? })
    }
}

/// What becomes of a picture.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// With the standard deviation.
    Gaussian(f64),
    /// With the standard deviation, and the multiple of the difference.
    Unsharp(f64, f64),
    Edges,
    /// With both standard deviations.
    Dog(f64, f64),
}

impl Operations {
    /// Returns the operations that were requested.
    fn list(&self) -> Result<Vec<Operation>, Failure> {
        self.gaussian.map(|sigma| sigma::checked("--gaussian", sigma)).transpose()?;
        self.unsharp.map(|[sigma, _]| sigma::checked("--unsharp", sigma)).transpose()?;
        if let Some([narrow, wide]) = self.dog {
            sigma::checked("--dog", narrow).and(sigma::checked("--dog", wide))?;
            if narrow >= wide {
                return Err(Failure::Dog(narrow, wide));
            }
        }
        let operations = [
            self.gaussian.map(Operation::Gaussian),
            self.unsharp.map(|[sigma, amount]| Operation::Unsharp(sigma, amount)),
            self.edges.then_some(Operation::Edges),
            self.dog.map(|[narrow, wide]| Operation::Dog(narrow, wide)),
        ];
        Ok(operations.into_iter().flatten().collect())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Gaussian(sigma) => write!(f, "gaussian {}", Short(*sigma)),
            Operation::Unsharp(a, b) => write!(f, "unsharp {},{}", Short(*a), Short(*b)),
            Operation::Edges => write!(f, "edges"),
            Operation::Dog(a, b) => write!(f, "dog {},{}", Short(*a), Short(*b)),
        }
    }
}

/// Applying an operation.
impl Operation {
    /// Returns its name in the names of files.
    fn name(self) -> &'static str {
        match self {
            Operation::Gaussian(_) => "gaussian",
            Operation::Unsharp(..) => "unsharp",
            Operation::Edges => "edges",
            Operation::Dog(..) => "dog",
        }
    }

    /// Returns the result for a picture, which is checked, and the time of the device.
    fn apply(self, device: &Device, picture: &Picture) -> Result<(Picture, Duration), Failure> {
        let (result, time) = match picture.is_wide() {
            true => self.of_samples::<u16>(device, picture)?,
            false => self.of_samples::<u8>(device, picture)?,
        };
        self.check(picture, &result)?;
        Ok((result, time))
    }

    fn of_samples<S: Sample + FilterSample<Weight = f32>>(
        self,
        device: &Device,
        picture: &Picture,
    ) -> Result<(Picture, Duration), slm::Error> {
        let (samples, channels) = (picture.upload::<S>(device)?, picture.channels());
        let one = |of: Filter2d<S, f32>| {
            let (outputs, time) = filter(&samples, of.channels(channels))?;
            Ok((picture.with_samples(outputs.into_raw_vec_and_offset().0), time))
        };
        let two = |[first, second]: [Filter2d<S, f32>; 2]| {
            let (first, time) = filter(&samples, first.channels(channels).output::<f32>())?;
            let (second, more) = filter(&samples, second.channels(channels).output::<f32>())?;
            let combine = |(&a, &b): (&f32, &f32)| self.combine([a.into(), b.into()], picture.most());
            let outputs = first.iter().zip(&second).map(|pair| S::of(combine(pair).round_ties_even() as u16));
            Ok((picture.with_samples(outputs.collect::<Vec<S>>()), time + more))
        };
        match self {
            Operation::Gaussian(sigma) => one(Filter2d::gaussian(sigma)),
            Operation::Unsharp(sigma, amount) => one(Filter2d::unsharp(sigma, amount)),
            Operation::Edges => two([Filter2d::sobel_x(), Filter2d::sobel_y()]),
            Operation::Dog(narrow, wide) => two([narrow, wide].map(Filter2d::gaussian)),
        }
    }

    /// Returns the result before it is rounded, for the responses of the filters. An operation of one filter has one response;
    /// the other one is 0.
    fn combine(self, [first, second]: [f64; 2], most: u16) -> f64 {
        let most = f64::from(most);
        let combined = match self {
            Operation::Gaussian(_) | Operation::Unsharp(..) => first,
            Operation::Edges => first.hypot(second) / 4.0,
            Operation::Dog(..) => most / 2.0 + 2.0 * (first - second),
        };
        combined.clamp(0.0, most)
    }
}

/// Filters a picture on its device. Returns the outputs, and the time of the device.
fn filter<S: FilterSample, O: FilterSample>(
    samples: &Buffer2<S>,
    filter: Filter2d<S, f32, O>,
) -> Result<(Array2<O>, Duration), slm::Error> {
    let device = samples.buffer().device();
    let filter = filter.boundary(Boundary::Reflect).prepare(device)?;
    let mut outputs = Buffer2::zeroed(device, samples.rows(), samples.columns())?;
    let ((), time) = device.time(|| filter.apply_into(samples, &mut outputs))?;
    Ok((outputs.download()?, time))
}

/// Checking a result.
impl Operation {
    /// Returns the weights of its filters by definition, each as a sum of terms.
    fn definition(self) -> [Vec<Term>; 2] {
        let blur = |factor, sigma| Term::square(factor, gaussian(sigma));
        let (smooth, difference) = (vec![1.0, 2.0, 1.0], vec![-1.0, 0.0, 1.0]);
        match self {
            Operation::Gaussian(sigma) => [vec![blur(1.0, sigma)], vec![]],
            Operation::Unsharp(sigma, amount) => {
                [vec![Term::square(1.0 + amount, vec![1.0]), blur(-amount, sigma)], vec![]]
            }
            Operation::Edges => [
                vec![Term { factor: 1.0, column: smooth.clone(), row: difference.clone() }],
                vec![Term { factor: 1.0, column: difference, row: smooth }],
            ],
            Operation::Dog(narrow, wide) => [vec![blur(1.0, narrow)], vec![blur(1.0, wide)]],
        }
    }

    /// Returns an error if a result differs from the definition at the corners or at some pixels between them.
    fn check(self, picture: &Picture, result: &Picture) -> Result<(), Failure> {
        let filters = self.definition();
        // `combine` at most doubles errors.
        let rounding: f64 = filters.iter().flatten().map(Term::rounding).sum();
        let bound = 0.5 + 2.0 * rounding * f64::from(picture.most());
        let some = |n: usize| [0, n / 3, n / 2, n - 1];
        let (shape, [rows, columns]) = ([picture.rows, picture.columns], [picture.rows, picture.columns].map(some));
        for channel in 0..picture.channels() {
            let sample = |place| f64::from(picture.sample(place, channel));
            let of_term = |term: &Term| term.correlate(shape, sample, [&rows, &columns]);
            let responses = filters.each_ref().map(|terms| terms.iter().map(of_term).collect::<Vec<_>>());
            let places = rows.map(|row| columns.map(|column| [row, column]));
            for (i, &[row, column]) in places.as_flattened().iter().enumerate() {
                let response = |terms: &Vec<Vec<f64>>| terms.iter().map(|outputs| outputs[i]).sum();
                let expected = self.combine(responses.each_ref().map(response), picture.most());
                let actual = f64::from(result.sample([row, column], channel));
                // A NaN must fail.
                let agrees = (actual - expected).abs() <= bound;
                if !agrees {
                    return Err(Failure::Wrong { operation: self, channel, row, column, actual, expected, bound });
                }
            }
        }
        Ok(())
    }
}
