//! Weights that are longer than the picture: those that meet the same samples are added up first.

use super::cases::{EXTENTS, boundaries, plain, resized};
use super::missing::types;
use super::oracle::{Case, Direction, Weights};
use super::types::Types;
use super::{SUITE, check};
use crate::common::numbers::bits;
use crate::common::{Random, ensure, equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, array};
use slm::{Backend, Boundary, Device, Error, Extent, Filter1d, Filter2d, Filter2dAlgorithm};

/// Types with each type of sums.
const TYPES: [&str; 5] = ["u8_i32_i16", "i32_i32_i32", "u8_f32_u8", "f32_f32_f32", "f64_f64_f64"];

type Test = fn(&Device) -> Result<(), Failed>;

pub(super) fn trials() -> Vec<Trial> {
    let of_types = TYPES.map(types).into_iter().flat_map(|types| {
        let name = format!("folded::{}::every_border", types.name);
        on_every_backend(SUITE, &name, move |device| every_border(device, types))
    });
    let tests: [(&str, Test); 11] = [
        ("missing", missing),
        ("wide_gaussians", wide_gaussians),
        ("wide_boxes", wide_boxes),
        ("sizes_by_turns", sizes_by_turns),
        ("weights_whose_sum_overflows", weights_whose_sum_overflows),
        ("infinities", infinities),
        ("lines", lines),
        ("dense_products", dense_products),
        ("largest_boxes", largest_boxes),
        ("boxes_in_two_passes", boxes_in_two_passes),
        ("plans_of_huge_pictures", plans_of_huge_pictures),
    ];
    let tests = tests.into_iter().flat_map(|(name, test)| on_every_backend(SUITE, &format!("folded::{name}"), test));
    let cpu = Trial::test("filter2d::cpu::folded::two_lines_have_the_same_bits", two_lines_have_the_same_bits);
    of_types.chain(tests).chain([cpu]).collect()
}

/// Shapes of pictures and of weights: folded along both axes, along one, or not at all.
const SIZES: [([usize; 2], [usize; 2]); 7] = [
    ([1, 1], [66, 71]),
    ([2, 3], [66, 5]),
    ([3, 2], [4, 130]),
    ([1, 9], [1, 200]),
    ([9, 1], [200, 1]),
    ([5, 7], [65, 6]),
    ([40, 10], [70, 3]),
];

fn every_border(device: &Device, types: &Types) -> Result<(), Failed> {
    // Each type begins with another border.
    let every = if is_slow(device) { 19 } else { 5 };
    for number in (types.name.len() % every..SIZES.len() * 18).step_by(every) {
        let (shape, size) = SIZES[number % SIZES.len()];
        let random = &mut Random::new(number as u64);
        let mut case = Case {
            boundary: boundaries(types.sample(random))[number % 6],
            // Lanes of the tiled kernel that are in different rows may meet in a bank if rows have more than 32 outputs.
            extent: if is_slow(device) { Extent::Same } else { EXTENTS[number / 6 % 3] },
            stride: [[1, 1], [2, 1], [1, 3], [5, 2]][random.below(4)],
            dilation: [[1, 1], [3, 1], [1, 2], [2, 3]][random.below(4)],
            direction: if number % 2 == 0 { Direction::Correlate } else { Direction::Convolve },
            origin: if number % 4 < 2 {
                [0, 0]
            } else {
                size.map(|taps| (number % 7 * taps / 7) as isize - (taps / 2) as isize)
            },
            ..plain(types, 600 + number as u64, shape, size)
        };
        if number / 2 % 2 == 0 {
            let [column, row] = size.map(|taps| types.weights(random, taps));
            (case.weights, case.direction) = (Weights::Separable(column, row), Direction::Correlate);
        }
        let channels = [None, Some(2), Some(3)][random.below(3)];
        check(device, types, &resized(types, case, channels, 1 + random.below(2)))?;
    }
    Ok(())
}

/// NaNs that are left out, and NaNs that are not.
fn missing(device: &Device) -> Result<(), Failed> {
    let types = types("f32_f32_f32");
    for (number, boundary) in boundaries(f64::NAN).into_iter().chain(boundaries(2.0)).enumerate() {
        let mut case = Case { boundary, ..plain(types, 610 + number as u64, [2, 5], [3, 80]) };
        if let Weights::Dense(_, values) = &mut case.weights {
            values.iter_mut().for_each(|weight| *weight = f64::from((weight.abs() + 0.125) as f32));
        }
        case.samples[3] = f64::NAN;
        case.samples[5] = f64::NAN;
        check(device, types, &Case { renormalise: true, ..case.clone() })?;
        check(device, types, &case)?;
    }
    Ok(())
}

