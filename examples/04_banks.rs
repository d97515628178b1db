//! Shows bank conflicts of shared memory, predicted and measured, and draws them as an SVG:
//!
//! ```sh
//! cargo run --release --example 04_banks -- --svg banks.svg
//! ```
//!
//! What is measured is how many times as long an access takes as without conflicts, which is to be the predicted degree.
//! That needs a GPU or an emulated one; on the CPU there are predictions alone. These are compared with what is known of
//! the patterns, and an emulated device's numbers with the predictions; the sums of the loop are checked everywhere.

use clap::Parser;
use plotters::prelude::*;
use slm::banks::{AccessKind, AccessPattern, Accumulation, BankModel, Named, Width};
use slm::{Backend, Device};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, io};

/// The strides of the table and the drawing.
const STRIDES: std::ops::RangeInclusive<u32> = 1..=64;

/// The strides of the loop.
const LOOPS: [u32; 3] = [1, 16, 32];

/// What each lane of the loop adds for each iteration's number.
const FACTOR: u32 = 3;

/// Shows bank conflicts.
#[derive(Debug, Parser)]
#[command(name = "04_banks")]
struct Arguments {
    /// Where to draw degrees against strides, as an SVG
    #[arg(long)]
    svg: Option<PathBuf>,
    /// The iterations of the loop; without it, 2^20, or 2^10 on an emulated device
    #[arg(long)]
    iterations: Option<u32>,
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
    #[error("the chart cannot be drawn: {0}")]
    Chart(String),
    #[error(transparent)]
    Banks(#[from] slm::Error),
    #[error("{what} is {actual}, expected {expected}")]
    Wrong { what: String, actual: f64, expected: f64 },
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
    let mut report = format!("{device}: {}\n", device.info().selection);
    if device.info().backend == Backend::Cpu {
        report.push_str("The CPU has no shared memory: nothing is measured.\n");
    }
    report.push_str(
        "\nLoads by a warp: how many lanes meet in a bank, and how many times as long they take as without conflicts\n",
    );
    print_named(&device, &mut report)?;
    let rows = STRIDES.map(|stride| Row::new(&device, stride)).collect::<Result<Vec<_>, _>>()?;
    print_strides(&rows, &mut report);
    if device.info().backend != Backend::Cpu {
        print_loops(&device, arguments.iterations, &mut report)?;
    }
    if let Some(path) = &arguments.svg {
        fs::write(path, svg(&rows)?).map_err(|cause| Failure::File { path: path.clone(), cause })?;
    }
    Ok(report)
}

/// A pattern's degree with some number of banks, and what was measured, if the device has so many.
struct Degree {
    predicted: u32,
    measured: Option<f64>,
}

impl Degree {
    /// Words that are loaded; `expected` is the degree that is known.
    fn of(device: &Device, model: BankModel, named: Named, expected: u32) -> Result<Self, Failure> {
        let pattern = named.pattern(AccessKind::Load, Width::B4);
        let what = |banks| format!("the degree of {named} with {banks} banks");
        let predicted = model.conflict_degree(&pattern);
        same(|| what(model.banks()), predicted.into(), expected.into())?;
        let measured = serialisation(device, model, &pattern)?;
        if let (Some(measured), Backend::Emulated) = (measured, device.info().backend) {
            same(|| what(model.banks()), measured, predicted.into())?;
        }
        Ok(Degree { predicted, measured })
    }

