//! On the ranks of an MPI job: blurs a matrix in a file with a Gaussian, runs the Game of Life on a torus, or transposes a matrix. All may
//! be larger than the memory of one machine.
//!
//! ```sh
//! cd crates/mpi && cargo build --release --example cluster
//! mpirun -n 4 target/release/examples/cluster blur matrix.f32 blurred.f32 --columns 20000 --sigma 3
//! mpirun -n 4 target/release/examples/cluster transpose --side 32768
//! srun -N 8 --ntasks-per-node=4 --gpus-per-task=1 --kill-on-bad-exit target/release/examples/cluster life --side 262144 --generations 1000
//! ```
//!
//! The files have `f32` of this machine's byte order, row after row, and nothing else. Each rank reads its own rows, exchanges those
//! at the ends of its part with other ranks, and writes its rows into their place. The result does not depend on the number of ranks.

use clap::Parser;
use slm::distributed::{Devices, DistributedBuffer};
use slm::ndarray::Array2;
use slm::{Boundary, Filter2d, Life, Transpose};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Blurs a matrix, runs the Game of Life or transposes a matrix, on the ranks of an MPI job.
#[derive(Debug, Parser)]
#[command(name = "cluster")]
enum Task {
    Blur(Blur),
    Life(Soup),
    Transpose(Turn),
}

/// Transposes a square matrix of `f32` several times, with the time of each. Of all tasks it sends the most data.
#[derive(Debug, clap::Args)]
struct Turn {
    /// Rows and columns
    #[arg(long, default_value_t = 1 << 14)]
    side: usize,
    /// How often
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
}

/// Runs the Game of Life on a torus with random cells.
#[derive(Debug, clap::Args)]
struct Soup {
    /// Rows and columns
    #[arg(long, default_value_t = 1 << 18)]
    side: usize,
    /// Generations
    #[arg(long, default_value_t = 1000)]
    generations: u64,
}

/// Blurs a matrix in a file with a Gaussian.
#[derive(Debug, clap::Args)]
struct Blur {
    /// Input: `f32`, row after row
    input: PathBuf,
    /// Output, which is overwritten
    output: PathBuf,
    /// Elements of a row
    #[arg(long)]
    columns: usize,
    /// Standard deviation of the Gaussian, in elements
    #[arg(long, default_value_t = 3.0)]
    sigma: f64,
}

/// Reason for the failure of a rank.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the input and the output are the same file: a rank would overwrite what another one reads")]
    SameFile,
    #[error("{}: {bytes} bytes are not whole rows of {columns} elements", file.display())]
    Rows { file: PathBuf, bytes: u64, columns: usize },
    #[error("{}: {error}", file.display())]
    File { file: PathBuf, error: io::Error },
    #[error("row {row} is not the column of the matrix")]
    Transposed { row: usize },
    #[error(transparent)]
    Operation(#[from] slm::Error),
}

fn main() -> ExitCode {
    let task = Task::parse();
    slm_mpi::run(|devices| match &task {
        Task::Blur(arguments) => blur(devices, arguments),
        Task::Life(arguments) => life(devices, arguments),
        Task::Transpose(arguments) => transpose(devices, arguments),
    })
}

/// Each rank has some rows of the torus, and exchanges those at the ends of its part every few generations.
fn life(devices: &Devices, &Soup { side, generations }: &Soup) -> Result<(), Failure> {
    let mut board = Life::new(side, side).prepare_on(devices)?;
    let width = side.div_ceil(64);
    let last = u64::MAX >> (width * 64 - side);
    for (member, _) in devices.local() {
        let rows = board.distribution().rows(member);
        let words = Array2::from_shape_fn((rows.len(), width), |(row, k)| {
            let word = random((rows.start + row) * width + k);
            if k + 1 == width { word & last } else { word }
        });
        board.set_words(member, words.view())?;
    }
    let (before, start) = (board.population()?, Instant::now());
    board.step(generations)?;
    // Every rank takes part in the sum.
    let after = board.population()?;
    if devices.get(0).is_some() {
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{before} cells live; after {generations} generations, {after}: {seconds:.3} s on {} ranks",
            devices.len()
        );
    }
    Ok(())
}

