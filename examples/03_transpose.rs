//! Turns and flips a picture:
//!
//! ```sh
//! cargo run --release --example 03_transpose -- assets/astronaut.png turned.png rotate90
//! ```
//!
//! A transposition (`T`) swaps rows and columns. Its elements have as many bytes as a pixel, so pixels stay whole. Some
//! operations also reverse the order of the rows (`R`). This needs no kernel and moves no data: `Buffer2::upload` reads an
//! `ndarray` view with reversed rows. The steps, from left to right:
//!
//! | operation | steps |
//! |---|---|
//! | `transpose` | `T` |
//! | `flip-vertical` (upside down) | `R` |
//! | `rotate90` (clockwise) | `R T` |
//! | `rotate270` (a quarter to the left) | `T R` |
//! | `flip-horizontal` (as in a mirror) | `T R T` |
//! | `rotate180` | `R T R T` |
//!
//! Several operations run one after another, and their steps are joined. Two equal neighbouring steps cancel out: `rotate90
//! flip-horizontal` is `R T` and `T R T`, which is `T` alone.
//!
//! The result is compared with the picture, pixel by pixel, by the definitions of the operations, which do not use the steps.

mod common;

use clap::{Parser, ValueEnum};
use common::file::{FileError, Output};
use common::picture::{self, Picture};
use common::program::{self, DeviceOption, in_ms};
use ndarray::{Array2, ArrayView2, Axis};
use slm::{Buffer2, Device, Transpose};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Turns and flips a picture.
#[derive(Debug, Parser)]
#[command(name = "03_transpose")]
pub(crate) struct Arguments {
    /// Input picture: PNG or JPEG
    input: PathBuf,
    /// Output picture: PNG or JPEG, by its extension
    output: PathBuf,
    /// Operations, in order
    #[arg(value_enum, default_value = "transpose")]
    operations: Vec<Operation>,
    /// Overwrite the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    device: DeviceOption,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Operation {
    /// Swap rows and columns
    Transpose,
    /// Turn clockwise by a quarter
    Rotate90,
    /// Turn by a half
    Rotate180,
    /// Turn clockwise by three quarters
    Rotate270,
    /// Swap left and right
    FlipHorizontal,
    /// Swap top and bottom
    FlipVertical,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Transpose,
    ReverseRows,
}

/// Reason for the failure of the example.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Transpose(#[from] slm::Error),
    #[error("the result has {actual:?} rows and columns, expected {expected:?}")]
    Shape { actual: [usize; 2], expected: [usize; 2] },
    #[error("the pixel at row and column {place:?} is not that of {expected:?}")]
    Wrong { place: [usize; 2], expected: [usize; 2] },
}

fn main() -> ExitCode {
    program::main(run)
}

fn run(arguments: &Arguments) -> Result<String, Failure> {
    let output = Output::new(&arguments.output, &picture::KIND, arguments.force)?;
    let picture = Picture::read(&arguments.input)?;
    picture.check_format(&output)?;
    let device = arguments.device.open()?;

    let steps = steps(&arguments.operations);
    let mut report = format!("{device}\n");
    let _ = writeln!(report, "operations {:?}, steps {steps:?}", arguments.operations);
    let turned = turn(&device, &picture, &steps, &mut report)?;
    check(&picture, &turned, &arguments.operations)?;
    report.push_str(&turned.write(&output)?);
    Ok(report)
}