    fn print(&self, report: &mut String) {
        let measured = self.measured.map_or_else(|| "-".to_owned(), |measured| format!("{measured:.2}"));
        let _ = write!(report, " {:>8} {measured:>9}", self.predicted);
    }
}

/// Measures a pattern, if the device has the banks of the model. With 16 banks a whole warp takes two turns at least;
/// so does the pattern without conflicts that it is compared with.
fn serialisation(device: &Device, model: BankModel, pattern: &AccessPattern) -> Result<Option<f64>, slm::Error> {
    let has_banks = device.info().shared_memory.is_some_and(|shared| shared.banks == model.banks());
    has_banks.then(|| Ok(pattern.probe(device)?.serialisation())).transpose()
}

fn same(what: impl FnOnce() -> String, actual: f64, expected: f64) -> Result<(), Failure> {
    if actual == expected { Ok(()) } else { Err(Failure::Wrong { what: what(), actual, expected }) }
}

/// The textbooks' patterns of 32 threads `g`, with 16 and 32 banks.
fn print_named(device: &Device, report: &mut String) -> Result<(), Failure> {
    let _ = writeln!(report, "\n{:>9} {:>18} {:>18}", "", "16 banks", "32 banks");
    let _ = writeln!(report, "{:>9} {:>8} {:>9} {:>8} {:>9}", "word", "degree", "measured", "degree", "measured");
    for (named, expected) in Named::SEVEN.into_iter().zip([1, 1, 1, 1, 2, 16, 1]) {
        let _ = write!(report, "{:>9}", named.to_string());
        for model in [BankModel::SIXTEEN, BankModel::NVIDIA] {
            Degree::of(device, model, named, expected)?.print(report);
        }
        report.push('\n');
    }
    Ok(())
}

/// A stride, and the one that it is padded to.
struct Row {
    stride: u32,
    padded_stride: u32,
    plain: Degree,
    padded: Degree,
}

impl Row {
    fn new(device: &Device, stride: u32) -> Result<Self, Failure> {
        let model = model_of(device);
        let padded_stride = model.padded_stride(stride, Width::B4);
        // As many lanes meet as stride and banks have for their greatest common divisor.
        let expected = 1 << stride.trailing_zeros().min(model.banks().ilog2());
        let plain = Degree::of(device, model, Named::Strided(stride), expected)?;
        let padded = Degree::of(device, model, Named::Strided(padded_stride), 1)?;
        Ok(Row { stride, padded_stride, plain, padded })
    }
}

/// The model of a device's banks; for the CPU that of GPUs.
fn model_of(device: &Device) -> BankModel {
    match device.info().shared_memory {
        Some(shared) if shared.banks == BankModel::SIXTEEN.banks() => BankModel::SIXTEEN,
        _ => BankModel::NVIDIA,
    }
}

fn print_strides(rows: &[Row], report: &mut String) {
    let titles = ["stride", "degree", "measured", "padded", "degree", "measured"];
    report.push('\n');
    titles.iter().for_each(|title| {
        let _ = write!(report, " {title:>8}");
    });
    report.push('\n');
    for Row { stride, padded_stride, plain, padded } in rows {
        let _ = write!(report, " {stride:>8}");
        plain.print(report);
        let _ = write!(report, " {padded_stride:>8}");
        padded.print(report);
        report.push('\n');
    }
}

/// The loop with its barrier, plain and padded.
fn print_loops(device: &Device, iterations: Option<u32>, report: &mut String) -> Result<(), Failure> {
    let is_emulated = device.info().backend == Backend::Emulated;
    let iterations = iterations.unwrap_or(if is_emulated { 1 << 10 } else { 1 << 20 });
    let _ = writeln!(report, "\n{iterations} times s[stride * lane] += i * {FACTOR} and a barrier, by one warp");
    for stride in LOOPS {
        let padded = model_of(device).padded_stride(stride, Width::B4);
        let [plain_cycles, padded_cycles] = [cycles(device, stride, iterations)?, cycles(device, padded, iterations)?];
        let unit = if is_emulated { "passes" } else { "cycles" };
        let _ = writeln!(
            report,
            "stride {stride:>2}: {plain_cycles:6.2} {unit} each; padded to {padded:>2}: {padded_cycles:6.2}"
        );
    }
    Ok(())
}

/// The cycles of an iteration.
fn cycles(device: &Device, stride: u32, iterations: u32) -> Result<f64, Failure> {
    let run = Accumulation { stride, iterations, factor: FACTOR }.run(device)?;
    let n = u64::from(iterations);
    let expected = u64::from(FACTOR).wrapping_mul(n * n.saturating_sub(1) / 2) as u32;
    for (lane, sum) in run.sums.iter().enumerate() {
        same(|| format!("the sum of lane {lane} with stride {stride}"), (*sum).into(), expected.into())?;
    }
    Ok(run.cycles as f64 / f64::from(iterations.max(1)))
}

fn svg(rows: &[Row]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(rows, &SVGBackend::with_string(&mut svg, (960, 480)).into_drawing_area())
        .map_err(|error| Failure::Chart(error.to_string()))?;
    Ok(svg)
}

/// A bar for the degree of each stride, in front of it one for the stride that it is padded to, and a circle for what was
/// measured.
fn draw<B: DrawingBackend>(
    rows: &[Row],
    area: &DrawingArea<B, plotters::coord::Shift>,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    area.fill(&WHITE)?;
    let mut builder = ChartBuilder::on(area);
    let title = "Degree of bank conflicts: strides without padding (red) and with it (blue), measured (circles)";
    builder.caption(title, ("sans-serif", 16));
    builder.margin(10).x_label_area_size(40).y_label_area_size(60);
    let mut chart = builder.build_cartesian_2d(0.0..65.0, 0.0..34.0)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().light_line_style(TRANSPARENT).x_desc("stride in words").y_desc("degree");
    let whole = |number: &f64| number.to_string();
    mesh.x_label_formatter(&whole).y_label_formatter(&whole).draw()?;
    let bar = |stride: u32, degree: u32, half: f64| {
        let stride = f64::from(stride);
        [(stride - half, 0.0), (stride + half, f64::from(degree))]
    };
    chart.draw_series(
        rows.iter().map(|row| Rectangle::new(bar(row.stride, row.plain.predicted, 0.4), RED.mix(0.5).filled())),
    )?;
    chart.draw_series(
        rows.iter().map(|row| Rectangle::new(bar(row.stride, row.padded.predicted, 0.2), BLUE.mix(0.7).filled())),
    )?;
    let measured = |row: &Row, degree: &Degree| degree.measured.map(|measured| (f64::from(row.stride), measured));
    let circles = rows.iter().flat_map(|row| [measured(row, &row.plain), measured(row, &row.padded)]);
    chart.draw_series(circles.flatten().map(|at| Circle::new(at, 3, BLACK)))?;
    area.present()
}
