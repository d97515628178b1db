//! What only a GPU shows: limits, order, lifetimes, and launches.
//!
//! Whether results are right is the matter of the program `suite`; here they are compared with the CPU's, which for
//! `i32` are the same to the last bit.

mod common;
#[path = "suite/filter1d/oracle/mod.rs"]
mod filter1d;
#[path = "suite/histogram/oracle/mod.rs"]
mod histogram;

#[path = "gpu/banks.rs"]
mod banks;
#[path = "gpu/contexts.rs"]
mod contexts;
#[cfg(cust)]
#[path = "gpu/interop.rs"]
mod interop;
#[cfg(cuda)]
#[path = "gpu/kernels.rs"]
mod kernels;
#[path = "gpu/limits.rs"]
mod limits;
#[path = "gpu/order.rs"]
mod order;
#[path = "gpu/queries.rs"]
mod queries;
#[path = "gpu/results.rs"]
mod results;
#[path = "gpu/size.rs"]
mod size;

use common::{ensure, equal, on_cuda, same};
use libtest_mimic::{Arguments, Failed, Trial};
use slm::Device;
use std::sync::{PoisonError, RwLock};

type Test = fn(&Device) -> Result<(), Failed>;

fn main() {
    let arguments = Arguments::from_args();
    let groups = [
        // There are no modules of kernels otherwise.
        #[cfg(cuda)]
        kernels::trials(),
        banks::trials(),
        contexts::trials(),
        #[cfg(cust)]
        interop::trials(),
        limits::trials(),
        order::trials(),
        queries::trials(),
        results::trials(),
        size::trials(),
    ];
    libtest_mimic::run(&arguments, groups.into_iter().flatten().collect()).exit();
}

/// Tests that take most of the memory have the GPU for themselves: before a device is opened, and until it
/// is closed.
static GPU: RwLock<()> = RwLock::new(());

fn together(name: &str, test: Test) -> Trial {
    on_cuda("gpu", name, || GPU.read().unwrap_or_else(PoisonError::into_inner), test)
}

fn alone(name: &str, test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static) -> Trial {
    on_cuda("gpu", name, || GPU.write().unwrap_or_else(PoisonError::into_inner), test)
}
