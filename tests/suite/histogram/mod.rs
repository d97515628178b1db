//! One suite for every backend: `Histogram` against the naive oracle.
//!
//! Every algorithm, element type and kind of bins, half-open and closed, with one and several channels, is tested with
//! awkward numbers of samples. The samples lie everywhere: at borders and next to them, at the ends of their type, and some
//! are NaN. All counts must be exact.
//!
//! On emulated devices the sizes are few and small.
//!
//! | file | what it tests |
//! |---|---|
//! | `cases.rs` | the histograms of all algorithms |
//! | `golden.rs`, `literal.rs` | results of NumPy, and counts written down |
//! | `properties.rs` | what holds for every histogram |
//! | `borders.rs`, `wide.rs` | borders between floats; ranges and edges beyond the type of the samples |
//! | `edges.rs` | edges at distances of all kinds |
//! | `samples.rs` | samples with gaps and strides |
//! | `sums.rs`, `weights.rs` | sums of weights; weights that are not finite |
//! | `comparison.rs` | algorithms for comparison |
//! | `oracle/` | results by the definition, part of `tests/support` |
//! | `api/` | the interface, part of `tests/api` |

mod borders;
mod cases;
mod comparison;
mod edges;
mod golden;
mod literal;
mod properties;
mod samples;
mod sums;
mod weights;
mod wide;

use crate::common::{Random, is_cuda, is_slow, on_cuda, on_every_backend};
use libtest_mimic::{Failed, Trial};
use oracle::{ALGORITHMS, Bins, Case, Counted, Number, flat, weights};
use slm::emulator::{Action, Profile, Space};
use slm::histogram::{Counts, HistogramAlgorithm, MemoryOrder};
use slm::{Backend, Device, Error, Histogram};
use slm_test_support::histogram as oracle;
use std::thread;

const SIZES: [usize; 12] = [0, 1, 2, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097];

/// More than a thread's minimum share, and for one or two threads a larger share. GPUs process more at a time, so they get
/// the larger number.
const LARGE_SIZES: [usize; 2] = [600_011, 1_000_003];
const SHARED_SIZE: usize = 200_003;

/// The sizes on emulated devices: less and more than a block, whole and partial packs.
const FEW_SIZES: [usize; 5] = [2051, 512, 0, 33, 1];

/// More bins than this cost more time than the samples.
const MANY: usize = 5000;

/// More bins than this take a second, which is mostly spent on memory.
const TOO_MANY: usize = 1 << 20;

/// Cases with at least so many bins are not emulated: they take too long, and test nothing that fewer bins do not.
const FEW_RANGES: usize = 100_000;

/// The maximum number of samples with a single lock.
const MAX_CRITICAL: usize = 5000;

/// The maximum number of samples with ordered additions on emulated devices, which record the happens-before relation of
/// each one.
const MAX_ORDERED: usize = 512;

/// Channels, and the number of channels that are counted.
const CHANNELS: [(usize, usize); 5] = [(1, 1), (2, 2), (4, 3), (3, 1), (5, 5)];