/// Gaussians that are much wider than the picture. They have the mean of the samples at the same distance on average.
fn wide_gaussians(device: &Device) -> Result<(), Failed> {
    let picture = array![[1.0, 2.0, 6.0], [4.0, 8.0, 3.0]];
    for sigma in [5000.0, 60_000.0] {
        for (boundary, mean) in [
            (Boundary::Zero, 0.0),
            (Boundary::Constant(9.0), 9.0),
            (Boundary::Nearest, (1.0 + 6.0 + 4.0 + 3.0) / 4.0),
            (Boundary::Reflect, 24.0 / 6.0),
            (Boundary::Mirror, (1.0 + 2.0 * 2.0 + 6.0 + 4.0 + 2.0 * 8.0 + 3.0) / 8.0),
            (Boundary::Wrap, 24.0 / 6.0),
        ] {
            let blur = Filter2d::<f64, f64>::gaussian(sigma).boundary(boundary).prepare(device)?;
            let blurred = blur.apply(picture.view())?;
            equal(blurred.dim(), (2, 3))?;
            ensure(blurred.iter().all(|y| (y - mean).abs() < 0.01), || format!("{boundary:?}, {sigma}: {blurred}"))?;
        }
    }
    let widest = Filter2d::<u8, f32>::gaussian(1_048_576.0).boundary(Boundary::Reflect).prepare(device)?;
    equal(widest.apply(array![[77u8]].view())?, array![[77]])
}

/// Boxes that are much wider than the picture have the mean, which is exact.
fn wide_boxes(device: &Device) -> Result<(), Failed> {
    let picture = array![[1u16, 65_535, 6], [40_000, 8, 3]];
    // A whole number of periods, and one sample more.
    for (rows, columns) in [(1 << 12, 3 << 12), (1 << 18, 3 << 18), (1 << 12, 1)] {
        let blur =
            |rows, columns| Filter2d::<u16, f32>::box_blur(rows, columns).boundary(Boundary::Wrap).prepare(device);
        let means = |sum: [f64; 3], count: f64| sum.map(|sum| (sum / count).round_ties_even() as u16);
        if columns > 1 {
            let sum: f64 = picture.iter().map(|&x| f64::from(x)).sum();
            let [mean, ..] = means([sum; 3], 6.0);
            equal(blur(rows, columns)?.apply(picture.view())?, Array2::from_elem((2, 3), mean))?;
        } else {
            let row = means([40_001.0, 65_543.0, 9.0], 2.0);
            equal(blur(rows, columns)?.apply(picture.view())?, array![row, row])?;
            // One row more in each window: output row 0 begins with row 0, and output row 1 with row 1.
            let half = (rows / 2) as f64;
            let sums = |first: [f64; 3], other: [f64; 3]| [0, 1, 2].map(|c| first[c] * (half + 1.0) + other[c] * half);
            let [above, below] = [[1.0, 65_535.0, 6.0], [40_000.0, 8.0, 3.0]];
            let count = rows as f64 + 1.0;
            let expected = array![means(sums(above, below), count), means(sums(below, above), count)];
            equal(blur(rows + 1, 1)?.apply(picture.view())?, expected)?;
        }
    }
    Ok(())
}

/// One filter for pictures of several sizes, which are folded differently.
fn sizes_by_turns(device: &Device) -> Result<(), Failed> {
    let column: Vec<i32> = (0..70).map(|i| i % 7 - 2).collect();
    let row: Vec<i32> = (0..90).map(|j| j % 5 - 1).collect();
    let sum = Filter2d::<i32, i32>::separable(&column, &row).boundary(Boundary::Wrap).prepare(device)?;
    for side in [1usize, 5, 7, 1, 30, 5] {
        let picture = Array2::from_shape_fn((side, side), |(r, c)| ((r * 31 + c * 17) % 101) as i32);
        // Each weight along an axis meets one sample of each line.
        let along = |weights: &[i32], line: &dyn Fn(usize) -> i32, at: usize| -> i32 {
            let half = weights.len() / 2;
            weights.iter().enumerate().map(|(j, weight)| weight * line((at + j + 100 * side - half) % side)).sum()
        };
        let rows = Array2::from_shape_fn((side, side), |(r, c)| along(&row, &|c| picture[[r, c]], c));
        let expected = Array2::from_shape_fn((side, side), |(r, c)| along(&column, &|r| rows[[r, c]], r));
        equal(sum.apply(picture.view())?, expected)?;
    }
    // The plan is for the folded weights.
    let plan = sum.plan([5, 5])?;
    equal(&*plan.outputs, &[5, 5][..])
}

