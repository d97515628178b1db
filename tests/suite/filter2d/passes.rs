//! The kernel for outer products of any size: at every place of a strip, a band and its ring of rows.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Weights};
use super::refused::refused;
use super::types::{Matrices, Types};
use super::{SUITE, check_algorithm};
use crate::common::{Random, ensure, equal, is_slow, on_profiles};
use libtest_mimic::{Failed, Trial};
use slm::Plan;
use slm::emulator::Profile;
use slm::filter2d::{Filter2dError, Filtering};
use slm::{Boundary, Device, Extent, Filter2dAlgorithm, Result as SlmResult};

/// Rows and columns of weights: with empty entries before none, one or both of them, on one side of the centre more than on the
/// other, without anything to fill the ring with, longer than the samples that are loaded in advance, and with more packs than are
/// unrolled.
const SIZES: [[usize; 2]; 9] = [[30, 30], [4, 6], [13, 1], [1, 33], [2, 8], [25, 14], [3, 70], [66, 4], [63, 63]];

/// Emulated devices. The first one has room for narrow strips only. With 63 x 63 weights, a block has two groups of threads on the last
/// one.
const PROFILES: [Profile; 3] = [Profile::SM_75, Profile::SM_80, Profile::SM_90];

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let sizes = SIZES.into_iter().flat_map(|[rows, columns]| {
        let name = format!("passes::{rows}x{columns}");
        let profiles = if rows > 32 { &[PROFILES[0], PROFILES[2]][..] } else { &PROFILES };
        on_profiles(SUITE, &name, profiles, move |device| every_border(device, [rows, columns]))
    });
    let tests: [(&str, Test); 4] = [
        ("passes::several_strips_and_steps", several_strips_and_steps),
        ("passes::wide_pitch", wide_pitch),
        ("passes::not_finite", not_finite),
        ("passes::order_of_sums", order_of_sums),
    ];
    let tests = tests.into_iter().flat_map(|(name, test)| on_profiles(SUITE, name, &PROFILES, test));
    let others = [
        Trial::test("filter2d::emulated::passes::which_kernel", which_kernel),
        Trial::test("filter2d::emulated::passes::refusals", refusals),
        Trial::test("filter2d::emulated::passes::shared_memory", shared_memory),
    ];
    sizes.chain(tests).chain(others).collect()
}

fn floats() -> &'static Types {
    types("f32_f32_f32")
}

/// A picture of one plane, with an outer product.
fn case(stream: u64, shape: [usize; 2], taps: [usize; 2]) -> Case {
    let random = &mut Random::new(stream + 1);
    let [column, row] = taps.map(|taps| floats().weights(random, taps));
    Case { weights: Weights::Separable(column, row), ..plain(floats(), stream, shape, [1, 1]) }
}

/// Compares the algorithm with the oracle.
fn check(device: &Device, case: &Case) -> Result<(), Failed> {
    let result = check_algorithm(device, floats(), case, &case.outputs(), Filter2dAlgorithm::Separable);
    let describe = |error| format!("{error}\n{:?}", Case { samples: Vec::new(), ..case.clone() });
    result.map(|_| ()).map_err(|error| describe(error).into())
}

/// Borders and extents, of pictures smaller than the weights and of larger ones.
fn every_border(device: &Device, taps: [usize; 2]) -> Result<(), Failed> {
    let shapes: &[[usize; 2]] = if is_slow(device) { &[[5, 9]] } else { &[[2, 3], [70, 131], [40, 1030]] };
    for (s, &shape) in shapes.iter().enumerate() {
        for number in (s..18).step_by(if is_slow(device) { 7 } else { 1 }) {
            let (boundary, extent) = (boundaries(7.0)[number % 6], EXTENTS[number / 6]);
            let case = Case { boundary, extent, ..case(150 + number as u64, shape, taps) };
            check(device, &resized(floats(), case, None, 1 + number % 2))?;
        }
    }
    Ok(())
}

