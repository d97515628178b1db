//! What `Auto` chooses, compared with times that were measured on an H200: the rows of `benches/taps.rs` in a record.

use crate::common::ensure;
use crate::common::golden::list;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::emulator::Profile;
use slm::filter1d::{ErrorBound, Filter1dMethod, FilterElement, Filtering};
use slm::{Device, Filter1d};
use std::collections::BTreeMap;
use std::time::Duration;

const RECORD: &str = include_str!("../../../benches/record/nvidia-h200/2026-11-28.json");

/// The name of `Auto` in the record.
const AUTO: &str = "auto";

/// The record's minimum number of cases with two methods, so that a truncated record fails.
const MIN_CASES: usize = 400;

/// Differences of launches that are as short as possible, which mean nothing.
const SHORT: Duration = Duration::from_nanos(1000);

/// Lines that were filtered by several methods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Case {
    element: String,
    shape: [usize; 2],
    axis: usize,
    taps: usize,
}

/// Times by the names of the methods.
type Times = BTreeMap<String, Duration>;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("filter1d::choice::takes_little_time", takes_little_time),
        Trial::test("filter1d::choice::predicted_times", predicted_times),
    ]
}

/// The choice takes at most 3 % more time than sums, and 15 % more than the best method, and so did `Auto` itself.
fn takes_little_time() -> Result<(), Failed> {
    for (case, times) in cases()? {
        let Filtering { method, .. } = planned(&case)?;
        let methods = times.iter().filter(|(name, _)| *name != AUTO);
        let best = methods.map(|(_, time)| *time).min().ok_or("the record has no methods")?;
        let near = |time: Duration, other: Duration, factor: f64| time <= other.mul_f64(factor).max(other + SHORT);
        for time in [times[name(method)?], times[AUTO]] {
            let is_short = near(time, times["direct"], 1.03) && near(time, best, 1.15);
            ensure(is_short, || format!("{case:?}: {method:?} of {times:?}, {time:?}"))?;
        }
    }
    Ok(())
}

/// Nine of ten predicted times are within a fourth of those that were measured, and all within a factor of three and a half.
fn predicted_times() -> Result<(), Failed> {
    let mut ratios = Vec::new();
    for (case, times) in cases()? {
        let Filtering { method, predicted, .. } = planned(&case)?;
        let predicted = predicted.ok_or("no time is predicted")?;
        let ratio = predicted.as_secs_f64() / times[name(method)?].as_secs_f64();
        ensure((1.0 / 3.5..3.5).contains(&ratio), || format!("{case:?}: {method:?}, {predicted:?}, {times:?}"))?;
        ratios.push(ratio);
    }
    let near = ratios.iter().filter(|ratio| (0.75..1.25).contains(*ratio)).count();
    ensure(10 * near >= 9 * ratios.len(), || format!("{near} of {} predicted times are near", ratios.len()))
}

/// Returns the plan of a GPU with the shared memory of an H200, with all methods allowed.
fn planned(case: &Case) -> Result<Filtering, Failed> {
    match &*case.element {
        "f32" => planned_of::<f32>(case),
        "f64" => planned_of::<f64>(case),
        "i32" => planned_of::<i32>(case),
        other => Err(format!("the element type {other} is unknown").into()),
    }
}

fn planned_of<T: FilterElement + From<i8>>(case: &Case) -> Result<Filtering, Failed> {
    let filter = Filter1d::correlate(&vec![T::from(1); case.taps]).error_bound(ErrorBound::PerSegment);
    let prepared = filter.prepare(&Device::emulated(Profile::SM_90, 0))?;
    Ok(prepared.along(case.axis).plan(case.shape)?.details)
}

/// Returns the name of a method in the record.
fn name(method: Filter1dMethod) -> Result<&'static str, Failed> {
    match method {
        Filter1dMethod::Sums => Ok("direct"),
        Filter1dMethod::TensorCores => Ok("tensor"),
        Filter1dMethod::Transforms { .. } => Ok("fft"),
        other => Err(format!("{other:?} is not in the record").into()),
    }
}

/// Returns the record's cases with sums, another method and `Auto`.
fn cases() -> Result<BTreeMap<Case, Times>, Failed> {
    let record: Value = serde_json::from_str(RECORD)?;
    let mut cases: BTreeMap<Case, Times> = BTreeMap::new();
    for row in list(&record, "rows")? {
        let text = |key: &str| row[key].as_str().ok_or_else(|| format!("a row has no {key}"));
        let (Some(case), Some(method)) = (case(text("case")?), text("peer")?.strip_prefix("slm ")) else { continue };
        if text("benchmark")? == "taps" {
            let median = row["median_us"].as_f64().ok_or("a row has no median")?;
            cases.entry(case).or_default().insert(method.to_owned(), Duration::from_secs_f64(median / 1e6));
        }
    }
    cases.retain(|_, times| times.len() == 3 && ["direct", AUTO].iter().all(|name| times.contains_key(*name)));
    ensure(cases.len() >= MIN_CASES, || format!("the record has {} cases", cases.len()))?;
    Ok(cases)
}

/// Reads `f32 n=1x1024 axis=1 taps=3`.
fn case(text: &str) -> Option<Case> {
    let [element, shape, axis, taps] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let (rows, columns) = shape.strip_prefix("n=")?.split_once('x')?;
    Some(Case {
        element: element.to_owned(),
        shape: [rows.parse().ok()?, columns.parse().ok()?],
        axis: axis.strip_prefix("axis=")?.parse().ok()?,
        taps: taps.strip_prefix("taps=")?.parse().ok()?,
    })
}