/// The name of the suite.
const SUITE: &str = "histogram";

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        // The longest trials are first, so that no core waits for them at the end.
        vec![Trial::test("histogram::cpu::more_than_32_bits_of_samples", more_than_32_bits_of_samples)],
        of_cases("beyond_precision", cases::beyond_precision()),
        of_cases("whole_range", vec![Case::even(1 << 24, i32::MIN..i32::MAX)]),
        of_cases("bytes", cases::bytes()),
        of_cases("low_bits", cases::low_bits()),
        of_cases("few_values", cases::few_values::<u8>(255)),
        of_cases("few_values", cases::few_values::<u16>(65_535)),
        of_cases("few_values", cases::few_values::<u32>(u32::MAX)),
        of_cases("few_values", cases::few_values::<i32>(i32::MAX)),
        of_cases("whole_range", cases::whole_range::<u8>(0, u8::MAX)),
        of_cases("whole_range", cases::whole_range::<u16>(0, u16::MAX)),
        of_cases("whole_range", cases::whole_range::<u32>(0, u32::MAX)),
        of_cases("whole_range", cases::whole_range::<i32>(i32::MIN, i32::MAX)),
        of_cases("integer_edges", cases::integer_edges::<u8>(u8::MAX)),
        of_cases("integer_edges", cases::integer_edges::<u16>(u16::MAX)),
        of_cases("integer_edges", cases::integer_edges::<u32>(u32::MAX)),
        of_cases("integer_edges", cases::integer_edges::<i32>(i32::MAX)),
        of_cases("even", cases::floats::<f32>()),
        of_cases("even", cases::floats::<f64>()),
        of_cases("wide", vec![Case::even(1000, f32::MIN..f32::MAX), Case::even(3, -1e-45f32..1e-45)]),
        of_cases("wide", vec![Case::even(1000, f64::MIN / 2.0..f64::MAX / 2.0), Case::even(1, -1e-307..1e-307)]),
        of_cases("wider_than_the_type", cases::wider_than_the_type()),
        of_cases("negative_edges", cases::negative_edges()),
        of_cases("negative_bins", cases::negative_bins()),
        of_cases("float_edges", cases::float_edges::<f32>()),
        of_cases("infinite_edges", cases::infinite_edges([f32::NEG_INFINITY, f32::INFINITY])),
        of_cases("many_edges", cases::many_edges::<u16>(65_535.0)),
        of_cases("many_edges", cases::many_edges::<u32>(4e9)),
        of_cases("many_edges", cases::many_edges::<i32>(2e9)),
        of_cases("many_edges", cases::many_edges::<f32>(1e6)),
        of_cases("many_edges", cases::many_edges::<f64>(1e6)),
        of_cases("float_edges", cases::float_edges::<f64>()),
        of_cases("infinite_edges", cases::infinite_edges([f64::NEG_INFINITY, f64::INFINITY])),
        on_every_backend(SUITE, "u8::constant::256_bins", constant_bytes).into(),
        on_every_backend(SUITE, "u8::more_channels_than_counters", more_channels_than_counters).into(),
        on_every_backend(SUITE, "i32::cache_refills", cache_refills).into(),
        on_every_backend(SUITE, "u16::ranges_of_channels", ranges_of_channels).into(),
        on_every_backend(SUITE, "i32::threads_share_a_histogram", threads_share_a_histogram).into(),
        vec![Trial::test("histogram::emulated::u8::lanes_never_conflict", lanes_never_conflict)],
        vec![Trial::test("histogram::emulated::f32::choices_of_auto", choices_of_auto)],
        vec![Trial::test("histogram::emulated::u8::reasons_of_auto", reasons_of_auto)],
        vec![Trial::test("histogram::emulated::max_private_counters", max_private_counters)],
        borders::trials(),
        comparison::trials(),
        edges::trials(),
        golden::trials(),
        literal::trials(),
        properties::trials(),
        samples::trials(),
        sums::trials(),
        weights::trials(),
        wide::trials(),
        vec![on_cuda(SUITE, "u8::more_than_32_bits_in_channels", || (), more_than_32_bits_in_channels)],
    ];
    trials.into_iter().flatten().collect()
}

/// Counts so many equal values that counters of a single byte wrap around and caches are refilled.
fn constant_bytes(device: &Device) -> Result<(), Failed> {
    const SAMPLES: usize = 600_007;
    for algorithm in [HistogramAlgorithm::Auto, HistogramAlgorithm::CachedAtomic, HistogramAlgorithm::PrivatePerThread]
    {
        let histogram = Histogram::bytes().algorithm(algorithm).prepare(device)?;
        let counts = histogram.apply(&[7; SAMPLES])?;
        if counts.bins()?[7] != SAMPLES as u64 || counts.total() != SAMPLES as u64 {
            return Err(format!("{algorithm:?}: {} of {} samples", counts.bins()?[7], counts.total()).into());
        }
    }
    Ok(())
}

