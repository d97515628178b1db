//! Bounds of type `f64` for samples of type `f32`, compared as the numbers that they are.

use slm::emulator::Profile;
use slm::histogram::HistogramError;
use slm::{Device, Error, Histogram};

/// Numbers that `f32` represents, and others between, near and beyond them.
fn bounds() -> Vec<f64> {
    let [tiny, most] = [f64::from(f32::from_bits(1)), f64::from(f32::MAX)];
    let mut bounds =
        vec![f64::NEG_INFINITY, -1e300, -most, -1.5, -0.7, -0.1, -tiny, -tiny / 3.0, 0.0, tiny / 3.0, tiny];
    bounds.extend([0.1, f64::from(0.1f32), 0.5, f64::from(0.7f32), 0.7, 1.0, 1.0 + f64::EPSILON, 1e30, most, 1e300]);
    bounds.push(f64::INFINITY);
    bounds
}

/// Each bound of a magnitude as `f32`, its neighbours, and what is no number.
fn samples() -> Vec<f32> {
    let near = |bound: f64| [(bound as f32).next_down(), bound as f32, (bound as f32).next_up()];
    bounds().into_iter().flat_map(near).chain([f32::NAN, -0.0]).collect()
}

/// The counts below, in each bin and above, by comparisons of exact numbers.
fn counts(edges: &[f64], samples: &[f32], closed: bool) -> Vec<u64> {
    let mut counts = vec![0; edges.len() + 1];
    for x in samples.iter().filter(|x| !x.is_nan()).map(|&x| f64::from(x)) {
        let reached = edges.iter().filter(|&&edge| edge <= x).count();
        let is_last = closed && x == edges[edges.len() - 1];
        counts[reached - usize::from(is_last)] += 1;
    }
    counts
}

fn devices() -> [Device; 2] {
    [Device::cpu(), Device::emulated(Profile::SM_90, 0)]
}

/// Checks the histogram between edges, and that it has the bins that the samples tell apart.
fn check(edges: &[f64], closed: bool) {
    let samples = samples();
    let histogram = if closed { Histogram::edges(edges).closed() } else { Histogram::edges(edges) };
    let expected = counts(edges, &samples, closed);
    for device in devices() {
        let prepared = histogram.clone().single_precision().prepare(&device).unwrap();
        let actual = prepared.apply(&samples).unwrap();
        let mut cells = vec![actual.below().unwrap()];
        cells.extend(actual.bins().unwrap());
        cells.push(actual.above().unwrap());
        assert_eq!(cells, expected, "{edges:?}, {closed}");
    }
}

#[test]
fn samples_are_compared_with_exact_edges() {
    let bounds = bounds();
    for closed in [false, true] {
        for (number, &first) in bounds.iter().enumerate() {
            for &last in &bounds[number + 1..] {
                // Those between which there is no `f32` are refused.
                if rounded_up(first) < rounded_up(last) {
                    check(&[first, last], closed);
                }
            }
        }
        check(&[-1e300, -0.7, -0.1, 0.0, 0.1, 0.7, 1.0 + f64::EPSILON, 1e300], closed);
    }
}

/// The smallest `f32` that is not less, by search.
fn rounded_up(bound: f64) -> f32 {
    let near = [bound as f32, (bound as f32).next_up(), (bound as f32).next_down()];
    let reaches = near.into_iter().filter(|&x| f64::from(x) >= bound);
    reaches.min_by(f32::total_cmp).expect("infinity is not less")
}

#[test]
fn even_bins_have_the_ends_that_are_not_less() {
    for device in devices() {
        let even = Histogram::even(4, -0.1..0.7).single_precision().prepare(&device).unwrap();
        let same = Histogram::even(4, rounded_up(-0.1)..rounded_up(0.7)).prepare(&device).unwrap();
        assert_eq!(even.edges(), same.edges());
        // 0.7 as `f32` is less than 0.7, and -0.1 as `f32` as well.
        let counts = even.apply(&[-0.1, 0.7]).unwrap();
        assert_eq!((counts.below(), counts.bins().map(|bins| bins[3]), counts.above()), (Ok(1), Ok(1), Ok(0)));
    }
}

#[test]
fn closed_ends() {
    let device = Device::cpu();
    let of = |histogram: Histogram<f32>, x: f32| histogram.prepare(&device).unwrap().apply(&[x]).unwrap().above();
    let (exact, between) = (Histogram::even(2, 0.0..0.5), Histogram::even(2, 0.0..0.7));
    let end = 0.7f32.next_up();
    assert_eq!(of(exact.clone().closed().single_precision(), 0.5), Ok(0));
    assert_eq!(of(exact.single_precision(), 0.5), Ok(1));
    // Before the call, the end is 0.7, and afterwards it is the next `f32`.
    assert_eq!(of(between.clone().closed().single_precision(), end), Ok(1));
    assert_eq!(of(between.single_precision().closed(), end), Ok(0));
}

#[test]
fn other_settings_are_kept() {
    let colours = Histogram::even(2, 0.0..1.0).channels(3).count(2).single_precision().prepare(&Device::cpu()).unwrap();
    let counts = colours.apply(&[0.0, 0.9, 0.1, 0.3, 0.7, 0.2]).unwrap();
    assert_eq!([0, 1].map(|c| counts.channel(c).unwrap().bins.to_vec()), [[2, 0], [0, 2]]);
    assert!(counts.channel(2).is_none());
}

#[test]
fn errors() {
    let device = Device::cpu();
    let edge = f64::from(rounded_up(0.1));
    let equal = Histogram::edges(&[0.1, 0.1 + 1e-12, 1.0]).single_precision().prepare(&device).err();
    assert_eq!(equal, Some(HistogramError::EdgeOrder { index: 0, edge, next: edge }.into()));
    let far = Histogram::even(3, 0.0..1e300).single_precision().prepare(&device).err();
    assert_eq!(far, Some(HistogramError::Range { lower: 0.0, upper: f64::INFINITY }.into()));
    let nan = Histogram::even(3, 0.0..f64::NAN).single_precision().prepare(&device).err();
    assert!(matches!(nan, Some(Error::Histogram(HistogramError::Range { upper, .. })) if upper.is_nan()));
    let nan = Histogram::edges(&[0.0, f64::NAN]).closed().single_precision().prepare(&device).err();
    assert!(matches!(nan, Some(Error::Histogram(HistogramError::EdgeOrder { next, .. })) if next.is_nan()));
}
