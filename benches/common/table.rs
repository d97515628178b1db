//! The lines of a table.

use std::path::Path;
use std::time::Duration;

/// Prints the first lines: the names of the benchmark and of its program, with the arguments, which records contain.
pub(crate) fn begin() {
    println!("# benchmark: {}", env!("CARGO_CRATE_NAME"));
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default().display();
    let arguments: String = arguments.map(|argument| format!(" {argument}")).collect();
    println!("# command: {name}{arguments}");
}

/// Prints the line after the last row. A table without it is that of a program that was stopped or failed.
pub(crate) fn end() {
    println!("# complete");
}

/// Prints the line of one case, in the columns that `peers/README.md` explains. `per_run` has one amount per run for each
/// column of a rate: bytes moved, or results computed.
pub(crate) fn report(peer: &str, case: &str, time: Duration, per_run: &[u64], verdict: &str) {
    let seconds = time.as_secs_f64();
    print!("slm {peer}\t{case}\t{:.2}", seconds * 1e6);
    for &amount in per_run {
        print!("\t{:.4e}", amount as f64 / seconds);
    }
    println!("\t{verdict}");
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}
