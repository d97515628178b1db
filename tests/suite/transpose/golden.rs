//! Comparison with NumPy: `golden.json`, written by `golden.py`.

use super::SUITE;
use super::oracle::{Bits, same};
use crate::common::golden::{cases, list};
use crate::common::on_every_backend;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::{Device, Transpose};

const FILE: &str = include_str!("golden.json");

/// The file's number of cases.
const CASES: usize = 60;

pub(super) fn trials() -> Vec<Trial> {
    read_file().unwrap_or_else(|error| vec![Trial::test("transpose::golden::file", move || Err(error))])
}

/// Returns the trials: one for each element type and backend, with all cases of the type.
fn read_file() -> Result<Vec<Trial>, Failed> {
    let cases = cases(FILE, CASES)?;
    let of_type = |kind: &str, check: fn(&Device, &Value) -> Result<(), Failed>| {
        let cases: Vec<Value> = cases.iter().filter(|case| case["type"] == kind).cloned().collect();
        on_every_backend(SUITE, &format!("golden::{kind}"), move |device| {
            if cases.is_empty() {
                return Err("the file has no such case".into());
            }
            cases.iter().try_for_each(|case| check(device, case))
        })
    };
    let trials = [
        of_type("u8", check::<u8>),
        of_type("u16", check::<u16>),
        of_type("u32", check::<u32>),
        of_type("u64", check::<u64>),
    ];
    Ok(trials.into_iter().flatten().collect())
}

fn check<T: Bits>(device: &Device, case: &Value) -> Result<(), Failed> {
    let shape: Vec<u64> = numbers(case, "shape")?;
    let [count, rows, columns, components] = shape[..] else { return Err(format!("{shape:?} is no shape").into()) };
    let [count, rows, columns, components] = [count, rows, columns, components].map(|length| length as usize);
    let (input, expected) = (numbers::<T>(case, "input")?, numbers::<T>(case, "output")?);
    let transpose = Transpose::new(rows, columns).batch(count).components(components);
    let described = |error: String| format!("{shape:?}: {error}");
    same(&transpose.prepare(device)?.apply(&input)?, &expected).map_err(described)?;
    let mut data = device.upload(&input)?;
    transpose.prepare_in_place(device)?.apply(&mut data)?;
    same(&data.download()?, &expected).map_err(described)?;
    Ok(())
}

fn numbers<T: Bits>(case: &Value, key: &str) -> Result<Vec<T>, Failed> {
    let number = |value: &Value| value.as_u64().map(T::of).ok_or_else(|| format!("{value} is no number").into());
    list(case, key)?.iter().map(number).collect()
}
