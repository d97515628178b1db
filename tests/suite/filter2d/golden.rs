//! `Filter2d` compared with SciPy, OpenCV and Astropy: `golden.json`, written by `golden.py`.
//!
//! Where all sums are exact the outputs must be the same, elsewhere they must agree within the documented bound and the digits of
//! the file.

use super::SUITE;
use crate::common::golden::{boundary, list, text};
use crate::common::numbers::{Kind, Number, converted};
use crate::common::{is_slow, on_every_backend};
use approx::abs_diff_eq;
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, ArrayD};
use serde_json::Value;
use slm::{Device, Filter2d, FilterSample, FilterWeight, Gaussian, NanPolicy};
use std::collections::BTreeMap;
use std::sync::Arc;

const FILE: &str = include_str!("golden.json");

/// The cases that the file has at the least: one that was cut short must not pass.
const LEAST_CASES: usize = 221;

/// Relative error of the decimals of the file.
const DECIMALS: f64 = 1e-9;

pub(super) fn trials() -> Vec<Trial> {
    read_file().unwrap_or_else(|error| vec![Trial::test("filter2d::golden::file", move || Err(error))])
}

/// The file's tests: one for all cases of a function.
fn read_file() -> Result<Vec<Trial>, Failed> {
    let file: Value = serde_json::from_str(FILE)?;
    let cases = list(&file, "cases")?;
    if cases.len() < LEAST_CASES {
        return Err(format!("{} cases instead of {LEAST_CASES} at least", cases.len()).into());
    }
    let mut groups: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for case in cases {
        groups.entry(text(case, "by")?.replace('.', "_")).or_default().push(case.clone());
    }
    let file = Arc::new(file);
    let trials = groups.into_iter().flat_map(|(name, cases)| {
        let file = Arc::clone(&file);
        let run = move |device: &Device| cases.iter().try_for_each(|case| check(device, &file, case));
        on_every_backend(SUITE, &format!("golden::{name}"), run)
    });
    Ok(trials.collect())
}

fn check(device: &Device, file: &Value, case: &Value) -> Result<(), Failed> {
    let describe = |error: Failed| {
        let of = ["by", "picture", "boundary", "columns", "types", "output", "weights"]
            .map(|key| case[key].to_string())
            .join(" ");
        Failed::from(format!("{of}: {}", error.message().unwrap_or_default()))
    };
    check_types(device, file, case).map_err(describe)
}

fn check_types(device: &Device, file: &Value, case: &Value) -> Result<(), Failed> {
    match (text(case, "types")?, text(case, "output")?) {
        ("u8", "u8") => check_typed::<u8, u8>(device, file, case),
        ("u8", "i16") => check_typed::<u8, i16>(device, file, case),
        ("u8", "f32") => check_typed::<u8, f32>(device, file, case),
        ("i16", "f32") => check_typed::<i16, f32>(device, file, case),
        ("f32", "f32") => check_typed::<f32, f32>(device, file, case),
        // What is given in double precision must hold for single precision, too.
        ("f64", "f64") if is_slow(device) => check_typed::<f64, f64>(device, file, case),
        ("f64", "f64") => {
            check_typed::<f64, f64>(device, file, case)?;
            check_typed::<f32, f32>(device, file, case)
        }
        other => Err(format!("the types {other:?} are unknown").into()),
    }
}

fn check_typed<S, O>(device: &Device, file: &Value, case: &Value) -> Result<(), Failed>
where
    S: FilterSample<Weight: FilterWeight + Number> + Number,
    O: FilterSample + Number,
{
    let picture = &file["pictures"][text(case, "picture")?];
    let samples = numbers(picture, "values")?;
    let outside = number(&file["outside"])?;
    let rows = text(case, "boundary")?;
    let [rows, columns] = [rows, case["columns"].as_str().unwrap_or(rows)].map(|name| boundary(name, S::of(outside)));
    let filter = described::<S>(case)?.boundaries(rows?, columns?);
    let [rows, columns] = origin(case);
    let filter = filter.origin(rows, columns);
    let filter = match case["channels"].as_u64() {
        Some(channels) => filter.channels(channels.try_into()?),
        None => filter,
    };
    let policy = if case["renormalise"] == true { NanPolicy::Renormalise } else { NanPolicy::Propagate };
    let filter = filter.nan_policy(policy).output::<O>().prepare(device)?;
    let picture = ArrayD::from_shape_vec(sizes(picture, "shape")?, converted::<S>(&samples))?;
    let actual = filter.apply(picture.view())?;
    let expected = ArrayD::from_shape_vec(sizes(case, "shape")?, numbers(case, "y")?)?;
    if actual.shape() != expected.shape() {
        return Err(format!("the shape is {:?}, expected {:?}", actual.shape(), expected.shape()).into());
    }
    let bound = if case["exact"] == true { 0.0 } else { bound::<S>(&samples, outside) };
    for (i, (actual, &expected)) in actual.iter().map(|output| output.to()).zip(&expected).enumerate() {
        let agrees = abs_diff_eq!(actual, expected, epsilon = bound) || (actual.is_nan() && expected.is_nan());
        if !agrees {
            return Err(format!("output {i} is {actual}, expected {expected} within {bound:e}").into());
        }
    }
    Ok(())
}