/// Transposes a matrix whose elements count from 0, as far as `f32` can, and compares a rank's first row.
fn transpose(devices: &Devices, &Turn { side, times }: &Turn) -> Result<(), Failure> {
    let number = |row: usize, column: usize| (row * side + column) as f32;
    let mut matrix = devices.zeroed(side, side)?;
    for (member, _) in devices.local() {
        let rows = matrix.rows(member);
        let elements = rows.flat_map(|row| (0..side).map(move |column| number(row, column))).collect::<Vec<_>>();
        let Some(mut part) = matrix.part_mut(member) else { continue };
        part.upload(&elements)?;
    }
    let (turn, mut transposed) = (Transpose::new(side, side).prepare_on(devices)?, devices.zeroed(side, side)?);
    for _ in 0..times {
        devices.synchronize()?;
        let start = Instant::now();
        turn.apply_into(&matrix, &mut transposed)?;
        devices.synchronize()?;
        if devices.get(0).is_some() {
            println!("{:.3} ms on {} ranks", 1e3 * start.elapsed().as_secs_f64(), devices.len());
        }
    }
    for (member, _) in devices.local() {
        let (Some(part), first) = (transposed.part(member), transposed.rows(member).start) else { continue };
        if part.is_empty() {
            continue;
        }
        let is_turned = part.slice(..side)?.download()?.into_iter().eq((0..side).map(|column| number(column, first)));
        if !is_turned {
            return Err(Failure::Transposed { row: first });
        }
    }
    Ok(())
}

/// Returns 64 random cells (SplitMix64).
fn random(number: usize) -> u64 {
    let z = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn blur(devices: &Devices, arguments: &Blur) -> Result<(), Failure> {
    let Blur { input, output, columns, sigma } = arguments;
    // An output that does not exist yet is another file.
    let [from, to] = [input, output].map(fs::canonicalize);
    if from.is_ok_and(|from| to.is_ok_and(|to| from == to)) {
        return Err(Failure::SameFile);
    }
    let filter = Filter2d::<f32, f32>::gaussian(*sigma).boundary(Boundary::Reflect).prepare_on(devices)?;
    let matrix = read(devices, input, *columns)?;
    let blurred = filter.apply(&matrix)?;
    write(&blurred, output)?;
    for (member, device) in devices.local() {
        println!("rank {member} of {}: rows {:?} on {device}", devices.len(), blurred.rows(member));
    }
    Ok(())
}

/// Reads the rows of this rank.
fn read(devices: &Devices, path: &Path, columns: usize) -> Result<DistributedBuffer<f32>, Failure> {
    let failed = |error| Failure::File { file: path.to_owned(), error };
    let mut file = File::open(path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let rows = rows(bytes, columns).ok_or_else(|| Failure::Rows { file: path.to_owned(), bytes, columns })?;
    let mut matrix = devices.zeroed(rows, columns)?;
    for (member, _) in devices.local() {
        let first = matrix.rows(member).start;
        let Some(mut part) = matrix.part_mut(member) else { continue };
        let mut elements = vec![0f32; part.len()];
        file.seek(SeekFrom::Start(place(first, columns))).map_err(failed)?;
        file.read_exact(bytemuck::must_cast_slice_mut(&mut elements)).map_err(failed)?;
        part.upload(&elements)?;
    }
    Ok(matrix)
}

/// Writes the rows of this rank. All ranks make the file as long as it will be.
fn write(matrix: &DistributedBuffer<f32>, path: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::File { file: path.to_owned(), error };
    // Not truncated, because another rank may have written before.
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(failed)?;
    file.set_len(place(matrix.total_rows(), matrix.width())).map_err(failed)?;
    for (member, _) in matrix.devices().local() {
        let Some(part) = matrix.part(member) else { continue };
        file.seek(SeekFrom::Start(place(matrix.rows(member).start, matrix.width()))).map_err(failed)?;
        file.write_all(bytemuck::must_cast_slice(&part.download()?)).map_err(failed)?;
    }
    Ok(())
}

/// Returns the number of rows in a file, or `None` if the last one is not whole.
fn rows(bytes: u64, columns: usize) -> Option<usize> {
    let row = columns.checked_mul(size_of::<f32>()).filter(|row| *row > 0)? as u64;
    if bytes.is_multiple_of(row) { usize::try_from(bytes / row).ok() } else { None }
}

/// Returns where a row begins in a file.
fn place(row: usize, columns: usize) -> u64 {
    row as u64 * columns as u64 * size_of::<f32>() as u64
}