/// GPUs count bytes by value, so that there may be more counters than bins. Too many channels for that are an error.
fn more_channels_than_counters(device: &Device) -> Result<(), Failed> {
    let channels = 1 << 24;
    match Histogram::<u8>::even(1, 0..1).channels(channels).prepare(device) {
        Ok(_) if device.info().backend == Backend::Cpu => Ok(()),
        Err(Error::TooLarge { factors, .. }) if factors == [channels as u64, 256] => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// Counts several channels whose counters exceed the shared memory of a block, with both memory orders.
fn ranges_of_channels(device: &Device) -> Result<(), Failed> {
    let case = Case { channels: 3, counted: 2, ..Case::even(30_000, 0..60_000u16) };
    let samples = case.samples(3 * 170, &mut Random::new(0));
    for algorithm in
        [HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed), HistogramAlgorithm::SharedAtomic(MemoryOrder::SeqCst)]
    {
        count(device, &case, algorithm, &samples, &case.counts(&samples)).map_err(Failed::from)?;
    }
    Ok(())
}

/// The frequent keys change, so that a refilled cache has other keys.
fn cache_refills(device: &Device) -> Result<(), Failed> {
    const SAMPLES: usize = 640_176;
    const BINS: usize = 1 << 18;
    let samples: Vec<i32> = (0..SAMPLES).map(|i| (i / 48) as i32).collect();
    let case = Case { channels: 4, counted: 3, ..Case::even(BINS, 0..BINS as i32) };
    count(device, &case, HistogramAlgorithm::CachedAtomic, &samples, &case.counts(&samples)).map_err(Failed::from)
}

/// Several threads use one prepared histogram, each with its own counts. With `Critical`, all launches share one lock.
fn threads_share_a_histogram(device: &Device) -> Result<(), Failed> {
    let (rounds, step) = if is_slow(device) { (2, 77) } else { (25, 777) };
    let case = Case::even(100, i32::MIN / 2..i32::MAX / 2);
    threads_share(device, &case, HistogramAlgorithm::Auto, rounds, |thread| 1000 + step * thread)?;
    threads_share(device, &case, HistogramAlgorithm::Critical, rounds, |thread| 20 + 7 * thread)
}

/// `samples` returns the number of samples that a thread counts in each round.
fn threads_share(
    device: &Device,
    case: &Case<i32>,
    algorithm: HistogramAlgorithm,
    rounds: usize,
    samples: impl Fn(usize) -> usize + Sync,
) -> Result<(), Failed> {
    const THREADS: usize = 8;
    let histogram = case.described().algorithm(algorithm).prepare(device)?;
    let work = |thread: usize| -> Result<(), String> {
        let text = |error: Error| error.to_string();
        let mut sums = vec![0; histogram.counts_len()];
        let mut counts = device.zeroed(sums.len()).map_err(text)?;
        for round in 0..rounds {
            let samples: Vec<i32> = Random::new((100 * thread + round) as u64).values(samples(thread));
            let expected = case.counts(&samples);
            compare("apply", &histogram.apply(&samples).map_err(text)?, &expected)?;
            sums.iter_mut().zip(expected).for_each(|(sum, count)| *sum += count);
            histogram.accumulate_into(&device.upload(&samples).map_err(text)?, &mut counts).map_err(text)?;
        }
        compare("accumulate_into", &histogram.counts(&counts).map_err(text)?, &sums)
    };
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        Ok(threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)?)
    })
}

/// With a copy of each counter for each lane, there are no bank conflicts and no two lanes add to the same counter.
fn lanes_never_conflict() -> Result<(), Failed> {
    let device = Device::emulated(Profile::SM_90, 0);
    let histogram = Histogram::bytes().algorithm(HistogramAlgorithm::LanePrivate).prepare(&device)?;
    let mut random = Random::new(0);
    let samples: Vec<u8> = (0..5000).map(|_| random.bits() as u8 & 0x13).collect();
    histogram.apply(&samples)?;
    let reports = device.emulation_reports();
    let sites = reports.iter().flat_map(|report| &report.sites);
    let additions: Vec<_> = sites.filter(|s| (s.action, s.space) == (Action::Atomic, Some(Space::Shared))).collect();
    let conflicts = additions.iter().filter(|site| site.counts.bank_conflicts() > 0 || site.counts.degree > 1).count();
    match (histogram.plan([samples.len()])?.details.copies, additions.len(), conflicts) {
        (32, 1.., 0) => Ok(()),
        other => Err(format!("copies, additions, additions with conflicts: {other:?}").into()),
    }
}

