//! Sums that lie between two outputs or beyond all of them: one sample times one weight, with every type of sums and outputs.

use super::SUITE;
use super::cases::plain;
use super::oracle::Weights;
use super::types::{Of, Types};
use crate::common::numbers::{Kind, Number};
use crate::common::{ensure, equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, ArrayView2};
use slm::{Backend, Device, Filter2d, Filter2dAlgorithm, FilterWeight};
use std::marker::PhantomData;

/// The type of sums, the operation with each type of outputs, samples, a weight, and the outputs of each type.
struct Row {
    sums: &'static str,
    types: [Types; 6],
    samples: &'static [f64],
    weight: f64,
    outputs: [&'static [f64]; 6],
}

macro_rules! to_all {
    ($s:ident $w:ident) => {
        [to!($s $w u8), to!($s $w u16), to!($s $w i16), to!($s $w i32), to!($s $w f32), to!($s $w f64)]
    };
}

macro_rules! to {
    ($s:ident $w:ident $o:ident) => {
        Types {
            name: "",
            samples: <$s>::KIND,
            weights: <$w>::KIND,
            outputs: <$o>::KIND,
            most: 1.0,
            runs: &Of::<$s, $w, $o>(PhantomData),
        }
    };
}

pub(super) fn trials() -> Vec<Trial> {
    let rows = [float("f32", to_all!(f32 f32)), float("f64", to_all!(f32 f64)), narrow(), wide()];
    let narrow = on_every_backend(SUITE, "conversions::narrow_weights", narrow_weights);
    let trials = rows.into_iter().flat_map(|row| {
        let name = format!("conversions::{}", row.sums);
        on_every_backend(SUITE, &name, move |device| check(device, &row))
    });
    trials.chain(narrow).collect()
}

/// Narrow weights are the same numbers of type `i32`.
fn narrow_weights(device: &Device) -> Result<(), Failed> {
    agrees_with_i32(device, [i8::MIN, i8::MAX, 0, -1, 3, 5], "i8")?;
    agrees_with_i32(device, [u8::MIN, u8::MAX, 1, 128, 3, 5], "u8")?;
    agrees_with_i32(device, [i16::MIN, i16::MAX, 0, -1, 3, 5], "i16")?;
    agrees_with_i32(device, [u16::MIN, u16::MAX, 1, 32_768, 3, 5], "u16")
}

fn agrees_with_i32<W: FilterWeight + Into<i32>>(device: &Device, weights: [W; 6], name: &str) -> Result<(), Failed> {
    let wide = weights.map(Into::into);
    let picture = Array2::from_shape_fn((5, 7), |(r, c)| (r * 50 + c * 3) as u8);
    let filter = Filter2d::<u8, W>::convolve(ArrayView2::from_shape((2, 3), &weights)?).output::<i32>();
    let expected = Filter2d::<u8, i32>::convolve(ArrayView2::from_shape((2, 3), &wide)?).output::<i32>();
    equal(filter.prepare(device)?.apply(picture.view())?, expected.prepare(device)?.apply(picture.view())?)?;
    // Sums of floats, too.
    let filter = Filter2d::<f32, W>::separable(&weights[..2], &weights[2..]).output::<f64>();
    let expected = Filter2d::<f32, i32>::separable(&wide[..2], &wide[2..]).output::<f64>();
    let picture = picture.mapv(f32::from);
    equal(filter.prepare(device)?.apply(picture.view())?, expected.prepare(device)?.apply(picture.view())?)?;
    match filter.algorithm(Filter2dAlgorithm::Streaming).prepare(device) {
        Err(error) => ensure(error.to_string().contains(&format!("weights of {name},")), || error.to_string()),
        Ok(_) => equal(device.info().backend, Backend::Cpu),
    }
}

/// Ties are rounded to even.
fn float(sums: &'static str, types: [Types; 6]) -> Row {
    const INFINITY: f64 = f64::INFINITY;
    const SUMS: &[f64] =
        &[0.5, 1.5, 2.5, -0.5, -1.5, 254.5, 255.5, 300.0, -3.25, 1e10, -1e10, f64::NAN, INFINITY, -INFINITY];
    // One of the samples times the weight is beyond each range.
    Row {
        sums,
        types,
        samples: SUMS,
        weight: 1.0,
        outputs: [
            &[0.0, 2.0, 2.0, 0.0, 0.0, 254.0, 255.0, 255.0, 0.0, 255.0, 0.0, 0.0, 255.0, 0.0],
            &[0.0, 2.0, 2.0, 0.0, 0.0, 254.0, 256.0, 300.0, 0.0, 65_535.0, 0.0, 0.0, 65_535.0, 0.0],
            &[0.0, 2.0, 2.0, 0.0, -2.0, 254.0, 256.0, 300.0, -3.0, 32_767.0, -32_768.0, 0.0, 32_767.0, -32_768.0],
            &[
                0.0,
                2.0,
                2.0,
                0.0,
                -2.0,
                254.0,
                256.0,
                300.0,
                -3.0,
                2_147_483_647.0,
                -2_147_483_648.0,
                0.0,
                2_147_483_647.0,
                -2_147_483_648.0,
            ],
            SUMS,
            SUMS,
        ],
    }
}

/// Sums of `i32`, the last of which `f32` does not have.
fn narrow() -> Row {
    Row {
        sums: "i32",
        types: to_all!(u16 i32),
        samples: &[0.0, 1.0, 2.0, 65_281.0],
        weight: 257.0,
        outputs: [
            &[0.0, 255.0, 255.0, 255.0],
            &[0.0, 257.0, 514.0, 65_535.0],
            &[0.0, 257.0, 514.0, 32_767.0],
            &[0.0, 257.0, 514.0, 16_777_217.0],
            &[0.0, 257.0, 514.0, 16_777_216.0],
            &[0.0, 257.0, 514.0, 16_777_217.0],
        ],
    }
}

/// Sums of `i64`, some of which neither `i32` nor `f32` has.
fn wide() -> Row {
    const LEAST: f64 = i32::MIN as f64;
    const MOST: f64 = i32::MAX as f64;
    Row {
        sums: "i64",
        types: to_all!(i32 i32),
        samples: &[-3.0, 4.0, 16_777_217.0, 16_777_219.0, LEAST, MOST],
        weight: -2.0,
        outputs: [
            &[6.0, 0.0, 0.0, 0.0, 255.0, 0.0],
            &[6.0, 0.0, 0.0, 0.0, 65_535.0, 0.0],
            &[6.0, -8.0, -32_768.0, -32_768.0, 32_767.0, -32_768.0],
            &[6.0, -8.0, -33_554_434.0, -33_554_438.0, MOST, LEAST],
            &[6.0, -8.0, -33_554_432.0, -33_554_440.0, 4_294_967_296.0, -4_294_967_296.0],
            &[6.0, -8.0, -33_554_434.0, -33_554_438.0, 4_294_967_296.0, -4_294_967_294.0],
        ],
    }
}

fn check(device: &Device, row: &Row) -> Result<(), Failed> {
    for (types, outputs) in row.types.iter().zip(row.outputs) {
        let mut case = plain(types, 0, [1, row.samples.len()], [1, 1]);
        case.weights = Weights::Dense([1, 1], vec![row.weight]);
        case.samples = row.samples.to_vec();
        equal(types.sums_name(&case.weights), row.sums)?;
        for algorithm in
            [Filter2dAlgorithm::GlobalMemory, Filter2dAlgorithm::SharedTile, Filter2dAlgorithm::RegisterTiled]
        {
            let actual = types.runs.apply(device, &case, algorithm, false)?;
            // All NaNs are the same here, and both zeros.
            let agrees = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
            if actual.len() != outputs.len() || !actual.iter().zip(outputs).all(agrees) {
                let kind: Kind = types.outputs;
                return Err(format!("{algorithm:?}, {kind:?}: {actual}, expected {outputs:?}").into());
            }
        }
    }
    Ok(())
}
