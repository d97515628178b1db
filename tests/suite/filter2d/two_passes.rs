//! Outer products in two launches, of types, channels and steps that no kernel for both passes has.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Direction, Weights};
use super::types::Types;
use super::{SUITE, check_with};
use crate::common::{Random, ensure, equal, is_slow, on_cuda, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, Array3, array};
use slm::Plan;
use slm::emulator::Profile;
use slm::filter2d::{Filter2dError, Filtering};
use slm::{Boundary, Buffer2, Device, Error, Extent, Filter2d, Filter2dAlgorithm};
use std::thread;

const ALGORITHMS: [Filter2dAlgorithm; 2] = [Filter2dAlgorithm::Separable, Filter2dAlgorithm::Auto];

/// Types with each type of sums that kernels store, and outputs that are rounded.
const TYPES: [&str; 6] = ["u8_i32_i16", "u16_i32_i32", "u8_f32_u8", "f32_f32_f32", "i32_f32_i32", "f64_f64_f64"];

/// Rows and columns of weights: odd, even, and a single row or column.
const SIZES: [[usize; 2]; 5] = [[9, 7], [4, 6], [12, 1], [1, 13], [5, 21]];

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let of_types = TYPES.map(types).into_iter().flat_map(|types| {
        let name = format!("two_passes::{}::every_border", types.name);
        on_every_backend(SUITE, &name, move |device| every_border(device, types))
    });
    let tests: [(&str, Test); 4] = [
        ("two_passes::several_blocks", several_blocks),
        ("two_passes::not_finite", not_finite),
        ("two_passes::constant_outside", constant_outside),
        ("two_passes::several_threads", several_threads),
    ];
    let tests = tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, name, test));
    let emulated = || Device::emulated(Profile::SM_80, 0);
    let others = [
        Trial::test("filter2d::emulated::two_passes::which_filters", which_filters),
        Trial::test("filter2d::emulated::two_passes::what_runs_is_planned", what_runs_is_planned),
        Trial::test("filter2d::emulated::two_passes::refusals", refusals),
        Trial::test("filter2d::emulated::two_passes::out_of_memory", move || out_of_memory(&emulated())),
        on_cuda(SUITE, "two_passes::out_of_memory", || (), out_of_memory),
    ];
    of_types.chain(tests).chain(others).collect()
}

/// A picture of one plane, with an outer product.
fn case(types: &Types, stream: u64, shape: [usize; 2], taps: [usize; 2]) -> Case {
    let random = &mut Random::new(stream + 1);
    let [column, row] = taps.map(|taps| types.weights(random, taps));
    Case { weights: Weights::Separable(column, row), ..plain(types, stream, shape, [1, 1]) }
}

fn check(device: &Device, types: &Types, case: &Case) -> Result<(), Failed> {
    check_with(device, types, case, &ALGORITHMS)
}

/// Borders, extents and steps, with channels and planes, of pictures smaller than the weights and of larger ones.
fn every_border(device: &Device, types: &Types) -> Result<(), Failed> {
    let shapes: &[[usize; 2]] = if is_slow(device) { &[[6, 8]] } else { &[[2, 3], [37, 90]] };
    // Each type on emulated devices begins with another border, and meets all sizes.
    let every = if is_slow(device) { 19 } else { 1 };
    for number in (types.name.len() % every..18 * SIZES.len()).step_by(every) {
        for (s, &shape) in shapes.iter().enumerate() {
            let random = &mut Random::new(number as u64);
            let case = Case {
                boundary: boundaries(types.sample(random))[number % 6],
                extent: EXTENTS[number / 6 % 3],
                stride: [[1, 1], [2, 1], [1, 3], [5, 2]][random.below(4)],
                dilation: [[1, 1], [3, 1], [1, 2], [2, 3]][random.below(4)],
                ..case(types, 400 + number as u64, shape, SIZES[(number / 18 + s) % SIZES.len()])
            };
            let channels = [None, Some(2), Some(3), Some(4)][random.below(4)];
            check(device, types, &resized(types, case, channels, 1 + random.below(2)))?;
        }
    }
    Ok(())
}

/// Several tiles along both axes, in both launches.
fn several_blocks(device: &Device) -> Result<(), Failed> {
    let bytes = types("u8_f32_u8");
    let tall = Case { boundary: Boundary::Mirror, ..case(bytes, 420, [70, 9], [6, 5]) };
    check(device, bytes, &resized(bytes, tall, Some(3), 2))?;
    let floats = types("f64_f64_f64");
    let wide = Case { extent: Extent::Full, stride: [1, 2], ..case(floats, 421, [5, 420], [3, 8]) };
    check(device, floats, &resized(floats, wide, Some(2), 1))
}

