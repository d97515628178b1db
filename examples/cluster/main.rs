//! Blurs a matrix in a file that may be larger than the memory of a machine, with a Gaussian, on the ranks of an MPI job:
//!
//! ```sh
//! cd crates/mpi && cargo build --release --example cluster
//! mpirun -n 4 target/release/examples/cluster matrix.f32 blurred.f32 --columns 20000 --sigma 3
//! srun --ntasks-per-node=4 --gpus-per-task=1 target/release/examples/cluster matrix.f32 blurred.f32 --columns 20000 --sigma 3
//! ```
//!
//! The files have `f32` of this machine's byte order, row after row, and nothing else. Each rank reads its own rows, exchanges those
//! at the ends of its part with other ranks, and writes its rows into their place. The result does not depend on the number of ranks.

use clap::Parser;
use slm::distributed::{Devices, DistributedBuffer};
use slm::{Boundary, Filter2d};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Blurs a matrix in a file with a Gaussian, on the ranks of an MPI job.
#[derive(Debug, Parser)]
#[command(name = "cluster")]
struct Arguments {
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
    #[error(transparent)]
    Filter(#[from] slm::Error),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    slm_mpi::run(|devices| blur(devices, &arguments))
}

fn blur(devices: &Devices, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { input, output, columns, sigma } = arguments;
    if input == output {
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
        let Some(part) = matrix.part_mut(member) else { continue };
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
