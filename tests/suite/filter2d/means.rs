//! Means of integers: exact sums, divided and rounded once; and constant pictures, which blurs leave as they are.

use super::cases::{EXTENTS, boundaries};
use super::oracle::{Case, Direction, Expected, Sums, Weights};
use super::{SUITE, equal_shapes};
use crate::common::numbers::Number;
use crate::common::{Random, ensure, equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use ndarray::{Array2, ArrayD};
use slm::{Backend, Boundary, Device, Error, Extent, Filter1d, Filter2d, Filter2dAlgorithm, FilterSample, Gaussian};

/// A type of integers.
trait Integer: FilterSample + Number {
    const NAME: &'static str;
    const ENDS: [f64; 2];
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl Integer for $t {
            const NAME: &'static str = stringify!($t);
            const ENDS: [f64; 2] = [$t::MIN as f64, $t::MAX as f64];
        }
    )*};
}
integers!(u8 u16 i16 i32);

pub(super) fn trials() -> Vec<Trial> {
    let outputs = [
        on_every_backend(SUITE, "means::quotients_of_floats", quotients_of_floats),
        on_every_backend(SUITE, "means::lines_of_pictures", lines_of_pictures),
        on_every_backend(SUITE, "means::halves_of_many_bytes", halves_of_many_bytes),
        on_every_backend(SUITE, "means::all_products_at_once", all_products_at_once),
    ];
    let of_types = [of_type::<u8>(), of_type::<u16>(), of_type::<i16>(), of_type::<i32>()];
    of_types.into_iter().flatten().chain(outputs.into_iter().flatten()).collect()
}

fn of_type<S: Integer>() -> Vec<Trial> {
    type Test = fn(&Device) -> Result<(), Failed>;
    let tests: [(&str, Test); 5] = [
        ("rounded_once", rounded_once::<S>),
        ("extremes", extremes::<S>),
        ("constants", constants::<S>),
        ("long_constants", long_constants::<S>),
        ("strided_constants", strided_constants::<S>),
    ];
    let trials = tests
        .into_iter()
        .flat_map(|(name, test)| on_every_backend(SUITE, &format!("means::{}::{name}", S::NAME), test));
    trials.collect()
}

/// The quotient, rounded to the nearest integer, ties to even.
fn rounded(sum: i128, count: i128) -> i128 {
    let (quotient, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
    quotient + i128::from(2 * rest > count || (2 * rest == count && quotient % 2 != 0))
}

/// Weights of 1 for a box, and as many samples.
fn boxed<S: Integer>(stream: u64, shape: [usize; 2], [rows, columns]: [usize; 2]) -> Case {
    let random = &mut Random::new(stream);
    let [least, greatest] = S::ENDS;
    let case = Case {
        weights: Weights::Separable(vec![1.0; rows], vec![1.0; columns]),
        direction: Direction::Correlate,
        origin: [0, 0],
        boundary: boundaries(greatest - 3.0)[stream as usize % 6],
        column_boundary: None,
        extent: EXTENTS[stream as usize / 6 % 3],
        stride: [[1, 1], [1, 1], [1, 1], [2, 3]][stream as usize % 4],
        dilation: [[1, 1], [1, 1], [1, 2], [3, 1], [1, 1]][stream as usize % 5],
        channels: [None, Some(2), None, Some(4)][stream as usize / 3 % 4],
        renormalise: false,
        planes: 1,
        shape,
        samples: Vec::new(),
    };
    // Neighbouring numbers have means next to the middle between two integers.
    let sample = |random: &mut Random| match random.below(3) {
        0 => least + (random.unit() * (greatest - least + 1.0)).floor(),
        1 => greatest - random.below(2) as f64,
        _ => least + random.below(2) as f64,
    };
    let samples = (0..case.sample_count()).map(|_| sample(random)).collect();
    Case { samples, ..case }
}

fn boundary<S: Number>(boundary: Boundary<f64>) -> Boundary<S> {
    match boundary {
        Boundary::Zero => Boundary::Zero,
        Boundary::Constant(outside) => Boundary::Constant(S::of(outside)),
        Boundary::Nearest => Boundary::Nearest,
        Boundary::Reflect => Boundary::Reflect,
        Boundary::Mirror => Boundary::Mirror,
        Boundary::Wrap => Boundary::Wrap,
    }
}

/// The outputs of the box blur.
fn blurred<S: Integer, O: FilterSample + Number>(
    device: &Device,
    case: &Case,
    algorithm: Filter2dAlgorithm,
) -> slm::Result<ArrayD<f64>> {
    let [rows, columns] = case.weights.shape();
    let filter = Filter2d::<S, S::Weight>::box_blur(rows, columns).boundary(boundary(case.boundary));
    let filter = filter.extent(case.extent).stride(case.stride[0], case.stride[1]);
    let filter = filter.dilation(case.dilation[0], case.dilation[1]).algorithm(algorithm).output::<O>();
    let filter = if let Some(channels) = case.channels { filter.channels(channels) } else { filter };
    let samples = case.samples.iter().map(|&sample| S::of(sample)).collect();
    let samples = ArrayD::from_shape_vec(case.array_shape(case.shape), samples).expect("one sample per place");
    Ok(filter.prepare(device)?.apply(samples.view())?.mapv(O::to))
}

/// The algorithms that a device has.
fn algorithms(device: &Device) -> &'static [Filter2dAlgorithm] {
    const ALL: [Filter2dAlgorithm; 6] = [
        Filter2dAlgorithm::Auto,
        Filter2dAlgorithm::GlobalMemory,
        Filter2dAlgorithm::SharedTile,
        Filter2dAlgorithm::RegisterTiled,
        Filter2dAlgorithm::Separable,
        Filter2dAlgorithm::Box,
    ];
    if device.info().backend == Backend::Cpu { &ALL[..1] } else { &ALL }
}

