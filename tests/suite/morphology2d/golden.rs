//! `Morphology2d` compared with SciPy, OpenCV and scikit-image: `golden.json`, written by `golden.py`. The outputs must be the same.

use super::oracle::{Case, OPERATIONS};
use super::{SUITE, operation};
use crate::common::golden::{boundary, cases, list, text};
use crate::common::numbers::Number;
use crate::common::{equal, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::ndarray::Array2;
use slm::{Device, RankElement};

const FILE: &str = include_str!("golden.json");

/// The file's number of cases.
const CASES: usize = 255;

/// Its pictures, and their numbers of cases.
const I16: (&str, usize) = ("i16", 227);
const U8: (&str, usize) = ("u8", 28);

/// Its constant outside.
const OUTSIDE: f64 = 7.0;

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend(SUITE, "golden::u8", |device| of_picture::<u8>(device, U8)),
        on_every_backend(SUITE, "golden::i16", |device| of_picture::<i16>(device, I16)),
        on_every_backend(SUITE, "golden::i32", |device| of_picture::<i32>(device, I16)),
        on_every_backend(SUITE, "golden::f32", |device| of_picture::<f32>(device, I16)),
    ];
    trials.into_iter().flatten().collect()
}

fn of_picture<T: RankElement + Number>(device: &Device, (name, count): (&str, usize)) -> Result<(), Failed> {
    let file: Value = serde_json::from_str(FILE)?;
    let samples = numbers(&file["pictures"], name)?.ok_or("no picture")?;
    let cases: Vec<Value> = cases(FILE, CASES)?.into_iter().filter(|case| case["picture"] == name).collect();
    equal(cases.len(), count)?;
    cases.iter().try_for_each(|case| {
        golden::<T>(device, &samples, case).map_err(|error| {
            let of = ["operation", "boundary", "element", "origin"].map(|key| case[key].to_string()).join(" ");
            format!("{of}: {}", error.message().unwrap_or_default()).into()
        })
    })
}

fn golden<T: RankElement + Number>(device: &Device, samples: &[f64], case: &Value) -> Result<(), Failed> {
    const NAMES: [&str; 7] = ["erosion", "dilation", "opening", "closing", "gradient", "top_hat", "black_hat"];
    let number = NAMES.iter().position(|name| case["operation"] == *name).ok_or("an unknown operation")?;
    let boundaries = match text(case, "boundary")? {
        "ignored" => None,
        name => Some([boundary(name, OUTSIDE)?; 2]),
    };
    let pair = |key: &str| -> Result<[f64; 2], Failed> {
        numbers(case, key)?.and_then(|pair| pair.try_into().ok()).ok_or_else(|| format!("no {key}").into())
    };
    let described = Case {
        kind: T::KIND,
        operation: OPERATIONS[number],
        element: pair("element")?.map(|side| side as usize),
        mask: numbers(case, "footprint")?.map(|mask| mask.into_iter().map(|inside| inside != 0.0).collect()),
        heights: numbers(case, "structure")?,
        origin: pair("origin")?.map(|origin| origin as isize),
        boundaries,
        channels: None,
        omit: false,
        planes: 1,
        shape: [9, 13],
        samples: samples.to_vec(),
    };
    let expected = numbers(case, "y")?.ok_or("no results")?;
    same(&described.outputs(), &expected)?;
    let picture = Array2::from_shape_fn((9, 13), |(r, c)| T::of(samples[r * 13 + c]));
    let outputs = operation::<T>(&described).prepare(device)?.apply(&picture)?;
    same(&outputs.iter().map(|&output| output.to()).collect::<Vec<_>>(), &expected)
}

/// A list of numbers, if there is one.
fn numbers(value: &Value, key: &str) -> Result<Option<Vec<f64>>, Failed> {
    if value[key].is_null() {
        return Ok(None);
    }
    let number = |v: &Value| v.as_f64().ok_or_else(|| format!("{v} is no number").into());
    list(value, key)?.iter().map(number).collect::<Result<_, _>>().map(Some)
}
