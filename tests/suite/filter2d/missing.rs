//! NaNs and infinities: where they go, and how the outputs are renormalised without them.

use super::cases::{boundaries, plain, resized};
use super::oracle::{Case, Direction, Weights};
use super::types::{ALL, Types};
use super::{SUITE, check};
use crate::common::{Random, ensure, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::{Boundary, Device, Extent, Filter2dAlgorithm};

type Test = fn(&Device, &Types) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 7] = [
        ("propagated", propagated),
        ("renormalised", renormalised),
        ("renormalised_mixed_signs", renormalised_mixed_signs),
        ("nothing_present", nothing_present),
        ("zero_sums", zero_sums),
        ("copied_outside", copied_outside),
        ("infinities", infinities),
    ];
    let floats = ["f32_f32_f32", "f32_f32_i32", "f64_f32_f64"].map(types);
    let of_type = |types: &'static Types| {
        tests.into_iter().flat_map(move |(name, test)| {
            on_every_backend(SUITE, &format!("missing::{}::{name}", types.name), move |device| test(device, types))
        })
    };
    let trials = floats.into_iter().flat_map(of_type);
    let integers = on_every_backend(SUITE, "missing::integers_have_none", integers_have_none);
    trials.chain(integers).collect()
}

pub(super) fn types(name: &str) -> &'static Types {
    ALL.iter().find(|types| types.name == name).expect("one of all types")
}

/// A picture of which `one_in` samples is `value`.
fn with(types: &Types, stream: u64, one_in: usize, value: f64) -> Case {
    let case = plain(types, stream, [9, 14], [3, 4]);
    let mut case = resized(types, case, Some(2), 2);
    let mut random = Random::new(stream);
    case.samples.iter_mut().filter(|_| random.below(one_in) == 0).for_each(|sample| *sample = value);
    case
}

/// Every boundary, with steps and both directions; on emulated devices every second one.
fn varied(device: &Device, case: &Case) -> Vec<Case> {
    let number = |i: usize, boundary| Case {
        boundary,
        direction: if i.is_multiple_of(2) { Direction::Correlate } else { Direction::Convolve },
        extent: super::cases::EXTENTS[i % 3],
        stride: [1, 1 + i % 2],
        dilation: [1 + i / 2 % 2, 1 + i / 3 % 2],
        ..case.clone()
    };
    let every = if is_slow(device) { 2 } else { 1 };
    boundaries(3.0).into_iter().enumerate().map(|(i, boundary)| number(i, boundary)).step_by(every).collect()
}

fn check_all(device: &Device, types: &Types, cases: Vec<Case>) -> Result<(), Failed> {
    cases.iter().try_for_each(|case| check(device, types, case))
}

fn outputs(device: &Device, types: &Types, case: &Case) -> Result<Vec<f64>, Failed> {
    let array = types.runs.apply(device, case, Filter2dAlgorithm::Auto, false)?;
    Ok(array.into_raw_vec_and_offset().0)
}

/// Whether an output of this type stands for a NaN: integers have a zero.
fn is_missing(types: &Types, output: f64) -> bool {
    if types.outputs.range().is_some() { output == 0.0 } else { output.is_nan() }
}

fn propagated(device: &Device, types: &Types) -> Result<(), Failed> {
    let case = with(types, 1, 20, f64::NAN);
    check_all(device, types, varied(device, &case))?;
    let separable = Case { weights: Weights::Separable(vec![1.0, 2.0, 3.0], vec![-1.0, 0.0]), ..case };
    check(device, types, &separable)
}

/// With positive weights, so that no sum of weights is near zero.
fn renormalised(device: &Device, types: &Types) -> Result<(), Failed> {
    for (stream, one_in) in [(2, 3), (3, 40)] {
        let mut case = with(types, stream, one_in, f64::NAN);
        if let Weights::Dense(_, values) = &mut case.weights {
            values.iter_mut().for_each(|weight| *weight = f64::from((weight.abs() + 0.125) as f32));
        }
        case.renormalise = true;
        check_all(device, types, varied(device, &case))?;
        let weights = Weights::Separable(vec![1.0, 2.0, 3.0], vec![1.5, 0.25]);
        check(device, types, &Case { weights, ..case })?;
    }
    Ok(())
}

