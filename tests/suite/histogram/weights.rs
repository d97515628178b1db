//! Weights that are not finite, which the device detects itself, and the plans of weighted histograms.

use super::oracle::{Case, Counted, Number, flat};
use super::{MAX_ORDERED, SUITE};
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::emulator::Report;
use slm::histogram::{HistogramError, PreparedHistogram};
use slm::{Backend, Buffer, Device, Error, Histogram, Plan};

/// More than one block of each kernel, and a partial warp at the end.
const SAMPLES: usize = 3 * 1001;

pub(super) fn trials() -> Vec<Trial> {
    let not_finite = on_every_backend(SUITE, "i32::weights_that_are_not_finite", weights_that_are_not_finite);
    let one_pass = on_every_backend(SUITE, "u16::weights_in_one_pass_as_planned", one_pass_as_planned);
    let two_passes = on_every_backend(SUITE, "u16::weights_in_two_passes_as_planned", two_passes_as_planned);
    [not_finite, one_pass, two_passes].into_iter().flatten().collect()
}

/// Checks the plans of two passes, which more than 2^30 weights take: the largest magnitudes and the sums are in shared memory, or
/// in global memory if there are more than a block has room for.
fn two_passes_as_planned(device: &Device) -> Result<(), Failed> {
    const MANY: usize = (1 << 30) + 1;
    let block = device.info().shared_memory.map_or(0, |shared| shared.max_per_block);
    // Two magnitudes share a word. Blocks with more than 96 KiB have the maximum number of threads.
    for (bins, are_in_shared_memory, threads) in [
        (10, [true, true], 256),
        (10_000, [true, false], 256),
        (30_000, [true, false], 256),
        (60_000, [block >= 121 << 10, false], if block >= 121 << 10 { 1024 } else { 256 }),
        (150_000, [false, false], 256),
    ] {
        let plan = Histogram::even(bins, 0u16..10_000).prepare(device)?.weighted_plan([MANY])?;
        check_heads(device, bins, &plan, "more weights than one launch takes")?;
        match (&plan.launches[..], device.info().backend) {
            ([], Backend::Cpu) => {}
            ([peaks, sums], Backend::Cuda | Backend::Emulated)
                if [peaks.kernel, sums.kernel] == ["histogram_peaks_even_u16", "histogram_weigh_even_u16"]
                    && [peaks.times, sums.times] == [2, 2]
                    && [peaks.shared_bytes > 0, sums.shared_bytes > 0] == are_in_shared_memory
                    && [peaks.block, sums.block] == [[threads, 1, 1], [256, 1, 1]]
                    && peaks.moved_bytes == (6 * MANY + 2 * 4 * (bins + 3)) as u64
                    && sums.moved_bytes == (6 * MANY + 2 * 20 * (bins + 3)) as u64 => {}
            _ => return Err(format!("{bins} bins: {plan:?}").into()),
        }
    }
    Ok(())
}

/// Checks the plan of one pass, and which launches there are: two more if a weight is far smaller than the others.
fn one_pass_as_planned(device: &Device) -> Result<(), Failed> {
    let block = device.info().shared_memory.map_or(0, |shared| shared.max_per_block);
    let mut far_smaller = [1.0f32; SAMPLES];
    far_smaller[SAMPLES / 3] = 1e-20;
    // A sum has three words. As many copies of it as fit, a power of two of at most 32; or as few ranges as possible, at most six.
    for bins in [1, 10, 5000, 50_000, 200_000] {
        let histogram = Histogram::even(bins, 0u16..10_000).prepare(device)?;
        if !histogram.weighted_plan([0])?.launches.is_empty() {
            return Err(format!("{:?}", histogram.weighted_plan([0])?).into());
        }
        let plan = histogram.weighted_plan([SAMPLES])?;
        let reason = "one pass, if the magnitudes of all weights are similar; otherwise then histogram_peaks_even_u16 and \
                      histogram_weigh_even_u16";
        check_heads(device, bins, &plan, reason)?;
        let keys = (bins + 3) as u64;
        let copies = [32, 16, 8, 4, 2, 1].map(|copies| (copies * keys, 1));
        let sums = copies.into_iter().chain((2..=6).map(|ranges| (keys.div_ceil(ranges), ranges)));
        let mut parts = sums.map(|(sums, ranges)| ((12 * sums).next_multiple_of(16), ranges));
        let (shared_bytes, ranges) = parts.find(|(bytes, _)| *bytes <= block).unwrap_or((0, 1));
        match (&plan.launches[..], device.info().backend) {
            ([], Backend::Cpu) => continue,
            ([sums], Backend::Cuda | Backend::Emulated)
                if (sums.kernel, sums.times, sums.block) == ("histogram_weigh_once_even_u16", 1, [1024, 1, 1])
                    && sums.shared_bytes == shared_bytes
                    && sums.grid[0].is_multiple_of(ranges)
                    && sums.moved_bytes == (6 * SAMPLES + 16 * (bins + 3)) as u64 => {}
            _ => return Err(format!("{bins} bins: {plan:?}").into()),
        }
        let two_passes = ["histogram_peaks_even_u16", "histogram_weigh_even_u16"];
        for (weights, others) in [([1.0; SAMPLES], &[][..]), (far_smaller, &two_passes)] {
            device.reset_emulation_reports();
            histogram.apply_weighted(&[1; SAMPLES], &weights)?;
            if device.info().backend == Backend::Emulated {
                let reports = device.emulation_reports();
                let launch = |report: &Report| (report.launch.grid.map(u64::from), report.launch.block);
                let kernels: Vec<_> = reports.iter().map(|report| report.kernel).collect();
                let is_planned = reports.first().map(launch) == Some((plan.launches[0].grid, plan.launches[0].block));
                if !is_planned || kernels != [&plan.kernels(), others].concat() {
                    return Err(format!("{kernels:?}, planned: {plan:?}").into());
                }
            }
        }
    }
    Ok(())
}

