//! The kernels that are compiled for a size of weights: every size, at every place of a warp, a strip and a band.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Direction, Weights};
use super::types::Types;
use super::{SUITE, check, check_with};
use crate::common::{Random, ensure, equal, is_emulated, is_slow, on_every_backend, on_profiles};
use libtest_mimic::{Failed, Trial};
use slm::Plan;
use slm::emulator::Profile;
use slm::filter2d::{Filter2dError, Filtering, Unsupported};
use slm::{Backend, Device, Extent, Filter2d, Filter2dAlgorithm, Result as SlmResult};

/// Sizes of dense weights, and of outer products.
const DENSE: [usize; 4] = [3, 5, 7, 9];
const SEPARABLE: [usize; 6] = [3, 5, 7, 9, 15, 31];

/// Emulated devices with little shared memory, where outer products take narrow strips.
const PROFILES: [Profile; 2] = [Profile::SM_75, Profile::SMALL];

pub(super) fn trials() -> Vec<Trial> {
    let dense = DENSE.into_iter().flat_map(|taps| {
        on_every_backend(SUITE, &format!("streaming::dense::{taps}"), move |device| every_border(device, taps, false))
    });
    let separable = SEPARABLE.into_iter().flat_map(|taps| {
        let name = format!("streaming::separable::{taps}");
        on_profiles(SUITE, &name, &PROFILES, move |device| every_border(device, taps, true))
    });
    let not_finite = [false, true].into_iter().flat_map(|is_separable| {
        let name = format!("streaming::not_finite::{}", if is_separable { "separable" } else { "dense" });
        let profiles = if is_separable { &PROFILES[..] } else { &Profile::ALL };
        on_profiles(SUITE, &name, profiles, move |device| not_finite(device, is_separable))
    });
    let several_bands = [(3, false), (9, false), (5, true), (31, true)].into_iter().flat_map(|(taps, is_separable)| {
        let name = format!("streaming::several_bands::{}{taps}", if is_separable { "separable_" } else { "dense_" });
        let profiles = if is_separable { &PROFILES[..] } else { &Profile::ALL };
        on_profiles(SUITE, &name, profiles, move |device| several_bands(device, taps, is_separable))
    });
    let others = [
        Trial::test("filter2d::emulated::streaming::which_kernel", which_kernel),
        Trial::test("filter2d::emulated::streaming::refusals", refusals),
        Trial::test("filter2d::emulated::streaming::bands", bands),
        Trial::test("filter2d::emulated::streaming::planes_are_planned", planes_are_planned),
    ];
    let widths = on_every_backend(SUITE, "streaming::widths", widths);
    dense.chain(separable).chain(not_finite).chain(several_bands).chain(widths).chain(others).collect()
}

fn floats() -> &'static Types {
    types("f32_f32_f32")
}

/// A picture of one plane, with weights of either kind.
fn case(stream: u64, shape: [usize; 2], taps: usize, is_separable: bool) -> Case {
    let case = plain(floats(), stream, shape, [taps, taps]);
    if !is_separable {
        return case;
    }
    let random = &mut Random::new(stream + 1);
    let [column, row] = [taps; 2].map(|taps| floats().weights(random, taps));
    Case { weights: Weights::Separable(column, row), ..case }
}

/// Borders and extents: pictures smaller than the weights, and strips that are not whole.
fn every_border(device: &Device, taps: usize, is_separable: bool) -> Result<(), Failed> {
    // An odd number, so that both directions and both numbers of planes occur.
    let every = if is_slow(device) { 5 } else { 1 };
    let shapes: &[[usize; 2]] = if is_slow(device) { &[[3, 140]] } else { &[[2, 3], [70, 131], [40, 1030]] };
    for (s, &shape) in shapes.iter().enumerate() {
        for number in (s..18).step_by(every) {
            let case = case(50 + number as u64, shape, taps, is_separable);
            let direction = [Direction::Correlate, Direction::Convolve][usize::from(!is_separable && number % 2 == 1)];
            let (boundary, extent) = (boundaries(7.0)[number % 6], EXTENTS[number / 6]);
            let case = Case { direction, boundary, extent, ..case };
            let case = resized(floats(), case, None, 1 + number % 2);
            // The other kernels read the weights one by one, which takes long on emulated devices if they are many.
            if is_slow(device) && taps > 9 {
                check_with(device, floats(), &case, &[algorithm(device, is_separable)])?;
            } else {
                check(device, floats(), &case)?;
            }
        }
    }
    Ok(())
}