/// The documented bound for 1,200 weights that sum to 1, or for fewer whose magnitudes sum to more, and the file's digits.
fn bound<S: FilterSample<Weight: Number>>(samples: &[f64], outside: f64) -> f64 {
    let unit = if <S::Weight as Number>::KIND == Kind::F64 { f64::EPSILON } else { f32::EPSILON.into() };
    let largest = samples.iter().fold(outside, |largest, sample| sample.abs().max(largest));
    (600.0 * unit + 2.0 * DECIMALS) * largest
}

fn described<S: FilterSample<Weight: Number>>(case: &Value) -> Result<Filter2d<S, S::Weight>, Failed> {
    let weights = |key: &str| -> Result<Vec<S::Weight>, Failed> { Ok(converted(&numbers(case, key)?)) };
    let dense = || -> Result<Array2<S::Weight>, Failed> {
        let (weights, rows) = (weights("weights")?, size(&case["rows"])?);
        Ok(Array2::from_shape_vec((rows, weights.len() / rows), weights)?)
    };
    Ok(match text(case, "filter")? {
        "correlate" => Filter2d::correlate(dense()?.view()),
        "convolve" => Filter2d::convolve(dense()?.view()),
        "separable" => Filter2d::separable(&weights("column")?, &weights("row")?),
        "gaussian" => Filter2d::gaussian(gaussian(case)?),
        "box" => match sizes(case, "shape_of_box")?[..] {
            [rows, columns] => Filter2d::box_blur(rows, columns),
            ref other => return Err(format!("a box of the shape {other:?}").into()),
        },
        "sobel_x" => Filter2d::sobel_x(),
        "sobel_y" => Filter2d::sobel_y(),
        "laplacian" => Filter2d::laplacian(),
        other => return Err(format!("the filter {other} is unknown").into()),
    })
}

/// A Gaussian along each axis: `sigma` is a number for both, or a list.
fn gaussian(case: &Value) -> Result<[Gaussian; 2], Failed> {
    let of_axis = |axis: usize| -> Result<Gaussian, Failed> {
        let sigma = if case["sigma"].is_array() { &case["sigma"][axis] } else { &case["sigma"] };
        let gaussian = Gaussian::new(number(sigma)?);
        Ok(match (case["truncate"].as_f64(), case["radius"].is_array()) {
            (Some(sigmas), _) => gaussian.truncate(sigmas),
            (None, true) => gaussian.radius(size(&case["radius"][axis])?),
            (None, false) => gaussian,
        })
    };
    Ok([of_axis(0)?, of_axis(1)?])
}

/// The origins of rows and columns: 0 unless the case has them.
fn origin(case: &Value) -> [isize; 2] {
    [0, 1].map(|axis| case["origin"][axis].as_i64().unwrap_or(0) as isize)
}

fn numbers(value: &Value, key: &str) -> Result<Vec<f64>, Failed> {
    list(value, key)?.iter().map(number).collect()
}

/// A number; NaN for `null`.
fn number(value: &Value) -> Result<f64, Failed> {
    if value.is_null() { Ok(f64::NAN) } else { value.as_f64().ok_or_else(|| format!("{value} is no number").into()) }
}

fn sizes(value: &Value, key: &str) -> Result<Vec<usize>, Failed> {
    list(value, key)?.iter().map(size).collect()
}

fn size(value: &Value) -> Result<usize, Failed> {
    let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| format!("{value} is no size").into())
}
