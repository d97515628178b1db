//! The borders of bins of equal width between floats, where every bit matters, compared with exact long integers.

use super::oracle::{Case, Number};
use super::{SUITE, by_every_algorithm, weigh, weights};
use crate::common::{Random, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::Device;

/// The maximum number of samples on an emulated device, which is slow.
const FEW: usize = 400;

/// The tested numbers on each side of a border.
const WINDOW: usize = 40;

pub(super) fn trials() -> Vec<Trial> {
    let tenths: Vec<f32> = (0..10).map(|k| k as f32 / 10.0).collect();
    let trials = [
        of_samples("just_below_zero", Case::even(2, -1.0f32..1.0), vec![-1e-20, -0.0, 0.0], &[1, 2, 0, 0, 0]),
        of_samples("tenths", Case::even(10, 0.0..1.0), tenths, &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0]),
        of_ranges("f32", ranges_of_f32()),
        of_ranges("f64", ranges_of_f64()),
        on_every_backend(SUITE, "borders::few_numbers_in_many_bins", few_numbers_in_many_bins).into(),
        vec![Trial::test("histogram::emulated::borders::which_are_computed", which_are_computed)],
    ];
    trials.into_iter().flatten().collect()
}

fn of_samples(name: &str, case: Case<f32>, samples: Vec<f32>, expected: &'static [u64]) -> Vec<Trial> {
    let name = format!("borders::{name}");
    on_every_backend(SUITE, &name, move |device| Ok(by_every_algorithm(device, &case, &samples, expected)?)).into()
}

/// Returns ranges with ends of all magnitudes: exact, decimal and irregular ones, with borders at zero and next to it.
fn ordinary<T: Number>() -> Vec<Case<T>> {
    let n = T::nearest;
    vec![
        Case::even(2, n(-1.0)..n(1.0)),
        Case::even(10, n(-1.0)..n(1.0)),
        Case::even(3, n(-0.1)..n(0.2)),
        Case::even(10, n(0.0)..n(1.0)),
        Case::even(255, n(0.0)..n(1.0)),
        Case::even(256, n(0.0)..n(256.0)),
        Case::even(6, n(0.1)..n(0.7)),
        Case::even(12, n(-0.7)..n(-0.1)),
        Case::even(100, n(-0.3)..n(0.3)),
        Case::even(1000, n(0.001)..n(1e6)),
        Case::even(17, n(-1e6)..n(1e-6)),
        Case::even(64, n(1e5)..n(1e5 + 1.0)),
        Case::even(7, n(-1e30)..n(1.000_1e30)),
        Case::even(4, n(0.0)..n(1.0).neighbours()[2]),
        Case::even(3, n(1e-30)..n(3e-30)),
    ]
}

/// Returns ranges whose borders are multiples of a power of two, with zero below, inside and above them.
fn multiples<T: Number>() -> Vec<Case<T>> {
    let n = T::nearest;
    vec![
        Case::even(1, n(0.0)..n(1.0)),
        Case::even(2, n(-1.0)..n(1.0)),
        Case::even(3, n(-1.5)..n(0.0)),
        Case::even(256, n(0.0)..n(1.0)),
        Case::even(256, n(0.0)..n(256.0)),
        Case::even(10, n(-40960.0)..n(0.0)),
        Case::even(100, n(-51200.0)..n(51200.0)),
        Case::even(7, n(3.0)..n(4.75)),
        Case::even(96, n(1e6)..n(1e6 + 24.0)),
    ]
}

/// Returns ranges that are hard to compute with: with more bins than numbers, at the ends of the type, of its smallest
/// numbers, and with a border next to the middle between two floats.
fn extreme<T: Number>(maximum: T, minimum: T) -> Vec<Case<T>> {
    let n = T::nearest;
    let smallest = n(0.0).neighbours()[2];
    vec![
        Case::even(1000, n(1.0)..n(1.0).neighbours()[2].neighbours()[2]),
        Case::even(4, n(1e-30)..n(1.0).neighbours()[2]),
        Case::even(9, maximum.neighbours()[0]..maximum),
        Case::even(10, minimum..minimum.neighbours()[2]),
        Case::even(2, n(0.0)..smallest),
        Case::even(7, n(0.0)..smallest),
        Case::even(5, smallest.neighbours()[2]..n(smallest.into() * 900.0)),
    ]
}