/// Widths around those of packs, strips and blocks; rows that are aligned for packs, and others.
fn widths(device: &Device) -> Result<(), Failed> {
    let widths: &[usize] =
        if is_slow(device) { &[1, 5, 8, 127, 516] } else { &[1, 2, 3, 4, 5, 8, 127, 128, 129, 132, 511, 512, 516] };
    for (number, &width) in widths.iter().enumerate() {
        let case = case(80 + number as u64, [7, width], [3, 5][number % 2], number % 3 == 0);
        check(device, floats(), &case)?;
        let extent = EXTENTS[number % 3];
        check(device, floats(), &Case { extent, boundary: boundaries(1.0)[2 + number % 4], ..case })?;
    }
    Ok(())
}

/// The algorithm that has the kernels. The CPU has one only.
pub(super) fn algorithm(device: &Device, is_separable: bool) -> Filter2dAlgorithm {
    match (device.info().backend, is_separable) {
        (Backend::Cpu, _) => Filter2dAlgorithm::Auto,
        (_, false) => Filter2dAlgorithm::Streaming,
        (_, true) => Filter2dAlgorithm::Separable,
    }
}

/// NaNs and infinities, near the ends of a warp's strip among others, and outside: they reach the outputs whose windows contain
/// them, and no others. The packs that a lane loads contain more samples than its windows.
fn not_finite(device: &Device, is_separable: bool) -> Result<(), Failed> {
    let (shape, sizes) = ([7, 140], if is_separable { &SEPARABLE[..] } else { &DENSE });
    let places = [
        ([0, 0], f64::NAN),
        ([2, 40], f64::INFINITY),
        ([4, 45], f64::NEG_INFINITY),
        ([3, 127], f64::NAN),
        ([6, 135], f64::NEG_INFINITY),
    ];
    for (number, &taps) in sizes.iter().enumerate() {
        let mut case = case(110 + number as u64, shape, taps, is_separable);
        places.iter().for_each(|&([row, column], value)| case.samples[row * shape[1] + column] = value);
        for (number, outside) in [3.0, f64::INFINITY, f64::NAN].into_iter().enumerate() {
            // On emulated devices the constants, here, and one other boundary, below.
            let boundaries = if is_slow(device) { &boundaries(outside)[1..2] } else { &boundaries(outside) };
            for (other, &boundary) in boundaries.iter().enumerate() {
                let extent = EXTENTS[(number + other) % 3];
                let case = Case { boundary, extent, ..case.clone() };
                check_with(device, floats(), &case, &[algorithm(device, is_separable)])?;
            }
        }
        if is_slow(device) {
            let case = Case { boundary: boundaries(0.0)[number % 6], ..case };
            check_with(device, floats(), &case, &[algorithm(device, is_separable)])?;
        }
    }
    Ok(())
}

