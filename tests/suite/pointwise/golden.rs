//! Comparison with OpenCV and NumPy: `golden.json`, written by `golden.py`.

use super::SUITE;
use super::oracle::{COMBINATIONS, Function};
use super::types::{ALL, Memory, TABLES, Types};
use crate::common::golden::{cases, list};
use crate::common::{equal, on_every_backend};
use approx::relative_eq;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::{Device, Histogram, Lookup};

const FILE: &str = include_str!("golden.json");

/// The file's number of cases.
const CASES: usize = 80;

/// Relative error of powers in single precision: they are computed in double precision, and rounded.
const OF_POWERS: f64 = 1e-7;

/// Compares the outputs of a case.
type Check = fn(&Device, &Value) -> Result<(), Failed>;

const GROUPS: [(&str, Check); 5] =
    [("combine", combine), ("convert", convert), ("lookup", lookup), ("equalise", equalise), ("gamma", gamma)];

pub(super) fn trials() -> Vec<Trial> {
    read_file().unwrap_or_else(|error| vec![Trial::test("pointwise::golden::file", move || Err(error))])
}

/// Returns the trials: one for each group of operations and backend.
fn read_file() -> Result<Vec<Trial>, Failed> {
    let cases = cases(FILE, CASES)?;
    let of_group = |(name, check): (&str, Check)| {
        let cases: Vec<Value> = cases.iter().filter(|case| case["by"] == *name).cloned().collect();
        on_every_backend(SUITE, &format!("golden::{name}"), move |device| {
            if cases.is_empty() {
                return Err("the file has no such case".into());
            }
            cases.iter().try_for_each(|case| {
                let of = |error: Failed| {
                    format!("{} {}: {}", case["types"], case["function"], error.message().unwrap_or(""))
                };
                check(device, case).map_err(|error| of(error).into())
            })
        })
    };
    Ok(GROUPS.into_iter().flat_map(of_group).collect())
}

fn combine(device: &Device, case: &Value) -> Result<(), Failed> {
    let combination = COMBINATIONS.into_iter().find(|combination| case["function"] == *format!("{combination:?}"));
    let samples = [numbers(case, "a")?, numbers(case, "b")?];
    let types = types(case)?;
    let outputs = types.runs.combine(
        device,
        combination.ok_or("no such function")?,
        Memory::Slice,
        [&samples[0], &samples[1]],
    )?;
    equal(outputs, numbers(case, "output")?)
}

fn convert(device: &Device, case: &Value) -> Result<(), Failed> {
    let function = Function::Convert { scale: number(&case["scale"])?, offset: number(&case["offset"])? };
    equal(map(device, case, &function)?, numbers(case, "output")?)
}

fn lookup(device: &Device, case: &Value) -> Result<(), Failed> {
    let kinds = types(case)?.kinds;
    let table = TABLES.iter().find(|table| table.kinds == kinds).ok_or("no table of such types")?;
    let outputs = (table.run)(device, &numbers(case, "entries")?, Memory::Slice, &numbers(case, "a")?)?;
    equal(outputs, numbers(case, "output")?)
}

fn equalise(device: &Device, case: &Value) -> Result<(), Failed> {
    let samples: Vec<u8> = numbers(case, "a")?.into_iter().map(|number| number as u8).collect();
    let (histogram, mut counts) = (Histogram::bytes().prepare(device)?, device.zeroed(259)?);
    histogram.apply_into(&device.upload(&samples)?, &mut counts)?;
    let outputs = Lookup::<u8, u8>::equalise(&counts)?.apply(&samples)?;
    equal(outputs.into_iter().map(f64::from).collect(), numbers(case, "output")?)
}

fn gamma(device: &Device, case: &Value) -> Result<(), Failed> {
    let outputs = map(device, case, &Function::Gamma { exponent: number(&case["exponent"])? })?;
    let expected = numbers(case, "output")?;
    equal(outputs.len(), expected.len())?;
    let is_wrong = |(actual, expected): &(&f64, &f64)| !relative_eq!(**actual, **expected, max_relative = OF_POWERS);
    match outputs.iter().zip(&expected).find(is_wrong) {
        Some((actual, expected)) => Err(format!("{actual} instead of {expected}").into()),
        None => Ok(()),
    }
}

fn map(device: &Device, case: &Value, function: &Function) -> Result<Vec<f64>, Failed> {
    Ok(types(case)?.runs.map(device, function, Memory::Slice, &numbers(case, "a")?)?)
}

fn types(case: &Value) -> Result<&'static Types, Failed> {
    let names = list(case, "types")?;
    let is_types =
        |types: &&Types| types.kinds.iter().map(|kind| kind.name()).eq(names.iter().filter_map(Value::as_str));
    Ok(ALL.iter().find(is_types).ok_or("no such types")?)
}

fn numbers(case: &Value, key: &str) -> Result<Vec<f64>, Failed> {
    list(case, key)?.iter().map(number).collect()
}

fn number(value: &Value) -> Result<f64, Failed> {
    value.as_f64().ok_or_else(|| format!("{value} is no number").into())
}