/// Dense weights that are outer products stay products: the device's default, and two passes, which take nothing else.
fn dense_products(device: &Device) -> Result<(), Failed> {
    // Sums of rounded products are no products, in contrast to those of integers.
    let column: Vec<f32> = (0..66).map(|i| (i as f32 + 0.3).sin()).collect();
    let row: Vec<f32> = (0..67).map(|j| (0.7 * j as f32).cos()).collect();
    let dense = Array2::from_shape_fn((66, 67), |(i, j)| column[i] * row[j]);
    let picture = Array2::from_shape_fn((3, 5), |(r, c)| (r * 50 + c * 13) as f32 / 100.0);
    for boundary in [Boundary::Zero, Boundary::Constant(0.5), Boundary::Nearest, Boundary::Reflect, Boundary::Wrap] {
        let factors = Filter2d::<f32, f32>::separable(&column, &row).boundary(boundary);
        let expected = factors.prepare(device)?.apply(picture.view())?;
        for algorithm in [Filter2dAlgorithm::Auto, Filter2dAlgorithm::Separable] {
            let filter = Filter2d::<f32, f32>::correlate(dense.view()).boundary(boundary).algorithm(algorithm);
            let actual = filter.prepare(device)?.apply(picture.view())?;
            // Less than the documented bound for 66 x 67 weights whose magnitudes sum to more than 1,000.
            let is_near = |(a, b): (&f32, &f32)| (a - b).abs() < 0.1;
            ensure(actual.iter().zip(&expected).all(is_near), || {
                format!("{boundary:?}, {algorithm:?}: {actual} instead of {expected}")
            })?;
        }
    }
    Ok(())
}

/// Boxes of the greatest size take no time for a single pixel: neither the one for which a device chooses the algorithm nor, on the CPU,
/// which has only one, the one that is asked for by name. Emulated devices have memory for smaller ones.
fn largest_boxes(device: &Device) -> Result<(), Failed> {
    let side = if is_slow(device) { 1 << 16 } else { 1 << 24 };
    let algorithms = match device.info().backend {
        Backend::Cpu => &[Filter2dAlgorithm::Auto, Filter2dAlgorithm::Box][..],
        _ => &[Filter2dAlgorithm::Auto],
    };
    for &algorithm in algorithms {
        let blur = Filter2d::<u16, f32>::box_blur(side, side).boundary(Boundary::Mirror).algorithm(algorithm);
        equal(blur.prepare(device)?.apply(array![[40_000u16]].view())?, array![[40_000]])?;
    }
    Ok(())
}

/// A box that is too high for the kernel of segments is planned as other weights of the folded size are, also if sums of segments would
/// take less time.
fn boxes_in_two_passes(device: &Device) -> Result<(), Failed> {
    let launches = |blur: Filter2d<f64, f64>| -> Result<Vec<_>, Failed> {
        let plan = blur.boundary(Boundary::Wrap).prepare(device)?.plan([1000, 1000])?;
        Ok(plan.launches.into_iter().map(|launch| (launch.kernel, launch.grid, launch.shared_bytes)).collect())
    };
    let weights: Vec<f64> = (0..1000).map(|i| f64::from(i % 7)).collect();
    equal(launches(Filter2d::box_blur(10_000, 10_000))?, launches(Filter2d::separable(&weights, &weights))?)
}

/// Pictures and signals whose period exceeds a word.
fn plans_of_huge_pictures(device: &Device) -> Result<(), Failed> {
    for boundary in [Boundary::Zero, Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap] {
        let line = Filter1d::correlate(&[1; 65]).boundary(boundary).prepare(device)?;
        let picture = Filter2d::<i32, i32>::separable(&[1; 65], &[2; 66]).boundary(boundary).prepare(device)?;
        for samples in [1 << 62, 1 << 63, usize::MAX] {
            ensure(!line.plan([samples])?.to_string().is_empty(), || format!("{boundary:?}, {samples}"))?;
            // Either a plan or an error, and no panic.
            for shape in [[samples, 1], [1, samples], [samples, samples]] {
                match picture.plan(shape) {
                    Ok(plan) => equal(&*plan.outputs, &shape[..])?,
                    Err(error) => ensure(matches!(error, Error::TooLarge { .. }), || format!("{error:?}"))?,
                }
            }
        }
    }
    Ok(())
}

