//! Host memory that runs out: no call ends the program, and nothing is lost.
//!
//! Each trial runs a call in a process of its own, again and again with another limit of the bytes that it may allocate, from hardly any to
//! as many as it needs. The result must be right, or `Error::OutOfHostMemory`. After it, as much memory is allocated as before, and the same
//! call without a limit is right.
//!
//! | file | contents |
//! |---|---|
//! | `process.rs` | the process of a trial, and what its end means |
//! | `limits.rs` | the allocator, and the limits that a call is given |
//! | `call.rs` | calls with a limit, and the checks of what they return and write |
//! | `gpu.rs` | operations on a GPU, with a driver that the tests compile |
//! | `filters.rs`, `counts.rs`, `matrices.rs`, `elements.rs`, `parts.rs` | calls of operations |

mod call;
#[path = "../common/mod.rs"]
mod common;
mod counts;
mod elements;
mod filters;
#[cfg(cuda)]
mod gpu;
mod limits;
mod matrices;
#[cfg(cuda)]
#[path = "../suite/driverless/faults/operations.rs"]
mod operations;
mod parts;
mod process;

use call::{Attempt, Case};
use libtest_mimic::{Arguments, Trial};
use process::Role;

fn main() {
    let cases = [filters::cases(), counts::cases(), matrices::cases(), elements::cases(), parts::cases()].concat();
    match Role::of_this_process() {
        Role::Child { case, least } => process::run(attempt(&cases, &case), least),
        Role::Parent => {
            let arguments = Arguments::from_args();
            let trial =
                |case: Case| Trial::test(format!("memory::{}", case.name), move || process::examine(case.name, &[]));
            let trials = cases.into_iter().map(trial);
            #[cfg(cuda)]
            let trials = trials.chain(gpu::trials());
            libtest_mimic::run(&arguments, trials.collect()).exit()
        }
    }
}

fn attempt(cases: &[Case], name: &str) -> slm::Result<Attempt> {
    #[cfg(cuda)]
    if let Some(attempt) = gpu::attempt(name) {
        return attempt;
    }
    let case = cases.iter().find(|case| case.name == name).unwrap_or_else(|| panic!("there is no case '{name}'"));
    (case.attempt)()
}