/// Checks the algorithm, the copies of each counter and the ranges by device and bins.
fn choices_of_auto() -> Result<(), Failed> {
    let shared = HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed);
    for (profile, bins, expected) in [
        (Profile::SM_90, 1, (HistogramAlgorithm::LanePrivate, 32, 1)),
        (Profile::SM_90, 256, (HistogramAlgorithm::LanePrivate, 32, 1)),
        (Profile::SM_90, 1000, (HistogramAlgorithm::LanePrivate, 16, 1)),
        (Profile::SM_90, 16_384, (shared, 1, 1)),
        (Profile::SM_90, 58_105, (shared, 1, 1)),
        (Profile::SM_90, 58_112, (shared, 1, 2)),
        (Profile::SM_90, 1 << 20, (HistogramAlgorithm::CachedAtomic, 0, 1)),
        (Profile::SM_75, 256, (HistogramAlgorithm::LanePrivate, 16, 1)),
        (Profile::SM_75, 16_381, (shared, 1, 1)),
        (Profile::SM_75, 16_382, (shared, 1, 2)),
        (Profile::SM_75, 100_000, (shared, 1, 7)),
        (Profile::SM_75, 200_000, (HistogramAlgorithm::CachedAtomic, 0, 1)),
    ] {
        let plan = Histogram::even(bins, 0.0f32..1.0).prepare(&Device::emulated(profile, 0))?.plan([1000])?;
        if (plan.details.algorithm, plan.details.copies, plan.details.ranges) != expected {
            return Err(format!("{profile:?}, {bins} bins: {plan}, expected {expected:?}").into());
        }
    }
    Ok(())
}

/// Checks that the reasons name the number of counters (256 per channel for bytes) and the device's shared memory.
fn reasons_of_auto() -> Result<(), Failed> {
    let channels = |bins, channels| Histogram::<u8>::even(bins, 0..255).channels(channels).count(channels - 1);
    let reasons = [
        (channels(9, 4), "768 counters of 4 bytes fit 32 times into half of 227 KiB"),
        (channels(256, 8), "1792 counters of 4 bytes fit 16 times into half of 227 KiB"),
        (channels(2, 200), "50944 counters of 4 bytes fit into 227 KiB once, and not twice into half of 227 KiB"),
        (channels(2, 400), "102144 counters of 4 bytes fit into 2 times 227 KiB"),
        (channels(2, 4000), "1023744 counters of 4 bytes need 18 ranges of 227 KiB, and more than 4 are slow"),
    ];
    let edges: Vec<u16> = (0..=60_000).collect();
    let searched = Histogram::edges(&edges).prepare(&Device::emulated(Profile::SM_90, 0))?.plan([8000])?;
    if searched.reason != "60003 counters of 4 bytes, edges of 2 bytes and a guide fit into 3 times 227 KiB" {
        return Err(searched.reason.into());
    }
    for (histogram, reason) in reasons {
        let plan = histogram.prepare(&Device::emulated(Profile::SM_90, 0))?.plan([8000])?;
        let text = format!("8000 samples, {} counters", plan.details.counters);
        if plan.reason != reason
            || !reason.starts_with(&plan.details.counters.to_string())
            || !plan.to_string().contains(&text)
        {
            return Err(format!("{plan}, expected: {reason}").into());
        }
    }
    let plan = channels(9, 4).prepare(&Device::cpu())?.plan([8000])?;
    if (plan.outputs[0], plan.details.counters) == (3, 36) { Ok(()) } else { Err(plan.to_string().into()) }
}

/// Checks the limits that the documentation of `PrivatePerThread` states.
fn max_private_counters() -> Result<(), Failed> {
    for (profile, maximum) in [(Profile::SM_90, 1760), (Profile::SM_75, 496)] {
        let prepare = |counters: usize| {
            let histogram = Histogram::even(counters - 3, 0.0f32..1.0).algorithm(HistogramAlgorithm::PrivatePerThread);
            histogram
                .prepare(&Device::emulated(profile, 0))
                .and_then(|histogram| Ok(histogram.plan([1])?.details.copies))
        };
        match (prepare(maximum), prepare(maximum + 1)) {
            (Ok(128), Err(Error::SharedMemoryExceeded { .. })) => {}
            other => return Err(format!("{maximum} counters, and one more: {other:?}").into()),
        }
    }
    Ok(())
}

fn of_cases<T: Number>(name: &str, cases: Vec<Case<T>>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for case in cases {
        let many = case.bin_count() >= FEW_RANGES;
        let kind = if let Bins::Edges(_) = case.bins { "edges" } else { "bins" };
        let name = format!("{}::{name}::{}_{kind}", T::NAME, case.bin_count());
        let [on_cpu, emulated, on_cuda] = on_every_backend(SUITE, &name, move |device| check_all(device, &case));
        trials.extend([on_cpu, on_cuda].into_iter().chain((!many).then_some(emulated)));
    }
    trials
}

