//! Tests that need a GPU: limits, order, lifetimes, launches, and other processes.
//!
//! The program `suite` tests results. Here they are compared with the CPU's, which are bit-identical for `i32`.

mod banks;
#[path = "../common/mod.rs"]
mod common;
mod contexts;
mod dlpack;
#[cfg(cust)]
mod interop;
#[cfg(cuda)]
mod kernels;
mod life;
mod limits;
mod order;
mod parts;
mod processes;
mod queries;
mod results;
mod size;

use common::{ensure, equal, on_cuda, same};
use libtest_mimic::{Arguments, Failed, Trial};
use slm::Device;
use slm_test_support::{filter1d, histogram};
use std::process::ExitCode;
use std::sync::{PoisonError, RwLock};

type Test = fn(&Device) -> Result<(), Failed>;

fn main() -> ExitCode {
    if let Some(code) = processes::play() {
        return code;
    }
    common::enter_repository();
    let arguments = Arguments::from_args();
    let groups = [
        // Without this, there are no modules of kernels.
        #[cfg(cuda)]
        kernels::trials(),
        banks::trials(),
        contexts::trials(),
        dlpack::trials(),
        #[cfg(cust)]
        interop::trials(),
        life::trials(),
        limits::trials(),
        order::trials(),
        parts::trials(),
        processes::trials(),
        queries::trials(),
        results::trials(),
        size::trials(),
    ];
    libtest_mimic::run(&arguments, groups.into_iter().flatten().collect()).exit_code()
}

/// Lock of the GPU's memory, held from before a device is opened until it is closed. Tests that use most of the memory hold
/// it exclusively.
static GPU: RwLock<()> = RwLock::new(());

fn shared_trial(name: &str, test: Test) -> Trial {
    on_cuda("gpu", name, || GPU.read().unwrap_or_else(PoisonError::into_inner), test)
}

fn exclusive_trial(name: &str, test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static) -> Trial {
    on_cuda("gpu", name, || GPU.write().unwrap_or_else(PoisonError::into_inner), test)
}