fn renormalised_mixed_signs(device: &Device, types: &Types) -> Result<(), Failed> {
    let case = Case { renormalise: true, ..with(types, 4, 8, f64::NAN) };
    check_all(device, types, varied(device, &case))
}

fn nothing_present(device: &Device, types: &Types) -> Result<(), Failed> {
    let case = Case { renormalise: true, boundary: Boundary::Nearest, ..with(types, 5, 1, f64::NAN) };
    check(device, types, &case)?;
    let all = outputs(device, types, &case)?;
    ensure(all.iter().all(|&output| is_missing(types, output)), || format!("{all:?}"))
}

/// Weights that sum to zero, and windows in which those of the samples present do.
fn zero_sums(device: &Device, types: &Types) -> Result<(), Failed> {
    let mut case = Case { renormalise: true, ..with(types, 6, 15, f64::NAN) };
    case.weights = Weights::Dense([1, 3], vec![1.0, -3.0, 2.0]);
    check(device, types, &case)?;
    let all = outputs(device, types, &case)?;
    ensure(all.iter().all(|&output| output == 0.0 || output.is_nan()), || format!("weights that sum to 0: {all:?}"))?;
    // Without its last sample the sum is zero, with all of them it is 5.
    case.weights = Weights::Dense([1, 3], vec![1.0, -1.0, 5.0]);
    check_all(device, types, varied(device, &case))?;
    case = Case { channels: None, planes: 1, shape: [1, 3], extent: Extent::Valid, ..case };
    case.samples = vec![7.0, 9.0, f64::NAN];
    let one = outputs(device, types, &case)?;
    ensure(one.len() == 1 && is_missing(types, one[0]), || format!("the others sum to 0: {one:?}"))
}

/// A corner that is copied to everything outside.
fn copied_outside(device: &Device, types: &Types) -> Result<(), Failed> {
    for renormalise in [false, true] {
        let mut case = Case { renormalise, weights: Weights::Dense([3, 3], vec![1.0; 9]), ..with(types, 7, 1000, 0.0) };
        case.samples[0] = f64::NAN;
        check_all(device, types, varied(device, &case))?;
        check(device, types, &Case { boundary: Boundary::Constant(f64::NAN), ..case.clone() })?;
        // The corner and what the boundary repeats of it, four of nine samples, are missing.
        let case = Case { boundary: Boundary::Nearest, channels: None, planes: 1, shape: [2, 2], ..case };
        let case = Case { samples: vec![f64::NAN, 1.0, 2.0, 3.0], ..case };
        let corner = outputs(device, types, &case)?[0];
        // Twice 1, twice 2, and 3, times 9 / 5.
        let is_right = if renormalise { (corner - 16.2).abs() < 0.21 } else { is_missing(types, corner) };
        ensure(is_right, || format!("the corner is {corner}"))?;
    }
    Ok(())
}

fn infinities(device: &Device, types: &Types) -> Result<(), Failed> {
    for (stream, renormalise, value) in [(8, false, f64::INFINITY), (9, true, f64::NEG_INFINITY)] {
        let mut case = Case { renormalise, ..with(types, stream, 25, value) };
        case.samples[5] = f64::NAN;
        case.samples[40] = -value;
        check_all(device, types, varied(device, &case))?;
        check(device, types, &Case { boundary: Boundary::Constant(value), extent: Extent::Full, ..case })?;
    }
    Ok(())
}

/// The policy changes nothing.
fn integers_have_none(device: &Device) -> Result<(), Failed> {
    for name in ["u8_i32_u8", "i32_i32_i32", "u8_f32_f32", "u8_f64_i16"] {
        let mut case = plain(types(name), 10, [6, 7], [3, 3]);
        let expected = outputs(device, types(name), &case)?;
        case.renormalise = true;
        crate::common::same(&outputs(device, types(name), &case)?, &expected)?;
    }
    Ok(())
}