impl Operation {
    fn steps(self) -> &'static [Step] {
        use Step::{ReverseRows, Transpose};
        match self {
            Operation::Transpose => &[Transpose],
            Operation::Rotate90 => &[ReverseRows, Transpose],
            Operation::Rotate180 => &[ReverseRows, Transpose, ReverseRows, Transpose],
            Operation::Rotate270 => &[Transpose, ReverseRows],
            Operation::FlipHorizontal => &[Transpose, ReverseRows, Transpose],
            Operation::FlipVertical => &[ReverseRows],
        }
    }

    /// Returns the source of the pixel at a position of the result, in a picture of this shape.
    fn source(self, [row, column]: [usize; 2], [rows, columns]: [usize; 2]) -> [usize; 2] {
        match self {
            Operation::Transpose => [column, row],
            Operation::Rotate90 => [rows - 1 - column, row],
            Operation::Rotate180 => [rows - 1 - row, columns - 1 - column],
            Operation::Rotate270 => [column, columns - 1 - row],
            Operation::FlipHorizontal => [row, columns - 1 - column],
            Operation::FlipVertical => [rows - 1 - row, column],
        }
    }

    /// Returns the shape of the result.
    fn shape(self, [rows, columns]: [usize; 2]) -> [usize; 2] {
        let swaps = matches!(self, Operation::Transpose | Operation::Rotate90 | Operation::Rotate270);
        if swaps { [columns, rows] } else { [rows, columns] }
    }
}

/// Returns the steps of all operations, without steps that cancel out.
fn steps(operations: &[Operation]) -> Vec<Step> {
    let mut steps = Vec::new();
    for step in operations.iter().flat_map(|operation| operation.steps()) {
        if steps.last() == Some(step) {
            steps.pop();
        } else {
            steps.push(*step);
        }
    }
    steps
}

fn turn(device: &Device, picture: &Picture, steps: &[Step], report: &mut String) -> Result<Picture, slm::Error> {
    let size = usize::from(picture.color.bytes_per_pixel());
    let bytes = ArrayView2::from_shape((picture.rows, picture.columns * size), &picture.bytes);
    let mut matrix = bytes.expect("a picture has as many bytes as pixels need").to_owned();
    for step in steps {
        match step {
            Step::Transpose => matrix = transpose(device, matrix.view(), size, report)?,
            Step::ReverseRows => matrix.invert_axis(Axis(0)),
        }
    }
    let (rows, columns) = (matrix.nrows(), matrix.ncols() / size);
    let bytes = matrix.iter().copied().collect();
    Ok(Picture { rows, columns, color: picture.color, profile: picture.profile.clone(), bytes })
}

/// Returns the transposed matrix of elements of `size` bytes.
fn transpose(
    device: &Device,
    matrix: ArrayView2<'_, u8>,
    size: usize,
    report: &mut String,
) -> Result<Array2<u8>, slm::Error> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols() / size);
    let transpose = Transpose::new(rows, columns).components(size).prepare(device)?;
    let input = Buffer2::upload(device, matrix)?;
    let mut output = Buffer2::zeroed(device, columns, rows * size)?;
    let ((), time) = device.time(|| transpose.apply_into(&input, &mut output))?;
    let _ = writeln!(report, "{}\ntime       {}", transpose.plan()?, in_ms(time));
    output.download()
}

/// Returns an error if a pixel differs from the expected one.
fn check(picture: &Picture, turned: &Picture, operations: &[Operation]) -> Result<(), Failure> {
    let mut expected = [picture.rows, picture.columns];
    // Shapes before each operation.
    let mut shapes = Vec::new();
    for operation in operations {
        shapes.push(expected);
        expected = operation.shape(expected);
    }
    let actual = [turned.rows, turned.columns];
    if actual != expected {
        return Err(Failure::Shape { actual, expected });
    }
    let size = usize::from(picture.color.bytes_per_pixel());
    for (i, pixel) in turned.bytes.chunks_exact(size).enumerate() {
        let place = [i / turned.columns, i % turned.columns];
        let back = operations.iter().zip(&shapes).rev();
        let expected = back.fold(place, |place, (operation, shape)| operation.source(place, *shape));
        if picture.bytes[(expected[0] * picture.columns + expected[1]) * size..][..size] != *pixel {
            return Err(Failure::Wrong { place, expected });
        }
    }
    Ok(())
}
