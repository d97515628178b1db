//! One suite for every backend: `Morphology2d` against the naive oracle, SciPy, OpenCV and scikit-image.
//!
//! Every operation meets every type, and boundaries, elements, heights, shapes, channels and planes that are drawn at random, the same in
//! every run. Outputs must be the same bits, from host arrays and from device matrices with gaps.
//!
//! | file | what it tests |
//! |---|---|
//! | `golden.rs` | results of SciPy, OpenCV and scikit-image |
//! | `oracle.rs` | results by the definition, part of `tests/support` |
//! | `api/` | the interface, part of `tests/api` |

mod golden;

use crate::common::numbers::{Kind, Number, bits, converted, pitched};
use crate::common::{Random, equal, is_slow, on_every_backend, same};
use crate::rank2d::{boundaries, mask, pick, sample};
use libtest_mimic::{Failed, Trial};
use oracle::{Case, OPERATIONS, Operation};
use slm::emulator::Profile;
use slm::ndarray::{Array2, ArrayD};
use slm::{Boundary, Buffer2, Device, Morphology2d, RankElement, RankNanPolicy, RankWindow, StructuringElement};
use slm_test_support::morphology2d as oracle;
use std::collections::BTreeSet;

/// The name of the suite.
const SUITE: &str = "morphology2d";

pub(super) fn trials() -> Vec<Trial> {
    let conformance = [
        on_every_backend(SUITE, "conformance::u8", conforms::<u8>),
        on_every_backend(SUITE, "conformance::u16", conforms::<u16>),
        on_every_backend(SUITE, "conformance::i16", conforms::<i16>),
        on_every_backend(SUITE, "conformance::i32", conforms::<i32>),
        on_every_backend(SUITE, "conformance::f32", conforms::<f32>),
        on_every_backend(SUITE, "conformance::f64", conforms::<f64>),
    ];
    let planned = Trial::test("morphology2d::emulated::planned", what_runs_is_planned);
    let on_cpu = [
        Trial::test("morphology2d::cpu::bands", in_bands),
        Trial::test("morphology2d::cpu::strips", in_strips::<u8>),
        Trial::test("morphology2d::cpu::strips::f64", in_strips::<f64>),
    ];
    conformance.into_iter().flatten().chain(golden::trials()).chain([planned]).chain(on_cpu).collect()
}

fn conforms<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    let rounds = if is_slow(device) { 3 } else { 12 };
    (0..rounds * OPERATIONS.len()).try_for_each(|number| {
        let case = case(T::KIND, number, is_slow(device));
        check::<T>(device, &case).map_err(|error| {
            let case = Case { samples: Vec::new(), ..case };
            format!("{}\n{case:?}", error.message().unwrap_or("they differ")).into()
        })
    })
}

/// An erosion and a dilation with heights, in shared memory, and in global memory where their tile does not fit.
pub(super) fn with_heights<T: RankElement + Number>(device: &Device) -> Result<(), Failed> {
    for (number, element) in [[2, 3], [1, 4000]].into_iter().enumerate() {
        let random = &mut Random::new(130 + number as u64);
        let numbers = |random: &mut Random, count| (0..count).map(|_| sample(random, T::KIND)).collect();
        let heights = Some(numbers(random, element[0] * element[1]));
        let samples = numbers(random, 12);
        let boundaries = Some([Boundary::Reflect; 2]);
        let mut case = Case { element, heights, boundaries, shape: [3, 4], samples, ..case(T::KIND, number, true) };
        (case.planes, case.channels, case.mask, case.origin) = (1, None, None, [0, 0]);
        check::<T>(device, &case)?;
    }
    Ok(())
}

