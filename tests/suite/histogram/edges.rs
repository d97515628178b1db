//! Edges at distances of all kinds, for the guides with which GPUs search them: equal distances, growing ones, crowds, wide outer bins,
//! and edges without a number between them. The samples are the edges, their neighbours and others.

use super::oracle::{Case, Number};
use super::{SUITE, count};
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::Device;
use slm::histogram::{HistogramAlgorithm, MemoryOrder};

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
    ];
    trials.into_iter().flatten().collect()
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
    let size = if is_slow(device) { FEW } else { SAMPLES };
    for closed in [false, true] {
        let case = Case { closed, ..Case::edges(edges) };
        let near = edges.iter().take(size).flat_map(|edge| edge.neighbours());
        let samples: Vec<T> = near.chain(case.samples(size, &mut Random::new(7))).collect();
        let expected = case.counted(&samples).counts();
        for algorithm in ALGORITHMS {
            count(device, &case, algorithm, &samples, &expected)
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

/// Returns shapes of floats up to `most`, of which the smallest is a power of two.
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
