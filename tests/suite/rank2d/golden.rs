//! `Rank2d` compared with SciPy, OpenCV and scikit-image: `golden.json`, written by `golden.py`. The outputs must be the same.

use super::oracle::{Case, Rank};
use super::{SUITE, check_array};
use crate::common::golden::{boundary, cases, list, text};
use crate::common::numbers::Number;
use crate::common::{equal, on_every_backend};
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::{Boundary, Device, Extent, Rank2dAlgorithm, RankElement};

const FILE: &str = include_str!("golden.json");

/// The file's number of cases.
const CASES: usize = 560;

/// Its constant outside.
const OUTSIDE: f64 = 7.0;

/// Its types, their numbers of cases, and the pictures of these. Rank filters of scikit-image take bytes, and leave out what is outside: ours
/// leave out numbers that are not a number.
const U8: (&str, usize, &str) = ("u8", 184, "u8");
const I16: (&str, usize, &str) = ("i16", 182, "i16");
const F32: (&str, usize, &str) = ("f32", 182, "f32");
const BYTES: (&str, usize, &str) = ("bytes", 12, "u8");

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend(SUITE, "golden::u8", |device| of_type::<u8>(device, U8)),
        on_every_backend(SUITE, "golden::u16", |device| of_type::<u16>(device, U8)),
        on_every_backend(SUITE, "golden::i16", |device| of_type::<i16>(device, I16)),
        on_every_backend(SUITE, "golden::i32", |device| of_type::<i32>(device, I16)),
        on_every_backend(SUITE, "golden::f32", |device| of_type::<f32>(device, F32)),
        on_every_backend(SUITE, "golden::f64", |device| of_type::<f64>(device, F32)),
        on_every_backend(SUITE, "golden::scikit_image", |device| of_type::<f32>(device, BYTES)),
    ];
    trials.into_iter().flatten().collect()
}

fn of_type<T: RankElement + Number>(
    device: &Device,
    (name, count, picture): (&str, usize, &str),
) -> Result<(), Failed> {
    let file: Value = serde_json::from_str(FILE)?;
    let samples = numbers(&file["pictures"], picture)?;
    let cases: Vec<Value> = cases(FILE, CASES)?.into_iter().filter(|case| case["type"] == name).collect();
    equal(cases.len(), count)?;
    cases.iter().try_for_each(|case| check::<T>(device, &samples, case))
}

fn check<T: RankElement + Number>(device: &Device, samples: &[f64], case: &Value) -> Result<(), Failed> {
    let [window, origin] = ["window", "origin"].map(|key| numbers(case, key));
    let (window, origin) = (window?, origin?);
    let (omit, boundary) = match text(case, "boundary")? {
        "omitted" => (true, Boundary::Constant(f64::NAN)),
        name => (false, boundary(name, OUTSIDE)?),
    };
    let rank = match case["by"].as_str() {
        Some("median") => Rank::Median,
        Some("minimum") => Rank::Minimum,
        Some("maximum") => Rank::Maximum,
        Some("rank") => Rank::At(-2),
        Some("percentile") => Rank::Percentile(30.0),
        other => return Err(format!("{other:?} is unknown").into()),
    };
    let described = Case {
        window: [window[0] as usize, window[1] as usize],
        mask: Some(numbers(case, "mask")?.into_iter().map(|inside| inside != 0.0).collect()),
        rank,
        origin: [origin[0] as isize, origin[1] as isize],
        boundaries: [boundary; 2],
        extent: Extent::Same,
        stride: [1, 1],
        channels: None,
        omit,
        planes: 1,
        shape: [9, 13],
        samples: samples.to_vec(),
    };
    let expected = numbers(case, "y")?;
    check_array::<T>(device, &described, Rank2dAlgorithm::Auto, &expected).map_err(|error| {
        let of = ["by", "boundary", "window", "origin"].map(|key| case[key].to_string()).join(" ");
        format!("{of}: {}", error.message().unwrap_or_default()).into()
    })
}

fn numbers(value: &Value, key: &str) -> Result<Vec<f64>, Failed> {
    list(value, key)?.iter().map(|v| v.as_f64().ok_or_else(|| format!("{v} is no number").into())).collect()
}
