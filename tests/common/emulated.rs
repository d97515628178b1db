//! Tests on emulated devices: they fail on findings and on bank conflicts. Their coverage is recorded.

use super::{Test, coverage};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use slm::emulator::{Action, Profile, SiteCounts};
use std::path::Path;
use std::sync::Arc;

/// Returns one test of a suite on an emulated device. Profile and seed are derived from the test's name, so that all
/// profiles are used.
pub fn trial(
    suite: &'static str,
    name: &str,
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> Trial {
    trial_of(suite, name, &Profile::ALL, Arc::new(test))
}

/// The same for one of these profiles.
pub(super) fn trial_of(suite: &'static str, name: &str, profiles: &[Profile], test: Test) -> Trial {
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let (profile, seed) = (profiles[(hash >> 32) as usize % profiles.len()], hash >> 48);
    Trial::test(format!("{suite}::emulated::{name}"), move || {
        let device = Device::emulated(profile, seed);
        let selection = &device.info().selection;
        test(&device).map_err(|failed| format!("{selection}: {}", failed.message().unwrap_or("failed")))?;
        check_reports(suite, &device).map_err(|failed| format!("{selection}: {failed}").into())
    })
}

/// Checks the device's reports for findings (which the operations have already returned as errors) and bank conflicts, and
/// records them.
fn check_reports(suite: &'static str, device: &Device) -> Result<(), String> {
    for report in device.emulation_reports() {
        // The documentation of the kernels promises that there are no conflicts, unless they depend on the data.
        let promised = report.sites.iter().filter(|site| !depends_on_data(site));
        let conflicts: u64 = promised.map(|site| site.counts.bank_conflicts()).sum();
        if !report.is_clean() || conflicts > 0 {
            return Err(report.to_string());
        }
        coverage::record(suite, &report);
    }
    Ok(())
}

/// Returns whether conflicts at the site depend on the data: at atomic operations, in the search for a counter in a cache and for an edge
/// with a guide, where samples are sorted, and where a member of the sorted ones is. Conflicts of transpositions depend on the shape of the
/// matrix and the algorithm, and have a separate trial.
fn depends_on_data(site: &SiteCounts) -> bool {
    let is_in = |file: &str| site.at.file.ends_with(file);
    let cached = site.action == Action::Load && is_in("histogram/cached.rs");
    let guided = is_in("histogram/lookup.rs");
    let sorted = is_in("sorted/order.rs") || is_in("sorted/member.rs");
    site.action == Action::Atomic
        || cached
        || guided
        || sorted
        || Path::new(&site.at.file).ancestors().any(|it| it.ends_with("transpose"))
}
