//! The kernels that measure accesses, on emulated devices: all of their code is reached, without findings, and patterns
//! without conflicts have no conflicts. `api` tests the measured numbers.

use crate::common::emulated;
use libtest_mimic::{Failed, Trial};
use slm::banks::{AccessKind, Accumulation, BankError, Named, Width};
use slm::{Device, Error};

/// The name of the suite.
const SUITE: &str = "banks";

pub(super) fn trials() -> Vec<Trial> {
    vec![emulated::trial(SUITE, "accesses", accesses), emulated::trial(SUITE, "accumulation", accumulation)]
}

fn accesses(device: &Device) -> Result<(), Failed> {
    for (kind, width) in AccessKind::ALL.into_iter().flat_map(|kind| Width::ALL.map(|width| (kind, width))) {
        match Named::Own.pattern(kind, width).probe(device) {
            Ok(_) | Err(Error::Banks(BankError::AtomicWidth { .. })) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn accumulation(device: &Device) -> Result<(), Failed> {
    let run = Accumulation { stride: 33, iterations: 5, factor: 2 }.run(device)?;
    if run.sums == [20; 32] { Ok(()) } else { Err(format!("{:?}", run.sums).into()) }
}
