//! Tests on emulated devices: nothing may be found, no bank conflicts counted, and everything reached.

use libtest_mimic::{Arguments, Failed, Trial};
use slm::Device;
use slm::emulator::{Action, Line, Profile, SiteCounts};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

/// The places of the kernels that the tests of a suite have come by.
static REACHED: Mutex<BTreeSet<(&str, Line)>> = Mutex::new(BTreeSet::new());

/// One test of a suite on an emulated device. Profiles and seeds go by the test's name, so that all have their turn.
pub fn trial(suite: &'static str, name: &str, test: impl Fn(&Device) -> Result<(), Failed> + Send + 'static) -> Trial {
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
        let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
        reached.extend(report.sites.into_iter().map(|site| (suite, site.at)));
    }
    Ok(())
}

/// Whether the data decide which banks the lanes want here: atomic operations, and the way to a counter in a cache.
fn is_up_to_data(site: &SiteCounts) -> bool {
    site.action == Action::Atomic || site.action == Action::Load && site.at.file.ends_with("histogram/cached.rs")
}

/// Whether the tests of `arguments`, if the suite's emulated ones are all among them, have reached every accessor call in
/// this folder of `kernels/`; prints which ones were not.
pub fn is_covered(suite: &str, operation: &str, arguments: &Arguments) -> bool {
    // A part of the trials does not reach everything.
    let of_all = format!("{suite}::emulated::");
    let all = arguments.filter.as_deref().is_none_or(|filter| !arguments.exact && of_all.contains(filter))
        && arguments.skip.is_empty()
        && !arguments.ignored
        && !arguments.list;
    let folder = Path::new("kernels").join(operation);
    let calls = match accessor_calls(&folder) {
        Ok(calls) if all => calls,
        Ok(_) => return true,
        Err(error) => {
            eprintln!("{}: {error}: what the emulated tests reach is not known", folder.display());
            return true;
        }
    };
    let reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    let of_suite = reached.iter().filter(|(of, _)| *of == suite);
    let reached: BTreeSet<(PathBuf, u32)> = of_suite.map(|(_, at)| (PathBuf::from(&at.file), at.line)).collect();
    let missed: Vec<_> = calls.difference(&reached).collect();
    println!("{suite}::emulated: {} of {} lines with accessors were reached", calls.len() - missed.len(), calls.len());
    for (file, line) in &missed {
        println!("not reached: {}:{line}", file.display());
    }
    missed.is_empty()
}

/// The lines below `folder` that call an accessor.
fn accessor_calls(folder: &Path) -> io::Result<BTreeSet<(PathBuf, u32)>> {
    let mut calls = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            calls.extend(accessor_calls(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            calls.extend(calls_in(&fs::read_to_string(&path)?).into_iter().map(|line| (path.clone(), line)));
        }
    }
    Ok(calls)
}

/// What accessors are called like, methods of the kernels that pass on their caller's place included.
const ACCESSORS: [&str; 26] = [
    ".get(",
    ".get2(",
    ".get4(",
    ".get_or(",
    ".get4_strided",
    ".get4_masked(",
    ".inside(",
    ".set(",
    ".set2(",
    ".set4(",
    ".set_if(",
    ".add(",
    ".add_if(",
    ".fetch_add(",
    ".fetch_max(",
    ".exchange(",
    ".compare_exchange(",
    "::get_pack(",
    "::set_pack(",
    "::load_pack(",
    "::store_pack(",
    "::constant_pack(",
    ".continue_row(",
    "sync_threads()",
    "sync_warp(",
    ".reuse()",
];

/// The numbers of the lines of `source` that call an accessor, but for tests, and for functions that pass on their
/// caller's place: those calls are their callers'.
fn calls_in(source: &str) -> Vec<u32> {
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
            calls.push(number);
        }
    }
    calls
}
