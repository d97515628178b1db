//! Edges at distances of all kinds, for the guides with which GPUs search them: equal distances, growing ones, crowds, wide outer bins,
//! so many that several blocks divide them, and bins without numbers. The samples are the edges, their neighbours and others.

use super::oracle::{Case, Number};
use super::{SUITE, compare, count};
use crate::common::{Random, ensure, is_slow, on_every_backend, on_profiles};
use libtest_mimic::{Failed, Trial};
use slm::emulator::{Action, Profile};
use slm::histogram::{HistogramAlgorithm, MemoryOrder};
use slm::{Device, Histogram, HistogramBound};
use std::ops::Range;

/// Samples between edges, and on a slow device.
const SAMPLES: usize = 4099;
const FEW: usize = 403;

const ALGORITHMS: [HistogramAlgorithm; 3] =
    [HistogramAlgorithm::Auto, HistogramAlgorithm::LanePrivate, HistogramAlgorithm::SharedAtomic(MemoryOrder::Relaxed)];

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        of_shapes::<u16>(integers(u16::MAX.into())),
        of_shapes::<u32>(integers(u32::MAX.into())),
        of_shapes::<i32>(integers(i32::MAX.into())),
        of_shapes::<i32>(signed(i32::MAX.into())),
        of_shapes::<f32>(floats(f32::MAX.into(), -149)),
        of_shapes::<f64>(floats(f64::MAX, -1074)),
        several_blocks::<u16>(4.0),
        several_blocks::<u32>(300_000.0),
        several_blocks::<i32>(150_000.0),
        several_blocks::<f32>(1.0 / 64.0),
        several_blocks::<f64>(1.0 / 64.0),
        without_numbers::<u16>(u16::MIN.into()),
        without_numbers::<u32>(u32::MIN.into()),
        without_numbers::<i32>(i32::MIN.into()),
        vec![Trial::test("histogram::emulated::f32::edges::steps_of_a_search", steps_of_a_search)],
    ];
    trials.into_iter().flatten().collect()
}

/// So many bins that a block of a GPU with 64 KiB holds half of them, and one with 227 KiB all.
const OF_SEVERAL_BLOCKS: u32 = 13_001;

fn several_blocks<T: Number>(distance: f64) -> Vec<Trial> {
    let edges: Vec<T> = (0..=OF_SEVERAL_BLOCKS).map(|k| T::nearest(f64::from(k) * distance)).collect();
    let name = format!("{}::edges::several_blocks", T::NAME);
    // Three ranges of bins, or two, with the numbers around their ends.
    let near =
        [2, 3].into_iter().flat_map(|ranges| (0..=ranges).map(move |range| OF_SEVERAL_BLOCKS.div_ceil(ranges) * range));
    let near: Vec<u32> =
        near.flat_map(|end| end.saturating_sub(2)..=end + 2).filter(|k| *k <= OF_SEVERAL_BLOCKS).collect();
    let near = near.into_iter().flat_map(|k| edges[k as usize].neighbours());
    let samples: Vec<T> = near.chain(T::SPECIAL.iter().copied()).collect();
    let test = move |device: &Device| check_samples(device, &Case::edges(&edges), &samples);
    on_profiles(SUITE, &name, &[Profile::SM_75], test).into()
}

/// A range that begins below the smallest number of a type, with many more bins than numbers. Its bins are searched.
fn without_numbers<T: Number>(least: i64) -> Vec<Trial>
where
    i64: HistogramBound<T>,
{
    let of = |numbers: i64| {
        let name = format!("{}::edges::{numbers}_in_many_bins", T::NAME);
        let test = move |device: &Device| Ok(count_few::<T>(device, least - 1..least + numbers)?);
        on_profiles(SUITE, &name, &[Profile::SM_75], test)
    };
    [1, 2].into_iter().flat_map(of).collect()
}

fn count_few<T: Number>(device: &Device, range: Range<i64>) -> Result<(), String>
where
    i64: HistogramBound<T>,
{
    // The bins of the type's numbers do not fit into a block.
    let bins = 2 * OF_SEVERAL_BLOCKS as usize;
    let samples = range.start + 1..range.end + 3;
    for closed in [false, true] {
        let mut expected = vec![0; bins + 3];
        for sample in samples.clone() {
            let bin = (sample - range.start) as usize * bins / (range.end - range.start) as usize;
            let is_above = sample > range.end || !closed && sample == range.end;
            expected[if is_above { bins + 1 } else { bin.min(bins - 1) }] += 1;
        }
        let samples: Vec<T> = samples.clone().map(|sample| T::nearest(sample as f64)).collect();
        for algorithm in ALGORITHMS {
            let histogram = Histogram::even(bins, range.clone()).algorithm(algorithm);
            let histogram = if closed { histogram.closed() } else { histogram };
            let counts = histogram.prepare(device).and_then(|histogram| histogram.apply(&samples));
            compare("apply", &counts.map_err(|error| error.to_string())?, &expected)
                .map_err(|error| format!("closed: {closed}, {algorithm:?}: {error}"))?;
        }
    }
    Ok(())
}

