//! Running sums of boxes over pixels of four bytes: every border, at every place of a warp, a strip and a band.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Weights};
use super::types::Types;
use super::{SUITE, check_with};
use crate::common::{ensure, equal, is_emulated, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::Array3;
use slm::emulator::Profile;
use slm::filter2d::Filter2dError;
use slm::{Backend, Boundary, Device, Error, Filter2d, Filter2dAlgorithm};

pub(super) fn trials() -> Vec<Trial> {
    let everywhere = [
        on_every_backend(SUITE, "running::every_border", every_border),
        on_every_backend(SUITE, "running::widths", widths),
        on_every_backend(SUITE, "running::limits", limits),
        on_every_backend(SUITE, "running::several_bands", several_bands),
    ];
    let planned = Trial::test("filter2d::emulated::running::planned", planned);
    everywhere.into_iter().flatten().chain([planned]).collect()
}

fn bytes() -> &'static Types {
    types("u8_f32_u8")
}

fn algorithm(device: &Device) -> Filter2dAlgorithm {
    if device.info().backend == Backend::Cpu { Filter2dAlgorithm::Auto } else { Filter2dAlgorithm::Box }
}

fn check(device: &Device, case: &Case) -> Result<(), Failed> {
    check_with(device, bytes(), case, &[algorithm(device)])
}

/// A picture of one plane, with equal weights.
fn case(stream: u64, shape: [usize; 2], [rows, columns]: [usize; 2]) -> Case {
    let weight = 1.5 / (rows * columns) as f64;
    let weights = Weights::Dense([rows, columns], vec![f64::from(weight as f32); rows * columns]);
    resized(bytes(), Case { weights, ..plain(bytes(), stream, shape, [1, 1]) }, Some(4), 1)
}

/// Shapes of pictures and sizes of boxes: one row and one column, windows larger than the picture, several strips.
const SIZES: [([usize; 2], [usize; 2]); 6] = [
    ([1, 300], [1, 31]),
    ([60, 1], [31, 1]),
    ([5, 7], [12, 20]),
    ([6, 290], [4, 100]),
    ([33, 5], [16, 16]),
    ([9, 140], [2, 3]),
];

/// Every size, border and extent, with planes.
fn every_border(device: &Device) -> Result<(), Failed> {
    // Coprime to the numbers of sizes, borders and extents.
    let every = if is_slow(device) { 5 } else { 1 };
    for number in (0..SIZES.len() * 18).step_by(every) {
        let (shape, size) = SIZES[number % SIZES.len()];
        let (boundary, extent) = (boundaries(7.0)[number / SIZES.len() % 6], EXTENTS[number / 36]);
        let case = Case { boundary, extent, ..case(600 + number as u64, shape, size) };
        check(device, &resized(bytes(), case, Some(4), 1 + number % 2))?;
    }
    Ok(())
}

/// Widths around those of packs, groups and strips; windows that begin at each place of a pack.
fn widths(device: &Device) -> Result<(), Failed> {
    let widths: &[usize] =
        if is_slow(device) { &[1, 33, 260, 961] } else { &[1, 3, 4, 31, 32, 33, 223, 224, 225, 255, 256, 257, 961] };
    for (number, &width) in widths.iter().enumerate() {
        let case = case(700 + number as u64, [5, width], [3, 5 + 2 * (number % 4)]);
        check(device, &Case { extent: EXTENTS[number % 3], boundary: boundaries(200.0)[number % 6], ..case })?;
    }
    Ok(())
}

/// The largest windows of the kernel, over the greatest samples; and larger ones, which another kernel sums if it can.
fn limits(device: &Device) -> Result<(), Failed> {
    let sizes: &[[usize; 2]] = if is_slow(device) {
        &[[257, 128], [2, 129]]
    } else {
        &[[257, 128], [258, 128], [2, 129], [1024, 32], [1025, 4], [1024, 33]]
    };
    for &[rows, columns] in sizes {
        let picture = Array3::from_elem((3, 5, 4), 255);
        let blur = Filter2d::<u8, f32>::box_blur(rows, columns).boundary(Boundary::Nearest).channels(4);
        match blur.algorithm(algorithm(device)).prepare(device) {
            Err(Error::Filter2d(Filter2dError::BoxTooHigh { .. })) => {}
            blur => equal(blur?.apply(picture.view())?, picture)?,
        }
    }
    Ok(())
}

/// Bands of several rows, of two planes.
fn several_bands(device: &Device) -> Result<(), Failed> {
    let case = case(710, [1101, 3], [9, 3]);
    if is_emulated(device) {
        equal(bytes().runs.plan(device, &case, algorithm(device))?.launches[0].grid, [1, 2, 1])?;
    }
    check(device, &resized(bytes(), Case { boundary: Boundary::Wrap, ..case }, Some(4), 2))
}

/// The kernels are those that are planned, and have no bank conflicts.
fn planned() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 3);
    let kernel = |name: &str, case: &Case| -> Result<String, Failed> {
        Ok(types(name).runs.plan(&device, case, Filter2dAlgorithm::Auto)?.kernels().join(", "))
    };
    // Larger than the windows, whose weights would be added up otherwise.
    let of_size = |[rows, columns]: [usize; 2]| case(720, [rows + 2, columns + 80], [rows, columns]);
    for size in [[2, 2], [5, 5], [1, 13], [257, 128], [1024, 32]] {
        equal(&*kernel("u8_f32_u8", &of_size(size))?, "filter2d_running_u8x4")?;
    }
    // A small outer product; too many columns, samples or rows; other pixels.
    equal(&*kernel("u8_f32_u8", &of_size([3, 3]))?, "filter2d_separable_u8x4_3")?;
    for size in [[8, 129], [258, 128], [1025, 4]] {
        let kernel = kernel("u8_f32_u8", &of_size(size))?;
        ensure(!kernel.contains("running"), || format!("{kernel} for {size:?}"))?;
    }
    let error = Filter2dError::BoxTooHigh { rows: 258, columns: 128, channels: 4, most: 257 };
    let plan = bytes().runs.plan(&device, &of_size([258, 128]), Filter2dAlgorithm::Box);
    equal(plan.map(|plan| plan.kernels().join(", ")), Err(error.into()))?;
    equal(&*kernel("u8_f32_u8", &resized(bytes(), of_size([8, 10]), Some(3), 1))?, "filter2d_box_any_f32")?;

    let case = of_size([9, 9]);
    let plan = bytes().runs.plan(&device, &case, Filter2dAlgorithm::Auto)?;
    equal(&*plan.reason, "all weights are equal")?;
    device.reset_emulation_reports();
    bytes().runs.apply(&device, &case, Filter2dAlgorithm::Auto, false)?;
    let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
    let launch = &plan.launches[0];
    equal((report.kernel, report.launch.grid.map(u64::from)), ("filter2d_running_u8x4", launch.grid))?;
    equal(u64::from(report.launch.shared_bytes), launch.shared_bytes)?;
    equal(launch.moved_bytes, 2 * 4 * 11 * 89)?;
    ensure(report.bank_conflicts() == 0, || format!("{} bank conflicts", report.bank_conflicts()))?;

    // Multiplied by the inverse of an odd number, and divided by an even one or a large one.
    for (side, expected) in [(15, "filter2d_running_u8x4"), (8, "filter2d_running_mean_u8x4")] {
        let mean = Filter2d::<u8, f32>::box_blur(side, side).channels(4).prepare(&device)?.plan([9, 80, 4])?;
        equal(&*mean.kernels().join(", "), expected)?;
    }
    Ok(())
}
