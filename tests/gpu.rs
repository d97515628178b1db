//! What only a GPU shows: limits, order, lifetimes, launches and their cost.
//!
//! Whether results are right is the matter of the suite `conformance`; here they are compared with the CPU's, which for
//! `i32` are the same to the last bit.

mod common;

#[path = "gpu/banks.rs"]
mod banks;
#[path = "gpu/contexts.rs"]
mod contexts;
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

use common::on_cuda;
use libtest_mimic::{Arguments, Failed, Trial};
use slm::Device;
use std::fmt::Debug;
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
        limits::trials(),
        order::trials(),
        queries::trials(),
        results::trials(),
        size::trials(),
    ];
    libtest_mimic::run(&arguments, groups.into_iter().flatten().collect()).exit();
}

/// Tests that measure time or take most of the memory have the GPU for themselves: before a device is opened, and until it
/// is closed.
static GPU: RwLock<()> = RwLock::new(());

fn together(name: &str, test: Test) -> Trial {
    on_cuda("gpu", name, || GPU.read().unwrap_or_else(PoisonError::into_inner), test)
}

fn alone(name: &str, test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static) -> Trial {
    on_cuda("gpu", name, || GPU.write().unwrap_or_else(PoisonError::into_inner), test)
}

fn equal<T: PartialEq + Debug>(actual: T, expected: T) -> Result<(), Failed> {
    if actual == expected { Ok(()) } else { Err(format!("{actual:?} instead of {expected:?}").into()) }
}

/// Says where long results differ, instead of all of them.
fn same<T: PartialEq + Debug>(actual: &[T], expected: &[T]) -> Result<(), Failed> {
    equal(actual.len(), expected.len())?;
    match actual.iter().zip(expected).position(|(a, b)| a != b) {
        Some(i) => Err(format!("element {i} is {:?} instead of {:?}", actual[i], expected[i]).into()),
        None => Ok(()),
    }
}

fn ensure(condition: bool, what: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition { Ok(()) } else { Err(what().into()) }
}
