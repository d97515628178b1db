//! Weights that cannot be added up: what a device finds of them, without the host looking first.

use super::SUITE;
use super::oracle::{Case, flat};
use crate::common::{Random, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::histogram::{HistogramError, PreparedHistogram};
use slm::{Buffer, Device, Error};

/// More than one block of each kernel, and a part of a warp behind the last whole one.
const SAMPLES: usize = 3 * 1001;

pub(super) fn trials() -> Vec<Trial> {
    on_every_backend(SUITE, "i32::weights_that_are_not_finite", weights_that_are_not_finite).into()
}

/// The first of them is named, wherever it stands; then the same buffers are as good as before.
fn weights_that_are_not_finite(device: &Device) -> Result<(), Failed> {
    let case = Case { channels: 3, counted: 2, ..Case::even(10, -5..5) };
    let samples = case.samples(SAMPLES, &mut Random::new(0));
    let good: Vec<f32> = (0..SAMPLES).map(|i| (i % 17) as f32 - 4.5).collect();
    let (expected, _) = case.sums(&samples, &good);
    let histogram = case.described().prepare(device)?;
    let (samples, mut weights) = (device.upload(&samples)?, device.zeroed(SAMPLES)?);
    // At the beginning and in another block; of a channel that is not counted; behind the last whole warp, alone.
    for places in [&[0, 1500][..], &[5, 6, SAMPLES - 2], &[SAMPLES - 1]] {
        for weight in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut bad = good.clone();
            places.iter().for_each(|&place| bad[place] = f32::INFINITY);
            bad[places[0]] = weight;
            weights.upload(&bad)?;
            is_refused(&histogram, &samples, &weights, (places[0], weight))?;
        }
        weights.upload(&good)?;
        let sums = histogram.apply_weighted_buffers(&samples, &weights)?.sums;
        if flat(&sums) != expected {
            return Err(format!("{sums:?}, expected {expected:?}").into());
        }
    }
    Ok(())
}

fn is_refused(
    histogram: &PreparedHistogram<i32>,
    samples: &Buffer<i32>,
    weights: &Buffer<f32>,
    (place, expected): (usize, f32),
) -> Result<(), Failed> {
    match histogram.apply_weighted_buffers(samples, weights) {
        // NaN is not equal to itself.
        Err(Error::Histogram(HistogramError::Weight { index, weight }))
            if (index, weight.to_bits()) == (place, expected.to_bits()) =>
        {
            Ok(())
        }
        other => Err(format!("weight {place} is {expected}, and this came of it: {other:?}").into()),
    }
}
