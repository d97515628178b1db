//! Measurements of accesses to shared memory work. The benchmark `banks` examines the times.

use super::{Failed, Trial, ensure, equal, shared_trial};
use slm::banks::{AccessKind, Accumulation, BankError, Named, Width};
use slm::{Device, Error};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        shared_trial("banks::accesses_are_measured", accesses_are_measured),
        shared_trial("banks::accumulations", accumulations),
    ]
}

/// Measures every kind and width.
fn accesses_are_measured(device: &Device) -> Result<(), Failed> {
    for (kind, width) in AccessKind::ALL.into_iter().flat_map(|kind| Width::ALL.map(|width| (kind, width))) {
        let probe = Named::Strided(32).pattern(kind, width).probe(device);
        if kind == AccessKind::Atomic && ![Width::B4, Width::B8].contains(&width) {
            equal(probe.err(), Some(Error::Banks(BankError::AtomicWidth { bytes: width.bytes() })))?;
        } else {
            let probe = probe?;
            ensure(probe.accesses > 0 && probe.cycles > 0 && probe.conflict_free_cycles > 0, || format!("{probe:?}"))?;
        }
    }
    Ok(())
}

fn accumulations(device: &Device) -> Result<(), Failed> {
    let n = 1u64 << 20;
    let expected = vec![(5 * (n * (n - 1) / 2)) as u32; 32];
    for stride in [32, 33] {
        let run = Accumulation { stride, iterations: 1 << 20, factor: 5 }.run(device)?;
        ensure(run.sums == expected, || format!("stride {stride}: {:?}", run.sums))?;
    }
    Ok(())
}
