//! `Filter1d` compared with SciPy and NumPy: `golden.json`, written by `golden.py`.
//!
//! Floats must agree within the documented bound and the reference's own rounding, integers exactly.

use super::SUITE;
use crate::common::golden::{boundary, list, text};
use crate::common::on_every_backend;
use approx::abs_diff_eq;
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, ArrayView2};
use serde_json::Value;
use slm::filter1d::{FilterElement, PreparedFilter1d};
use slm::{Boundary, Buffer2, Device, Extent, Filter1d};
use std::sync::Arc;

const FILE: &str = include_str!("golden.json");

/// The file's minimum number of cases, so that a truncated file fails.
const MIN_CASES: usize = 700;

pub(super) fn trials() -> Vec<Trial> {
    read_file().unwrap_or_else(|error| vec![Trial::test("filter1d::golden::file", move || Err(error))])
}

/// Returns the file's tests: two for each group, one for lines and one for matrices.
fn read_file() -> Result<Vec<Trial>, Failed> {
    let file: Value = serde_json::from_str(FILE)?;
    let groups = list(&file, "groups")?;
    let count = groups.iter().map(|group| list(group, "cases").map_or(0, <[_]>::len)).sum::<usize>();
    if count < MIN_CASES {
        return Err(format!("{count} cases instead of at least {MIN_CASES}").into());
    }
    let file = Arc::new(file);
    let mut trials = Vec::new();
    for number in 0..list(&file, "groups")?.len() {
        trials.extend(group_trials(&file, number)?);
    }
    Ok(trials)
}

fn group_trials(file: &Arc<Value>, number: usize) -> Result<Vec<Trial>, Failed> {
    let group = &list(file, "groups")?[number];
    match text(group, "type")? {
        "f32" => trials_of_type::<f32>(file, number),
        "f64" => trials_of_type::<f64>(file, number),
        "i32" => trials_of_type::<i32>(file, number),
        other => Err(format!("the element type {other} is unknown").into()),
    }
}

fn trials_of_type<T: Number>(file: &Arc<Value>, number: usize) -> Result<Vec<Trial>, Failed> {
    let group = &list(file, "groups")?[number];
    let name = [text(group, "filter")?, text(group, "type")?, text(group, "extent")?].join("_");
    let mut trials = Vec::new();
    for (suffix, check) in [("", check_line::<T> as Check<T>), ("_axes", check_matrix::<T>)] {
        let file = Arc::clone(file);
        let run = move |device: &Device| run_group(device, &file, number, check);
        trials.extend(on_every_backend(SUITE, &format!("golden::{name}{suffix}"), run));
    }
    Ok(trials)
}

/// Runs the cases of a group to which `check` applies; there must be at least one.
fn run_group<T: Number>(device: &Device, file: &Value, number: usize, check: Check<T>) -> Result<(), Failed> {
    let group = &list(file, "groups")?[number];
    let mut checked = 0;
    for value in list(group, "cases")? {
        let case = Case::<T>::read(file, group, value)?;
        let filter = case.filter.prepare(device)?;
        let described = format!("{} of {}, {}: ", value["taps"], value["samples"], value["boundary"]);
        checked += usize::from(check(&filter, &case).map_err(|e| described + &e)?);
    }
    if checked == 0 { Err("the group has no such case".into()) } else { Ok(()) }
}

/// Checks a case, or returns `false` if the check does not apply to it.
type Check<T> = fn(&PreparedFilter1d<T>, &Case<T>) -> Result<bool, String>;

fn check_line<T: Number>(filter: &PreparedFilter1d<T>, case: &Case<T>) -> Result<bool, String> {
    let None = case.axis else { return Ok(false) };
    let y = filter.apply(&case.x).map_err(message)?;
    case.compare(&[y.len()], y.iter()).map(|()| true)
}

fn check_matrix<T: Number>(filter: &PreparedFilter1d<T>, case: &Case<T>) -> Result<bool, String> {
    let Some((shape, axis)) = case.axis else { return Ok(false) };
    let x = ArrayView2::from_shape(shape, &case.x).map_err(|e| e.to_string())?;
    let y = filter.along(axis).apply(x).map_err(message)?;
    case.compare(y.shape(), y.iter()).map_err(|e| format!("apply: {e}"))?;
    let y = into_matrix(filter, x, axis, y.dim()).map_err(message)?;
    case.compare(y.shape(), y.iter()).map_err(|e| format!("apply_into: {e}"))?;
    Ok(true)
}

fn into_matrix<T: Number>(
    filter: &PreparedFilter1d<T>,
    x: ArrayView2<'_, T>,
    axis: usize,
    (rows, columns): (usize, usize),
) -> slm::Result<Array2<T>> {
    let x = Buffer2::upload(filter.device(), x)?;
    let mut y = Buffer2::zeroed(filter.device(), rows, columns)?;
    filter.along(axis).apply_into(&x, &mut y)?;
    y.download()
}

