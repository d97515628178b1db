//! Coverage of the kernels by the emulated tests.
//!
//! An operation is a folder of `kernels/` with entry points. Its suite has the same name; an operation without a suite has
//! reached nothing. Any suite may reach the code outside of these folders.

use super::ptx::Code;
use super::sources::{Accessors, files, library};
use libtest_mimic::Arguments;
use slm::emulator::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

/// Coverage reached by the tests of each suite.
static REACHED: Mutex<BTreeMap<String, Coverage>> = Mutex::new(BTreeMap::new());

/// Kernels and lines: those of the sources, or those that have run. Lines have the form `FILE:LINE`.
#[derive(Clone, Default)]
struct Coverage {
    /// Names of the kernels.
    entry_points: BTreeSet<String>,
    /// Lines that call an accessor.
    lines: BTreeSet<String>,
    /// Lines with a masked form at which a lane made its access.
    made: BTreeSet<String>,
    /// Lines with a masked form at which a lane left its access out.
    left_out: BTreeSet<String>,
}

/// Kernels and lines of the sources: of each operation's folder, and outside of these folders.
struct Sources {
    operations: BTreeMap<String, Coverage>,
    shared: Coverage,
}

/// Records the report of a kernel in a test of a suite.
pub fn record(suite: &str, report: &Report) {
    let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    reached.entry(suite.to_owned()).or_default().add(report);
}

/// Returns whether the tests have run every kernel of each operation and reached every accessor call in its folder of
/// `kernels/`, masked forms in both ways. Prints what is missing. Operations whose emulated trials are not all selected by
/// `arguments` are skipped. An operation without accessor calls counts as not covered.
pub fn is_covered(arguments: &Arguments) -> bool {
    check(arguments).unwrap_or_else(|error| {
        eprintln!("{error}: the coverage of the emulated tests is unknown");
        // A package of these tests does not have the kernels' sources; a clone has them.
        !Path::new("kernels").exists()
    })
}

fn check(arguments: &Arguments) -> io::Result<bool> {
    let sources = Sources::find()?;
    let reached = std::mem::take(&mut *REACHED.lock().unwrap_or_else(PoisonError::into_inner));
    let (mut covered, mut complete) = (true, true);
    for (operation, expected) in &sources.operations {
        if has_all_trials(operation, arguments) {
            let reached = reached.get(operation).cloned().unwrap_or_default();
            covered &= expected.is_reached(&reached, operation) && !expected.lines.is_empty();
        } else {
            complete = false;
        }
    }
    let all = reached.into_values().reduce(Coverage::with).unwrap_or_default();
    // If an operation was skipped, shared code may not be reached.
    if complete && !sources.shared.lines.is_empty() {
        covered &= sources.shared.is_reached(&all, "shared");
    }
    Ok(all.is_known(&sources) && covered)
}

/// Returns whether all emulated trials of the suite have run. A part of them does not reach everything.
fn has_all_trials(suite: &str, arguments: &Arguments) -> bool {
    let of_all = format!("{suite}::emulated::");
    arguments.filter.as_deref().is_none_or(|filter| !arguments.exact && of_all.contains(filter))
        && arguments.skip.is_empty()
        && !arguments.ignored
        && !arguments.list
}

impl Sources {
    fn find() -> io::Result<Self> {
        let (mut folders, mut shared) = (BTreeMap::new(), Vec::new());
        for file in files(Path::new("kernels"))? {
            let parts: Vec<_> = file.iter().filter_map(|part| part.to_str()).collect();
            match parts[..] {
                [_, "build.rs"] => {}
                [_, folder, _, ..] => folders.entry(folder.to_owned()).or_insert_with(Vec::new).push(file),
                _ => shared.push(file),
            }
        }
        let mut operations = BTreeMap::new();
        for (folder, files) in folders {
            let entry_points = entry_points(&folder)?;
            if entry_points.is_empty() {
                shared.extend(files);
            } else {
                operations.insert(folder, (entry_points, files));
            }
        }
        Self::new(operations, &shared)
    }

