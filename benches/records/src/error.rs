//! What can go wrong with records.

use crate::charts::DrawingError;
use crate::tables::LineError;
use std::io;
use std::path::PathBuf;

pub(crate) type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{file}, line {line}: {error}")]
    Line { file: String, line: usize, error: LineError },
    #[error("the tables differ in {what}: {first} and {second}; make a record of each, or give --{what}")]
    Conflict { what: &'static str, first: String, second: String },
    #[error("no table names the {what}; give --{what}")]
    Missing { what: &'static str },
    #[error(
        "{file}, line {line}: the table of {benchmark} has no line `# complete`: measure it again, or give --incomplete"
    )]
    Incomplete { file: String, line: usize, benchmark: String },
    #[error("the tables have no rows")]
    NoRows,
    #[error("the date is {0:?}, but must be like 2026-11-28")]
    Date(String),
    #[error("{} exists; delete it to replace it", .path.display())]
    Exists { path: PathBuf },
    #[error("could not read {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("could not write {}: {error}", .path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{} is not a record: {error}", .path.display())]
    Record { path: PathBuf, error: serde_json::Error },
    #[error("{} has no records", .folder.display())]
    NoRecords { folder: PathBuf },
    #[error("no two records of a machine have a benchmark in common")]
    NothingToCompare,
    #[error("the records are of different machines: {earlier} and {later}")]
    DifferentMachines { earlier: String, later: String },
    #[error("could not draw {chart}: {error}")]
    Drawing { chart: String, error: DrawingError },
}
