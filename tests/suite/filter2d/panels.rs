//! Dense weights with the bound that allows transforms, on the CPU: the same outputs as sums within less than this bound.

use super::transforms::gaps_stay;
use crate::common::{Random, ensure, equal};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, Array3, Array4, s};
use slm::filter1d::{Accuracy, ErrorBound};
use slm::filter2d::{Filter2dMethod, PreparedFilter2d};
use slm::{Boundary, Device, Extent, Filter2d, Filter2dAlgorithm, FilterSample, FilterWeight, NanPolicy};

const BOUNDARIES: [Boundary<f32>; 6] =
    [Boundary::Zero, Boundary::Constant(-0.5), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap];
const EXTENTS: [Extent; 3] = [Extent::Same, Extent::Valid, Extent::Full];

/// Rows and columns of weights.
const WEIGHTS: [[usize; 2]; 4] = [[31, 30], [17, 64], [90, 12], [2, 301]];

/// Planes, rows, columns and channels.
const SHAPES: [[usize; 4]; 5] = [[1, 600, 1, 1], [2, 150, 64, 3], [1, 400, 310, 1], [3, 91, 403, 2], [20, 100, 90, 1]];

/// Several groups of panels: the last group has fewer, and the last panel is narrower.
const LARGE: [usize; 4] = [2, 700, 1337, 3];

pub(super) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn(&Device) -> Result<(), Failed>); 10] = [
        ("every_border", every_border),
        ("large", large),
        ("repeated", repeated),
        ("only_samples_of_windows", only_samples_of_windows),
        ("doubles", doubles),
        ("pitched", pitched),
        ("bytes", bytes),
        ("chosen", chosen),
        ("badly_scaled", badly_scaled),
        ("not_finite", not_finite),
    ];
    let trial = |(name, test): (&str, fn(&Device) -> Result<(), Failed>)| {
        Trial::test(format!("filter2d::cpu::panels::{name}"), move || test(&Device::cpu()))
    };
    tests.into_iter().map(trial).collect()
}

fn random(random: &mut Random, [rows, columns]: [usize; 2]) -> Array2<f32> {
    Array2::from_shape_vec((rows, columns), random.values(rows * columns)).expect("a number for each place")
}

/// Returns the filter with the bound that allows transforms, and makes sure that it takes them for pictures of a shape.
fn transformed<S: FilterSample, W: FilterWeight>(
    device: &Device,
    filter: &Filter2d<S, W, S>,
    shape: &[usize],
) -> Result<PreparedFilter2d<S>, Failed> {
    let filter = filter.clone().error_bound(ErrorBound::PerSegment).prepare(device)?;
    let plan = filter.plan(shape)?;
    ensure(matches!(plan.details.method, Filter2dMethod::Panels { .. }), || format!("{plan} for {shape:?}"))?;
    Ok(filter)
}

fn largest_difference<'a>(a: impl IntoIterator<Item = &'a f32>, b: impl IntoIterator<Item = &'a f32>) -> f32 {
    // A NaN among the outputs is the largest of all.
    a.into_iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |most, next| if next > most || next.is_nan() { next } else { most })
}

/// Compares with sums. Returns whether the picture is transformed.
fn compare(device: &Device, number: u64, filter: &Filter2d<f32, f32>, shape: [usize; 4]) -> Result<bool, Failed> {
    let [planes, rows, columns, channels] = shape;
    let samples = Random::new(number).values(shape.iter().product());
    let picture = Array4::from_shape_vec((planes, rows, columns, channels), samples)?;
    let filter = filter.clone().channels(channels);
    let sums = filter.clone().prepare(device)?.apply(&picture)?;
    let total = filter.weights()?.iter().map(|weight| weight.abs()).sum::<f32>();
    let filter = filter.error_bound(ErrorBound::PerSegment).prepare(device)?;
    let plan = filter.plan(shape)?;
    // The second time with the spectrum of the first one.
    for _ in 0..2 {
        let outputs = filter.apply(&picture)?;
        equal(outputs.shape(), sums.shape())?;
        let worst = largest_difference(&outputs, &sums);
        ensure(worst <= 1e-6 * total, || format!("an error of {worst} for {shape:?}\n{plan}"))?;
    }
    Ok(matches!(plan.details.method, Filter2dMethod::Panels { .. }))
}

fn every_border(device: &Device) -> Result<(), Failed> {
    let mut transformed = [0; SHAPES.len()];
    for number in 0..BOUNDARIES.len() * EXTENTS.len() {
        let (boundary, extent) = (BOUNDARIES[number % 6], EXTENTS[number / 6]);
        for (place, &shape) in SHAPES.iter().enumerate() {
            let seed = (number * SHAPES.len() + place) as u64;
            let weights = random(&mut Random::new(seed + 1000), WEIGHTS[(number + place) % WEIGHTS.len()]);
            let filter = Filter2d::correlate(&weights).boundary(boundary).extent(extent);
            transformed[place] += usize::from(compare(device, seed, &filter, shape)?);
        }
    }
    ensure(transformed.iter().all(|&count| count >= 4), || format!("{transformed:?} filters are transformed"))
}