/// High pictures, so that the CPU takes both steps in several bands, with every boundary at the ends of a column; and low pictures, several of
/// which are one band.
fn in_bands() -> Result<(), Failed> {
    /// Rows of pictures and of elements. A first band of 120 of 130 rows needs more than all if they are wrapped.
    const SIZES: [[usize; 2]; 6] = [[270, 1], [270, 2], [270, 17], [270, 40], [130, 30], [3, 9]];
    let device = Device::cpu();
    let columns = Boundary::Nearest;
    let random = &mut Random::new(140);
    let rows = [None].into_iter().chain(boundaries(7.0).into_iter().map(Some));
    for (rows, [height, taps]) in rows.flat_map(|rows| SIZES.map(|size| (rows, size))) {
        for operation in OPERATIONS {
            let case = Case {
                operation,
                element: [taps, 2],
                boundaries: rows.map(|rows| [rows, columns]),
                planes: if height < 270 { 45 } else { 2 },
                shape: [height, 2],
                ..plain(Kind::F32)
            };
            let samples = (0..case.sample_count()).map(|_| sample(random, case.kind)).collect();
            check::<f32>(&device, &Case { samples, ..case })?;
        }
    }
    Ok(())
}

/// Wide pictures, so that the CPU takes the runs of a disc in several strips.
fn in_strips<T: RankElement + Number>() -> Result<(), Failed> {
    let random = &mut Random::new(141);
    let disc = (0..49i32).map(|place| (place / 7 - 3).pow(2) + (place % 7 - 3).pow(2) <= 9).collect();
    let case =
        Case { operation: Operation::Gradient, element: [7, 7], mask: Some(disc), shape: [4, 3000], ..plain(T::KIND) };
    let samples = (0..case.sample_count()).map(|_| sample(random, T::KIND)).collect();
    check::<T>(&Device::cpu(), &Case { samples, ..case })
}

/// An operation without samples on two planes of two channels.
fn plain(kind: Kind) -> Case {
    Case {
        kind,
        operation: Operation::Erosion,
        element: [1, 1],
        mask: None,
        heights: None,
        origin: [0, 0],
        boundaries: Some([Boundary::Reflect; 2]),
        channels: Some(2),
        omit: false,
        planes: 2,
        shape: [0, 0],
        samples: Vec::new(),
    }
}

/// Case number `number`: all operations in turn.
fn case(kind: Kind, number: usize, is_small: bool) -> Case {
    const SHAPES: [[usize; 2]; 7] = [[5, 7], [1, 9], [9, 1], [3, 2], [2, 35], [0, 3], [17, 3]];
    const LARGER: [[usize; 2]; 7] = [[33, 65], [1, 300], [200, 1], [3, 2], [66, 30], [5, 0], [40, 70]];
    const ELEMENTS: [[usize; 2]; 6] = [[3, 3], [1, 3], [4, 1], [2, 2], [3, 4], [1, 1]];
    const LARGER_ELEMENTS: [[usize; 2]; 6] = [[3, 3], [2, 7], [5, 4], [17, 20], [30, 1], [1, 1]];
    let random = &mut Random::new(number as u64 ^ (kind as u64) << 32 ^ 1 << 40);
    let (shapes, elements) = if is_small { (SHAPES, ELEMENTS) } else { (LARGER, LARGER_ELEMENTS) };
    let element = pick(random, &elements);
    let len = element[0] * element[1];
    let has_heights = random.below(2) == 0;
    let all = boundaries(sample(random, kind));
    let has_nans = kind.range().is_none() && random.below(3) == 0;
    let case = Case {
        kind,
        operation: OPERATIONS[number % OPERATIONS.len()],
        element,
        mask: if has_heights { None } else { mask(random, element) },
        heights: has_heights.then(|| (0..len).map(|_| sample(random, kind)).collect()),
        origin: element
            .map(|taps| if random.below(2) == 0 { 0 } else { random.below(taps) as isize - (taps / 2) as isize }),
        boundaries: (random.below(4) > 0).then(|| [pick(random, &all), Boundary::Nearest]),
        channels: pick(random, &[None, None, Some(1), Some(2), Some(3)]),
        omit: random.below(2) == 0,
        planes: pick(random, &[1, 1, 1, 2]),
        shape: pick(random, &shapes),
        samples: Vec::new(),
    };
    let nan = |random: &mut Random| has_nans && random.below(8) == 0;
    let samples = (0..case.sample_count()).map(|_| if nan(random) { f64::NAN } else { sample(random, kind) }).collect();
    Case { samples, ..case }
}