/// Whether an algorithm does not support a filter. `Auto` supports all.
fn is_refused(error: &Error, algorithm: Filter2dAlgorithm) -> bool {
    algorithm != Filter2dAlgorithm::Auto && matches!(error, Error::Filter2d(_) | Error::SharedMemoryExceeded { .. })
}

fn check<S: Integer>(device: &Device, case: &Case) -> Result<(), Failed> {
    let (outputs, [rows, columns], [least, greatest]) = (case.outputs(), case.weights.shape(), S::ENDS);
    for &algorithm in algorithms(device) {
        let array = match blurred::<S, S>(device, case, algorithm) {
            Err(error) if is_refused(&error, algorithm) => continue,
            array => array?,
        };
        equal_shapes(array.shape(), &case.array_shape(outputs.shape()))?;
        for (number, &actual) in array.iter().enumerate() {
            let Expected::Integer(sum) = outputs.expected(number, Sums::Integer) else { unreachable!("integers") };
            let mean = rounded(sum, (rows * columns) as i128).clamp(least as i128, greatest as i128);
            ensure(actual == mean as f64, || {
                let case =
                    Case { samples: Vec::new(), weights: Weights::Dense([rows, columns], Vec::new()), ..case.clone() };
                format!("{algorithm:?}: output {number} is {actual} instead of {mean}\n{case:?}")
            })?;
        }
    }
    Ok(())
}

/// Windows with an even and an odd number of samples: few, and more than sums of `f32` are exact for.
const SIZES: [[usize; 2]; 12] =
    [[1, 2], [2, 2], [3, 3], [4, 3], [1, 16], [14, 1], [6, 8], [9, 9], [15, 15], [17, 18], [30, 2], [2, 40]];

fn rounded_once<S: Integer>(device: &Device) -> Result<(), Failed> {
    let (shape, every) = if is_slow(device) { ([9, 13], 5) } else { ([37, 60], 1) };
    for number in (S::NAME.len() % every..5 * SIZES.len()).step_by(every) {
        let size = SIZES[number % SIZES.len()];
        check::<S>(device, &boxed::<S>(number as u64, shape, size))?;
    }
    Ok(())
}

/// Pictures of the least and the greatest number, and of both by turns, whose sums exceed 32 bits.
fn extremes<S: Integer>(device: &Device) -> Result<(), Failed> {
    let shape = if is_slow(device) { [2, 3] } else { [5, 9] };
    for (stream, size) in [[2, 3], [64, 65], [300, 301]].into_iter().enumerate() {
        let case =
            Case { extent: Extent::Same, stride: [1, 1], dilation: [1, 1], ..boxed::<S>(stream as u64, shape, size) };
        for pattern in [[0, 0], [1, 1], [0, 1]] {
            let samples = (0..case.samples.len()).map(|place| S::ENDS[pattern[place % 2]]).collect();
            check::<S>(device, &Case { samples, boundary: Boundary::Reflect, ..case.clone() })?;
        }
    }
    Ok(())
}