fn large(device: &Device) -> Result<(), Failed> {
    for (number, boundary) in [Boundary::Reflect, Boundary::Zero].into_iter().enumerate() {
        let weights = random(&mut Random::new(47), WEIGHTS[number]);
        let filter = Filter2d::correlate(&weights).boundary(boundary);
        ensure(compare(device, 48, &filter, LARGE)?, || "it is not transformed".into())?;
    }
    Ok(())
}

/// More weights than samples: those that meet the same samples are added up first.
fn repeated(device: &Device) -> Result<(), Failed> {
    let cases = [
        ([41, 120], Boundary::Reflect, [1, 700, 40, 1]),
        ([201, 15], Boundary::Reflect, [1, 90, 500, 1]),
        ([201, 15], Boundary::Wrap, [1, 120, 500, 1]),
    ];
    for (weights, boundary, shape) in cases {
        let filter = Filter2d::correlate(&random(&mut Random::new(49), weights)).boundary(boundary);
        ensure(compare(device, 50, &filter, shape)?, || format!("{weights:?} are not transformed"))?;
    }
    Ok(())
}

/// No window reaches outside.
fn only_samples_of_windows(device: &Device) -> Result<(), Failed> {
    let weights = random(&mut Random::new(51), [33, 34]);
    let filter = Filter2d::correlate(&weights).boundary(Boundary::Constant(f32::NAN)).extent(Extent::Valid);
    // Several panels; the last one is narrower.
    ensure(compare(device, 52, &filter, [1, 500, 1037, 1])?, || "it is not transformed".into())
}

/// Sums of double precision, and weights that are flipped.
fn doubles(device: &Device) -> Result<(), Failed> {
    let numbers = &mut Random::new(41);
    let [weights, picture] = [[30, 35], [300, 200]].map(|shape| random(numbers, shape).mapv(f64::from));
    let filter = Filter2d::<f64, f64>::convolve(&weights).boundary(Boundary::Mirror);
    let sums = filter.clone().prepare(device)?.apply(&picture)?;
    let outputs = transformed(device, &filter, &[300, 200])?.apply(&picture)?;
    let worst = sums.iter().zip(&outputs).map(|(sum, output)| (sum - output).abs()).fold(0.0, f64::max);
    ensure(worst <= 1e-15 * weights.iter().map(|weight| weight.abs()).sum::<f64>(), || format!("an error of {worst}"))
}

fn pitched(device: &Device) -> Result<(), Failed> {
    let weights = random(&mut Random::new(42), [33, 40]);
    let filter = Filter2d::<f32, f32>::correlate(&weights).channels(3).boundary(Boundary::Wrap);
    gaps_stay(device, &transformed(device, &filter, &[2, 200, 130, 3])?, [200, 130])
}

/// Outputs of integers differ from those of sums by one in few places.
fn bytes(device: &Device) -> Result<(), Failed> {
    let weights = random(&mut Random::new(43), [40, 40]).mapv(|weight| weight.abs() / 800.0);
    let filter = Filter2d::<u8, f32>::correlate(&weights).channels(3).boundary(Boundary::Nearest);
    let picture = Array3::from_shape_vec((200, 300, 3), Random::new(44).values::<u8>(200 * 300 * 3))?;
    let sums = filter.clone().prepare(device)?.apply(&picture)?;
    let outputs = transformed(device, &filter, &[200, 300, 3])?.apply(&picture)?;
    let differences = sums.iter().zip(&outputs).filter(|(sum, output)| sum != output).count();
    ensure(sums.iter().zip(&outputs).all(|(sum, output)| sum.abs_diff(*output) <= 1), || "a difference of 2".into())?;
    ensure(1000 * differences <= outputs.len(), || format!("{differences} of {} outputs differ", outputs.len()))
}

