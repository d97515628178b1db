//! The tests that are generated at run time: one for each backend, for each line of a file, for each combination. They are
//! one program, because each program would compile the operations for all element types again. Each operation has a folder,
//! whose name is the prefix of its trials and which also contains the operation's tests of `tests/api`; `operations.rs` lists
//! them. The other folders:
//!
//! | folder | tests |
//! |---|---|
//! | `matrices` | copies of matrices |
//! | `pictures` | all operations on pictures of the crate `image`, against the same operations on their subpixels |
//! | `examples` | the examples |
//! | `driverless` | machines without a driver |
//!
//! An operation's emulated tests must reach every accessor of its kernels, which are in the folder of the same name in
//! `kernels/`.

#[path = "../common/mod.rs"]
mod common;
mod driverless;
mod examples;
mod matrices;
// With a path, so that its modules are files of this folder.
#[path = "operations.rs"]
mod operations;
mod pictures;

use common::{coverage, sources};
use libtest_mimic::Arguments;

fn main() {
    if driverless::has_task() {
        return;
    }
    common::enter_repository();
    let arguments = Arguments::from_args();
    eprintln!("seed of all data: {:#x}", common::SEED);
    let others = [matrices::trials(), pictures::trials(), examples::trials(), driverless::trials(), sources::trials()];
    let trials = operations::trials().chain(others.into_iter().flatten());
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    conclusion.exit_if_failed();
    if !coverage::is_covered(&arguments) {
        std::process::exit(1);
    }
}