fn operation<T: RankElement + Number>(case: &Case) -> Morphology2d<T> {
    let [rows, columns] = case.element;
    let array = |values: &[f64]| Array2::from_shape_vec((rows, columns), converted::<T>(values));
    let element = match (&case.mask, &case.heights) {
        (_, Some(heights)) => StructuringElement::with_heights(&array(heights).expect("heights are whole")),
        (Some(mask), _) => (&Array2::from_shape_vec((rows, columns), mask.clone()).expect("a mask is whole")).into(),
        (None, None) => RankWindow::rectangle(rows, columns).into(),
    };
    let operation = match case.operation {
        Operation::Erosion => Morphology2d::erosion(element),
        Operation::Dilation => Morphology2d::dilation(element),
        Operation::Opening => Morphology2d::opening(element),
        Operation::Closing => Morphology2d::closing(element),
        Operation::Gradient => Morphology2d::gradient(element),
        Operation::TopHat => Morphology2d::top_hat(element),
        Operation::BlackHat => Morphology2d::black_hat(element),
    };
    let operation = operation.origin(case.origin[0], case.origin[1]).nan_policy(if case.omit {
        RankNanPolicy::Omit
    } else {
        RankNanPolicy::Propagate
    });
    let operation = match case.boundaries {
        None => operation.ignore_outside(),
        Some(boundaries) => {
            let [rows, columns] = boundaries.map(crate::rank2d::boundary_of);
            operation.boundaries(rows, columns)
        }
    };
    match case.channels {
        None => operation,
        Some(channels) => operation.channels(channels),
    }
}

/// Compares an operation with the oracle, from host arrays and with matrices with gaps on the device, which must not change.
fn check<T: RankElement + Number>(device: &Device, case: &Case) -> Result<(), Failed> {
    const GAPS: [usize; 2] = [3, 5];
    const GAP: f64 = 77.0;
    let (expected, operation) = (case.outputs(), operation::<T>(case).prepare(device)?);
    let shape: Vec<usize> = [case.planes].into_iter().chain(case.shape).chain(case.channels).collect();
    let outputs = operation.apply(&ArrayD::from_shape_vec(shape.clone(), converted::<T>(&case.samples))?)?;
    equal(outputs.shape(), &*shape)?;
    same(&bits(&outputs.iter().map(|&output| output.to()).collect::<Vec<_>>()), &bits(&expected))?;

    let (rows, columns) = (case.planes * case.shape[0], case.shape[1] * case.channels());
    let matrix = |values: &[f64], pitch: usize| {
        let memory = device.upload(&converted::<T>(&pitched(values, [rows, columns, pitch], GAP)))?;
        Buffer2::from_buffer(memory, rows, columns, pitch)
    };
    let samples = matrix(&case.samples, columns + GAPS[0])?;
    let mut outputs = matrix(&vec![GAP; rows * columns], columns + GAPS[1])?;
    match case.planes {
        1 => operation.apply_into(&samples, &mut outputs)?,
        planes => operation.apply_into(samples.planes(planes), &mut outputs)?,
    }
    let outputs: Vec<f64> = outputs.into_buffer().download()?.into_iter().map(T::to).collect();
    same(&bits(&outputs), &bits(&pitched(&expected, [rows, columns, columns + GAPS[1]], GAP)))
}

fn what_runs_is_planned() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_80, 2);
    let operation = Morphology2d::<u8>::top_hat([3, 20]).prepare(&device)?;
    operation.apply(&Array2::from_elem((10, 30), 3))?;
    // There is one report for each kernel.
    let ran: BTreeSet<_> = device.emulation_reports().iter().map(|report| report.kernel).collect();
    let plan = operation.plan([10, 30])?;
    equal(plan.launches.iter().map(|launch| launch.kernel).collect(), ran)?;
    equal((plan.launches.len(), plan.outputs), (5, vec![10, 30]))
}