/// Which filters are transformed, and what their plans say.
fn chosen(device: &Device) -> Result<(), Failed> {
    let shape = [1000, 1200];
    let dense = |shape| Filter2d::<f32, f32>::correlate(&random(&mut Random::new(45), shape));
    let filter = transformed(device, &dense([31, 31]), &shape)?;
    let plan = filter.plan(shape)?;
    let Filter2dMethod::Panels { points } = plan.details.method else { return Err(format!("{plan}").into()) };
    let roundings = 32.0 * (points as f64).log2();
    equal(plan.details.accuracy, Accuracy::PerSegment(roundings * 2f64.powi(-24)))?;
    ensure(plan.details.operations < 1000 * 1200 * 31 * 31 * 2 / 4, || format!("{plan}"))?;
    let text = format!("method     panels with their rows joined, by transforms of {points} points");
    ensure(plan.to_string().contains(&text) && plan.reason.contains("transforms"), || format!("{plan}"))?;

    let method = |filter: Filter2d<f32, f32>, shape: [usize; 2]| -> slm::Result<Filter2dMethod> {
        Ok(filter.error_bound(ErrorBound::PerSegment).prepare(device)?.plan(shape)?.details.method)
    };
    let products = [
        (dense([5, 5]), shape),
        (dense([31, 31]), [9, 9]),
        (dense([31, 31]), [0, 1200]),
        (dense([31, 31]).stride(2, 1), shape),
        (dense([31, 31]).dilation(1, 2), shape),
        (dense([31, 31]).nan_policy(NanPolicy::Renormalise), shape),
        (dense([31, 31]).algorithm(Filter2dAlgorithm::SharedTile), shape),
        // The spectrum of so many taps would take too much memory.
        (dense([2000, 2000]), [2500, 2500]),
    ];
    for (number, (filter, shape)) in products.into_iter().enumerate() {
        ensure(method(filter, shape)? == Filter2dMethod::Products, || format!("case {number}"))?;
    }
    let plain = dense([31, 31]).prepare(device)?.plan(shape)?;
    equal(plain.details.method, Filter2dMethod::Products)?;
    let exact =
        Filter2d::<u8, i32>::correlate(&Array2::from_shape_fn((31, 31), |(row, column)| (row * column) as i32 % 5));
    let exact = exact.error_bound(ErrorBound::PerSegment).prepare(device)?.plan(shape)?;
    equal(exact.details.accuracy, Accuracy::Exact)
}

/// A picture of several segments with one large sample, or one that is no number.
struct Tall {
    picture: Array2<f32>,
    weights: Array2<f32>,
    filter: PreparedFilter2d<f32>,
    /// The first row from which on no output is transformed together with one that depends on the sample.
    far: usize,
}

impl Tall {
    const PLACE: [usize; 2] = [40, 20];

    fn new(device: &Device) -> Result<Self, Failed> {
        let (numbers, shape) = (&mut Random::new(46), [9000, 60]);
        let [weights, picture] = [[33, 33], shape].map(|shape| random(numbers, shape));
        let filter = transformed(device, &Filter2d::correlate(&weights), &shape)?;
        let Filter2dMethod::Panels { points } = filter.plan(shape)?.details.method else {
            unreachable!("it is transformed")
        };
        // A row of a panel has more than 60 samples.
        let far = 100 + points / 60;
        ensure(far < 6000, || format!("{points} points are too many for this picture"))?;
        Ok(Tall { picture, weights, filter, far })
    }

    /// Returns the outputs with another sample.
    fn with(&self, sample: f32) -> slm::Result<(Array2<f32>, Array2<f32>)> {
        let mut picture = self.picture.clone();
        picture[Self::PLACE] = sample;
        Ok((self.filter.apply(&picture)?, picture))
    }
}

/// An impulse of 10^6 beside noise: errors are relative to the norm of what is transformed together, which far away is that of noise.
fn badly_scaled(device: &Device) -> Result<(), Failed> {
    let tall = Tall::new(device)?;
    let (outputs, picture) = tall.with(1e6)?;
    let exact = Filter2d::<f64, f64>::correlate(&tall.weights.mapv(f64::from)).prepare(device)?;
    let exact = exact.apply(&picture.mapv(f64::from))?;
    let norm =
        |numbers: &mut dyn Iterator<Item = &f32>| numbers.map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let tolerance = |picture: &mut dyn Iterator<Item = &f32>| {
        12.0 * f64::from(f32::EPSILON) / 2.0 * norm(picture) * norm(&mut tall.weights.iter())
    };
    let allowed = [tolerance(&mut picture.iter()), tolerance(&mut tall.picture.iter())];
    for ((place, output), exact) in outputs.indexed_iter().zip(&exact) {
        let allowed = allowed[usize::from(place.0 >= tall.far)];
        let error = (f64::from(*output) - exact).abs();
        ensure(error <= allowed, || format!("{output} at {place:?} instead of {exact} within {allowed:e}"))?;
    }
    Ok(())
}

/// A NaN or an infinity reaches the outputs of its window at least, and no rows far away.
fn not_finite(device: &Device) -> Result<(), Failed> {
    let tall = Tall::new(device)?;
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let (outputs, _) = tall.with(bad)?;
        let (window, rest) = (outputs.slice(s![24..=56, 4..=36]), outputs.slice(s![tall.far.., ..]));
        ensure(window.iter().all(|output| !output.is_finite()), || format!("{bad} does not reach its window"))?;
        ensure(rest.iter().all(|output| output.is_finite()), || format!("{bad} reaches rows far away"))?;
    }
    Ok(())
}
