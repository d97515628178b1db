//! The kernels for pixels of four bytes: every size, at every place of a warp, a strip and a band.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Direction, Weights};
use super::streaming::algorithm;
use super::types::Types;
use super::{SUITE, check, check_with};
use crate::common::{Random, ensure, equal, is_emulated, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::Profile;
use slm::{Device, Filter2dAlgorithm};

/// Sizes of the weights, dense or an outer product.
const SIZES: [usize; 3] = [3, 5, 7];

pub(super) fn trials() -> Vec<Trial> {
    let borders = SIZES.into_iter().flat_map(|taps| {
        [false, true].into_iter().flat_map(move |is_product| {
            let name = format!("pixels::{}::{taps}", if is_product { "separable" } else { "dense" });
            on_every_backend(SUITE, &name, move |device| every_border(device, taps, is_product))
        })
    });
    let widths = on_every_backend(SUITE, "pixels::widths", widths);
    let bands = on_every_backend(SUITE, "pixels::several_bands", several_bands);
    let planned = Trial::test("filter2d::emulated::pixels::planned", planned);
    borders.chain(widths).chain(bands).chain([planned]).collect()
}

fn bytes() -> &'static Types {
    types("u8_f32_u8")
}

/// A picture of one plane, with weights of either kind.
fn case(stream: u64, shape: [usize; 2], taps: usize, is_product: bool) -> Case {
    let case = plain(bytes(), stream, shape, [taps, taps]);
    let random = &mut Random::new(stream + 1);
    let weights = match is_product {
        true => Weights::Separable(bytes().weights(random, taps), bytes().weights(random, taps)),
        false => case.weights.clone(),
    };
    resized(bytes(), Case { weights, ..case }, Some(4), 1)
}

/// Borders and extents: pictures smaller than the weights, and strips that are not whole.
fn every_border(device: &Device, taps: usize, is_product: bool) -> Result<(), Failed> {
    // An odd number, so that both directions and both numbers of planes occur.
    let every = if is_slow(device) { 5 } else { 1 };
    let shapes: &[[usize; 2]] = if is_slow(device) { &[[3, 70]] } else { &[[2, 3], [70, 66], [40, 515]] };
    for (s, &shape) in shapes.iter().enumerate() {
        for number in (s..18).step_by(every) {
            let direction = [Direction::Correlate, Direction::Convolve][usize::from(!is_product && number % 2 == 1)];
            let (boundary, extent) = (boundaries(7.0)[number % 6], EXTENTS[number / 6]);
            let case = case(500 + number as u64, shape, taps, is_product);
            let case = resized(bytes(), Case { direction, boundary, extent, ..case }, Some(4), 1 + number % 2);
            match is_slow(device) {
                true => check_with(device, bytes(), &case, &[algorithm(device, is_product)])?,
                false => check(device, bytes(), &case)?,
            }
        }
    }
    Ok(())
}

/// Widths around those of packs, strips and blocks; rows that are aligned for packs, and others.
fn widths(device: &Device) -> Result<(), Failed> {
    let widths: &[usize] =
        if is_slow(device) { &[1, 4, 65, 258] } else { &[1, 2, 3, 4, 63, 64, 65, 66, 255, 256, 257, 258] };
    for (number, &width) in widths.iter().enumerate() {
        let case = case(530 + number as u64, [7, width], SIZES[number % 3], number % 2 == 0);
        let case = Case { extent: EXTENTS[number % 3], boundary: boundaries(200.0)[number % 6], ..case };
        check(device, bytes(), &case)?;
    }
    Ok(())
}

/// Bands of several rows, with a last one that is shorter.
fn several_bands(device: &Device) -> Result<(), Failed> {
    let (algorithm, case) = (algorithm(device, false), case(540, [1101, 3], 3, false));
    if is_emulated(device) {
        equal(bytes().runs.plan(device, &case, algorithm)?.launches[0].grid, [1, 2, 1])?;
    }
    check_with(device, bytes(), &resized(bytes(), case, Some(4), 2), &[algorithm])
}

/// The kernels are those that are planned, and have no bank conflicts.
fn planned() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_80, 3);
    let auto = Filter2dAlgorithm::Auto;
    for taps in SIZES {
        for (is_product, kernel) in [(false, "streaming"), (true, "separable")] {
            let case = case(550, [9, 80], taps, is_product);
            let plan = bytes().runs.plan(&device, &case, auto)?;
            equal(&*plan.kernels().join(", "), &*format!("filter2d_{kernel}_u8x4_{taps}"))?;
            device.reset_emulation_reports();
            bytes().runs.apply(&device, &case, auto, false)?;
            let [report] = &device.emulation_reports()[..] else { return Err("not one kernel".into()) };
            let launch = &plan.launches[0];
            equal((report.kernel, report.launch.grid.map(u64::from)), (&*plan.kernels().join(", "), launch.grid))?;
            equal(u64::from(report.launch.shared_bytes), launch.shared_bytes)?;
            equal(launch.moved_bytes, 2 * 4 * 9 * 80)?;
            ensure(report.bank_conflicts() == 0, || format!("{} bank conflicts", report.bank_conflicts()))?;
        }
    }
    // Other numbers of channels, and other sizes.
    let kernel = |case: &Case| bytes().runs.plan(&device, case, auto).map(|plan| plan.kernels().join(", "));
    equal(kernel(&resized(bytes(), case(551, [9, 80], 3, false), Some(3), 1))?, "filter2d_register_f32".to_owned())?;
    equal(kernel(&case(552, [9, 80], 9, false))?, "filter2d_register_f32".to_owned())
}