/// NaNs and infinities, inside and outside, reach the outputs whose windows contain them, and no others.
fn not_finite(device: &Device) -> Result<(), Failed> {
    let floats = types("f32_f32_f32");
    for (stream, value) in [(430, f64::NAN), (431, f64::INFINITY), (432, f64::NEG_INFINITY)] {
        let case = resized(floats, case(floats, stream, [9, 11], [5, 4]), Some(2), 1);
        let mut inside = case.clone();
        inside.samples.iter_mut().step_by(61).for_each(|sample| *sample = value);
        check(device, floats, &inside)?;
        check(device, floats, &Case { boundary: Boundary::Constant(value), extent: Extent::Full, ..case })?;
    }
    Ok(())
}

/// Nine samples, eight of which are outside. A second pass that met the constant instead of its sum would find 5 + 16 + 5.
fn constant_outside(device: &Device) -> Result<(), Failed> {
    let filter = Filter2d::<u8, i32>::separable(&[1, 1, 1], &[1, 1, 1]).output::<i32>();
    let filter = filter.boundary(Boundary::Constant(5)).algorithm(Filter2dAlgorithm::Separable);
    equal(filter.prepare(device)?.apply(array![[1]].view())?, array![[41]])?;
    let corners = filter.extent(Extent::Full).prepare(device)?.apply(array![[1]].view())?;
    equal(corners, Array2::from_elem((3, 3), 41))
}

/// Each call has row sums of its own.
fn several_threads(device: &Device) -> Result<(), Failed> {
    let blur = Filter2d::<u8, _>::gaussian(2.5).channels(3).boundary(Boundary::Nearest);
    let prepared = blur.prepare(device)?;
    let picture = |level| Array3::<u8>::from_elem((20, 30, 3), level);
    let run = |level| (0..3).all(|_| prepared.apply(picture(level).view()) == Ok(picture(level)));
    let are_right = thread::scope(|scope| {
        let threads = [10, 20, 30, 40].map(|level| scope.spawn(move || run(level)));
        threads.map(|thread| thread.join().unwrap_or(false))
    });
    equal(are_right, [true; 4])
}

fn planned(
    types: &Types,
    case: &Case,
    algorithm: Filter2dAlgorithm,
) -> slm::Result<Plan<Filter2dAlgorithm, Filtering>> {
    types.runs.plan(&Device::emulated(Profile::SM_90, 0), case, algorithm)
}

/// `Auto` takes two launches if all weights are so many more products than both passes that it pays.
fn which_filters() -> Result<(), Failed> {
    let (bytes, floats, auto) = (types("u8_f32_u8"), types("f32_f32_f32"), Filter2dAlgorithm::Auto);
    let launches = |types: &Types, case: &Case| planned(types, case, auto).map(|plan| plan.launches.len());
    for (taps, stride, expected) in [
        // 400 and 420 products, at least 200 + 3 · 40 and 200 + 3 · 44; and 225, fewer than 200 + 3 · 30.
        ([20, 20], [1, 1], 2),
        ([14, 30], [1, 1], 2),
        ([15, 15], [1, 1], 1),
        ([1, 999], [1, 1], 1),
        ([999, 1], [1, 1], 1),
        // Register tiles have no strides, so 16 products are at least 2 · (4 + 4), and 15 fewer than 2 · (3 + 5).
        ([4, 4], [1, 7], 2),
        ([3, 5], [1, 7], 1),
        // The first launch computes rows that are left out: 2 · (4 + 2 · 4), and 2 · (9 + 2 · 9).
        ([4, 4], [2, 1], 1),
        ([9, 9], [2, 1], 2),
        ([20, 20], [i32::MAX as usize; 2], 1),
    ] {
        let case = Case { stride, ..case(bytes, 440, [20, 20], taps) };
        equal((taps, stride, launches(bytes, &case)?), (taps, stride, expected))?;
    }
    // Register tiles have dilations of the rows only.
    let dilated = |dilation| Case { dilation, ..case(bytes, 440, [20, 20], [4, 4]) };
    equal([[1, 2], [2, 1]].map(|dilation| launches(bytes, &dilated(dilation))), [Ok(2), Ok(1)])?;
    // Weights that are found to be a product, and others.
    let product = Weights::Dense([20, 20], (0..400).map(|i| f64::from(1 + i / 20)).collect());
    let product = Case { weights: product, ..plain(bytes, 441, [9, 9], [1, 1]) };
    equal(launches(bytes, &product)?, 2)?;
    equal(launches(bytes, &Case { direction: Direction::Convolve, ..product.clone() })?, 2)?;
    equal(launches(bytes, &plain(bytes, 441, [9, 9], [20, 20]))?, 1)?;
    // Floats with channels, and more rows of weights than a kernel for both passes has room for.
    let colours = |channels| resized(floats, case(floats, 442, [9, 9], [30, 30]), Some(channels), 1);
    equal([1, 2, 3, 4].map(|channels| launches(floats, &colours(channels))), [Ok(1), Ok(2), Ok(2), Ok(2)])?;

    // So many weights that filters of lines, with a transposition before each of them, take less time.
    equal(launches(floats, &case(floats, 442, [160, 40], [150, 30]))?, 4)?;
    equal(launches(floats, &case(floats, 442, [640, 9], [600, 3]))?, 4)?;
    // Missing samples need all weights.
    equal(launches(floats, &Case { renormalise: true, ..colours(3) })?, 1)?;
    // No kernel stores sums of `i64`.
    equal(launches(types("i32_i32_i32"), &case(types("i32_i32_i32"), 443, [9, 9], [20, 20]))?, 1)
}