fn ranges_of_f32() -> Vec<Case<f32>> {
    let wide = [Case::even(1, f32::MIN..f32::MAX), Case::even(999, f32::MIN..f32::MAX)];
    let small = [Case::even(3, -1e-45..1e-45), Case::even(77, -1e-38..1e-38), Case::even(100, -1e-41..3e-42)];
    [ordinary(), multiples(), wide.into(), small.into(), extreme(f32::MAX, f32::MIN)].concat()
}

fn ranges_of_f64() -> Vec<Case<f64>> {
    let wide = [
        Case::even(1, f64::MIN..f64::MAX),
        Case::even(2, f64::MIN..f64::MAX),
        Case::even(999, f64::MIN..f64::MAX),
        Case::even(10, f64::MIN / 2.0..f64::MAX / 2.0),
        Case::even(10, -1.0..f64::MAX),
    ];
    let small = [Case::even(3, -5e-324..5e-324), Case::even(77, -1e-308..1e-308), Case::even(100, 0.0..1e-307)];
    [ordinary(), multiples(), wide.into(), small.into(), extreme(f64::MAX, f64::MIN)].concat()
}

fn of_ranges<T: Number<Bound = T>>(kind: &str, cases: Vec<Case<T>>) -> Vec<Trial> {
    let trial = |(number, case): (usize, Case<T>)| {
        on_every_backend(SUITE, &format!("borders::{kind}::{number}"), move |device| {
            [false, true].into_iter().try_for_each(|closed| check(device, &Case { closed, ..case.clone() }))
        })
    };
    cases.into_iter().enumerate().flat_map(trial).collect()
}

fn check<T: Number<Bound = T>>(device: &Device, case: &Case<T>) -> Result<(), Failed> {
    let edges = case.described().prepare(device)?.edges().to_vec();
    borders_are_the_nearest(case, &edges)?;
    let samples = windows(&edges);
    let step = if is_slow(device) { samples.len().div_ceil(FEW) } else { 1 };
    // The phase changes with each step, so that different windows omit different numbers.
    let samples: Vec<T> =
        samples.into_iter().enumerate().filter(|(i, _)| (i + i / step) % step == 0).map(|(_, x)| x).collect();
    let counted = case.counted(&samples);
    let weights = weights(samples.len(), &mut Random::new(samples.len() as u64));
    by_every_algorithm(device, case, &samples, &counted.counts())
        .and_then(|()| weigh(device, case, &samples, &weights, &counted))
        .map_err(|error| format!("{case:?}: {error}"))?;
    in_ascending_bins(device, case, samples)
}

/// Checks that each border belongs to its bin, and that the next smaller number does not.
fn borders_are_the_nearest<T: Number>(case: &Case<T>, edges: &[T]) -> Result<(), Failed> {
    let (bins, range) = case.even_bins().expect("all cases here have bins of equal width");
    let is_border = |k: usize| {
        let [before, border, _] = edges[k].neighbours();
        border.reaches_border(k, bins, range) && !(before >= range.start && before.reaches_border(k, bins, range))
    };
    let wrong = (1..bins).find(|&k| !is_border(k));
    match (wrong, edges.len() == bins + 1 && edges[0] == range.start && edges[bins] == range.end) {
        (None, true) => Ok(()),
        (None, false) => Err(format!("{case:?}: {} borders from {} to {}", edges.len(), edges[0], edges[bins]).into()),
        (Some(k), _) => Err(format!("{case:?}: border {k} is {}", edges[k]).into()),
    }
}