/// Returns variants of a case: half-open and closed, with various channels. Each has its number of samples.
fn variants<T: Number>(device: &Device, case: &Case<T>) -> Vec<(Case<T>, usize)> {
    let variant = |closed, (channels, counted), size| (Case { closed, channels, counted, ..case.clone() }, size);
    let all = |sizes: &[usize]| -> Vec<_> {
        let sizes = sizes.iter().flat_map(|&size| CHANNELS.map(|channels| (size, channels)));
        sizes.flat_map(|(size, channels)| [false, true].map(|closed| variant(closed, channels, size))).collect()
    };
    let large = LARGE_SIZES[usize::from(is_cuda(device))];
    match (is_slow(device), case.bin_count() > MANY) {
        (true, false) => {
            let sizes = FEW_SIZES.iter().zip(CHANNELS).zip([true, false].into_iter().cycle());
            sizes.map(|((&size, channels), closed)| variant(closed, channels, size)).collect()
        }
        (true, true) => vec![variant(true, (1, 1), 2051)],
        (false, true) if case.bin_count() > TOO_MANY => vec![variant(true, (1, 1), large)],
        // The oracle visits all edges for each sample.
        (false, true) if matches!(case.bins, Bins::Edges(_)) => vec![variant(true, (1, 1), 4097)],
        (false, true) => vec![variant(true, (1, 1), large), variant(false, (3, 1), 4097)],
        (false, false) => {
            let several = [variant(false, (1, 1), large), variant(true, (4, 3), SHARED_SIZE)];
            [all(&SIZES), several.into()].concat()
        }
    }
}

fn check_all<T: Number>(device: &Device, case: &Case<T>) -> Result<(), Failed> {
    for (case, size) in variants(device, case) {
        // The channels must divide the number of samples.
        let size = size / case.channels * case.channels;
        let Case { closed, channels, counted, .. } = case;
        check(device, &case, size)
            .map_err(|error| format!("{size} samples, {counted} of {channels} channels, closed: {closed}: {error}"))?;
    }
    Ok(())
}

fn check<T: Number>(device: &Device, case: &Case<T>, size: usize) -> Result<(), String> {
    let random = &mut Random::new(size as u64);
    let samples = case.samples(size, random);
    let weights = weights(size, random);
    let counted = case.counted(&samples);
    by_every_algorithm(device, case, &samples, &counted.counts())?;
    weigh(device, case, &samples, &weights, &counted).map_err(|error| format!("weighted: {error}"))
}

/// Counts by every algorithm that takes a reasonable time for this number of samples.
fn by_every_algorithm<T: Number>(
    device: &Device,
    case: &Case<T>,
    samples: &[T],
    expected: &[u64],
) -> Result<(), String> {
    let algorithms: &[HistogramAlgorithm] = match device.info().backend {
        Backend::Cpu => &[HistogramAlgorithm::Auto],
        _ => &ALGORITHMS,
    };
    let quick = algorithms.iter().filter(|&&algorithm| samples.len() <= max_samples(device, algorithm));
    quick.copied().try_for_each(|algorithm| {
        count(device, case, algorithm, samples, expected).map_err(|error| format!("{algorithm:?}: {error}"))
    })
}

fn max_samples(device: &Device, algorithm: HistogramAlgorithm) -> usize {
    use HistogramAlgorithm::{Critical, GlobalAtomic, SharedAtomic};
    match algorithm {
        Critical | GlobalAtomic(MemoryOrder::SeqCst) | SharedAtomic(MemoryOrder::SeqCst) if is_slow(device) => {
            MAX_ORDERED
        }
        Critical => MAX_CRITICAL,
        _ => usize::MAX,
    }
}

