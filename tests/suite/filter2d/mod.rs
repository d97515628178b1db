//! One suite for every backend: `Filter2d` against the naive oracle, SciPy, OpenCV and Astropy.
//!
//! Every boundary and extent meets every type of samples, weights, sums and outputs, and shapes, strides, dilations, channels and
//! planes that are drawn at random, the same in every run. Outputs of host arrays and of device matrices with gaps must agree.
//!
//! On emulated devices the pictures are few and small.
//!
//! | file | what it tests |
//! |---|---|
//! | `types.rs`, `cases.rs` | types and cases of the conformance tests |
//! | `golden.rs` | results of SciPy, OpenCV and Astropy |
//! | `accuracy.rs`, `conversions.rs`, `means.rs` | roundings: of sums, to outputs, and of means |
//! | `missing.rs` | NaNs and infinities |
//! | `per_axis.rs`, `origins.rs` | a boundary for each axis; origins |
//! | `boxes.rs`, `running.rs`, `passes.rs`, `two_passes.rs`, `streaming.rs`, `pixels.rs` | the kernels for some weights |
//! | `kernels.rs`, `refused.rs` | which kernels run, and which filters they refuse |
//! | `plans.rs` | what plans say about methods and errors |
//! | `transforms.rs`, `panels.rs` | filters by transforms: of lines along both axes, and of panels |
//! | `folded.rs` | weights that are longer than the picture |
//! | `large.rs` | a large picture, and many small ones |
//! | `oracle/` | results by the definition, part of `tests/support` |
//! | `api/` | the interface, part of `tests/api` |

mod accuracy;
mod boxes;
mod cases;
mod conversions;
mod folded;
mod golden;
mod kernels;
mod large;
mod means;
mod missing;
mod origins;
mod panels;
mod passes;
mod per_axis;
mod pixels;
mod plans;
mod refused;
mod running;
mod streaming;
mod times;
mod transforms;
mod two_passes;
mod types;

use crate::common::numbers::{bits, pitched};
use crate::common::{Random, is_slow, on_every_backend, same};
use cases::{MENU, Menu, SMALL_MENU};
use libtest_mimic::{Failed, Trial};
use oracle::{Case, Outputs};
use refused::refused;
use slm::{Backend, Device, Filter2dAlgorithm};
use slm_test_support::filter2d as oracle;
use types::{Matrices, Types};

/// The name of the suite.
const SUITE: &str = "filter2d";

/// Outputs of a case that are compared with the oracle, the first and last of them among these.
const PLACES: usize = 1000;

pub(super) fn trials() -> Vec<Trial> {
    let conformance = types::ALL.iter().flat_map(|types| {
        on_every_backend(SUITE, &format!("conformance::{}", types.name), move |device| conforms(device, types))
    });
    let others = [
        accuracy::trials(),
        boxes::trials(),
        conversions::trials(),
        folded::trials(),
        golden::trials(),
        kernels::trials(),
        large::trials(),
        means::trials(),
        missing::trials(),
        origins::trials(),
        panels::trials(),
        passes::trials(),
        per_axis::trials(),
        pixels::trials(),
        plans::trials(),
        running::trials(),
        streaming::trials(),
        times::trials(),
        transforms::trials(),
        two_passes::trials(),
    ];
    conformance.chain(others.into_iter().flatten()).collect()
}

fn conforms(device: &Device, types: &Types) -> Result<(), Failed> {
    let (menu, count): (&Menu, usize) = if is_slow(device) { (&SMALL_MENU, 36) } else { (&MENU, 9 * 18) };
    // Each type on emulated devices begins with another shape.
    let first = if is_slow(device) { types.name.len() * 18 } else { 0 };
    (first..first + count).try_for_each(|number| check(device, types, &cases::case(types, menu, number)))
}

/// Compares all algorithms with the oracle, from host arrays and with matrices on the device.
fn check(device: &Device, types: &Types, case: &Case) -> Result<(), Failed> {
    check_with(device, types, case, algorithms(device))
}

/// The same with some algorithms.
fn check_with(device: &Device, types: &Types, case: &Case, algorithms: &[Filter2dAlgorithm]) -> Result<(), Failed> {
    let describe = |error: String| format!("{error}\n{:?}", Case { samples: Vec::new(), ..case.clone() });
    check_algorithms(device, types, case, algorithms).map_err(|error| describe(error).into())
}

