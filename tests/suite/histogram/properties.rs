//! Properties that hold for every histogram, tested on the CPU and with few, small cases on emulated devices.

use super::SUITE;
use super::oracle::{Case, Number, flat};
use crate::common::{is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use slm::histogram::{Counts, HistogramWeight};
use slm::{Device, Histogram};
use std::ops::Range;

const SEED: [u8; 32] = [0x5f; 32];

type Checked = Result<(), TestCaseError>;

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let properties: [(&str, Test); 9] = [
        ("all_samples_are_counted", all_samples_are_counted),
        ("their_order_does_not_matter", their_order_does_not_matter),
        ("halves_add_up", halves_add_up),
        ("channels_are_histograms_of_their_own", channels_are_histograms_of_their_own),
        ("finer_bins_of_integers", finer_bins_of_integers),
        ("finer_bins_of_floats", finer_bins_of_floats),
        ("borders_of_any_range", borders_of_any_range),
        ("weights_of_one_count", weights_of_one_count),
        ("sums_belong_to_their_bins", sums_belong_to_their_bins),
    ];
    let trials = properties.into_iter().flat_map(|(name, property)| {
        let [on_cpu, emulated, _] = on_every_backend(SUITE, &format!("properties::{name}"), property);
        [on_cpu, emulated]
    });
    let threads = "histogram::cpu::properties::any_number_of_threads_gives_the_same";
    trials.chain([Trial::test(threads, any_number_of_threads_gives_the_same)]).collect()
}

/// Returns the number of cases of a property, and a case's maximum number of samples.
fn effort(device: &Device) -> (u32, usize) {
    if is_slow(device) { (10, 60) } else { (200, 300) }
}

/// Checks a property with the same cases in every run. `strategy` gets a case's maximum number of samples.
fn check<S: Strategy>(
    device: &Device,
    strategy: impl FnOnce(usize) -> S,
    property: impl Fn(S::Value) -> Checked,
) -> Result<(), Failed> {
    let (cases, limit) = effort(device);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let result = TestRunner::new_with_rng(config, rng).run(&strategy(limit), property);
    Ok(result.map_err(|error| error.to_string())?)
}

fn apply<T: Number>(device: &Device, histogram: &Histogram<T>, samples: &[T]) -> Counts<T> {
    histogram.prepare(device).unwrap().apply(samples).unwrap()
}

/// Returns bins of integers, and samples inside and outside.
fn integers(limit: usize) -> impl Strategy<Value = (Histogram<i32>, Vec<i32>)> {
    let range =
        (any::<i32>(), any::<i32>()).prop_filter_map("a range", |(a, b)| (a != b).then_some(a.min(b)..a.max(b)));
    let small = (-50..0, 1..50i32).prop_map(|(lower, upper)| lower..upper);
    let near = vec(-60..60i32, 0..limit);
    let far = vec(any::<i32>(), 0..limit);
    (1..400usize, prop_oneof![range, small], prop_oneof![near, far], any::<bool>()).prop_map(
        |(bins, range, x, closed)| {
            let histogram = Histogram::even(bins, range);
            (if closed { histogram.closed() } else { histogram }, x)
        },
    )
}

/// Returns floats with arbitrary bits, many of them in [-4, 4].
fn floats(limit: usize) -> impl Strategy<Value = Vec<f32>> {
    vec(
        prop_oneof![any::<u32>().prop_map(f32::from_bits), -4.0..4.0f32, (-16..17).prop_map(|k| k as f32 / 4.0)],
        0..limit,
    )
}

fn all_samples_are_counted(device: &Device) -> Result<(), Failed> {
    check(
        device,
        |limit| (integers(limit), floats(limit), 1..5usize),
        |((histogram, integers), floats, channels)| {
            prop_assert_eq!(apply(device, &histogram, &integers).total(), integers.len() as u64);
            let floats = &floats[..floats.len() / channels * channels];
            let edges = Histogram::edges(&[-1.0, 0.5, 3.0]).channels(channels);
            prop_assert_eq!(apply(device, &edges, floats).total(), floats.len() as u64);
            prop_assert_eq!(apply(device, &edges.count(1), floats).total(), (floats.len() / channels) as u64);
            Ok(())
        },
    )
}