/// Returns all numbers in windows around all borders.
fn windows<T: Number>(edges: &[T]) -> Vec<T> {
    let mut samples = Vec::new();
    for &edge in edges {
        let (mut before, mut after) = (edge, edge);
        samples.push(edge);
        for _ in 0..WINDOW {
            (before, after) = (before.neighbours()[0], after.neighbours()[2]);
            samples.extend([before, after]);
        }
    }
    samples
}

/// Checks that the bins of ascending samples never descend. Each sample has a channel of its own, which shows its bin.
fn in_ascending_bins<T: Number>(device: &Device, case: &Case<T>, mut samples: Vec<T>) -> Result<(), Failed> {
    samples.truncate(FEW);
    samples.sort_by(|a, b| a.partial_cmp(b).expect("no sample is NaN"));
    let counts = case.described().channels(samples.len()).count(samples.len()).prepare(device)?.apply(&samples)?;
    let bins = counts.channels().map(|channel| match channel.bins.iter().position(|&count| count == 1) {
        Some(bin) => bin as isize,
        None if channel.below == 1 => -1,
        None => channel.bins.len() as isize,
    });
    if bins.is_sorted() { Ok(()) } else { Err(format!("{case:?}: bins descend").into()) }
}

/// Checks a thousand bins between two adjacent floats.
fn few_numbers_in_many_bins(device: &Device) -> Result<(), Failed> {
    let next = 1.0f32.next_up();
    let histogram = slm::Histogram::even(1000, 1.0..next).closed().prepare(device)?;
    let counts = histogram.apply(&[1.0, next, 1.0, 1.0f32.next_down(), next.next_up()])?;
    // Border 500 is in the middle and is rounded to the even one of the two floats, 1.
    let (bins, outside) = (counts.bins()?, (counts.below()?, counts.above()?));
    if (bins[500], bins[999], outside) == (2, 1, (1, 1)) && counts.edges()[500..502] == [1.0, next] {
        return Ok(());
    }
    Err(format!("{counts:?}").into())
}

/// Checks which kernel counts a range: `even` needs no borders and is for multiples of powers of two, `rounded` computes the
/// bins of other ordinary ranges, and `edges` searches a table of borders.
fn which_are_computed() -> Result<(), Failed> {
    fn by<T: Number>(kernels: &[&str], cases: &[Case<T>]) -> Result<(), Failed> {
        for case in cases {
            let emulated = Device::emulated(slm::emulator::Profile::SM_90, 0);
            let kernel = case.described().prepare(&emulated)?.plan([1000])?.kernels().join(", ");
            if !kernels.iter().any(|kernel_of| kernel.contains(&format!("_{kernel_of}_"))) {
                return Err(format!("{case:?}: {kernel}, not {kernels:?}").into());
            }
        }
        Ok(())
    }
    by::<f32>(&["even"], &multiples())?;
    by::<f64>(&["even"], &multiples())?;
    by(&["even"], &[Case::even(1 << 22, 0.0f32..1.0), Case::even(2, -f32::MIN_POSITIVE..f32::MIN_POSITIVE)])?;
    by(&["even"], &[Case::even(1 << 24, 0.0f64..1.0)])?;
    by::<f32>(&["even", "rounded"], &ordinary())?;
    by::<f64>(&["even", "rounded"], &ordinary())?;
    by(&["rounded"], &[Case::even(256, -3.7f32..4.1), Case::even(255, 0.0..1.0), Case::even(4096, 0.1..0.7)])?;
    by(
        &["rounded"],
        &[Case::even(65_536, -3.7f32..4.1), Case::even(77_777, -3.0..0.1), Case::even(1 << 24, 0.0..1.0)],
    )?;
    by(&["rounded"], &[Case::even(1 << 24, 0.1f64..1.0), Case::even(65_536, -3.7..4.1)])?;
    by(&["edges"], &[Case::even(999, f64::MIN..f64::MAX), Case::even(1000, 1.0..1.0f64.next_up())])
}
