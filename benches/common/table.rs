//! The lines of a table.

use std::ops::Div;
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

/// Prints the names of the columns. `rates` are those of a line's rates.
pub(crate) fn columns(rates: &[&str]) {
    println!("{}", heading(rates));
}

pub(crate) fn heading(rates: &[&str]) -> String {
    let names = ["# peer", "case", "median_us", "spread_us"].iter().chain(rates).chain(&["check"]);
    names.copied().collect::<Vec<_>>().join("\t")
}

/// Prints the line after the last row. A table without it is that of a program that was stopped or failed.
pub(crate) fn end() {
    println!("{END}");
}

pub(crate) const END: &str = "# complete";

/// Prints the line of one case, in the columns that `peers/README.md` explains. `per_run` has one amount per run for each
/// column of a rate: bytes moved, or results computed.
pub(crate) fn report(peer: &str, case: &str, times: Times, per_run: &[u64], verdict: &str) {
    println!("{}", line(peer, case, times, per_run, verdict));
}

pub(crate) fn line(peer: &str, case: &str, Times { median, spread }: Times, per_run: &[u64], verdict: &str) -> String {
    let [seconds, spread] = [median, spread].map(|time| time.as_secs_f64());
    let rates: String = per_run.iter().map(|amount| format!("\t{:.4e}", *amount as f64 / seconds)).collect();
    format!("slm {peer}\t{case}\t{:.2}\t{:.2}{rates}\t{verdict}", seconds * 1e6, spread * 1e6)
}

/// The median of the times of some runs, and their spread: the distance between their quartiles, which few slow runs do not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) median: Duration,
    pub(crate) spread: Duration,
}

impl Times {
    /// Returns the median and the spread of times, which are sorted. The spread of one time is 0.
    pub(crate) fn of(times: &mut [Duration]) -> Self {
        times.sort();
        let quartile = |quarters| times[quarters * times.len() / 4];
        Times { median: quartile(2), spread: quartile(3) - quartile(1) }
    }
}

/// The times of a part of runs that consist of equal parts.
impl Div<u32> for Times {
    type Output = Self;

    fn div(self, parts: u32) -> Self {
        Times { median: self.median / parts, spread: self.spread / parts }
    }
}
