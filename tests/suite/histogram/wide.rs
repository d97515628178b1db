//! Ranges and edges of integers beyond the range of the samples' type, compared with arithmetic in 128 bits.

use super::oracle::{Bins, Case, Number};
use super::{SUITE, by_every_algorithm};
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::{Device, Histogram, HistogramBound};
use std::ops::Range;

/// The numbers of bins of each range.
const BINS: [usize; 4] = [1, 3, 16, 200];

pub(super) fn trials() -> Vec<Trial> {
    let trials = [
        on_every_backend(SUITE, "u8::wide", check::<u8>),
        on_every_backend(SUITE, "u16::wide", check::<u16>),
        on_every_backend(SUITE, "u32::wide", check::<u32>),
        on_every_backend(SUITE, "i32::wide", check::<i32>),
        on_every_backend(SUITE, "u8::all_bytes_in_sixteens", sixteens),
    ];
    trials.into_iter().flatten().collect()
}

/// Checks OpenCV's convention: the upper bound exceeds all samples, and no bin is closed.
fn sixteens(device: &Device) -> Result<(), Failed> {
    let all: Vec<u8> = (0..=255).collect();
    let counts = Histogram::even(16, 0..256).prepare(device)?.apply(&all)?;
    let outside = (counts.below()?, counts.above()?, counts.nan()?);
    if (counts.bins()?, outside) == (&[16; 16][..], (0, 0, 0)) { Ok(()) } else { Err(format!("{counts:?}").into()) }
}

/// Returns an integer as `i128`.
fn whole<T: Number>(number: T) -> i128 {
    number.into() as i128
}

fn ends<T: Number>() -> Range<i64> {
    // The first two special numbers are the ends.
    whole(T::SPECIAL[0]) as i64..whole(T::SPECIAL[1]) as i64
}

fn check<T: Number>(device: &Device) -> Result<(), Failed>
where
    i64: HistogramBound<T>,
{
    for (number, (bins, range)) in ranges::<T>().into_iter().enumerate() {
        for closed in closings(device, number / BINS.len(), number % BINS.len()) {
            let definition = |x: T| even(whole(x), bins, [range.start, range.end].map(i128::from), closed);
            let histogram = Histogram::even(bins, range.clone());
            check_one(device, number, histogram, bins, closed, &range_borders(&range, bins), definition)
                .map_err(|error| format!("{bins} bins in {range:?}, closed: {closed}: {error}"))?;
        }
    }
    for (number, edges) in edges::<T>().into_iter().enumerate() {
        for closed in [false, true] {
            let definition = |x: T| between(whole(x), &edges, closed);
            let histogram = Histogram::edges(&edges);
            check_one(device, number, histogram, edges.len() - 1, closed, &edges, definition)
                .map_err(|error| format!("{edges:?}, closed: {closed}: {error}"))?;
        }
    }
    Ok(())
}

/// Returns whether the last bin is closed, in the tests of a range with a number of bins: both. On emulated devices, which are
/// slow, each range has two of the four numbers of bins, one of them with a closed bin.
fn closings(device: &Device, range: usize, bins: usize) -> Vec<bool> {
    match (range + bins) % 2 {
        _ if !is_slow(device) => vec![false, true],
        0 => vec![(range / 2 + bins / 2) % 2 == 1],
        _ => Vec::new(),
    }
}

/// Returns ranges inside, across and outside the ends of a type, with few bins and with more bins than numbers. No number of
/// bins is too large for an algorithm.
fn ranges<T: Number>() -> Vec<(usize, Range<i64>)> {
    let Range { start: minimum, end: maximum } = ends::<T>();
    let (above, width) = (maximum + 1, maximum - minimum + 1);
    let ranges = [
        minimum..above,
        minimum..above + 44,
        minimum - 3..above,
        minimum - 1000..minimum + 50,
        minimum - 7..minimum + 1,
        minimum - 7..minimum,
        minimum - 9..minimum - 2,
        maximum - 9..maximum,
        maximum - 9..above,
        maximum..above + 5,
        above..above + 5,
        above + 5..above + 100,
        minimum - width..above + 2 * width,
        i64::MIN..i64::MAX,
        i64::MIN..minimum + 5,
        maximum - 5..i64::MAX,
        minimum + 3..minimum + 77,
    ];
    ranges.into_iter().flat_map(|range| BINS.map(|bins| (bins, range.clone()))).collect()
}

