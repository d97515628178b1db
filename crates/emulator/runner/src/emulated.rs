//! Runs the catalogue on the emulator.

use catalogue::probes::{Probe, ProbeVisitor};
use catalogue::{Args, Bug, Case, CaseVisitor, LEN, SHARED_BYTES, visit_cases, visit_probes};
use cuda_std::Entry;
use slm::emulator::{Action, Counts, Emulator, Launch, LaunchError, Profile, Report, Space};
use std::error::Error;

/// Returns a launch with the given grid and block, and a small budget that soon ends endless waits.
fn shape(blocks: u32, threads: u32) -> Launch {
    Launch::new([blocks, 1, 1], [threads, 1, 1]).shared_bytes(SHARED_BYTES).budget(100_000)
}

/// Runs a kernel on a new emulator.
fn launch<E>(launch: Launch, right: bool) -> Result<Report, LaunchError>
where
    E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>,
{
    let mut emulator = Emulator::new(Profile::SM_90);
    let numbers: Vec<u32> = (0..LEN).collect();
    let [input, zeros] = [emulator.upload(&numbers), emulator.upload(&[0; LEN as usize])];
    let output = emulator.allocate(LEN as usize);
    let result = emulator.allocate(LEN as usize);
    let args = Args {
        input: input.input(),
        output: output.in_out(),
        zeros: zeros.in_out(),
        result: result.output(),
        right: right.into(),
    };
    emulator.launch::<E>(launch, args, ())
}

/// Prints a line for each case.
struct Cases(Result<(), LaunchError>);

impl CaseVisitor for Cases {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, case: &Case) {
        let verdict = |right| {
            // All other kernels leave `result` unwritten.
            let partial_outputs = case.bug != Bug::Unwritten;
            let whole_outputs: &[_] = if case.bug == Bug::NotWhole { &["zeros"] } else { &[] };
            let shape = Launch { partial_outputs, whole_outputs, ..shape(case.blocks, case.threads) };
            let report = launch::<E>(shape, right)?;
            Ok(if report.is_clean() { "silent" } else { "found" })
        };
        let bypassed = if case.bypassed { "bypassed" } else { "not" };
        match [false, true].map(verdict) {
            [Ok(bug), Ok(twin)] => println!("{}\t{bypassed}\t{bug}\t{twin}", case.name),
            [Err(error), _] | [_, Err(error)] => self.0 = Err(error),
        }
    }
}

/// Prints for each case whether the bug and the twin have findings.
pub(crate) fn cases() -> Result<(), Box<dyn Error>> {
    let mut cases = Cases(Ok(()));
    visit_cases(&mut cases);
    Ok(cases.0?)
}

/// Returns the counts of an action on global memory, read-only or not.
fn global(report: &Report, action: Action) -> Counts {
    [Space::Global, Space::GlobalConstant].map(|space| report.counts(action, Some(space))).into_iter().sum()
}

/// Returns a function that formats one of the counts, with `~` in front if they are approximate.
fn column(counts: Counts) -> impl Fn(u64) -> String {
    move |number| format!("\t{}{number}", if counts.approximate { "~" } else { "" })
}

/// Prints a line for each probe.
struct Probes(Result<(), LaunchError>);

impl ProbeVisitor for Probes {
    fn visit<E: for<'l> Entry<Args<'l> = Args<'l>, Constants = ()>>(&mut self, probe: &Probe) {
        match launch::<E>(shape(1, probe.threads).partial_outputs(), false) {
            Ok(report) => {
                let of = |action| report.counts(action, Some(Space::Shared));
                let [loads, stores, atomics] = [Action::Load, Action::Store, Action::Atomic].map(of);
                let [from, to] = [Action::Load, Action::Store].map(|action| global(&report, action));
                let shared = [loads, stores].map(|counts| [counts.requests, counts.wavefronts].map(column(counts)));
                let global = [from, to].map(|counts| [counts.requests, counts.sectors].map(column(counts)));
                let columns = [shared.concat(), vec![column(atomics)(atomics.wavefronts)], global.concat()];
                println!("{}{}", probe.name, columns.concat().concat());
            }
            Err(error) => self.0 = Err(error),
        }
    }
}

/// Prints the counts of each probe.
pub(crate) fn probes() -> Result<(), Box<dyn Error>> {
    let mut probes = Probes(Ok(()));
    visit_probes(&mut probes);
    Ok(probes.0?)
}