/// Boundaries that continue a constant picture.
fn continued<S: Integer>(constant: S) -> [Boundary<S>; 5] {
    [Boundary::Constant(constant), Boundary::Nearest, Boundary::Reflect, Boundary::Mirror, Boundary::Wrap]
}

/// Some numbers of a type.
fn numbers<S: Integer>() -> Vec<S> {
    let [least, greatest] = S::ENDS;
    [least, least + 1.0, 1.0, 100.0, greatest / 3.0, greatest - 5535.0, greatest - 1.0, greatest].map(S::of).to_vec()
}

fn constants<S: Integer>(device: &Device) -> Result<(), Failed> {
    let sizes: &[usize] = if is_slow(device) { &[2, 17, 1501] } else { &[2, 3, 17, 100, 1501, 1502, 6000, 70_000] };
    let sigmas: &[f64] =
        if is_slow(device) { &[0.7, 7.0, 200.0] } else { &[0.4, 1.0, 3.0, 7.0, 15.0, 60.0, 333.3, 5000.0] };
    for (number, constant) in numbers::<S>().into_iter().enumerate() {
        let picture = Array2::from_elem((6, 11), constant);
        let every = if is_slow(device) { 3 } else { 1 };
        for boundary in continued(constant).into_iter().skip(number % every).step_by(every) {
            for &size in sizes {
                let blur = Filter2d::<S, S::Weight>::box_blur(size, size + 1).boundary(boundary);
                equal(blur.prepare(device)?.apply(picture.view())?, picture.clone())?;
                let blur = Filter1d::<S, S::Weight>::box_blur(size).boundary(boundary);
                equal(blur.prepare(device)?.along(number % 2).apply(picture.view())?, picture.clone())?;
            }
            // 5 x 63 weights: too few rows for two passes, so `Auto` adds all products at once on a GPU.
            let long = Filter2d::<S, S::Weight>::gaussian([0.6, 7.75]).boundary(boundary);
            equal(long.prepare(device)?.apply(picture.view())?, picture.clone())?;
            for &sigma in sigmas {
                let blur = Filter2d::<S, S::Weight>::gaussian(sigma).boundary(boundary);
                equal(blur.prepare(device)?.apply(picture.view())?, picture.clone())?;
                let blur = Filter1d::<S, S::Weight>::gaussian(sigma).boundary(boundary);
                equal(blur.prepare(device)?.along(number % 2).apply(picture.view())?, picture.clone())?;
            }
        }
    }
    Ok(())
}

