//! Data of the host that go to the GPU and back in parts, as on the CPU.

use super::{Failed, Trial, exclusive_trial, same};
use ndarray::{Array2, Array3};
use slm::{Arithmetic, Boundary, Channels, Device, Element, Filter1d, Filter2d, Map, Transpose};

/// Numbers of `u16`, about: with as many results, they have more than 256 MiB.
const MANY: usize = 70 << 20;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        exclusive_trial("transpositions_in_parts", transpositions),
        exclusive_trial("functions_in_parts", functions),
        exclusive_trial("large_lines_one_after_another", lines),
        exclusive_trial("large_pictures_one_after_another", pictures),
    ]
}

fn numbers(count: usize) -> Vec<u16> {
    (0..count).map(|index| ((index as u32).wrapping_mul(0x9e37_79b9) >> 16) as u16).collect()
}

/// Checks that an operation has the results of the CPU.
fn check<T: Element + std::fmt::Debug + PartialEq>(
    device: &Device,
    apply: impl Fn(&Device) -> slm::Result<Vec<T>>,
) -> Result<(), Failed> {
    same(&apply(device)?, &apply(&Device::cpu())?)
}

fn transpositions(device: &Device) -> Result<(), Failed> {
    let samples = numbers(MANY);
    for (rows, columns, matrices, components) in
        [(7000, 10_001, 1, 1), (10_001, 7000, 1, 1), (3, 12_000_000, 1, 2), (5_000_001, 7, 1, 2), (300, 500, 450, 1)]
    {
        let samples = &samples[..rows * columns * matrices * components];
        let transpose = Transpose::new(rows, columns).batch(matrices).components(components);
        check(device, |device| transpose.prepare(device)?.apply(samples))?;
    }
    Ok(())
}

fn functions(device: &Device) -> Result<(), Failed> {
    let samples = numbers(MANY - 1);
    check(device, |device| Map::square().prepare(device)?.apply(&samples))?;
    check(device, |device| Arithmetic::abs_diff().prepare(device)?.apply(&samples, &samples))?;
    let pixels = &samples[..MANY / 3 * 3];
    check(device, |device| Channels::split(3).prepare(device)?.apply(pixels))?;
    check(device, |device| Channels::merge(3).prepare(device)?.apply(pixels))
}

/// Every line has more than 256 MiB.
fn lines(device: &Device) -> Result<(), Failed> {
    let samples: Vec<i32> = numbers(MANY).into_iter().map(i32::from).collect();
    let samples = Array2::from_shape_vec((2, MANY / 2), samples)?;
    let filter = Filter1d::correlate(&[1, 20, -300, 4000, -50_000]).boundary(Boundary::Wrap);
    check(device, |device| Ok(filter.prepare(device)?.apply(&samples)?.into_raw_vec_and_offset().0))
}

fn pictures(device: &Device) -> Result<(), Failed> {
    let samples: Vec<i32> = numbers(MANY).into_iter().map(i32::from).collect();
    let samples = Array3::from_shape_vec((2, 1 << 10, (MANY / 2) >> 10), samples)?;
    let weights = Array2::from_shape_fn((5, 3), |(row, column)| (3 * row + column) as i32 - 7);
    let filter = Filter2d::correlate(&weights).boundary(Boundary::Reflect);
    check(device, |device| Ok(filter.prepare(device)?.apply(&samples)?.into_raw_vec_and_offset().0))
}
