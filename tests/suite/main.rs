//! The tests that are generated at run time: one for each backend, for each line of a file, for each combination. They are
//! one program, because each program would compile the operations for all element types again. The name of a folder is the
//! prefix of its trials. The operations:
//!
//! | folder | trials |
//! |---|---|
//! | `filter1d` | `Filter1d` against the naive oracle, SciPy and NumPy |
//! | `filter2d` | `Filter2d` against the naive oracle, SciPy, OpenCV and Astropy |
//! | `rank1d` | `Rank1d` against the oracle of `Rank2d` |
//! | `rank2d` | `Rank2d` against the naive oracle, SciPy, OpenCV and scikit-image |
//! | `morphology2d` | `Morphology2d` against the naive oracle, SciPy, OpenCV and scikit-image |
//! | `histogram` | `Histogram` against the naive oracle and NumPy, and its properties |
//! | `transpose` | `Transpose` against the formula and NumPy |
//! | `pointwise` | `Convert`, `Lookup`, `Map`, `Arithmetic` and `Channels` against their definitions |
//! | `life` | `Life` against the naive oracle and known histories |
//! | `banks` | the kernels that measure accesses |
//!
//! The folder of an operation also contains what other packages compile: its oracle (`tests/support`), and in `api` its
//! tests that are the same on every machine (`tests/api`).
//!
//! | folder | trials |
//! |---|---|
//! | `forms` | input of every form |
//! | `matrices` | copies of matrices |
//! | `queues` | several queues of one device |
//! | `streams` | data that are read and written part by part |
//! | `distributed` | several devices |
//! | `pictures` | all operations on pictures of the crate `image`, against the same operations on their subpixels |
//! | `examples` | the examples |
//! | `driverless` | machines without a driver |
//!
//! A filter may have several parts, separated by commas: `suite life::cpu,transpose::cpu`.
//!
//! An operation's emulated tests must reach every accessor of its kernels, which are in the folder of the same name in
//! `kernels/`.

mod banks;
#[path = "../common/mod.rs"]
mod common;
mod distributed;
mod driverless;
mod examples;
mod filter1d;
mod filter2d;
mod forms;
mod histogram;
mod life;
mod matrices;
mod morphology2d;
mod pictures;
mod pointwise;
mod queues;
mod rank1d;
mod rank2d;
mod streams;
mod transpose;

use common::{coverage, selection, sources};
use libtest_mimic::Arguments;

fn main() {
    if driverless::has_task() {
        return;
    }
    common::enter_repository();
    let arguments = Arguments::from_args();
    eprintln!("seed of all data: {:#x}", common::SEED);
    let trials = [
        filter1d::trials(),
        filter2d::trials(),
        rank1d::trials(),
        rank2d::trials(),
        morphology2d::trials(),
        histogram::trials(),
        transpose::trials(),
        pointwise::trials(),
        life::trials(),
        banks::trials(),
        forms::trials(),
        matrices::trials(),
        pictures::trials(),
        queues::trials(),
        streams::trials(),
        distributed::trials(),
        examples::trials(),
        driverless::trials(),
        sources::trials(),
    ];
    let (mut run, mut trials): (_, Vec<_>) = (arguments.clone(), trials.into_iter().flatten().collect());
    selection::check_names(&trials);
    selection::select(&mut run, &mut trials);
    let conclusion = libtest_mimic::run(&run, trials);
    conclusion.exit_if_failed();
    if !coverage::is_covered(&arguments) {
        std::process::exit(1);
    }
}
