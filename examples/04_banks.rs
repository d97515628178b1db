//! Shows bank conflicts of shared memory, predicted and measured, and draws them as an SVG:
//!
//! ```sh
//! cargo run --release --example 04_banks -- --svg banks.svg
//! ```
//!
//! The measured number is the time of an access, relative to an access without conflicts. The model predicts the same number:
//! the degree of the conflict. The CPU has no shared memory, so emulated GPUs run the kernels instead. They count the
//! wavefronts of accesses, because they have no timing. Predictions are compared with the known degrees of the patterns, and
//! measurements of emulated devices with the predictions. The sums of the loop are checked on every device.

mod common;

use clap::Parser;
use common::chart::{Axis, Bar, Chart, ChartOptions, Color, Panel};
use common::file::FileError;
use common::program::{self, DeviceOption};
use slm::banks::{AccessKind, Accumulation, BankModel, Named, Width};
use slm::emulator::Profile;
use slm::{Backend, Device};
use std::fmt::Write as _;
use std::process::ExitCode;

/// Strides of the table and the drawing.
const STRIDES: std::ops::RangeInclusive<u32> = 1..=64;

/// Strides of the loop.
const LOOPS: [u32; 3] = [1, 16, 32];

/// Number that each lane of the loop adds per iteration.
const FACTOR: u32 = 3;

/// Shows bank conflicts.
#[derive(Debug, Parser)]
#[command(name = "04_banks")]
pub(crate) struct Arguments {
    /// Number of iterations of the loop; 2^20 by default, and 2^10 on an emulated device
    #[arg(long, allow_hyphen_values = true)]
    iterations: Option<u32>,
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
    #[error(transparent)]
    Banks(#[from] slm::Error),
    #[error("{what} is {actual}, expected {expected}")]
    Wrong { what: String, actual: f64, expected: f64 },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let output = arguments.chart.output()?;
    let device = arguments.device.open()?;
    let mut report = format!("{device}\n");
    let devices = measuring(device, &mut report);
    report.push_str(
        "\nLoads by a warp: how many lanes meet in a bank, and how many times as long they take as without conflicts\n",
    );
    print_named(&devices, &mut report)?;
    let rows = STRIDES.map(|stride| Row::new(&devices, stride)).collect::<Result<Vec<_>, _>>()?;
    print_strides(&rows, &mut report);
    print_loops(&devices[0], arguments.iterations, &mut report)?;
    if let Some(output) = output {
        let chart = chart(&devices[0], &rows, &arguments.chart);
        report.push('\n');
        report.push_str(&output.write(chart.svg().as_bytes())?);
    }
    Ok(report)
}

/// Devices that measure, the main one first: the opened device, or emulated ones instead of the CPU.
fn measuring(device: Device, report: &mut String) -> Vec<Device> {
    if device.info().backend != Backend::Cpu {
        return vec![device];
    }
    let devices = [Profile::SM_90, Profile::SMALL].map(|profile| Device::emulated(profile, 0));
    let names = devices.each_ref().map(|device| format!("{device} ({} banks)", model_of(device).banks()));
    let _ = writeln!(report, "The CPU has no shared memory: {} count passes in its place.", names.join(" and "));
    devices.into()
}

/// Degree of a pattern for a number of banks, and the measurement, if the device has this number of banks.
struct Degree {
    predicted: u32,
    measured: Option<f64>,
}

impl Degree {
    /// Words to load; `expected` is the known degree.
    fn of(devices: &[Device], model: BankModel, named: Named, expected: u32) -> Result<Self, Failure> {
        let pattern = named.pattern(AccessKind::Load, Width::B4);
        let what = |banks| format!("the degree of {named} with {banks} banks");
        let predicted = model.conflict_degree(&pattern);
        same(|| what(model.banks()), predicted.into(), expected.into())?;
        let Some(device) = devices.iter().find(|device| model_of(device) == model) else {
            return Ok(Degree { predicted, measured: None });
        };
        // With 16 banks a whole warp takes at least two wavefronts, and so does the pattern without conflicts that it is
        // compared with.
        let measured = pattern.probe(device)?.serialisation();
        if device.info().backend == Backend::Emulated {
            same(|| what(model.banks()), measured, predicted.into())?;
        }
        Ok(Degree { predicted, measured: Some(measured) })
    }