/// Bands of several rows, with a last one that is shorter: an emulated device makes two of 551 and 550 rows, or four of up to 276 for
/// kernels of 3 x 3 weights. Outer products have one band, which is longer than their ring of rows.
fn several_bands(device: &Device, taps: usize, is_separable: bool) -> Result<(), Failed> {
    let (algorithm, case) = (algorithm(device, is_separable), case(120, [1101, 5], taps, is_separable));
    if is_emulated(device) {
        let plan = floats().runs.plan(device, &case, algorithm)?;
        let bands = match &*plan.kernels().join(", ") {
            "filter2d_passes_narrow_f32" => 1,
            "filter2d_streaming_f32_3" => 4,
            _ => 2,
        };
        equal(plan.launches[0].grid, [1, bands, 1])?;
    }
    // Emulated devices have one plane of the smaller weights, and two of the larger ones.
    let is_small = taps < 9;
    if !is_slow(device) || is_small {
        check_with(device, floats(), &case, &[algorithm])?;
    }
    if is_slow(device) && is_small {
        return Ok(());
    }
    // Two planes, so that a band's rows could be mistaken for those of the other one.
    let case = Case { boundary: boundaries(2.0)[taps % 6], extent: Extent::Full, ..case };
    check_with(device, floats(), &resized(floats(), case, None, 2), &[algorithm])
}

fn planned(case: &Case, algorithm: Filter2dAlgorithm) -> SlmResult<Plan<Filter2dAlgorithm, Filtering>> {
    floats().runs.plan(&Device::emulated(Profile::SM_90, 0), case, algorithm)
}

fn which_kernel() -> Result<(), Failed> {
    for taps in DENSE {
        let dense = case(90, [20, 20], taps, false);
        let reason = "weights of a size that the kernel is compiled for";
        let plan = planned(&dense, Filter2dAlgorithm::Auto)?;
        equal((plan.kernels().join(", "), &*plan.reason), (format!("filter2d_streaming_f32_{taps}"), reason))?;
        let product = case(90, [20, 20], taps, true);
        let plan = planned(&product, Filter2dAlgorithm::Streaming)?;
        equal((plan.kernels().join(", "), &*plan.reason), (format!("filter2d_streaming_f32_{taps}"), "requested"))?;
    }
    // A row or a column is a product. The table has room for 832 columns.
    for size in [[1, 9], [9, 1], [1, 1], [1, 832]] {
        let plan = planned(&plain(floats(), 94, [20, 900], size), Filter2dAlgorithm::Auto)?;
        equal((&*plan.kernels().join(", "), &*plan.reason), ("filter2d_passes_f32", "an outer product"))?;
    }
    let wide = planned(&plain(floats(), 94, [20, 900], [1, 833]), Filter2dAlgorithm::Auto)?;
    ensure(wide.reason.contains("lines"), || wide.reason.clone())?;
    let small = Device::emulated(Profile::SMALL, 0);
    let planned = |case: &Case| floats().runs.plan(&small, case, Filter2dAlgorithm::Auto);
    for taps in SEPARABLE {
        let plan = planned(&case(91, [20, 20], taps, true))?;
        equal(
            (plan.kernels().join(", "), &*plan.reason),
            ("filter2d_passes_narrow_f32".to_owned(), "an outer product"),
        )?;
    }
    // Weights that are found to be a product.
    let sobel = vec![-1.0, 0.0, 1.0, -2.0, 0.0, 2.0, -1.0, 0.0, 1.0];
    let sobel = Case { weights: Weights::Dense([3, 3], sobel), ..case(92, [20, 20], 3, false) };
    equal(&*planned(&sobel)?.kernels().join(", "), "filter2d_passes_narrow_f32")
}