/// README's example. By hand: 21 weights along each axis; register tiles of 12 x 16 bytes and rows.
fn what_runs_is_planned() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 5);
    let blur = Filter2d::<u8, _>::gaussian(2.5).channels(3).prepare(&device)?;
    let plan = blur.plan([40, 60, 3])?;
    equal((&*plan.kernels().join(", "), &*plan.outputs), ("filter2d_register_f32", &[40, 60, 3][..]))?;
    equal(&*plan.reason, "an outer product: along the rows, then down the columns")?;
    // Bytes and row sums, row sums and bytes.
    equal(plan.launches.iter().map(|launch| launch.moved_bytes).collect::<Vec<_>>(), vec![7200 * 5; 2])?;
    equal(plan.to_string().lines().count(), 8)?;
    blur.apply(Array3::from_elem((40, 60, 3), 100).view())?;
    let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
    equal(report.launches, 2)?;
    // A dilation of the columns does not allow register tiles along the rows.
    let device = Device::emulated(Profile::SM_90, 6);
    let dilated = Filter2d::<u8, _>::gaussian(2.5).dilation(1, 2).prepare(&device)?;
    let plan = dilated.plan([40, 60])?;
    equal(&*plan.kernels().join(", "), "filter2d_tile_f32, filter2d_register_f32")?;
    dilated.apply(Array2::from_elem((40, 60), 100).view())?;
    for (report, launch) in device.emulation_reports().iter().zip(&plan.launches) {
        equal((report.kernel, report.launch.grid.map(u64::from)), (launch.kernel, launch.grid))?;
        equal((report.launch.block, report.launches), (launch.block, launch.times))?;
        equal(report.bank_conflicts(), 0)?;
    }
    let empty = blur.plan([0, 60, 3])?;
    equal(empty.launches.len(), 0)
}

fn refusals() -> Result<(), Failed> {
    let separable = Filter2dAlgorithm::Separable;
    let refused = |name: &str, case: &Case| planned(types(name), case, separable).map(|plan| plan.kernels().join(", "));
    let bytes = plain(types("u8_f32_u8"), 450, [9, 9], [3, 5]);
    equal(refused("u8_f32_u8", &bytes), Err(Filter2dError::NotSeparable { weights: [3, 5] }.into()))?;
    let error = refused("i32_i32_i32", &case(types("i32_i32_i32"), 451, [9, 9], [3, 5])).unwrap_err();
    let text = "Separable has no kernel for 1-channel samples of i32, weights of i32, sums of i64 and outputs of i32: it needs sums of \
                i32, f32 or f64";
    equal(error.to_string(), text.to_owned())?;
    let missing = Case { renormalise: true, ..case(types("f64_f32_f64"), 452, [9, 9], [3, 5]) };
    let error = refused("f64_f32_f64", &missing).unwrap_err();
    let text = "Separable has no kernel for NaNs that are left out: it needs NanPolicy::Propagate";
    equal(error.to_string(), text.to_owned())
}

/// Row sums that no device has memory for: 400,000 rows of 200,001 sums, of which one row of outputs is left.
fn out_of_memory(device: &Device) -> Result<(), Failed> {
    let filter = Filter2d::<u8, i32>::separable(&[1, 2], &[1, 1, 1]).extent(Extent::Full).dilation(1, 100_000);
    let filter = filter.stride(1 << 30, 1).output::<i32>().algorithm(Filter2dAlgorithm::Separable).prepare(device)?;
    let samples = Buffer2::<u8>::zeroed(device, 400_000, 1)?;
    let mut outputs = Buffer2::upload(device, Array2::from_elem((1, 200_001), 7).view())?;
    let error = filter.apply_into(&samples, &mut outputs).unwrap_err();
    let is_expected = matches!(error, Error::OutOfDeviceMemory { requested: 320_001_600_000, .. });
    ensure(is_expected, || error.to_string())?;
    ensure(outputs.download()?.iter().all(|&output| output == 7), || "outputs were written".to_owned())
}