    fn print(&self, report: &mut String) {
        let measured = self.measured.map_or_else(|| "-".to_owned(), |measured| format!("{measured:.2}"));
        let _ = write!(report, " {:>8} {measured:>9}", self.predicted);
    }
}

fn same(what: impl FnOnce() -> String, actual: f64, expected: f64) -> Result<(), Failure> {
    if actual == expected { Ok(()) } else { Err(Failure::Wrong { what: what(), actual, expected }) }
}

/// Returns the textbook patterns of 32 threads `g`, with 16 and 32 banks.
fn print_named(devices: &[Device], report: &mut String) -> Result<(), Failure> {
    let _ = writeln!(report, "\n{:>9} {:>18} {:>18}", "", "16 banks", "32 banks");
    let _ = writeln!(report, "{:>9} {:>8} {:>9} {:>8} {:>9}", "word", "degree", "measured", "degree", "measured");
    for (named, expected) in Named::SEVEN.into_iter().zip([1, 1, 1, 1, 2, 16, 1]) {
        let _ = write!(report, "{:>9}", named.to_string());
        for model in [BankModel::SIXTEEN, BankModel::NVIDIA] {
            Degree::of(devices, model, named, expected)?.print(report);
        }
        report.push('\n');
    }
    Ok(())
}

/// A stride and its padded stride.
struct Row {
    stride: u32,
    padded_stride: u32,
    plain: Degree,
    padded: Degree,
}

impl Row {
    fn new(devices: &[Device], stride: u32) -> Result<Self, Failure> {
        let model = model_of(&devices[0]);
        let padded_stride = model.padded_stride(stride, Width::B4);
        // The degree is the greatest common divisor of stride and banks.
        let expected = 1 << stride.trailing_zeros().min(model.banks().ilog2());
        let plain = Degree::of(devices, model, Named::Strided(stride), expected)?;
        let padded = Degree::of(devices, model, Named::Strided(padded_stride), 1)?;
        Ok(Row { stride, padded_stride, plain, padded })
    }
}

/// Returns the model of a device's banks.
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

/// Returns the cycles per iteration.
fn cycles(device: &Device, stride: u32, iterations: u32) -> Result<f64, Failure> {
    let run = Accumulation { stride, iterations, factor: FACTOR }.run(device)?;
    let n = u64::from(iterations);
    let expected = u64::from(FACTOR).wrapping_mul(n * n.saturating_sub(1) / 2) as u32;
    for (lane, sum) in run.sums.iter().enumerate() {
        same(|| format!("the sum of lane {lane} with stride {stride}"), (*sum).into(), expected.into())?;
    }
    Ok(run.cycles as f64 / f64::from(iterations.max(1)))
}

/// Returns a panel for the plain strides and a panel for the padded ones.
fn chart(device: &Device, rows: &[Row], options: &ChartOptions) -> Chart {
    let banks = model_of(device).banks();
    let across = Axis {
        label: "stride between lanes, in words of 4 bytes".to_owned(),
        ends: [0.0, 65.0],
        ticks: (0..=64).step_by(8).collect(),
    };
    let plain = panel("predicted, without padding", Color::Vermillion, rows, |row| &row.plain);
    let padded = panel("predicted, each stride padded", Color::Blue, rows, |row| &row.padded);
    let title = format!("Bank conflicts of a warp's loads with {banks} banks, measured on {device}");
    Chart { title, across, up: "degree", growth: options.growth(2), panels: vec![plain, padded] }
}

/// Returns a bar for the degree of each stride, and a circle for each measurement.
fn panel(name: &str, color: Color, rows: &[Row], degree: impl Fn(&Row) -> &Degree) -> Panel {
    let bar = |row: &Row| {
        let stride = f64::from(row.stride);
        Bar { left: stride - 0.36, right: stride + 0.36, height: degree(row).predicted.into() }
    };
    let circle = |row: &Row| degree(row).measured.map(|measured| [f64::from(row.stride), measured]);
    let (bars, measured) = (rows.iter().map(bar).collect(), rows.iter().filter_map(circle).collect());
    Panel { name: name.to_owned(), color, bars, measured }
}