/// Filters for which there is no such kernel.
fn refusals() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 0);
    let plan = |types: &Types, case: &Case, algorithm| types.runs.plan(&device, case, algorithm).map(|_| ());
    let (streaming, separable) = (Filter2dAlgorithm::Streaming, Filter2dAlgorithm::Separable);
    let none = |algorithm, actual| Filter2dError::NoKernel {
        algorithm,
        unsupported: Unsupported::Weights { actual, sizes: &[3, 5, 7, 9] },
    };
    equal(plan(floats(), &case(93, [9, 9], 15, false), streaming), Err(none(streaming, [15, 15]).into()))?;
    let wide = plain(floats(), 93, [9, 9], [3, 5]);
    equal(plan(floats(), &wide, streaming), Err(none(streaming, [3, 5]).into()))?;
    let dense = case(93, [9, 9], 7, false);
    let product = Filter2dError::NotSeparable { weights: [7, 7] };
    equal(plan(floats(), &dense, separable), Err(product.into()))?;
    let text = |case: &Case, types: &Types| plan(types, case, streaming).unwrap_err().to_string();
    let strided = Case { stride: [1, 2], dilation: [3, 1], channels: Some(3), renormalise: true, ..dense };
    equal(
        text(&strided, floats()),
        "Streaming has no kernel for strides of 1 and 2: it needs strides of 1".to_owned(),
    )?;
    let dilated = Case { stride: [1, 1], ..strided };
    equal(
        text(&dilated, floats()),
        "Streaming has no kernel for dilations of 3 and 1: it needs dilations of 1".to_owned(),
    )?;
    let missing = Case { dilation: [1, 1], ..dilated };
    let left_out = "Streaming has no kernel for NaNs that are left out: it needs NanPolicy::Propagate";
    equal(text(&missing, floats()), left_out.to_owned())?;
    let needed = "it needs samples and outputs of f32 in one channel or of u8 in four, and sums of f32";
    let channels = format!(
        "Streaming has no kernel for 3-channel samples of f32, weights of f32, sums of f32 and outputs of f32: {needed}"
    );
    equal(text(&Case { renormalise: false, ..missing }, floats()), channels)?;
    let bytes = types("u8_f32_u8");
    let of_bytes = format!(
        "Streaming has no kernel for 1-channel samples of u8, weights of f32, sums of f32 and outputs of u8: {needed}"
    );
    equal(text(&plain(bytes, 94, [9, 9], [3, 3]), bytes), of_bytes)?;
    let sizes = "Streaming has no kernel for 3 x 5 weights: it needs as many rows as columns, and one of the numbers [3, 5, 7, 9]";
    equal(text(&wide, floats()), sizes.to_owned())?;
    // The CPU ignores the algorithm.
    let cpu = Device::cpu();
    equal(cpu.info().backend, Backend::Cpu)?;
    equal(floats().runs.plan(&cpu, &wide, streaming)?.kernels().join(", "), String::new())
}

/// One launch computes all bands of all planes.
fn bands() -> Result<(), Failed> {
    let plan = planned(&case(95, [300, 600], 3, false), Filter2dAlgorithm::Auto)?;
    let launch = &plan.launches[0];
    // By hand: a number of 8 bytes for each of 150 rows, 2 of the halo and 7 ahead; 5 of 4 bytes for each thread; two rows of 34
    // packs of 16 bytes for each warp.
    equal(
        (launch.times, launch.block, launch.shared_bytes),
        (1, [32, 4, 1], 159 * 8 + 8 + 128 * 20 + 4 * 2 * 34 * 16),
    )?;
    // Two blocks of 512 columns. An emulated device runs one block at a time, so this is 4 waves.
    equal((launch.grid, launch.moved_bytes), ([2, 2, 1], 2 * 4 * 300 * 600))
}

/// More planes than a grid has blocks along an axis take two launches.
fn planes_are_planned() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 0);
    let filter = Filter2d::<f32, f32>::box_blur(3, 3).prepare(&device)?;
    let plan = filter.plan([65_537, 2, 5])?;
    let [launch] = &plan.launches[..] else { return Err(plan.to_string().into()) };
    equal((launch.grid, launch.times, &*plan.outputs), ([1, 1, 65_535], 2, &[65_537, 2, 5][..]))?;
    equal(launch.moved_bytes, 65_537 * 10 * 8)?;
    equal(filter.plan([1, 2, 5])?.launches, filter.plan([2, 5])?.launches)?;
    equal(filter.plan([0, 2, 5])?.launches.len(), 0)
}
