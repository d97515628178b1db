//! Operations on a GPU, with a driver that computes nothing: what the host allocates for them fails.

use crate::call::{Attempt, returned};
use crate::common::driver::{Driver, with_driver};
use crate::operations::{OPERATIONS, Operation};
use crate::process;
use libtest_mimic::Trial;
use slm::{Backend, Device, Result};
use std::ffi::OsStr;

/// Prefix of the names of these cases.
const GPU: &str = "gpu_";

pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    OPERATIONS.iter().map(|(name, _)| {
        let case = format!("{GPU}{name}");
        with_driver(format!("memory::{case}"), move || {
            let driver = Driver::compile(include_str!("../suite/driverless/gpu.c"))?;
            let [path, log, faults] = ["", "log", "faults"].map(|name| driver.0.path(name));
            let variables: [(&str, &OsStr); 4] = [
                ("LD_LIBRARY_PATH", path.as_ref()),
                ("FAKE_LOG", log.as_ref()),
                ("FAKE_FAULTS", faults.as_ref()),
                ("FAKE_GPUS", "2".as_ref()),
            ];
            process::examine(&case, &variables)
        })
    })
}

/// Returns the attempt of such a case.
pub(crate) fn attempt(case: &str) -> Option<Result<Attempt>> {
    let operation = OPERATIONS.iter().find(|(name, _)| case.strip_prefix(GPU) == Some(name));
    operation.map(|&(_, operation)| attempt_of(operation))
}

fn attempt_of(operation: Operation) -> Result<Attempt> {
    let device = Device::cuda(0)?;
    assert_eq!(device.info().backend, Backend::Cuda);
    returned(move || operation(&device))
}