/// Two strips, the second of which has one column, and more steps than the ring has rows for. Three strips, of which the second has
/// all its samples inside.
fn several_strips_and_steps(device: &Device) -> Result<(), Failed> {
    let shapes = if is_slow(device) { [[61, 385], [16, 800]] } else { [[610, 385], [261, 2395]] };
    check(device, &case(170, shapes[0], [5, 6]))?;
    let valid = Case { extent: Extent::Valid, ..case(171, shapes[1], [14, 11]) };
    check(device, &valid)?;
    // More samples than a warp loads at once, of a row so long that none of its weights are added up.
    for boundary in boundaries(7.0) {
        check(device, &Case { boundary, ..case(173, [2, 750], [2, 700]) })?;
    }
    if is_slow(device) {
        return Ok(());
    }
    // Bands of several planes. The last weights have no room for wide strips, not even in 227 KiB.
    let taps = [[30, 30], [63, 63], [100, 9], [17, 17], [121, 31]];
    taps.into_iter().zip(boundaries(3.0)).try_for_each(|(taps, boundary)| {
        let case = Case { boundary, ..case(172, [1500, 800], taps) };
        check(device, &resized(floats(), case, None, 3))
    })
}

/// A row pitch of which a thread's outputs need more than 32 bits. A single row may have any.
fn wide_pitch(device: &Device) -> Result<(), Failed> {
    let case = case(184, [1, 40], [4, 6]);
    let (numbers, shape) = (case.samples.clone(), [1, 40, 1 << 40]);
    if refused(device, floats(), &case, Filter2dAlgorithm::Separable).is_some() {
        return check(device, &case);
    }
    let matrices = Matrices { input: (&numbers, shape), output: (&[0.0; 40], shape) };
    let actual = floats().runs.apply_into(device, &case, Filter2dAlgorithm::Separable, matrices)?;
    let expected = floats().runs.apply(device, &case, Filter2dAlgorithm::Separable, false)?;
    equal(actual, expected.into_raw_vec_and_offset().0)
}

/// NaNs and infinities reach the outputs whose windows contain them, and no others: empty entries of the table are not weights.
fn not_finite(device: &Device) -> Result<(), Failed> {
    for (stream, taps, value) in
        [(180, [5, 6], f64::INFINITY), (181, [6, 7], f64::NAN), (182, [2, 17], f64::NEG_INFINITY)]
    {
        let mut case = case(stream, [11, 23], taps);
        case.samples.iter_mut().step_by(37).for_each(|sample| *sample = value);
        check(device, &case)?;
        let boundary = Boundary::Constant(-value);
        check(device, &Case { boundary, extent: Extent::Full, ..case })?;
    }
    Ok(())
}

/// Sums are added in the order of the weights, along the rows first, and each product is rounded once.
fn order_of_sums(device: &Device) -> Result<(), Failed> {
    let [rows, columns] = [9, 20];
    let case = Case { extent: Extent::Valid, ..case(183, [rows, columns], [4, 6]) };
    // The CPU goes down the columns first.
    let is_cpu = device.info().shared_memory.is_none();
    if is_cpu || refused(device, floats(), &case, Filter2dAlgorithm::Separable).is_some() {
        return check(device, &case);
    }
    let Weights::Separable(column, row) = &case.weights else { return Err("no product".into()) };
    let dot = |samples: &dyn Fn(usize) -> f32, weights: &[f64]| {
        let weights = weights.iter().enumerate();
        weights.fold(0.0, |sum, (j, &weight)| samples(j).mul_add(weight as f32, sum))
    };
    let along = |r: usize, c: usize| dot(&|j| case.samples[r * columns + c + j] as f32, row);
    let down = |r: usize, c: usize| dot(&|i| along(r + i, c), column);
    let expected: Vec<f32> =
        (0..rows - 3).flat_map(|r| (0..columns - 5).map(move |c| (r, c))).map(|(r, c)| down(r, c)).collect();
    let actual = floats().runs.apply(device, &case, Filter2dAlgorithm::Separable, false)?;
    let actual: Vec<f32> = actual.into_raw_vec_and_offset().0.into_iter().map(|number| number as f32).collect();
    equal(actual, expected)
}

fn planned(case: &Case, algorithm: Filter2dAlgorithm) -> SlmResult<Plan<Filter2dAlgorithm, Filtering>> {
    floats().runs.plan(&Device::emulated(Profile::SM_90, 0), case, algorithm)
}