fn count<T: Number>(
    device: &Device,
    case: &Case<T>,
    algorithm: HistogramAlgorithm,
    samples: &[T],
    expected: &[u64],
) -> Result<(), String> {
    let text = |error: Error| error.to_string();
    let missing = comparison::missing_kernel(device, case, algorithm).map_err(text)?;
    let histogram = match case.described().algorithm(algorithm).prepare(device) {
        Err(error) if Some(&error) == missing.as_ref() => return Ok(()),
        Ok(_) if missing.is_some() => return Err("there should be no kernel".to_owned()),
        Err(Error::SharedMemoryExceeded { .. }) if is_too_large(device, case, algorithm) => return Ok(()),
        Ok(_) if is_too_large(device, case, algorithm) => {
            return Err("the counters exceed the shared memory".to_owned());
        }
        histogram => histogram.map_err(text)?,
    };
    compare("apply", &histogram.apply(samples).map_err(text)?, expected)?;

    // Adds to existing counts.
    let existing: Vec<u64> = (0..expected.len() as u64).map(|k| u64::from(u32::MAX) - 5 + k % 7).collect();
    let (samples, mut counts) = (device.upload(samples).map_err(text)?, device.upload(&existing).map_err(text)?);
    histogram.accumulate_into(&samples, &mut counts).map_err(text)?;
    let sums: Vec<u64> = existing.iter().zip(expected).map(|(existing, expected)| existing + expected).collect();
    compare("accumulate_into", &histogram.counts(&counts).map_err(text)?, &sums)?;
    if is_slow(device) && samples.len() > MAX_ORDERED {
        return Ok(());
    }
    // Replaces the counts.
    histogram.apply_into(&samples, &mut counts).map_err(text)?;
    compare("apply_into", &histogram.counts(&counts).map_err(text)?, expected)
}

/// Returns whether private counters of each thread in the smallest block exceed the shared memory: 128 bytes for each
/// counter, and four bytes that all threads share.
fn is_too_large<T: Number>(device: &Device, case: &Case<T>, algorithm: HistogramAlgorithm) -> bool {
    let keys = if size_of::<T>() == 1 { 256 } else { case.bin_count() + 3 };
    let bytes = (case.counted * keys * 128 + (case.counted * keys * 4).next_multiple_of(16)) as u64;
    let limit = device.info().shared_memory.map_or(u64::MAX, |shared| shared.max_per_block);
    algorithm == HistogramAlgorithm::PrivatePerThread && bytes > limit
}

fn compare<T: Number>(what: &str, actual: &Counts<T>, expected: &[u64]) -> Result<(), String> {
    let flat = flat(actual);
    if flat == expected {
        return Ok(());
    }
    if flat.len() != expected.len() {
        return Err(format!("{what}: {} counts instead of {}", flat.len(), expected.len()));
    }
    match (0..flat.len()).find(|&k| flat[k] != expected[k]) {
        None => Ok(()),
        Some(k) => Err(format!("{what}: count {k} is {}, expected {}", flat[k], expected[k])),
    }
}

fn weigh<T: Number>(
    device: &Device,
    case: &Case<T>,
    samples: &[T],
    weights: &[f32],
    counted: &Counted,
) -> Result<(), String> {
    let text = |error: Error| error.to_string();
    let histogram = case.described().prepare(device).map_err(text)?;
    weights::weigh_twice(device, counted, &histogram, samples, weights)?;
    let expected = counted.sums(weights);
    let of_slices = histogram.apply_weighted(samples, weights).map_err(text)?;
    let (samples, weights) = (device.upload(samples).map_err(text)?, device.upload(weights).map_err(text)?);
    let of_buffers = histogram.apply_weighted(&samples, &weights).map_err(text)?;
    if of_slices != of_buffers {
        return Err("slices and buffers differ".to_owned());
    }
    weights::same(&flat(&of_slices.sums), &expected)
}

/// All samples are in one bin. Zeros that are never written take no memory.
fn more_than_32_bits_of_samples() -> Result<(), Failed> {
    let samples = vec![0u8; (1 << 32) + 5];
    let counts = Histogram::bytes().prepare(&Device::cpu())?.apply(&samples)?;
    let all = samples.len() as u64;
    if (counts.bins()?[0], counts.total()) == (all, all) {
        Ok(())
    } else {
        Err(format!("{} zeros", counts.bins()?[0]).into())
    }
}

/// All samples are in one bin of their channel. The interleaving of the channels continues from launch to launch.
fn more_than_32_bits_in_channels(device: &Device) -> Result<(), Failed> {
    const CHANNELS: usize = 3;
    const SAMPLES: usize = (1 << 32) + 5;
    let histogram = Histogram::bytes().channels(CHANNELS).prepare(device)?;
    let mut counts = device.zeroed(histogram.counts_len())?;
    histogram.accumulate_into(&device.zeroed(SAMPLES)?, &mut counts)?;
    let zeros: Vec<u64> = histogram.counts(&counts)?.channels().map(|channel| channel.bins[0]).collect();
    if zeros == [(SAMPLES / CHANNELS) as u64; CHANNELS] { Ok(()) } else { Err(format!("{zeros:?} zeros").into()) }
}
