//! What of the kernels the emulated tests have reached.
//!
//! An operation is a folder of `kernels/` with entry points. Its suite has the same name; an operation without one has run
//! nothing. What stands outside of these folders may be reached by any suite.

use super::ptx::Code;
use super::sources::{Accessors, files, library};
use libtest_mimic::Arguments;
use slm::emulator::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

/// What the tests of each suite have reached.
static REACHED: Mutex<BTreeMap<String, Coverage>> = Mutex::new(BTreeMap::new());

/// What there is of some kernels, or what of them has run; lines as `FILE:LINE`.
#[derive(Clone, Default)]
struct Coverage {
    /// The kernels' names.
    entry_points: BTreeSet<String>,
    /// Lines that call an accessor.
    lines: BTreeSet<String>,
    /// Lines with a masked form, at which a lane made its access.
    made: BTreeSet<String>,
    /// The same, at which a lane left it out.
    left_out: BTreeSet<String>,
}

/// What the sources of the kernels have: in the folder of each operation, and outside of these.
struct Sources {
    operations: BTreeMap<String, Coverage>,
    shared: Coverage,
}

/// Notes what a kernel did in a test of this suite.
pub fn note(suite: &str, report: &Report) {
    let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    reached.entry(suite.to_owned()).or_default().add(report);
}

/// Whether the tests of `arguments`, for each operation whose emulated ones are all among them, have run every kernel of the
/// operation and reached every accessor call in its folder of `kernels/`, masked forms in both ways; prints what they have
/// not. No kernels and no calls are too few.
pub fn is_covered(arguments: &Arguments) -> bool {
    check(arguments).unwrap_or_else(|error| {
        eprintln!("{error}: what the emulated tests reach is not known");
        // The package of these tests comes without the kernels' sources; a clone has them.
        !Path::new("kernels").exists()
    })
}

fn check(arguments: &Arguments) -> io::Result<bool> {
    let sources = Sources::find()?;
    let reached = std::mem::take(&mut *REACHED.lock().unwrap_or_else(PoisonError::into_inner));
    let (mut covered, mut complete) = (true, true);
    for (operation, there_is) in &sources.operations {
        if has_all_trials(operation, arguments) {
            let reached = reached.get(operation).cloned().unwrap_or_default();
            covered &= there_is.is_reached(&reached, operation) && !there_is.lines.is_empty();
        } else {
            complete = false;
        }
    }
    let all = reached.into_values().reduce(Coverage::with).unwrap_or_default();
    // Without a part of the operations less is reached.
    if complete && !sources.shared.lines.is_empty() {
        covered &= sources.shared.is_reached(&all, "shared");
    }
    Ok(all.is_known(&sources) && covered)
}

/// Whether all emulated trials of the suite have run: a part of them does not reach everything.
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
            // An operation does not see the helpers of others.
            let (calls, _) = Coverage::of(&files, accessors.clone())?;
            operations.insert(operation, Coverage { entry_points, ..calls });
        }
        Ok(Sources { operations, shared })
    }

    fn lines(&self) -> impl Iterator<Item = &String> {
        self.operations.values().chain([&self.shared]).flat_map(|there_is| &there_is.lines)
    }
}

impl Coverage {
    /// Whether all of it is reached; prints how much is, and what is not.
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
            missed.iter().for_each(|one| println!("all but {one}"));
            missed.len()
        });
        missed == [0; 4]
    }

    /// Whether the sources have an accessor on every line that was reached there; prints those on which they have none, which
    /// nobody would miss.
    fn is_known(&self, sources: &Sources) -> bool {
        let known: BTreeSet<_> = sources.lines().collect();
        let of_kernels = self.lines.iter().filter(|line| line.starts_with("kernels/"));
        let unknown: Vec<_> = of_kernels.filter(|line| !known.contains(line)).collect();
        unknown.iter().for_each(|line| println!("{line}: was reached, and is not known to have an accessor"));
        unknown.is_empty()
    }

    /// Takes in what a kernel did.
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

    /// What these files call, and the accessors with those helpers that they have.
    fn of(files: &[PathBuf], accessors: Accessors) -> io::Result<(Self, Accessors)> {
        let sources = files.iter().map(fs::read_to_string).collect::<io::Result<Vec<_>>>()?;
        let accessors = accessors.with_helpers(&sources);
        let mut there_is = Coverage::default();
        for (file, source) in files.iter().zip(&sources) {
            let calls = accessors.calls(source);
            let lines = |lines: BTreeSet<u32>| lines.into_iter().map(|line| line_of(file, line));
            there_is.lines.extend(lines(calls.all));
            there_is.made.extend(lines(calls.masked.clone()));
            there_is.left_out.extend(lines(calls.masked));
        }
        Ok((there_is, accessors))
    }

    fn with(mut self, other: Coverage) -> Self {
        self.entry_points.extend(other.entry_points);
        self.lines.extend(other.lines);
        self.made.extend(other.made);
        self.left_out.extend(other.left_out);
        self
    }
}

/// The same on every platform.
fn line_of(file: &Path, line: u32) -> String {
    format!("{}:{line}", file.display()).replace('\\', "/")
}

/// The kernels of an operation: those of the committed PTX.
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