/// `Auto` takes the kernel for all products, even those of a single row or column.
fn which_kernel() -> Result<(), Failed> {
    let product = |taps| case(190, [20, 20], taps);
    for taps in [[30, 30], [4, 4], [63, 20], [3, 3], [31, 31], [2, 90], [1, 9], [9, 1], [1, 1]] {
        let plan = planned(&product(taps), Filter2dAlgorithm::Auto)?;
        equal((&*plan.kernels().join(", "), &*plan.reason), ("filter2d_passes_f32", "an outer product"))?;
        let plan = planned(&product(taps), Filter2dAlgorithm::Separable)?;
        equal((&*plan.kernels().join(", "), &*plan.reason), ("filter2d_passes_f32", "requested"))?;
    }
    // Weights that are found to be a product, and a single row of them.
    let dense = |shape: [usize; 2], values| Case { weights: Weights::Dense(shape, values), ..product([1, 1]) };
    equal(
        &*planned(&dense([4, 5], vec![0.25; 20]), Filter2dAlgorithm::Auto)?.kernels().join(", "),
        "filter2d_passes_f32",
    )?;
    let row = dense([1, 3], vec![1.0, 0.0, -2.0]);
    equal(&*planned(&row, Filter2dAlgorithm::Separable)?.kernels().join(", "), "filter2d_passes_f32")
}

fn refusals() -> Result<(), Failed> {
    let separable = Filter2dAlgorithm::Separable;
    for weights in [[2, 2], [3, 5]] {
        let dense = plain(floats(), 191, [9, 9], weights);
        equal(
            planned(&dense, separable).map(|plan| plan.kernels().join(", ")),
            Err(Filter2dError::NotSeparable { weights }.into()),
        )?;
    }
    // The table of weights has room for 128 and 832. Others take two launches.
    for (weights, launches) in [([129, 2], 2), ([1, 833], 2), ([1, 832], 1)] {
        equal(planned(&case(192, [140, 900], weights), separable)?.launches.len(), launches)?;
    }
    Ok(())
}

/// By hand, for 30 x 30: 6 numbers and 416 sources of 8 bytes, 12 rows of 416 samples, and 32 + 2 · 12 rows of 384 sums. For 63 x 63,
/// two such blocks have no room on a multiprocessor, so a block has twice the rows of a step.
fn shared_memory() -> Result<(), Failed> {
    for (taps, block, bytes) in [
        ([30, 30], [384, 1, 1], 422 * 8 + 12 * 416 * 4 + 56 * 384 * 4),
        ([63, 63], [384, 2, 1], 454 * 8 + 24 * 448 * 4 + 112 * 384 * 4),
        ([3, 70], [384, 1, 1], 486 * 8 + 12 * 480 * 4 + 28 * 384 * 4),
    ] {
        let plan = planned(&case(193, [30, 500], taps), Filter2dAlgorithm::Separable)?;
        let launch = &plan.launches[0];
        equal((launch.times, launch.grid, launch.block, launch.shared_bytes), (1, [2, 1, 1], block, bytes))?;
    }
    // Narrow strips: 160 sources, 4 rows of 160 samples, and 32 + 2 · 4 rows of 128 sums.
    let small = Device::emulated(Profile::SMALL, 0);
    let plan = floats().runs.plan(&small, &case(194, [9, 9], [30, 30]), Filter2dAlgorithm::Auto)?;
    let (kernel, bytes) = ("filter2d_passes_narrow_f32", 166 * 8 + 4 * 160 * 4 + 40 * 128 * 4);
    let launch = &plan.launches[0];
    equal((launch.kernel, launch.grid, launch.block, launch.shared_bytes), (kernel, [1, 1, 1], [128, 1, 1], bytes))?;
    // Not even these fit: two launches, of kernels for any weights. A register tile with 127 more rows does not fit either.
    let many = case(194, [140, 9], [128, 30]);
    let plan = floats().runs.plan(&small, &many, Filter2dAlgorithm::Separable)?;
    equal((&*plan.kernels().join(", "), plan.launches.len()), ("filter2d_register_f32, filter2d_tile_f32", 2))?;
    // Filters of lines take less time.
    let plan = floats().runs.plan(&small, &many, Filter2dAlgorithm::Auto)?;
    ensure(plan.reason.contains("lines"), || plan.reason.clone())
}