/// Checks the lines of a plan before the launches.
fn check_heads(device: &Device, bins: usize, plan: &Plan, reason: &str) -> Result<(), Failed> {
    let heads = [
        format!("device     {device}"),
        format!("outputs    1 x {bins}"),
        match &plan.kernels()[..] {
            [] => "kernels    none (the CPU has a single implementation)".to_owned(),
            kernels => format!("kernels    {} ({reason})", kernels.join(", ")),
        },
    ];
    let text = plan.to_string();
    let are_right = heads.iter().zip(text.lines()).all(|(expected, line)| expected == line);
    let lines = heads.len() + plan.launches.len() + usize::from(!plan.launches.is_empty());
    if are_right && text.lines().count() == lines { Ok(()) } else { Err(text.into()) }
}

/// Checks that the error names the first weight that is not finite, wherever it is, and that the same buffers can be used
/// afterwards.
fn weights_that_are_not_finite(device: &Device) -> Result<(), Failed> {
    let case = Case { channels: 3, counted: 2, ..Case::even(10, -5..5) };
    let samples = case.samples(SAMPLES, &mut Random::new(0));
    let good: Vec<f32> = (0..SAMPLES).map(|i| (i % 17) as f32 - 4.5).collect();
    let expected = case.counted(&samples).sums(&good);
    let histogram = case.described().prepare(device)?;
    let (samples, mut weights) = (device.upload(&samples)?, device.zeroed(SAMPLES)?);
    // At the beginning and in another block; in a channel that is not counted; alone in the partial warp at the end.
    for places in [&[0, 1500][..], &[5, 6, SAMPLES - 2], &[SAMPLES - 1]] {
        for weight in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut bad = good.clone();
            places.iter().for_each(|&place| bad[place] = f32::INFINITY);
            bad[places[0]] = weight;
            weights.upload(&bad)?;
            is_refused(&histogram, &samples, &weights, (places[0], weight))?;
        }
        weights.upload(&good)?;
        let sums = histogram.apply_weighted(&samples, &weights)?.sums;
        same(&flat(&sums), &expected)?;
    }
    Ok(())
}

fn is_refused(
    histogram: &PreparedHistogram<i32>,
    samples: &Buffer<i32>,
    weights: &Buffer<f32>,
    (place, expected): (usize, f32),
) -> Result<(), Failed> {
    match histogram.apply_weighted(samples, weights) {
        // NaN is not equal to itself.
        Err(Error::Histogram(HistogramError::Weight { index, weight }))
            if (index, weight.to_bits()) == (place, f64::from(expected).to_bits()) =>
        {
            Ok(())
        }
        other => Err(format!("weight {place} is {expected}, but the result is {other:?}").into()),
    }
}

/// Checks weights of type `f64`, and adds them a second time.
pub(super) fn weigh_twice<T: Number>(
    device: &Device,
    counted: &Counted,
    histogram: &PreparedHistogram<T>,
    samples: &[T],
    weights: &[f32],
) -> Result<(), String> {
    let text = |error: Error| error.to_string();
    if samples.is_empty() || (is_slow(device) && samples.len() > MAX_ORDERED) {
        return Ok(());
    }
    // Weights that an `f32` cannot represent.
    let weights: Vec<f64> = weights.iter().map(|weight| 1e-3 + f64::from(*weight) / 3.0).collect();
    let expected = counted.sums(&weights);
    let mut sums = histogram.apply_weighted(samples, &weights).map_err(text)?;
    same(&flat(&sums.sums), &expected).map_err(|error| format!("weights of f64: {error}"))?;
    let (samples, weights) = (device.upload(samples).map_err(text)?, device.upload(&weights).map_err(text)?);
    histogram.accumulate_weighted(&samples, &weights, &mut sums).map_err(text)?;
    let expected: Vec<f64> = expected.iter().map(|sum| 2.0 * sum).collect();
    same(&flat(&sums.sums), &expected).map_err(|error| format!("twice: {error}"))
}

/// Compares sums bit for bit.
pub(super) fn same(actual: &[f64], expected: &[f64]) -> Result<(), String> {
    if actual.len() != expected.len() {
        return Err(format!("{} sums instead of {}", actual.len(), expected.len()));
    }
    match (0..expected.len()).find(|&k| actual[k].to_bits() != expected[k].to_bits()) {
        None => Ok(()),
        Some(k) => Err(format!("sum {k} is {:e}, expected {:e}", actual[k], expected[k])),
    }
}
