//! The tests that are made while the program runs: one for every backend there is, for every line of a file, for every
//! combination. They are one program, because each program compiles the operations for all element types again. Each operation
//! has a folder, whose name is the prefix of its trials. The folder also has the operation's tests of `tests/api`:
//!
//! | folder | what |
//! |---|---|
//! | `filter1d` | `Filter1d` against the naive oracle, SciPy and NumPy |
//! | `filter2d` | `Filter2d` against the naive oracle, SciPy, OpenCV and Astropy |
//! | `histogram` | `Histogram` against the naive oracle and NumPy, and its properties |
//! | `transpose` | `Transpose` against the formula and NumPy |
//! | `matrices` | copies of matrices |
//! | `banks` | the kernels that measure accesses |
//! | `examples` | the examples |
//! | `driverless` | machines without a driver |
//!
//! An operation's emulated tests must reach all of its kernels; those are the folder of the same name in `kernels/`.

mod banks;
#[path = "../common/mod.rs"]
mod common;
mod driverless;
mod examples;
mod filter1d;
mod filter2d;
mod histogram;
mod matrices;
mod transpose;

use common::{coverage, sources};
use libtest_mimic::Arguments;

fn main() {
    if driverless::has_task() {
        return;
    }
    let arguments = Arguments::from_args();
    eprintln!("seed of all data: {:#x}", common::SEED);
    let trials = [
        filter1d::trials(),
        filter2d::trials(),
        histogram::trials(),
        transpose::trials(),
        matrices::trials(),
        banks::trials(),
        examples::trials(),
        driverless::trials(),
        sources::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    conclusion.exit_if_failed();
    if !coverage::is_covered(&arguments) {
        std::process::exit(1);
    }
}
