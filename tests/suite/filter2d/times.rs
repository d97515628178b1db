//! The times that plans predict, compared with those that were measured on an H200: the rows of `benches/gaussians.rs` in a record.

use crate::common::ensure;
use crate::common::golden::list;
use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use slm::emulator::Profile;
use slm::filter1d::ErrorBound;
use slm::{Boundary, Device, Filter2d, FilterSample};
use std::time::Duration;

const RECORD: &str = include_str!("../../../benches/record/nvidia-h200/2026-12-01.json");

/// The record's minimum number of cases with a predicted time, so that a truncated record fails.
const MIN_CASES: usize = 150;

pub(super) fn trials() -> Vec<Trial> {
    vec![Trial::test("filter2d::times::predicted_times", predicted_times)]
}

/// Nine of ten predicted times are within a fourth of those that were measured, and all within a factor of two.
fn predicted_times() -> Result<(), Failed> {
    let (record, device): (Value, _) = (serde_json::from_str(RECORD)?, Device::emulated(Profile::SM_90, 0));
    let mut ratios = Vec::new();
    for row in list(&record, "rows")? {
        let text = |key: &str| row[key].as_str().ok_or_else(|| format!("a row has no {key}"));
        let Some(case) = Case::new(text("case")?, text("peer")?) else { continue };
        let Some(predicted) = case.predicted(&device)? else { continue };
        let measured = row["median_us"].as_f64().ok_or("a row has no median")?;
        let ratio = predicted.as_secs_f64() * 1e6 / measured;
        ensure((0.5..2.0).contains(&ratio), || format!("{case:?}: {predicted:?}, {measured} us"))?;
        ratios.push(ratio);
    }
    let near = ratios.iter().filter(|ratio| (0.75..1.25).contains(*ratio)).count();
    ensure(ratios.len() >= MIN_CASES, || format!("the record has {} cases", ratios.len()))?;
    ensure(10 * near >= 9 * ratios.len(), || format!("{near} of {} predicted times are near", ratios.len()))
}

/// A Gaussian of a picture.
#[derive(Debug)]
struct Case<'a> {
    samples: &'a str,
    shape: [usize; 3],
    sigma: f64,
    bound: ErrorBound,
}

impl<'a> Case<'a> {
    /// Reads `f32 n=2048x2048 channels=1 sigma=2 taps=17`, and the bound of the errors.
    fn new(text: &'a str, peer: &str) -> Option<Self> {
        let [samples, shape, channels, sigma, _taps] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let (rows, columns) = shape.strip_prefix("n=")?.split_once('x')?;
        let channels = channels.strip_prefix("channels=")?.parse().ok()?;
        let bound = match peer {
            "slm bound per output" => ErrorBound::PerOutput,
            "slm bound per segment" => ErrorBound::PerSegment,
            _ => return None,
        };
        let (shape, sigma) = ([rows.parse().ok()?, columns.parse().ok()?, channels], sigma.strip_prefix("sigma=")?);
        Some(Case { samples, shape, sigma: sigma.parse().ok()?, bound })
    }

    /// Returns the time of the plan for a GPU with the shared memory of an H200.
    fn predicted(&self, device: &Device) -> Result<Option<Duration>, Failed> {
        match self.samples {
            "f32" => self.predicted_of::<f32>(device),
            "f64" => self.predicted_of::<f64>(device),
            "u8" => self.predicted_of::<u8>(device),
            other => Err(format!("the sample type {other} is unknown").into()),
        }
    }

    fn predicted_of<T: FilterSample>(&self, device: &Device) -> Result<Option<Duration>, Failed> {
        let gaussian = Filter2d::<T, T::Weight>::gaussian(self.sigma).channels(self.shape[2]);
        let gaussian = gaussian.boundary(Boundary::Reflect).error_bound(self.bound).prepare(device)?;
        Ok(gaussian.plan(self.shape)?.details.predicted)
    }
}