/// A filter, its input and its expected output.
struct Case<T> {
    filter: Filter1d<T>,
    x: Vec<T>,
    /// The matrix's shape and the axis to filter along; `None` for a single line.
    axis: Option<([usize; 2], usize)>,
    shape: Vec<usize>,
    y: Vec<f64>,
    /// The largest permitted difference from `y`.
    bound: f64,
}

impl<T: Number> Case<T> {
    fn read(file: &Value, group: &Value, case: &Value) -> Result<Self, Failed> {
        let data = &file["data"][text(group, "type")?];
        let samples = text(case, "samples")?;
        let x: Vec<T> = numbers(&data["samples"], samples)?;
        let taps: Vec<T> = numbers(&data["taps"], &case["taps"].to_string())?;
        let boundary = boundary(text(case, "boundary")?, number(&data["outside"])?)?;
        let filter = match text(group, "filter")? {
            "correlate" => Filter1d::correlate(&taps),
            "convolve" => Filter1d::convolve(&taps),
            other => return Err(format!("the filter {other} is unknown").into()),
        };
        let filter = filter.boundary(boundary).extent(extent(text(group, "extent")?)?);
        let shape = list(case, "shape")?.iter().map(size).collect::<Result<_, _>>()?;
        let axis = axis(samples, &case["axis"])?;
        let bound = bound(&x, boundary, &taps);
        Ok(Case { filter, x, axis, shape, y: numbers(case, "y")?, bound })
    }

    fn compare<'a>(&self, shape: &[usize], actual: impl Iterator<Item = &'a T>) -> Result<(), String> {
        if self.shape != shape || self.y.len() != shape.iter().product::<usize>() {
            return Err(format!("the shape is {shape:?} and not {:?}", self.shape));
        }
        for (i, (&actual, &expected)) in actual.zip(&self.y).enumerate() {
            let actual: f64 = actual.into();
            // So that a NaN does not pass.
            let agrees = abs_diff_eq!(actual, expected, epsilon = self.bound);
            if !agrees {
                return Err(format!("output {i} is {actual}, expected {expected} within {:e}", self.bound));
            }
        }
        Ok(())
    }
}

/// Returns the sum of three bounds: the documented one; the same in double precision, for the reference's sum; and a unit
/// for parsing the reference's decimals, because `serde_json` sometimes gets the last bit wrong.
fn bound<T: Number>(x: &[T], boundary: Boundary<T>, taps: &[T]) -> f64 {
    if T::UNIT == 0.0 {
        return 0.0;
    }
    let magnitude = |&value: &T| -> f64 { value.into().abs() };
    let outside = if let Boundary::Constant(outside) = boundary { magnitude(&outside) } else { 0.0 };
    let largest = x.iter().map(magnitude).fold(outside, f64::max);
    let weight: f64 = taps.iter().map(magnitude).sum();
    (taps.len() as f64 * (T::UNIT + f64::UNIT) + 2.0 * f64::UNIT) * largest * weight
}

/// An element type; all its values are exact in `f64`.
trait Number: FilterElement + Into<f64> {
    /// The rounding of one operation, relative to its result.
    const UNIT: f64;
    /// Returns the nearest value of the type.
    fn nearest(value: f64) -> Self;
}

macro_rules! numbers {
    ($($t:ty, $unit:expr;)*) => {$(
        impl Number for $t {
            const UNIT: f64 = $unit;
            fn nearest(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}
numbers! {
    f32, f32::EPSILON as f64 / 2.0;
    f64, f64::EPSILON / 2.0;
    i32, 0.0;
}

fn extent(name: &str) -> Result<Extent, Failed> {
    Ok(match name {
        "same" => Extent::Same,
        "valid" => Extent::Valid,
        "full" => Extent::Full,
        _ => return Err(format!("the extent {name} is unknown").into()),
    })
}

/// Returns the shape that the samples are named after (`5x9`), and the axis; `None` for the name of a line (`40`).
fn axis(samples: &str, axis: &Value) -> Result<Option<([usize; 2], usize)>, Failed> {
    let Some((rows, columns)) = samples.split_once('x') else { return Ok(None) };
    Ok(Some(([rows.parse()?, columns.parse()?], size(axis)?)))
}

fn numbers<T: Number>(value: &Value, key: &str) -> Result<Vec<T>, Failed> {
    list(value, key)?.iter().map(number).collect()
}

fn number<T: Number>(value: &Value) -> Result<T, Failed> {
    value.as_f64().map(T::nearest).ok_or_else(|| format!("{value} is no number").into())
}

fn size(value: &Value) -> Result<usize, Failed> {
    let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
    size.ok_or_else(|| format!("{value} is no size").into())
}

fn message(error: slm::Error) -> String {
    error.to_string()
}