fn their_order_does_not_matter(device: &Device) -> Result<(), Failed> {
    let shuffled = |limit| {
        integers(limit).prop_flat_map(|(histogram, x)| (Just(histogram), Just(x.clone()), Just(x).prop_shuffle()))
    };
    check(device, shuffled, |(histogram, x, shuffled)| {
        prop_assert_eq!(apply(device, &histogram, &x), apply(device, &histogram, &shuffled));
        Ok(())
    })?;
    // Sums of rounded weights agree too, bit for bit.
    order_of_weights::<f32>(device, any::<u32>().prop_map(f32::from_bits))?;
    order_of_weights::<f64>(device, any::<u64>().prop_map(f64::from_bits))
}

fn order_of_weights<W: HistogramWeight + Into<f64>>(
    device: &Device,
    weights: impl Strategy<Value = W>,
) -> Result<(), Failed> {
    let pairs = |limit| {
        let finite = weights.prop_filter("finite", |&w| w.into().is_finite());
        let pairs = vec((-4.0..4.0f32, finite), 0..limit);
        pairs.prop_flat_map(|pairs| (Just(pairs.clone()), Just(pairs).prop_shuffle()))
    };
    check(device, pairs, |(pairs, shuffled)| {
        let histogram = Histogram::even(5, -3.0..3.0).prepare(device).unwrap();
        let [a, b] = [pairs, shuffled].map(|pairs| {
            let (x, weights): (Vec<f32>, Vec<W>) = pairs.into_iter().unzip();
            histogram.apply_weighted(&x, &weights).unwrap()
        });
        prop_assert_eq!(a, b);
        Ok(())
    })
}

/// The sum of a bin is accurate, whatever the weights in other bins are, and the same if there are no others.
fn sums_belong_to_their_bins(device: &Device) -> Result<(), Failed> {
    let any = any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |w| w.is_finite());
    let near = (-1.0..1.0, -90..90).prop_map(|(x, exponent)| x * 2f64.powi(exponent));
    let weights = prop_oneof![any, near, (-9..10i32).prop_map(f64::from)];
    let case = Case::even(5, -3.0f32..3.0);
    check(
        device,
        |limit| vec((-4.0..4.0f32, weights), 0..limit),
        |pairs| {
            let histogram = case.described().prepare(device).unwrap();
            let sums = |pairs: &[(f32, f64)]| {
                let (x, weights): (Vec<f32>, Vec<f64>) = pairs.iter().copied().unzip();
                (flat(&histogram.apply_weighted(&x, &weights).unwrap().sums), case.counted(&x).sums(&weights))
            };
            let (together, expected) = sums(&pairs);
            prop_assert_eq!(&together, &expected);
            for (k, sum) in together.iter().enumerate() {
                let alone: Vec<_> = pairs.iter().copied().filter(|(x, _)| case.cell(*x) == k).collect();
                prop_assert_eq!(sums(&alone).0[k], *sum);
            }
            Ok(())
        },
    )
}

fn halves_add_up(device: &Device) -> Result<(), Failed> {
    check(
        device,
        |limit| (integers(limit), any::<prop::sample::Index>()),
        |((histogram, x), place)| {
            let prepared = histogram.prepare(device).unwrap();
            let mut counts = device.zeroed(prepared.counts_len()).unwrap();
            let (first, second) = x.split_at(place.index(x.len() + 1));
            for half in [first, second] {
                prepared.accumulate_into(&device.upload(half).unwrap(), &mut counts).unwrap();
            }
            prop_assert_eq!(prepared.counts(&counts).unwrap(), prepared.apply(&x).unwrap());
            Ok(())
        },
    )
}

fn channels_are_histograms_of_their_own(device: &Device) -> Result<(), Failed> {
    check(
        device,
        |limit| (integers(limit), 1..6usize, 0..6usize),
        |((histogram, x), channels, counted)| {
            let x = &x[..x.len() / channels * channels];
            let counted = counted.clamp(1, channels);
            let together = apply(device, &histogram.clone().channels(channels).count(counted), x);
            prop_assert_eq!(together.channels().len(), counted);
            for c in 0..counted {
                let alone: Vec<i32> = x.iter().copied().skip(c).step_by(channels).collect();
                let alone = apply(device, &histogram, &alone);
                prop_assert_eq!(together.channel(c), alone.channel(0));
            }
            prop_assert_eq!(together.channel(counted), None);
            Ok(())
        },
    )
}

