//! Keeps the results of benchmarks: makes a record of their tables, compares records, and draws charts of them.
//!
//! `record/README.md` has the commands. A record is one file per machine and day, `record/<machine>/<date>.json`.

mod charts;
#[cfg(test)]
mod committed;
mod comparison;
mod error;
mod folder;
mod history;
mod record;
mod tables;

use clap::{Args, Parser, Subcommand};
use comparison::{Comparison, comparisons};
use error::{Error, Result};
use folder::Folder;
use history::History;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::slice;
use tables::{Facts, Tables};

/// Keeps the results of benchmarks.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Folder of the records
    #[arg(long, global = true, default_value = "benches/record")]
    records: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes a record of tables, and prints its path
    Make(Make),
    /// Lists the cases of each benchmark that are slower, new, missing or wrong in its last record; exits with 1 if one is slower,
    /// missing or wrong
    Compare(Compare),
    /// Draws the charts of the last record of each benchmark, and prints their paths
    Charts(Charts),
}

#[derive(Args, Debug)]
struct Make {
    /// Tables of one machine; standard input if there are none
    tables: Vec<PathBuf>,
    /// Name of the GPU, unless the tables have it
    #[arg(long)]
    gpu: Option<String>,
    /// Version of the GPU's driver, unless the tables have it
    #[arg(long)]
    driver: Option<String>,
    /// Name of the CPU, unless the tables have it
    #[arg(long)]
    cpu: Option<String>,
    /// Day of the measurements as YYYY-MM-DD, unless the tables have it
    #[arg(long)]
    date: Option<String>,
    /// Commit that was measured, unless the tables have it
    #[arg(long)]
    commit: Option<String>,
    /// Accepts tables of programs that were stopped; the record names their benchmarks
    #[arg(long)]
    incomplete: bool,
}

#[derive(Args, Debug)]
struct Compare {
    /// An earlier record; the last two of each machine's benchmarks if there is none
    #[arg(requires = "later")]
    earlier: Option<PathBuf>,
    /// A later record
    later: Option<PathBuf>,
    /// Percentage by which a median must grow for its case to be slower
    #[arg(long, default_value_t = 5.0, value_parser = percentage)]
    tolerance: f64,
}

#[derive(Args, Debug)]
struct Charts {
    /// A record; all of each machine if there is none
    record: Option<PathBuf>,
    /// Folder of the charts; the record's if it is not given
    #[arg(long)]
    output: Option<PathBuf>,
}

fn percentage(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..f64::INFINITY).contains(&number) { Ok(number) } else { Err(format!("{number} is not a percentage")) }
}

fn main() -> ExitCode {
    let Arguments { command, records } = Arguments::parse();
    let folder = Folder::new(records);
    let status = match command {
        Command::Make(arguments) => make(&folder, arguments),
        Command::Compare(arguments) => compare(&folder, &arguments),
        Command::Charts(arguments) => charts(&folder, &arguments),
    };
    status.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

fn make(folder: &Folder, arguments: Make) -> Result<ExitCode> {
    let Make { tables: files, gpu, driver, cpu, date, commit, incomplete } = arguments;
    let mut tables = Tables::new(Facts { gpu, driver, cpu, date, commit }, incomplete);
    for file in &files {
        tables.read(&file.display().to_string(), &text_of(file)?)?;
    }
    if files.is_empty() {
        tables.read("standard input", &standard_input()?)?;
    }
    let path = folder.save(&tables.into_record()?)?;
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

fn compare(folder: &Folder, arguments: &Compare) -> Result<ExitCode> {
    let histories = match (&arguments.earlier, &arguments.later) {
        (Some(earlier), Some(later)) => vec![History::read(slice::from_ref(earlier), later)?],
        _ => folder.histories()?,
    };
    let comparisons: Vec<_> = histories.iter().flat_map(|history| comparisons(history, arguments.tolerance)).collect();
    if comparisons.iter().all(Comparison::is_of_one) {
        return Err(Error::NothingToCompare);
    }
    comparisons.iter().for_each(|comparison| print!("{comparison}"));
    Ok(ExitCode::from(u8::from(comparisons.iter().any(Comparison::is_worse))))
}

fn charts(folder: &Folder, arguments: &Charts) -> Result<ExitCode> {
    let histories = match &arguments.record {
        Some(record) => vec![History::read(&[], record)?],
        None => folder.histories()?,
    };
    for history in histories {
        let output = arguments.output.as_deref().unwrap_or(history.folder());
        for written in charts::save(&history.newest(), output)? {
            println!("{}", written.display());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text_of(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| Error::Read { path: path.to_owned(), error })
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Error::Read { path: "standard input".into(), error })?;
    Ok(text)
}
