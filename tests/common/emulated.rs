//! Tests on emulated devices: nothing may be found, and no bank conflicts counted. What they reach is noted.

use super::{Test, coverage};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use slm::emulator::{Action, Profile, SiteCounts};
use std::path::Path;
use std::sync::Arc;

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
        coverage::note(suite, &report);
    }
    Ok(())
}

/// Whether the data decide which banks the lanes want here: atomic operations, and the way to a counter in a cache. Or the
/// shape of a matrix and the algorithm, to which the suite of transpositions has a trial of its own.
fn is_up_to_data(site: &SiteCounts) -> bool {
    let cached = site.action == Action::Load && site.at.file.ends_with("histogram/cached.rs");
    site.action == Action::Atomic || cached || Path::new(&site.at.file).ancestors().any(|it| it.ends_with("transpose"))
}
