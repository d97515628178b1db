//! The tests that are made while the program runs: one for every backend there is, for every line of a file, for every
//! combination. Together in one program, because each program compiles the operations for all element types anew. Their
//! names begin with the module:
//!
//! | module | what |
//! |---|---|
//! | `conformance` | `Filter1d` against the naive oracle |
//! | `histogram` | `Histogram` against the naive oracle and NumPy, and its properties |
//! | `transpose` | `Transpose` against the formula and NumPy |
//! | `probes` | the kernels that measure accesses |
//! | `golden` | `Filter1d` against SciPy and NumPy |
//! | `blur`, `chart`, `banks` | the examples; their names begin with `example` |
//! | `driverless` | machines without a driver |

mod banks;
mod blur;
mod chart;
#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod driverless;
mod golden;
mod histogram;
mod probes;
mod transpose;

use common::emulated;
use libtest_mimic::Arguments;

fn main() {
    if driverless::has_task() {
        return;
    }
    let arguments = Arguments::from_args();
    eprintln!("seed of all data: {:#x}", common::SEED);
    let trials = [
        conformance::trials(),
        histogram::trials(),
        transpose::trials(),
        probes::trials(),
        golden::trials(),
        blur::trials(),
        chart::trials(),
        banks::trials(),
        driverless::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    conclusion.exit_if_failed();
    let operations = [
        (conformance::SUITE, "filter1d"),
        (histogram::SUITE, "histogram"),
        (transpose::SUITE, "transpose"),
        (probes::SUITE, "banks"),
    ];
    let covered = operations.map(|(suite, operation)| emulated::is_covered(suite, operation, &arguments));
    if covered.contains(&false) {
        std::process::exit(1);
    }
}