/// Returns edges of which the first, the last or both are outside the type.
fn edges<T: Number>() -> Vec<Vec<i64>> {
    let Range { start: minimum, end: maximum } = ends::<T>();
    vec![
        vec![minimum, minimum + 16, maximum + 1],
        vec![minimum - 1, minimum + 16, minimum + 17, maximum + 300],
        vec![minimum - 1, minimum, minimum + 5],
        vec![minimum + 3, maximum, maximum + 1],
        vec![minimum - 9, minimum],
        vec![minimum - 9, minimum - 1],
        vec![maximum, maximum + 1],
        vec![maximum + 1, maximum + 9],
        vec![i64::MIN, minimum + 100, i64::MAX],
    ]
}

/// Returns the cell of a number by the formula.
fn even(x: i128, bins: usize, [lower, upper]: [i128; 2], closed: bool) -> usize {
    if x > upper || (x == upper && !closed) {
        bins + 1
    } else if x < lower {
        bins
    } else {
        (((x - lower) * bins as i128 / (upper - lower)) as usize).min(bins - 1)
    }
}

fn between(x: i128, edges: &[i64], closed: bool) -> usize {
    let (bins, upper) = (edges.len() - 1, i128::from(edges[edges.len() - 1]));
    match edges.iter().filter(|edge| i128::from(**edge) <= x).count() {
        _ if x == upper && closed => bins - 1,
        0 => bins,
        behind if behind > bins => bins + 1,
        behind => behind - 1,
    }
}

/// Returns integers near the borders.
fn range_borders(range: &Range<i64>, bins: usize) -> Vec<i64> {
    let [lower, upper] = [range.start, range.end].map(i128::from);
    (0..=bins as i128).map(|k| (lower + k * (upper - lower) / bins as i128) as i64).collect()
}

/// Counts numbers next to borders, at the ends of the type and anywhere.
fn check_one<T: Number>(
    device: &Device,
    number: usize,
    histogram: Histogram<T>,
    bins: usize,
    closed: bool,
    borders: &[i64],
    definition: impl Fn(T) -> usize,
) -> Result<(), String> {
    let mut random = Random::new(number as u64);
    let Range { start: minimum, end: maximum } = ends::<T>();
    let near = |border: i64| T::nearest(border.clamp(minimum, maximum) as f64).neighbours();
    let count = if is_slow(device) { 60 } else { 2000 };
    let mut samples: Vec<T> = [minimum, maximum].into_iter().flat_map(near).collect();
    samples.extend((0..count / 4).flat_map(|_| near(borders[random.below(borders.len())])));
    samples.extend((0..count / 4).map(|_| T::nearest(minimum as f64 + random.unit() * (maximum - minimum) as f64)));
    let (channels, counted) = [(1, 1), (3, 2)][number % 2];
    samples.truncate(samples.len() / channels * channels);

    let case = Case { closed, channels, counted, ..Case::new(histogram, Bins::Numbers(bins)) };
    let mut expected = vec![0; counted * (bins + 3)];
    for (i, &x) in samples.iter().enumerate().filter(|(i, _)| i % channels < counted) {
        expected[i % channels * (bins + 3) + definition(x)] += 1;
    }
    by_every_algorithm(device, &case, &samples, &expected)?;
    let weights = vec![0.5f32; samples.len()];
    let sums = case.described().prepare(device).and_then(|histogram| histogram.apply_weighted(&samples, &weights));
    let sums = super::flat(&sums.map_err(|error| error.to_string())?.sums);
    match expected.iter().zip(sums).position(|(count, sum)| *count as f64 / 2.0 != sum) {
        None => Ok(()),
        Some(k) => Err(format!("sum {k}, of {} weights of a half", expected[k])),
    }
}
