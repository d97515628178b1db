//! Tests on emulated devices: nothing may be found, no bank conflicts counted, and everything reached.

use super::Test;
use super::ptx::Code;
use libtest_mimic::{Arguments, Failed, Trial};
use slm::Device;
use slm::emulator::{Action, Profile, Report, SiteCounts};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

/// What the tests of each suite have reached.
static REACHED: Mutex<BTreeMap<&str, Coverage>> = Mutex::new(BTreeMap::new());

/// What there is of an operation's kernels, or what of it has run; lines as `FILE:LINE`.
#[derive(Default)]
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

/// One test of a suite on an emulated device. Profiles and seeds go by the test's name, so that all have their turn.
pub fn trial(
    suite: &'static str,
    name: &str,
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> Trial {
    trial_of(suite, name, Arc::new(test))
}

pub(super) fn trial_of(suite: &'static str, name: &str, test: Test) -> Trial {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let (profile, seed) = (Profile::ALL[(hash >> 32) as usize % Profile::ALL.len()], hash >> 48);
    Trial::test(format!("{suite}::emulated::{name}"), move || {
        let device = Device::emulated(profile, seed);
        let selection = &device.info().selection;
        test(&device).map_err(|failed| format!("{selection}: {}", failed.message().unwrap_or("failed")))?;
        check_reports(suite, &device).map_err(|failed| format!("{selection}: {failed}").into())
    })
}

/// What the device has found (which the operations have returned as errors already) and counted.
fn check_reports(suite: &'static str, device: &Device) -> Result<(), String> {
    for report in device.emulation_reports() {
        // The documentation of the kernels promises none, except where data decide who meets.
        let promised = report.sites.iter().filter(|site| !is_up_to_data(site));
        let conflicts: u64 = promised.map(|site| site.counts.bank_conflicts()).sum();
        if !report.is_clean() || conflicts > 0 {
            return Err(report.to_string());
        }
        REACHED.lock().unwrap_or_else(PoisonError::into_inner).entry(suite).or_default().add(&report);
    }
    Ok(())
}

/// Whether the data decide which banks the lanes want here: atomic operations, and the way to a counter in a cache. Or the
/// shape of a matrix and the algorithm, to which the suite of transpositions has a trial of its own.
fn is_up_to_data(site: &SiteCounts) -> bool {
    let cached = site.action == Action::Load && site.at.file.ends_with("histogram/cached.rs");
    site.action == Action::Atomic || cached || Path::new(&site.at.file).ancestors().any(|it| it.ends_with("transpose"))
}

/// Whether the tests of `arguments`, if the suite's emulated ones are all among them, have run every kernel of an
/// operation and reached every accessor call in its folder of `kernels/`, masked forms in both ways; prints what they have
/// not. No kernels and no calls are too few.
pub fn is_covered(suite: &str, operation: &str, arguments: &Arguments) -> bool {
    if !has_all_trials(suite, arguments) {
        return true;
    }
    match Coverage::of_sources(operation) {
        Ok(there_is) => {
            let reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner).remove(suite).unwrap_or_default();
            there_is.is_reached(&reached, suite)
        }
        Err(error) => {
            eprintln!("{operation}: {error}: what the emulated tests reach is not known");
            // The package of these tests comes without the kernels' sources; a clone has them.
            !Path::new("kernels").exists()
        }
    }
}

/// Whether all emulated trials of the suite have run: a part of them does not reach everything.
fn has_all_trials(suite: &str, arguments: &Arguments) -> bool {
    let of_all = format!("{suite}::emulated::");
    arguments.filter.as_deref().is_none_or(|filter| !arguments.exact && of_all.contains(filter))
        && arguments.skip.is_empty()
        && !arguments.ignored
        && !arguments.list
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
        missed == [0; 4] && !self.entry_points.is_empty() && !self.lines.is_empty()
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

    /// All that there is: the entry points of the committed PTX, and what the sources call.
    fn of_sources(operation: &str) -> io::Result<Self> {
        let mut there_is = Coverage { entry_points: entry_points(operation)?, ..Coverage::default() };
        there_is.add_calls(&Path::new("kernels").join(operation))?;
        if operation == "filter1d" {
            there_is.add_calls(Path::new("kernels/signal"))?;
        }
        Ok(there_is)
    }

    /// The lines below `folder` that call an accessor.
    fn add_calls(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.add_calls(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                for (number, code) in calls_in(&fs::read_to_string(&path)?) {
                    self.add_call(line_of(&path, number), code);
                }
            }
        }
        Ok(())
    }

    fn add_call(&mut self, at: String, code: &str) {
        if MASKED.iter().any(|call| code.contains(call)) {
            self.made.insert(at.clone());
            self.left_out.insert(at.clone());
        }
        self.lines.insert(at);
    }
}

/// The same on every platform.
fn line_of(file: &Path, line: u32) -> String {
    format!("{}:{line}", file.display()).replace('\\', "/")
}

/// The kernels of an operation.
fn entry_points(operation: &str) -> io::Result<BTreeSet<String>> {
    let mut entry_points = BTreeSet::new();
    for entry in fs::read_dir("kernels/ptx")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(operation) && name.ends_with(".ptx") {
            entry_points.extend(Code::new(&fs::read_to_string(entry.path())?).entries());
        }
    }
    Ok(entry_points)
}

/// What accessors are called like, methods of the kernels that pass on their caller's place included. Reading the clock is
/// none: it is not counted.
const ACCESSORS: [&str; 28] = [
    ".get(",
    ".get_or(",
    ".get_pack(",
    ".get_pack::",
    ".get_pack_masked",
    ".pack(",
    ".get_masked(",
    ".get4_strided",
    ".inside(",
    ".set(",
    ".set_if(",
    ".set_pack(",
    ".add(",
    ".add_if(",
    ".fetch_add(",
    ".fetch_max(",
    ".exchange(",
    ".compare_exchange(",
    "= load(&",
    ".store(&",
    "args.add_up(",
    ".continue_row(",
    "sync_threads()",
    "sync_warp(",
    "::ballot(",
    "::shuffle_xor(",
    "fence_device()",
    ".reuse()",
];

/// What masked forms are called like, which make an access or leave it out. `get4_strided` is one, too, but the kernels
/// call it where nothing is out of range.
const MASKED: [&str; 5] = [".get_or(", ".get_masked(", ".get_pack_masked", ".set_if(", ".add_if("];

/// The lines of `source` that call an accessor, with their numbers, but for tests, and for functions that pass on their
/// caller's place: those calls are their callers'.
fn calls_in(source: &str) -> Vec<(u32, &str)> {
    let mut calls = Vec::new();
    // The indentation of the function that is left out.
    let mut left_out: Option<usize> = None;
    for (number, line) in (1..).zip(source.lines()) {
        let code = line.trim_start();
        let indentation = line.len() - code.len();
        if code.starts_with("#[track_caller]") || code.starts_with("#[cfg(test)]") {
            left_out = Some(indentation);
        } else if left_out == Some(indentation) && code.starts_with('}') {
            left_out = None;
        } else if left_out.is_none() && !code.starts_with("//") && ACCESSORS.iter().any(|call| code.contains(call)) {
            calls.push((number, code));
        }
    }
    calls
}
