//! Histograms.

use crate::call::{Attempt, Case, Left, replaced, returned, written};
use crate::common::Random;
use slm::{Buffer, Device, Histogram, Result};

const LEN: usize = 1 << 20;

/// So many bins that their counters take some MiB.
const BINS: usize = 300_000;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        Case { name: "histogram::counts", attempt: counts },
        Case { name: "histogram::into", attempt: counts_into },
        Case { name: "histogram::accumulated", attempt: accumulated },
        Case { name: "histogram::channels", attempt: channels },
        Case { name: "histogram::edges", attempt: edges },
        Case { name: "histogram::edges_of_integers", attempt: edges_of_integers },
        Case { name: "histogram::preparation", attempt: preparation },
        Case { name: "histogram::weights", attempt: weights },
        Case { name: "histogram::channels_of_weights", attempt: few_weights },
    ]
}

fn samples() -> Vec<f32> {
    Random::new(5).values(LEN)
}

fn histogram() -> Histogram<f32> {
    Histogram::even(BINS, -1.0..1.0)
}

fn counts() -> Result<Attempt> {
    let (histogram, samples) = (histogram().prepare(&Device::cpu())?, samples());
    returned(move || histogram.apply(&samples))
}

fn counts_into() -> Result<Attempt> {
    let device = Device::cpu();
    let (histogram, samples) = (histogram().prepare(&device)?, device.upload(&samples())?);
    written(device.zeroed::<u64>(histogram.counts_len())?, move |counts| histogram.apply_into(&samples, counts))
}

/// Counts that are added to are kept.
fn accumulated() -> Result<Attempt> {
    let device = Device::cpu();
    let (histogram, samples) = (histogram().prepare(&device)?, device.upload(&samples())?);
    let counts = device.zeroed::<u64>(histogram.counts_len())?;
    let before = vec![7; counts.len()];
    let set = move |counts: &mut Buffer<u64>| counts.upload(&before);
    replaced(counts, Left::WhatWasThere, set, Buffer::download, move |counts| {
        histogram.accumulate_into(&samples, counts)
    })
}

fn channels() -> Result<Attempt> {
    let histogram = Histogram::<u16>::even(65_536, 0..65_536).channels(4).prepare(&Device::cpu())?;
    let samples: Vec<u16> = Random::new(6).values::<i32>(LEN).into_iter().map(|number| number as u16).collect();
    returned(move || histogram.apply(&samples))
}

fn bounds() -> Vec<f32> {
    (0..=BINS).map(|edge| (edge as f32).sqrt()).collect()
}

/// The description, the operation and its counts.
fn edges() -> Result<Attempt> {
    let (edges, samples) = (bounds(), Random::new(7).values::<f32>(1000));
    returned(move || Histogram::<f32>::edges(&edges).prepare(&Device::cpu())?.apply(&samples))
}

fn edges_of_integers() -> Result<Attempt> {
    let edges: Vec<i32> = (0..BINS as i32).map(|edge| 3 * edge).collect();
    let samples = Random::new(8).values::<i32>(1000);
    returned(move || Histogram::<i32>::edges(&edges).prepare(&Device::cpu())?.apply(&samples))
}

fn preparation() -> Result<Attempt> {
    returned(|| Ok(histogram().prepare(&Device::cpu())?.edges()[5]))
}

fn weights() -> Result<Attempt> {
    let (histogram, samples) = (histogram().prepare(&Device::cpu())?, samples());
    let weights = Random::new(9).values::<f32>(LEN);
    returned(move || Ok(histogram.apply_weighted(&samples, &weights)?.sums.bins()?.to_vec()))
}

fn few_weights() -> Result<Attempt> {
    let histogram = Histogram::bytes().prepare(&Device::cpu())?;
    let (samples, weights) = (Random::new(10).values::<u8>(LEN), Random::new(11).values::<f64>(LEN));
    returned(move || Ok(histogram.apply_weighted(&samples, &weights)?.sums.bins()?.to_vec()))
}