    fn new(folders: BTreeMap<String, (BTreeSet<String>, Vec<PathBuf>)>, shared: &[PathBuf]) -> io::Result<Self> {
        let (shared, accessors) = Coverage::of(shared, library()?)?;
        let mut operations = BTreeMap::new();
        for (operation, (entry_points, files)) in folders {
            // An operation cannot call the helpers of others.
            let (calls, _) = Coverage::of(&files, accessors.clone())?;
            operations.insert(operation, Coverage { entry_points, ..calls });
        }
        Ok(Sources { operations, shared })
    }

    fn lines(&self) -> impl Iterator<Item = &String> {
        self.operations.values().chain([&self.shared]).flat_map(|expected| &expected.lines)
    }
}

impl Coverage {
    /// Returns whether all of `self` has been reached. Prints the numbers, and what is missing.
    fn is_reached(&self, reached: &Coverage, suite: &str) -> bool {
        let parts = [
            ("kernels ran", &self.entry_points, &reached.entry_points),
            ("lines with accessors were reached", &self.lines, &reached.lines),
            ("masked forms made their access", &self.made, &reached.made),
            ("masked forms left it out", &self.left_out, &reached.left_out),
        ];
        let missed = parts.map(|(what, all, reached)| {
            let missed: Vec<_> = all.difference(reached).collect();
            println!("{suite}::emulated: {} of {} {what}", all.len() - missed.len(), all.len());
            missed.iter().for_each(|one| println!("missing: {one}"));
            missed.len()
        });
        missed == [0; 4]
    }

    /// Returns whether the sources have a known accessor on every line that was reached. Prints the other lines: if they
    /// were not reached, they would not be missing.
    fn is_known(&self, sources: &Sources) -> bool {
        let known: BTreeSet<_> = sources.lines().collect();
        let of_kernels = self.lines.iter().filter(|line| line.starts_with("kernels/"));
        let unknown: Vec<_> = of_kernels.filter(|line| !known.contains(line)).collect();
        unknown.iter().for_each(|line| println!("{line}: was reached, but has no known accessor"));
        unknown.is_empty()
    }

    /// Adds the kernel and the lines of a report.
    fn add(&mut self, report: &Report) {
        self.entry_points.insert(report.kernel.to_owned());
        for site in &report.sites {
            let at = line_of(Path::new(&site.at.file), site.at.line);
            if site.counts.lanes > 0 {
                self.made.insert(at.clone());
            }
            if site.counts.left_out > 0 {
                self.left_out.insert(at.clone());
            }
            self.lines.insert(at);
        }
    }

    /// Returns the accessor calls of `files`, and the accessors including the helpers in these files.
    fn of(files: &[PathBuf], accessors: Accessors) -> io::Result<(Self, Accessors)> {
        let sources = files.iter().map(fs::read_to_string).collect::<io::Result<Vec<_>>>()?;
        let accessors = accessors.with_helpers(&sources);
        let mut expected = Coverage::default();
        for (file, source) in files.iter().zip(&sources) {
            let calls = accessors.calls(source);
            let lines = |lines: BTreeSet<u32>| lines.into_iter().map(|line| line_of(file, line));
            expected.lines.extend(lines(calls.all));
            expected.made.extend(lines(calls.masked.clone()));
            expected.left_out.extend(lines(calls.masked));
        }
        Ok((expected, accessors))
    }

    fn with(mut self, other: Coverage) -> Self {
        self.entry_points.extend(other.entry_points);
        self.lines.extend(other.lines);
        self.made.extend(other.made);
        self.left_out.extend(other.left_out);
        self
    }
}

/// Returns the line as `FILE:LINE`, the same on every platform.
fn line_of(file: &Path, line: u32) -> String {
    format!("{}:{line}", file.display()).replace('\\', "/")
}

/// Returns the kernels of an operation, from the committed PTX.
fn entry_points(operation: &str) -> io::Result<BTreeSet<String>> {
    let mut entry_points = BTreeSet::new();
    for entry in fs::read_dir("kernels/ptx")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_of_operation = name.strip_prefix(operation).is_some_and(|rest| rest.starts_with(['_', '.']));
        if is_of_operation && name.ends_with(".ptx") {
            entry_points.extend(Code::new(&fs::read_to_string(entry.path())?).entries());
        }
    }
    Ok(entry_points)
}