/// Weights whose sum is too large for their type stay apart.
fn weights_whose_sum_overflows(device: &Device) -> Result<(), Failed> {
    let weights = vec![f32::MAX / 2.0; 70];
    let sample = 1e-3f32;
    let expected = 70.0 * f64::from(f32::MAX / 2.0) * f64::from(sample);
    let is_near = |y: f32| (f64::from(y) / expected - 1.0).abs() < 1e-4;
    let filter = Filter1d::correlate(&weights).boundary(Boundary::Reflect).prepare(device)?;
    let line = filter.apply(&[sample])?;
    ensure(is_near(line[0]), || format!("{line:?}"))?;
    let filter = Filter2d::<f32, f32>::separable(&[1.0], &weights).boundary(Boundary::Reflect).prepare(device)?;
    let picture = filter.apply(array![[sample]].view())?;
    ensure(is_near(picture[[0, 0]]), || format!("{picture}"))
}

/// An infinite sample is multiplied by the sum of the weights that meet it.
fn infinities(device: &Device) -> Result<(), Failed> {
    let picture = array![[f32::INFINITY, 1.0]];
    let outputs = |of: fn(usize) -> f32| -> Result<Vec<f32>, Failed> {
        let weights: Vec<f32> = (0..101).map(of).collect();
        let filter = Filter2d::<f32, f32>::separable(&[1.0], &weights).boundary(Boundary::Wrap).prepare(device)?;
        let line = Filter1d::correlate(&weights).boundary(Boundary::Wrap).prepare(device)?;
        let outputs = filter.apply(picture.view())?.into_raw_vec_and_offset().0;
        let bits = |y: &f32| if y.is_nan() { f32::NAN.to_bits() } else { y.to_bits() };
        let of_line = line.apply(&[f32::INFINITY, 1.0])?;
        same(&of_line.iter().map(bits).collect::<Vec<_>>(), &outputs.iter().map(bits).collect::<Vec<_>>())?;
        Ok(outputs)
    };
    equal(outputs(|_| 0.5)?, vec![f32::INFINITY; 2])?;
    equal(outputs(|_| -0.5)?, vec![f32::NEG_INFINITY; 2])?;
    // Weights of both signs, whose sums are 1 at even and 50 at odd distances.
    equal(outputs(|j| [2.0, 1.0, -2.0, 1.0][j % 4] + if j == 0 { -1.0 } else { 0.0 })?, vec![f32::INFINITY; 2])?;
    // A sum of 0 times an infinity is NaN.
    let outputs = outputs(|j| if j % 2 == 0 { 0.0 } else { [1.0, -1.0][j / 2 % 2] })?;
    ensure(outputs.iter().all(|y| y.is_nan()), || format!("{outputs:?}"))
}

/// Interleaved channels and narrow samples of one-dimensional filters.
fn lines(device: &Device) -> Result<(), Failed> {
    let taps: Vec<i32> = (0..75).map(|j| j % 7 - 2).collect();
    for (samples, channels) in [(1usize, 2), (3, 1), (4, 3)] {
        let line: Vec<u8> = (0..samples * channels).map(|i| (i * 37 % 251) as u8).collect();
        let whole = |boundary| Filter1d::correlate(&taps).boundary(boundary).extent(Extent::Full);
        let filter = whole(Boundary::Reflect).samples::<u8>().channels(channels).prepare(device)?;
        let actual = filter.apply(&line)?;
        for channel in 0..channels {
            let one: Vec<i32> = line.iter().skip(channel).step_by(channels).map(|&x| x.into()).collect();
            let sums = whole(Boundary::Reflect).prepare(device)?.apply(&one)?;
            let expected: Vec<u8> = sums.iter().map(|&sum| sum.clamp(0, 255) as u8).collect();
            let actual: Vec<u8> = actual.iter().skip(channel).step_by(channels).copied().collect();
            same(&actual, &expected)?;
        }
    }
    Ok(())
}

/// On the CPU, down the columns first, and then along the rows; also where weights are not folded.
fn two_lines_have_the_same_bits() -> Result<(), Failed> {
    let device = Device::cpu();
    let random = &mut Random::new(620);
    for (shape, sigma) in [((3, 5), 40.0), ((40, 30), 6.0), ((64, 50), 30.0), ((50, 64), 11.0), ((1, 90), 9.0)] {
        let picture = Array2::from_shape_fn(shape, |_| random.unit() * 200.0 - 100.0);
        for boundary in [Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap] {
            let line = Filter1d::<f64, f64>::gaussian(sigma).boundary(boundary).prepare(&device)?;
            let expected = line.apply(&line.along(0).apply(&picture)?)?;
            let blur = Filter2d::<f64, f64>::gaussian(sigma).boundary(boundary).prepare(&device)?;
            let actual = blur.apply(picture.view())?;
            let values = |array: Array2<f64>| bits(&array.into_raw_vec_and_offset().0);
            same(&values(actual), &values(expected))?;
        }
    }
    Ok(())
}
