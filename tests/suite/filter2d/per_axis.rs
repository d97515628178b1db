//! A boundary for each axis, with the kernels that are for some weights only, and with weights that are folded. Kernels for any weights
//! meet such boundaries in the conformance tests.

use super::cases::{EXTENTS, are_compatible, boundaries, plain};
use super::missing::types;
use super::oracle::{Case, Weights};
use super::types::Types;
use super::{SUITE, check};
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::{Boundary, Device};

pub(super) fn trials() -> Vec<Trial> {
    type Test = fn(&Device) -> Result<(), Failed>;
    let tests: [(&str, Test); 7] = [
        ("streaming", streaming),
        ("pixels", pixels),
        ("products", products),
        ("boxes", boxes),
        ("folded", folded),
        ("missing", missing),
        ("constants_that_are_not_finite", constants_that_are_not_finite),
    ];
    tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, &format!("per_axis::{name}"), test)).collect()
}

/// All pairs of different boundaries that a filter can have, with a constant.
fn pairs(outside: f64) -> Vec<[Boundary<f64>; 2]> {
    let all = boundaries(outside);
    let pairs = all.into_iter().flat_map(|rows| all.map(|columns| [rows, columns]));
    pairs.filter(|&[rows, columns]| rows != columns && are_compatible(rows, columns)).collect()
}

/// Checks a case with all pairs of boundaries, or with every seventh one on emulated devices.
fn check_pairs(device: &Device, types: &Types, case: &Case, first: usize) -> Result<(), Failed> {
    let every = if is_slow(device) { 7 } else { 1 };
    let pairs = pairs(3.0).into_iter().enumerate().skip(first % every).step_by(every);
    for (number, [boundary, columns]) in pairs {
        let extent = EXTENTS[[0, 2][number % 2]];
        check(device, types, &Case { boundary, column_boundary: Some(columns), extent, ..case.clone() })?;
    }
    Ok(())
}

fn streaming(device: &Device) -> Result<(), Failed> {
    for (first, taps) in [3, 5, 7, 9].into_iter().enumerate() {
        let case = plain(types("f32_f32_f32"), 800 + taps as u64, [14, 45], [taps; 2]);
        check_pairs(device, types("f32_f32_f32"), &case, first)?;
    }
    Ok(())
}

fn pixels(device: &Device) -> Result<(), Failed> {
    let bytes = types("u8_f32_u8");
    for (first, taps) in [3, 5, 7].into_iter().enumerate() {
        let case = Case { channels: Some(4), ..plain(bytes, 810, [7, 12], [taps; 2]) };
        let samples = (0..case.sample_count()).map(|i| (i * 37 % 256) as f64).collect();
        check_pairs(device, bytes, &Case { samples, ..case }, first)?;
    }
    Ok(())
}

fn products(device: &Device) -> Result<(), Failed> {
    for (first, name) in ["f32_f32_f32", "u8_f32_u8", "f64_f64_f64", "u8_i32_i16"].into_iter().enumerate() {
        let (types, random) = (types(name), &mut Random::new(820));
        for [rows, columns] in [[4, 7], [11, 2]] {
            let weights = Weights::Separable(types.weights(random, rows), types.weights(random, columns));
            check_pairs(device, types, &Case { weights, ..plain(types, 821, [13, 40], [1, 1]) }, first)?;
        }
    }
    Ok(())
}

fn boxes(device: &Device) -> Result<(), Failed> {
    let cases = [("f32_f32_f32", [5, 12]), ("u8_i32_i16", [8, 3]), ("u8_f32_u8", [4, 9])];
    for (first, (name, size)) in cases.into_iter().enumerate() {
        let types = types(name);
        let weights = Weights::Dense(size, vec![1.0; size[0] * size[1]]);
        check_pairs(device, types, &Case { weights, ..plain(types, 830, [20, 30], [1, 1]) }, first)?;
    }
    Ok(())
}

/// Weights that are longer than the picture along both axes, and along one.
fn folded(device: &Device) -> Result<(), Failed> {
    let sizes = [([3, 4], [66, 70]), ([3, 9], [70, 3]), ([9, 3], [3, 70])];
    for (first, (shape, size)) in sizes.into_iter().enumerate() {
        for name in ["f32_f32_f32", "i32_i32_i32"] {
            let (types, random) = (types(name), &mut Random::new(840));
            let dense = plain(types, 841, shape, size);
            let [column, row] = size.map(|taps| types.weights(random, taps));
            check_pairs(device, types, &Case { weights: Weights::Separable(column, row), ..dense.clone() }, first)?;
            check_pairs(device, types, &dense, first + 3)?;
        }
    }
    Ok(())
}

fn missing(device: &Device) -> Result<(), Failed> {
    let types = types("f32_f32_f32");
    let mut case = Case { renormalise: true, ..plain(types, 850, [9, 12], [3, 4]) };
    if let Weights::Dense(_, values) = &mut case.weights {
        values.iter_mut().for_each(|weight| *weight = f64::from((weight.abs() + 0.125) as f32));
    }
    case.samples.iter_mut().step_by(5).for_each(|sample| *sample = f64::NAN);
    check_pairs(device, types, &case, 0)
}

/// A constant reaches the outputs next to its own edges alone.
fn constants_that_are_not_finite(device: &Device) -> Result<(), Failed> {
    let types = types("f32_f32_f32");
    let dense = plain(types, 860, [9, 40], [3, 3]);
    let random = &mut Random::new(861);
    let product = Weights::Separable(types.weights(random, 5), types.weights(random, 4));
    let boxed = Weights::Dense([4, 9], vec![1.0; 36]);
    for weights in [dense.weights.clone(), product, boxed] {
        for outside in [f64::NAN, f64::INFINITY] {
            let constant = Boundary::Constant(outside);
            for [boundary, columns] in [[constant, Boundary::Mirror], [Boundary::Nearest, constant]] {
                let case = Case { boundary, column_boundary: Some(columns), weights: weights.clone(), ..dense.clone() };
                check(device, types, &case)?;
            }
        }
    }
    Ok(())
}
