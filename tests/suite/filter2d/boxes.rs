//! Filters whose weights are all equal: windows of every kind of size, and what they contain.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Weights};
use super::types::Types;
use super::{SUITE, check_with};
use crate::common::{Random, ensure, equal, is_emulated, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::Plan;
use slm::emulator::Profile;
use slm::filter2d::{Filter2dError, Filtering};
use slm::{Backend, Boundary, Device, Filter2dAlgorithm, Result as SlmResult};

/// Types with each type of sums, and outputs that are wider, narrower and rounded.
const TYPES: [&str; 6] = ["u8_i32_i16", "i32_i32_i32", "f64_f64_f64", "u8_f32_u8", "f32_f32_i32", "f32_f32_f32"];

pub(super) fn trials() -> Vec<Trial> {
    let everywhere = TYPES.map(types).into_iter().flat_map(|types| {
        on_every_backend(SUITE, &format!("boxes::{}::every_border", types.name), |device| every_border(device, types))
    });
    let floats = ["f32_f32_f32", "f64_f64_f64"].map(types).into_iter().flat_map(|types| {
        let name = |test: &str| format!("boxes::{}::{test}", types.name);
        [
            on_every_backend(SUITE, &name("not_finite"), |device| not_finite(device, types)),
            on_every_backend(SUITE, &name("widths"), |device| widths(device, types)),
        ]
    });
    let others = [
        on_every_backend(SUITE, "boxes::channels", channels),
        on_every_backend(SUITE, "boxes::wide_windows", wide_windows),
        on_every_backend(SUITE, "boxes::several_bands", several_bands),
        on_every_backend(SUITE, "boxes::products_are_equal", products_are_equal),
    ];
    let cpu = Trial::test("filter2d::cpu::boxes::which_method", which_method_on_the_cpu);
    let choices = [
        Trial::test("filter2d::emulated::boxes::which_kernel", which_kernel),
        Trial::test("filter2d::emulated::boxes::which_sizes", which_sizes),
        Trial::test("filter2d::emulated::boxes::too_wide", too_wide),
        Trial::test("filter2d::emulated::boxes::refusals", refusals),
    ];
    everywhere.chain(floats.flatten()).chain(others.into_iter().flatten()).chain(choices).chain([cpu]).collect()
}

/// The algorithm that sums boxes.
fn algorithm(device: &Device) -> Filter2dAlgorithm {
    if device.info().backend == Backend::Cpu { Filter2dAlgorithm::Auto } else { Filter2dAlgorithm::Box }
}

fn check(device: &Device, types: &Types, case: &Case) -> Result<(), Failed> {
    check_with(device, types, case, &[algorithm(device)])
}

/// Equal weights: dense ones, or an outer product.
fn equal_weights(types: &Types, random: &mut Random, [rows, columns]: [usize; 2], is_separable: bool) -> Weights {
    let [c, r] = [0, 1].map(|_| types.weights(random, 1)[0]);
    match is_separable {
        true => Weights::Separable(vec![c; rows], vec![r; columns]),
        false => Weights::Dense([rows, columns], vec![c; rows * columns]),
    }
}

fn boxed(types: &Types, stream: u64, shape: [usize; 2], size: [usize; 2]) -> Case {
    let weights = equal_weights(types, &mut Random::new(stream), size, stream.is_multiple_of(2));
    Case { weights, ..plain(types, stream, shape, [1, 1]) }
}

/// Shapes of pictures and sizes of boxes: one row and one column, windows larger than the picture, even sides, several segments.
const SIZES: [([usize; 2], [usize; 2]); 8] = [
    ([1, 300], [1, 31]),
    ([300, 1], [31, 1]),
    ([5, 7], [12, 20]),
    ([33, 65], [16, 16]),
    ([70, 40], [33, 1]),
    ([40, 70], [19, 13]),
    ([9, 140], [2, 30]),
    ([150, 9], [64, 3]),
];

/// Every size, border and extent, with channels and planes.
fn every_border(device: &Device, types: &Types) -> Result<(), Failed> {
    // Each trial on an emulated device begins with another border.
    let every = if is_slow(device) { 9 } else { 1 };
    for number in (types.name.len() % every..SIZES.len() * 6).step_by(every) {
        let (shape, size) = SIZES[number % SIZES.len()];
        let case = Case {
            boundary: boundaries(types.sample(&mut Random::new(number as u64)))[number % 6],
            extent: EXTENTS[number / 6 % 3],
            ..boxed(types, 200 + number as u64, shape, size)
        };
        let channels = [None, Some(1), Some(2), Some(3), Some(4)][number % 5];
        check(device, types, &resized(types, case, channels, [1, 1, 2, 3][number % 4]))?;
    }
    Ok(())
}

/// NaNs and infinities, inside and outside.
fn not_finite(device: &Device, types: &Types) -> Result<(), Failed> {
    for (stream, value) in [(1, f64::NAN), (2, f64::INFINITY), (3, f64::NEG_INFINITY)] {
        let mut case = boxed(types, stream, [40, 50], [13, 14]);
        let random = &mut Random::new(stream);
        (0..9).for_each(|_| case.samples[random.below(40 * 50)] = value);
        case.samples[777] = -value;
        check(device, types, &case)?;
        check(device, types, &Case { boundary: Boundary::Constant(value), ..case.clone() })?;
    }
    // A NaN reaches the outputs whose window contains it, and no others, also of other channels.
    for (channels, columns) in [(None, 13), (Some(3), 13), (Some(2), 7)] {
        let mut case = resized(types, boxed(types, 4, [40, 50], [15, columns]), channels, 1);
        let place = (20 * 50 + 25) * case.channels();
        case.samples[place] = f64::NAN;
        let outputs = types.runs.apply(device, &case, algorithm(device), false)?;
        equal(outputs.iter().filter(|output| output.is_nan()).count(), 15 * columns)?;
    }
    Ok(())
}

/// Windows and rows of every length modulo a pack, several strips and planes; also windows that are too narrow for whole packs.
fn widths(device: &Device, types: &Types) -> Result<(), Failed> {
    for columns in [1, 2, 5, 8, 9, 10, 11, 12, 13, 40] {
        let case = Case {
            extent: EXTENTS[columns % 3],
            ..boxed(types, 300 + columns as u64, [3, 260 + columns], [2, columns])
        };
        check(device, types, &case)?;
    }
    let tall = boxed(types, 320, [90, 20], [9, 9]);
    check(device, types, &resized(types, tall, None, 3))
}

/// Several channels, whose packs and threads do not divide each other, in several strips; windows with and without whole packs.
fn channels(device: &Device) -> Result<(), Failed> {
    for (number, name) in TYPES.into_iter().enumerate() {
        let (types, channels) = (types(name), 2 + number % 3);
        for columns in [4, 9, 17] {
            let case = boxed(types, 330 + columns as u64, [3, 270], [3, columns]);
            check(device, types, &resized(types, case, Some(channels), 1))?;
        }
    }
    Ok(())
}

/// Windows nearly as wide as the widest block. It must not have more threads than there are registers for.
fn wide_windows(device: &Device) -> Result<(), Failed> {
    for (name, columns, channels) in [("f32_f32_f32", 2040, 1), ("f32_f32_i32", 1500, 1), ("u8_i32_i16", 370, 4)] {
        let case = boxed(types(name), 340, [2, columns + 30], [3, columns]);
        check(device, types(name), &resized(types(name), case, Some(channels), 1))?;
    }
    Ok(())
}

/// Bands of several rows, of two planes: an emulated device makes bands of 551 and 550 rows.
fn several_bands(device: &Device) -> Result<(), Failed> {
    for (name, channels) in [("f32_f32_f32", None), ("u8_i32_i16", Some(3))] {
        let types = types(name);
        let case = resized(types, boxed(types, 321, [1101, 5], [9, 3]), channels, 2);
        if is_emulated(device) {
            equal(types.runs.plan(device, &case, Filter2dAlgorithm::Box)?.launches[0].grid, [1, 2, 1])?;
        }
        check(device, types, &Case { boundary: Boundary::Wrap, ..case })?;
    }
    Ok(())
}

fn which_method_on_the_cpu() -> Result<(), Failed> {
    let by_segments = |case: &Case, name: &str| -> Result<bool, Failed> {
        let reason = types(name).runs.plan(&Device::cpu(), case, Filter2dAlgorithm::Auto)?.reason;
        Ok(reason == "box: sums of segments down the columns first, then along the rows")
    };
    for name in TYPES {
        for stream in [5, 6] {
            let case = boxed(types(name), stream, [5, 5], [13, 13]);
            equal(by_segments(&case, name)?, true)?;
            equal(by_segments(&Case { stride: [1, 2], ..case.clone() }, name)?, false)?;
            equal(by_segments(&Case { dilation: [2, 1], ..case.clone() }, name)?, false)?;
            // Integers are never missing.
            let is_float = types(name).samples.range().is_none();
            equal(by_segments(&Case { renormalise: true, ..case }, name)?, !is_float)?;
        }
        equal(by_segments(&boxed(types(name), 5, [5, 5], [12, 13]), name)?, false)?;
    }
    let infinite = Weights::Dense([13, 13], vec![f64::INFINITY; 169]);
    let case = Case { weights: infinite, ..boxed(types("f64_f64_f64"), 5, [5, 5], [1, 1]) };
    equal(by_segments(&case, "f64_f64_f64")?, false)
}

fn planned(case: &Case, algorithm: Filter2dAlgorithm) -> SlmResult<Plan<Filter2dAlgorithm, Filtering>> {
    planned_of("f32_f32_f32", case, algorithm)
}

fn planned_of(name: &str, case: &Case, algorithm: Filter2dAlgorithm) -> SlmResult<Plan<Filter2dAlgorithm, Filtering>> {
    types(name).runs.plan(&Device::emulated(Profile::SM_90, 0), case, algorithm)
}

fn which_kernel() -> Result<(), Failed> {
    let case = |stream, size| boxed(types("f32_f32_f32"), stream, [100, 8192], size);
    for stream in [6, 7] {
        let plan = planned(&case(stream, [31, 31]), Filter2dAlgorithm::Auto)?;
        equal((&*plan.kernels().join(", "), &*plan.reason), ("filter2d_box_f32", "all weights are equal"))?;
        // 128 threads have 512 columns, 481 of which have their window inside, so 480 outputs in whole packs.
        let launch = &plan.launches[0];
        equal((launch.grid, launch.block), ([8192u64.div_ceil(480), 1, 1], [128, 1, 1]))?;
        // By hand: a number of 8 bytes for each of 100 rows, 30 of the halo and 4 ahead; 4 rows of sums and of their totals; 30 rows
        // of samples.
        equal(launch.shared_bytes, 134 * 8 + 4 * 512 * 4 + 4 * 128 * 4 + 30 * 512 * 4)?;
    }
    let small = planned(&case(6, [9, 9]), Filter2dAlgorithm::Auto)?;
    equal(&*small.kernels().join(", "), "filter2d_passes_f32")?;
    // High windows have narrow strips: two blocks of 32 threads have room for 199 rows of samples. Wide ones have wide strips.
    equal(planned(&case(6, [200, 31]), Filter2dAlgorithm::Box)?.launches[0].block, [32, 1, 1])?;
    equal(planned(&case(6, [3, 500]), Filter2dAlgorithm::Auto)?.launches[0].block, [512, 1, 1])?;
    // Too large for a block: 1,023 rows of at least 128 columns.
    let large = planned(&case(6, [1024, 31]), Filter2dAlgorithm::Auto)?;
    ensure(!large.kernels().join(", ").contains("box"), || large.to_string())
}

/// Which sizes are summed as boxes without a request, and by which kernel.
fn which_sizes() -> Result<(), Failed> {
    let check = |name: &str, channels, size, kernel: &str, is_box| -> Result<(), Failed> {
        let case = resized(types(name), boxed(types(name), 9, [64, 4096], size), channels, 1);
        let plan = planned_of(name, &case, Filter2dAlgorithm::Auto)?;
        ensure((&*plan.kernels().join(", ") == kernel) == is_box, || format!("{name}, {channels:?}, {size:?}: {plan}"))
    };
    for (name, channels, kernel) in [
        ("u8_f32_u8", None, "filter2d_box_u8"),
        ("u8_f32_u8", Some(3), "filter2d_box_any_f32"),
        ("f32_f32_f32", Some(2), "filter2d_box_any_f32"),
        ("f32_f32_i32", None, "filter2d_box_any_f32"),
        ("u8_i32_i16", None, "filter2d_box_any_i32"),
        ("i32_i32_i32", None, "filter2d_box_any_i64"),
        ("f64_f64_f64", Some(4), "filter2d_box_any_f64"),
        ("f32_f64_f32", None, "filter2d_box_any_f64"),
    ] {
        // 18 rows and columns, or more if segments are not multiples of 4 rows. One row is no box.
        for (size, is_box) in [([8, 10], true), ([8, 9], false), ([3, 21], true), ([3, 20], false), ([1, 101], false)] {
            check(name, channels, size, kernel, is_box)?;
        }
        // Of the widest strips of 1,536 or 2,048 samples, at least half have outputs. For sums of `i64` there are no two passes.
        let is_box = kernel.ends_with("i64") && channels.is_none();
        check(name, channels, [4, if is_box { 600 } else { 1100 }], kernel, is_box)?;
    }
    for (size, is_box) in [
        ([16, 12], true),
        ([16, 11], false),
        ([2, 54], true),
        ([2, 53], false),
        ([1, 101], false),
        ([101, 51], true),
        ([101, 50], false),
        // Too high for one launch of two passes.
        ([440, 3], true),
        ([3, 1200], false),
    ] {
        check("f32_f32_f32", None, size, "filter2d_box_f32", is_box)?;
    }
    Ok(())
}

/// Windows that are wider than a strip, and pixels with more channels than threads; and the widest windows.
fn too_wide() -> Result<(), Failed> {
    for (name, channels, columns, most) in [
        ("f32_f32_f32", 1, 3000, 2042),
        ("f32_f32_f32", 1, 2043, 2042),
        ("f32_f32_i32", 2, 3000, 762),
        ("f64_f64_f64", 1, 3002, 766),
        ("u8_f32_u8", 400, 3, 0),
    ] {
        let case = resized(types(name), boxed(types(name), 10, [1, 10], [2, columns]), Some(channels), 1);
        let error = Filter2dError::BoxTooWide { columns, channels, most };
        equal(
            planned_of(name, &case, Filter2dAlgorithm::Box).map(|plan| plan.kernels().join(", ")),
            Err(error.into()),
        )?;
        let plan = planned_of(name, &case, Filter2dAlgorithm::Auto)?;
        ensure(!plan.kernels().join(", ").contains("box"), || plan.to_string())?;
        for columns in most.saturating_sub(3).max(1)..=most {
            let case = resized(types(name), boxed(types(name), 10, [1, 10], [2, columns]), Some(channels), 1);
            planned_of(name, &case, Filter2dAlgorithm::Box)?;
        }
    }
    Ok(())
}

fn refusals() -> Result<(), Failed> {
    let (types, algorithm) = (types("f32_f32_f32"), Filter2dAlgorithm::Box);
    let refused = |case: &Case| planned(case, algorithm).map(|plan| plan.kernels().join(", "));
    let unequal = Filter2dError::UnequalWeights { weights: [3, 4] };
    equal(refused(&plain(types, 8, [9, 9], [3, 4])), Err(unequal.clone().into()))?;
    let infinite = Weights::Dense([3, 4], vec![f64::INFINITY; 12]);
    equal(refused(&Case { weights: infinite, ..plain(types, 8, [9, 9], [1, 1]) }), Err(unequal.into()))?;
    let error = refused(&Case { dilation: [1, 2], ..boxed(types, 8, [9, 9], [3, 3]) }).unwrap_err();
    equal(error.to_string(), "Box has no kernel for dilations of 1 and 2: it needs dilations of 1".to_owned())?;
    // 32 threads and r rows: where 128 + r - 1 + 4 rows begin, rounded up to 16 bytes; 4 rows of 128 sums and 32 totals; r - 1 rows of
    // 128 samples.
    let bytes = |rows: u64| (8 * (131 + rows)).next_multiple_of(16) + 4 * 128 * 4 + 4 * 32 * 4 + (rows - 1) * 128 * 4;
    let available = Device::emulated(Profile::SM_90, 0).info().shared_memory.map_or(0, |shared| shared.max_per_block);
    let most = (1..1024).filter(|&rows| bytes(rows) <= available).count();
    let error = Filter2dError::BoxTooHigh { rows: 1024, columns: 3, channels: 1, most };
    equal(refused(&boxed(types, 8, [9, 9], [1024, 3])), Err(error.into()))?;
    equal(refused(&boxed(types, 8, [9, 9], [most, 3])).map(|_| ()), Ok(()))?;
    ensure(refused(&boxed(types, 8, [9, 9], [most + 1, 3])).is_err(), || format!("{most} rows are not the most"))
}

/// An outer product has equal weights if its dense form has, whatever its factors are.
fn products_are_equal(device: &Device) -> Result<(), Failed> {
    let algorithm = algorithm(device);
    for (column, row) in
        [(vec![-2.0, 3.0], vec![0.0]), (vec![0.0; 3], vec![1.0, 2.0, 5.0]), (vec![2.0; 2], vec![3.0; 4])]
    {
        let dense = column.iter().flat_map(|c| row.iter().map(move |r| c * r)).collect();
        let types = types("i32_i32_i32");
        let case = Case { weights: Weights::Separable(column.clone(), row.clone()), ..plain(types, 8, [9, 9], [1, 1]) };
        let separable = types.runs.apply(device, &case, algorithm, false)?;
        let case = Case { weights: Weights::Dense([column.len(), row.len()], dense), ..case };
        equal(types.runs.apply(device, &case, algorithm, false)?, separable)?;
    }
    Ok(())
}