fn check_algorithms(
    device: &Device,
    types: &Types,
    case: &Case,
    algorithms: &[Filter2dAlgorithm],
) -> Result<(), String> {
    let outputs = case.outputs();
    let mut results = Vec::new();
    let adds_otherwise = |algorithm| match algorithm {
        Filter2dAlgorithm::Separable | Filter2dAlgorithm::Box => true,
        Filter2dAlgorithm::Auto => [Filter2dAlgorithm::Separable, Filter2dAlgorithm::Box]
            .into_iter()
            .any(|algorithm| refused(device, types, case, algorithm).is_none()),
        _ => false,
    };
    for &algorithm in algorithms {
        let values = check_algorithm(device, types, case, &outputs, algorithm)?;
        results.extend(values.filter(|_| !adds_otherwise(algorithm)));
    }
    // The other kernels add in the same order.
    results.windows(2).try_for_each(|pair| same(&bits(&pair[0]), &bits(&pair[1])).map_err(|e| words(&e)))
}

/// Compares an algorithm with the oracle. Returns the outputs, unless the algorithm rightly refuses the filter.
fn check_algorithm(
    device: &Device,
    types: &Types,
    case: &Case,
    outputs: &Outputs<'_>,
    algorithm: Filter2dAlgorithm,
) -> Result<Option<Vec<f64>>, String> {
    let refused = refused(device, types, case, algorithm);
    let result = types.runs.apply(device, case, algorithm, case.samples.len() % 2 == 1);
    match (result, refused) {
        (Err(error), Some(expected)) if error == expected => Ok(None),
        (Ok(_), Some(expected)) => Err(format!("{algorithm:?}: no error, expected {expected}")),
        (Err(error), _) => Err(format!("{algorithm:?}: {error}")),
        (Ok(array), None) => {
            equal_shapes(array.shape(), &case.array_shape(outputs.shape()))?;
            let values = array.into_raw_vec_and_offset().0;
            compare(types, outputs, &values).map_err(|e| format!("{algorithm:?}: {e}"))?;
            check_matrices(device, types, case, algorithm, &values).map_err(|e| format!("{algorithm:?}: {e}"))?;
            Ok(Some(values))
        }
    }
}

fn algorithms(device: &Device) -> &'static [Filter2dAlgorithm] {
    const ALL: [Filter2dAlgorithm; 7] = [
        Filter2dAlgorithm::GlobalMemory,
        Filter2dAlgorithm::SharedTile,
        Filter2dAlgorithm::RegisterTiled,
        Filter2dAlgorithm::Streaming,
        Filter2dAlgorithm::Separable,
        Filter2dAlgorithm::Box,
        Filter2dAlgorithm::Auto,
    ];
    match device.info().backend {
        Backend::Cpu => &ALL[6..],
        // `Auto` is one of the others; trials of their own show which.
        Backend::Emulated => &ALL[..6],
        _ => &ALL,
    }
}

fn equal_shapes(actual: &[usize], expected: &[usize]) -> Result<(), String> {
    if actual == expected { Ok(()) } else { Err(format!("the shape is {actual:?}, expected {expected:?}")) }
}

fn words(failed: &Failed) -> String {
    failed.message().unwrap_or("they differ").to_owned()
}

/// Compares outputs in memory order with the oracle's.
fn compare(types: &Types, outputs: &Outputs<'_>, values: &[f64]) -> Result<(), String> {
    let sums = types.sums();
    for number in places(values.len()) {
        let expected = outputs.expected(number, sums);
        if !expected.agrees(values[number], sums, types.outputs, outputs.count()) {
            return Err(format!("output {number} is {}, expected {expected:?}", values[number]));
        }
    }
    Ok(())
}

/// All outputs if they are few, otherwise the first and last ones and others.
fn places(len: usize) -> Vec<usize> {
    const ENDS: usize = PLACES / 4;
    if len <= PLACES {
        return (0..len).collect();
    }
    let mut random = Random::new(7);
    let others = (0..PLACES - 2 * ENDS).map(|_| random.below(len));
    (0..ENDS).chain(len - ENDS..len).chain(others).collect()
}

/// Filters matrices with gaps. The outputs must be `values`, and the gaps must not change.
fn check_matrices(
    device: &Device,
    types: &Types,
    case: &Case,
    algorithm: Filter2dAlgorithm,
    values: &[f64],
) -> Result<(), String> {
    const GAPS: [usize; 2] = [3, 5];
    const GAP: f64 = 77.0;
    let channels = case.channels();
    let [rows, columns] = case.outputs().shape();
    let input = [case.planes * case.shape[0], case.shape[1] * channels, case.shape[1] * channels + GAPS[0]];
    let output = [case.planes * rows, columns * channels, columns * channels + GAPS[1]];
    // Integers have no NaN, which would become a zero, as outside.
    let gap = types.samples.range().map_or(f64::NAN, |[_, greatest]| greatest);
    let (samples, expected) = (pitched(&case.samples, input, gap), pitched(values, output, GAP));
    let untouched = vec![GAP; expected.len()];
    let matrices = Matrices { input: (&samples, input), output: (&untouched, output) };
    let actual = types.runs.apply_into(device, case, algorithm, matrices).map_err(|e| e.to_string())?;
    same(&bits(&actual), &bits(&expected)).map_err(|e| format!("apply_into: {}", words(&e)))
}