/// Returns the counts with bins added in pairs.
#[track_caller]
fn in_pairs<T: Number>(fine: &Counts<T>) -> Vec<u64> {
    let fine = fine.channel(0).unwrap();
    let pairs = fine.bins.chunks_exact(2).map(|pair| pair[0] + pair[1]);
    pairs.chain([fine.below, fine.above, fine.nan]).collect()
}

fn finer_bins_of_integers(device: &Device) -> Result<(), Failed> {
    check(
        device,
        |limit| (1..300usize, any::<u16>(), any::<u16>(), vec(any::<u16>(), 0..limit)),
        |(bins, a, b, x)| {
            prop_assume!(a != b);
            let [coarse, fine] =
                [bins, 2 * bins].map(|bins| apply(device, &Histogram::even(bins, a.min(b)..a.max(b)), &x));
            prop_assert_eq!(flat(&coarse), in_pairs(&fine));
            Ok(())
        },
    )
}

/// With twice as many bins, every second border is the same, despite the rounding.
fn finer_bins_of_floats(device: &Device) -> Result<(), Failed> {
    check(
        device,
        |limit| (1..300usize, ends(f32::from_bits), floats(limit)),
        |(bins, range, x)| {
            let [coarse, fine] =
                [bins, 2 * bins].map(|bins| apply(device, &Histogram::even(bins, range.clone()).closed(), &x));
            prop_assert_eq!(coarse.edges(), fine.edges().iter().copied().step_by(2).collect::<Vec<_>>());
            prop_assert_eq!(flat(&coarse), in_pairs(&fine));
            Ok(())
        },
    )
}

/// Returns ranges between finite floats with arbitrary bits, and ordinary ones.
fn ends<B: Arbitrary, T: Number>(from_bits: fn(B) -> T) -> impl Strategy<Value = Range<T>> {
    let any = (any::<B>(), any::<B>()).prop_map(move |(a, b)| (from_bits(a), from_bits(b)));
    let ordinary = (-4.0..4.0, -4.0..4.0).prop_map(|(a, b)| (T::nearest(a), T::nearest(b)));
    prop_oneof![any, ordinary].prop_filter_map("a range", |(a, b)| {
        let is_finite = a.into().is_finite() && b.into().is_finite();
        (is_finite && a != b).then(|| if a < b { a..b } else { b..a })
    })
}

/// Compares with the definition at all borders, next to them and at the ends.
fn borders_of_any_range(device: &Device) -> Result<(), Failed> {
    borders_of_floats(device, f32::from_bits)?;
    borders_of_floats(device, f64::from_bits)
}

fn borders_of_floats<B: Arbitrary, T: Number<Bound = T>>(device: &Device, from_bits: fn(B) -> T) -> Result<(), Failed> {
    check(
        device,
        |_| (1..40usize, ends(from_bits), any::<bool>()),
        |(bins, range, closed)| {
            let case = Case { closed, ..Case::even(bins, range) };
            let histogram = case.described().prepare(device).unwrap();
            let x: Vec<T> = histogram.edges().iter().flat_map(|edge| edge.neighbours()).collect();
            prop_assert_eq!(flat(&histogram.apply(&x).unwrap()), case.counts(&x));
            Ok(())
        },
    )
}

fn weights_of_one_count(device: &Device) -> Result<(), Failed> {
    check(device, integers, |(histogram, x)| {
        let histogram = histogram.prepare(device).unwrap();
        let sums = histogram.apply_weighted(&x, &vec![1.0f32; x.len()]).unwrap().sums;
        let counts: Vec<f64> = flat(&histogram.apply(&x).unwrap()).iter().map(|count| *count as f64).collect();
        prop_assert_eq!(flat(&sums), counts);
        Ok(())
    })
}

/// Compares the results of different numbers of threads, with more work than one thread's share.
fn any_number_of_threads_gives_the_same() -> Result<(), Failed> {
    let case = Case::even(100, -1.0f32..2.0);
    let x = case.samples(500_009, &mut crate::common::Random::new(1));
    let in_pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let histogram = case.histogram.prepare(&Device::cpu()).unwrap();
            let weights: Vec<f64> = (0..x.len()).map(|i| (i as f64).sin() * 2f64.powi(i as i32 % 200 - 100)).collect();
            (histogram.apply(&x).unwrap(), histogram.apply_weighted(&x, &weights).unwrap())
        })
    };
    let one = in_pool(1);
    if in_pool(2) == one && in_pool(7) == one { Ok(()) } else { Err("the counts differ".into()) }
}
