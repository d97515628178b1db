//! Comparison with NumPy: `golden.json`, written by `golden.py`.

use super::SUITE;
use super::oracle::{Number, flat};
use crate::common::golden::list;
use crate::common::on_every_backend;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::{Device, Histogram};

const FILE: &str = include_str!("golden.json");

/// The file's minimum number of cases, so that a truncated file fails.
const MIN_CASES: usize = 111;

pub(super) fn trials() -> Vec<Trial> {
    read_file().unwrap_or_else(|error| vec![Trial::test("histogram::golden::file", move || Err(error))])
}

fn read_file() -> Result<Vec<Trial>, Failed> {
    let file: Value = serde_json::from_str(FILE)?;
    let cases = list(&file, "cases")?;
    if cases.len() < MIN_CASES {
        return Err(format!("{} cases instead of at least {MIN_CASES}", cases.len()).into());
    }
    let trial = |(number, case): (usize, &Value)| {
        let (kind, case) = (case["type"].as_str().unwrap_or_default().to_owned(), case.clone());
        on_every_backend(SUITE, &format!("golden::{kind}::{number}"), move |device| check(device, &kind, &case))
    };
    Ok(cases.iter().enumerate().flat_map(trial).collect())
}

fn check(device: &Device, kind: &str, case: &Value) -> Result<(), Failed> {
    match kind {
        "u8" if case["low_bits"] == 8 => compare(device, Histogram::bytes(), case),
        "u16" if case["low_bits"].is_u64() => {
            compare(device, Histogram::low_bits(number::<u32>(&case["low_bits"])?), case)
        }
        "u8" => compare(device, described::<u8>(case)?, case),
        "u16" => compare(device, described::<u16>(case)?, case),
        "u32" => compare(device, described::<u32>(case)?, case),
        "i32" => compare(device, described::<i32>(case)?, case),
        "f32" => compare(device, described::<f32>(case)?, case),
        "f64" => compare(device, described::<f64>(case)?, case),
        other => Err(format!("the element type {other} is unknown").into()),
    }
}

fn described<T: Number>(case: &Value) -> Result<Histogram<T>, Failed> {
    let histogram = match case["edges"].as_array() {
        Some(_) => Histogram::edges(&numbers::<T>(case, "edges")?),
        None => {
            let even = list(case, "even")?;
            Histogram::even(number::<u32>(&even[0])? as usize, number::<T>(&even[1])?..number(&even[2])?)
        }
    };
    let histogram = match case["channels"].as_array() {
        Some(channels) => {
            let [channels, counted] = [&channels[0], &channels[1]].map(number::<u32>);
            histogram.channels(channels? as usize).count(counted? as usize)
        }
        None => histogram,
    };
    Ok(if case["closed"] == true { histogram.closed() } else { histogram })
}

fn compare<T: Number>(device: &Device, histogram: Histogram<T>, case: &Value) -> Result<(), Failed> {
    let (histogram, samples) = (histogram.prepare(device)?, numbers::<T>(case, "samples")?);
    let borders = numbers::<T>(case, "borders").into_iter().flatten().map(T::Bound::from);
    if case["borders"].is_array() && !borders.eq(histogram.edges().iter().copied()) {
        return Err(format!("the borders are {:?}", histogram.edges()).into());
    }
    // Counts, and sums of multiples of 1/8, are exact in `f64`.
    let actual: Vec<f64> = match case["weights"].as_array() {
        None => flat(&histogram.apply(&samples)?).into_iter().map(|count| count as f64).collect(),
        Some(_) => flat(&histogram.apply_weighted(&samples, &numbers::<f32>(case, "weights")?)?.sums),
    };
    let expected = numbers::<f64>(case, "counts")?;
    if actual == expected { Ok(()) } else { Err(format!("{actual:?}, expected {expected:?}").into()) }
}

fn numbers<T: Number>(case: &Value, key: &str) -> Result<Vec<T>, Failed> {
    list(case, key)?.iter().map(number).collect()
}

/// Parses a number, or the text of a number that JSON does not have.
fn number<T: Number>(value: &Value) -> Result<T, Failed> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.map(T::nearest).ok_or_else(|| format!("{value} is no number").into())
}