/// A guide leaves about two comparisons for a sample between 256 edges, at equal distances and at growing ones, for which there is another
/// map. Without a guide there would be eight.
fn steps_of_a_search() -> Result<(), Failed> {
    const LEN: usize = 100_000;
    let equal: Vec<f32> = (0..=256).map(|k| k as f32).collect();
    let growing: Vec<f32> = equal.iter().map(|k| (k / 16.0).exp2()).collect();
    for edges in [equal, growing] {
        let device = Device::emulated(Profile::SM_90, 1);
        let samples: Vec<f32> = (0..LEN).map(|i| f32::midpoint(edges[i % 256], edges[i % 256 + 1])).collect();
        Histogram::edges(&edges).prepare(&device)?.apply(&samples)?;
        let reports = device.emulation_reports();
        let sites = reports.iter().flat_map(|report| &report.sites);
        let loads = sites.filter(|site| site.at.file.ends_with("histogram/lookup.rs") && site.action == Action::Load);
        // The first comparison of a sample, and the entry.
        let lanes: u64 = loads.map(|site| site.counts.lanes).sum();
        ensure((2 * LEN as u64..4 * LEN as u64).contains(&lanes), || format!("{lanes} loads for {LEN} samples"))?;
    }
    Ok(())
}

/// The edges of a shape, in ascending order.
type Shape = (&'static str, Vec<f64>);

fn of_shapes<T: Number>(shapes: Vec<Shape>) -> Vec<Trial> {
    let of_shape = |(shape, edges): Shape| {
        let mut edges: Vec<T> = edges.into_iter().map(T::nearest).collect();
        edges.dedup();
        let name = format!("{}::edges::{shape}", T::NAME);
        on_every_backend(SUITE, &name, move |device| check(device, &edges))
    };
    shapes.into_iter().flat_map(of_shape).collect()
}

fn check<T: Number>(device: &Device, edges: &[T]) -> Result<(), Failed> {
    let (size, case) = (if is_slow(device) { FEW } else { SAMPLES }, Case::edges(edges));
    let near = edges.iter().take(size).flat_map(|edge| edge.neighbours());
    let samples: Vec<T> = near.chain(case.samples(size, &mut Random::new(7))).collect();
    check_samples(device, &case, &samples)
}

fn check_samples<T: Number>(device: &Device, case: &Case<T>, samples: &[T]) -> Result<(), Failed> {
    for closed in [false, true] {
        let case = Case { closed, ..case.clone() };
        let expected = case.counted(samples).counts();
        for algorithm in ALGORITHMS {
            count(device, &case, algorithm, samples, &expected)
                .map_err(|error| format!("closed: {closed}, {algorithm:?}: {error}"))?;
        }
    }
    Ok(())
}

/// Returns shapes of numbers that are not negative.
fn integers(most: f64) -> Vec<Shape> {
    let to = |len: u32| (0..len).map(f64::from);
    vec![
        ("one", vec![5.0, 9.0]),
        ("two", vec![0.0, 1.0, most]),
        ("equal", to(300).map(|k| 7.0 + 100.0 * k).collect()),
        ("each_number", to(200).map(|k| 1000.0 + k).collect()),
        ("squares", to(250).map(|k| k * k).collect()),
        ("two_crowds", to(150).map(|k| 10.0 + k).chain(to(150).map(|k| most - 200.0 + k)).collect()),
        ("wide_outer_bins", [0.0].into_iter().chain(to(100).map(|k| 30_000.0 + k)).chain([most]).collect()),
    ]
}

/// Returns shapes of numbers on both sides of zero.
fn signed(most: f64) -> Vec<Shape> {
    let steps = |len: i32| (-len..=len).map(f64::from);
    vec![
        ("signed_equal", steps(100).map(|k| 1e7 * k).collect()),
        ("signed_squares", steps(100).map(|k| k * k.abs()).collect()),
        ("signed_wide_outer_bins", [-most].into_iter().chain(steps(50)).chain([most]).collect()),
    ]
}

/// Returns shapes of floats up to `most`. The smallest float above zero is `2^smallest`.
fn floats(most: f64, smallest: i32) -> Vec<Shape> {
    let step = |exponent: i32| 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
    let steps = |len: i32| (-len..=len).map(f64::from);
    let mut random = Random::new(3);
    let mut irregular: Vec<f64> = random.values::<i32>(400).into_iter().map(|k| f64::from(k) / 65_536.0).collect();
    irregular.sort_by(f64::total_cmp);
    let decades = |sign: f64| (0..60).map(move |k| sign * 10f64.powf(-20.0 + f64::from(k) / 2.0));
    let with_ends = |ends: f64| [-ends].into_iter().chain(steps(99).map(|k| k / 7.0)).chain([ends]).collect();
    vec![
        ("one", vec![-0.0, 1.0]),
        ("two", vec![f64::NEG_INFINITY, 0.0, f64::INFINITY]),
        ("equal", steps(150).map(|k| k / 150.0).collect()),
        ("irregular", irregular),
        ("decades", decades(1.0).collect()),
        ("decades_around_zero", decades(-1.0).rev().chain([-0.0]).chain(decades(1.0)).collect()),
        ("two_crowds", steps(70).map(|k| 1e-6 * k).chain(steps(70).map(|k| 1e6 + k)).collect()),
        ("infinite_outer_bins", with_ends(f64::INFINITY)),
        ("wide_outer_bins", with_ends(most)),
        ("widest", vec![-most, -most / 2.0, -1.0, 0.0, 1.0, most / 2.0, most]),
        ("neighbours", steps(100).map(|k| 1.0 + k * step(if smallest < -1000 { -52 } else { -23 })).collect()),
        ("smallest", steps(40).map(|k| k * step(smallest)).collect()),
    ]
}