/// Gaussians that leave out rows. From 19 x 19 weights on, two passes are worth their time also then, so the error of sums of `f32` is
/// that of passes. 63 x 63 weights are the most with such sums for `u16`.
fn strided_constants<S: Integer>(device: &Device) -> Result<(), Failed> {
    let (radii, every): (&[usize], _) =
        if is_slow(device) { (&[9, 31], 3) } else { (&[8, 9, 10, 30, 31, 32, 62, 63], 1) };
    let [rows, columns] = if is_slow(device) { [7, 12] } else { [67, 70] };
    for (number, constant) in numbers::<S>().into_iter().enumerate().step_by(every) {
        let picture = Array2::from_elem((rows, columns), constant);
        let boundary = continued(constant)[number % 5];
        for (&radius, stride) in radii.iter().flat_map(|radius| [(radius, 2), (radius, 3)]) {
            let gaussian = Gaussian::new(radius as f64 / 4.0).radius(radius);
            let blur = Filter2d::<S, S::Weight>::gaussian(gaussian).boundary(boundary).stride(stride, 1);
            for &algorithm in algorithms(device) {
                match blur.clone().algorithm(algorithm).prepare(device) {
                    Err(error) if is_refused(&error, algorithm) => {}
                    blur => {
                        let expected = Array2::from_elem((rows.div_ceil(stride), columns), constant);
                        equal(blur?.apply(picture.view())?, expected)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Windows with many samples, in lines that are as long.
fn long_constants<S: Integer>(device: &Device) -> Result<(), Failed> {
    let len = if is_slow(device) { 40 } else { 3000 };
    for (number, constant) in numbers::<S>().into_iter().enumerate() {
        let line = vec![constant; 2 * len];
        let boundary = continued(constant)[number % 5];
        for size in [len / 2, len / 2 + 1, len] {
            let blur = Filter1d::<S, S::Weight>::box_blur(size).boundary(boundary).channels(2);
            same(&blur.prepare(device)?.apply(&line)?, &line)?;
        }
        for sigma in [len as f64 / 1000.0, len as f64 / 100.0, len as f64 / 10.0] {
            let blur = Filter1d::<S, S::Weight>::gaussian(sigma).boundary(boundary);
            same(&blur.prepare(device)?.apply(&line)?, &line)?;
        }
    }
    Ok(())
}

/// Outputs of floats have the quotient, rounded to their type: these sums are exact in it.
fn quotients_of_floats(device: &Device) -> Result<(), Failed> {
    for (stream, size) in [[2, 3], [5, 5], [16, 15]].into_iter().enumerate() {
        let case = Case { extent: Extent::Same, channels: None, ..boxed::<u8>(stream as u64, [8, 13], size) };
        let outputs = case.outputs_of(|number| u8::of(case.samples[number]).into());
        let count = (size[0] * size[1]) as f64;
        let len = outputs.shape().iter().product();
        let sums = (0..len).map(|number| match outputs.expected(number, Sums::Integer) {
            Expected::Integer(sum) => sum as f64,
            _ => unreachable!("integers"),
        });
        let sums: Vec<f64> = sums.collect();
        for &algorithm in algorithms(device) {
            let singles: Vec<f64> = sums.iter().map(|&sum| f64::from(sum as f32 / count as f32)).collect();
            let doubles: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
            let results = [
                (blurred::<u8, f32>(device, &case, algorithm), singles),
                (blurred::<u8, f64>(device, &case, algorithm), doubles),
            ];
            for (actual, expected) in results {
                match actual {
                    Err(error) if is_refused(&error, algorithm) => {}
                    actual => same(&actual?.into_raw_vec_and_offset().0, &expected)?,
                }
            }
        }
    }
    Ok(())
}

/// A box of one row or column is the same as a filter of lines.
fn lines_of_pictures(device: &Device) -> Result<(), Failed> {
    let random = &mut Random::new(9);
    let picture = Array2::from_shape_fn((7, 45), |_| random.below(65_536) as u16);
    for size in [2, 4, 30] {
        let line = Filter1d::<u16, f32>::box_blur(size).boundary(Boundary::Reflect).prepare(device)?;
        for (axis, shape) in [[size, 1], [1, size]].into_iter().enumerate() {
            let blur =
                Filter2d::<u16, f32>::box_blur(shape[0], shape[1]).boundary(Boundary::Reflect).prepare(device)?;
            equal(line.along(axis).apply(picture.view())?, blur.apply(picture.view())?)?;
        }
    }
    Ok(())
}

/// Means so near to the middle between two integers that `f32` does not tell them apart.
fn halves_of_many_bytes(device: &Device) -> Result<(), Failed> {
    for len in [65_535, 65_537, 65_793] {
        let blur = Filter1d::<u8, f32>::box_blur(len).extent(Extent::Valid).prepare(device)?;
        for (many, few, expected) in [(255, 254, 255), (254, 255, 254)] {
            let line: Vec<u8> = (0..len).map(|i| if i % 2 == 0 { many } else { few }).collect();
            equal(blur.apply(&line)?, vec![expected])?;
        }
    }
    Ok(())
}

/// A wide Gaussian of a constant, by an algorithm that adds all of its products at once, and by the default. The period of the
/// boundary, 1602, is not shorter than the 1601 weights, so none are added up first.
fn all_products_at_once(device: &Device) -> Result<(), Failed> {
    const SIDE: usize = 801;
    let picture = Array2::from_elem((SIDE, SIDE), 255u8);
    for algorithm in [Filter2dAlgorithm::GlobalMemory, Filter2dAlgorithm::Auto] {
        let blur = Filter2d::<u8, f32>::gaussian(200.0).boundary(Boundary::Reflect).algorithm(algorithm);
        let blur = blur.stride(SIDE, SIDE).prepare(device)?;
        equal(blur.apply(picture.view())?, Array2::from_elem((1, 1), 255))?;
    }
    Ok(())
}
