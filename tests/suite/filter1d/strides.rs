//! Strides: every n-th output, against the oracle.

use super::oracle::{ALGORITHMS, Case, Direction, Sample, Sum};
use super::{EXTENTS, SUITE, boundaries, direction, filter};
use crate::common::{Random, equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use slm::distributed::Devices;
use slm::filter1d::{ErrorBound, Filter1dAlgorithm, Filter1dError};
use slm::ndarray::{Array2, Axis};
use slm::{Boundary, Buffer2, Device, Error, Extent, Filter1d};

/// Samples, taps and strides.
const LINES: [(usize, usize, usize); 20] = [
    (0, 3, 2),
    (1, 1, 1),
    (1, 1, 9),
    (2, 5, 2),
    (3, 4, 7),
    (33, 1, 3),
    (64, 33, 2),
    (100, 8, 100),
    (100, 8, 101),
    (999, 31, 4),
    (1000, 64, 3),
    (4099, 2, 5),
    (9001, 257, 2),
    (9000, 600, 7),
    // Taps that are added up.
    (700, 1950, 2),
    // Several launches: parts of phases, and some of the phases.
    (6000, 3000, 2),
    (4000, 1500, 400),
    (7000, 1000, 100),
    (40_000, 9, 8),
    (40_000, 20, 16),
];

/// Those of emulated devices.
const FEW_LINES: [(usize, usize, usize); 8] =
    [(0, 3, 2), (1, 1, 9), (2, 5, 2), (64, 33, 2), (100, 8, 101), (3999, 5, 2), (700, 1950, 2), (2500, 300, 200)];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = [of_type::<f32>(), of_type::<f64>(), of_type::<i32>()].into_iter().flatten().collect();
    trials.extend(on_every_backend(SUITE, "strides::not_finite", not_finite));
    trials.extend(on_every_backend(SUITE, "strides::narrow", narrow));
    trials.extend(on_every_backend(SUITE, "strides::parts", parts));
    trials.extend(on_every_backend(SUITE, "strides::plans", plans));
    trials.extend(on_every_backend(SUITE, "strides::refused", refused));
    trials
}

fn of_type<T: Sample>() -> Vec<Trial> {
    let name = |name: &str| format!("strides::{}::{name}", T::NAME);
    let trials = [
        on_every_backend(SUITE, &name("lines"), lines::<T>),
        on_every_backend(SUITE, &name("matrices"), matrices::<T>),
    ];
    trials.into_iter().flatten().collect()
}

/// Returns the elements of every n-th group of `channels` elements.
fn every<T: Copy>(outputs: &[T], stride: usize, channels: usize) -> Vec<T> {
    outputs.chunks(channels).step_by(stride).flatten().copied().collect()
}

/// Checks the outputs of one line.
fn check<T: Sample>(case: &Case<'_, T>, stride: usize, actual: &[T]) -> Result<(), Failed> {
    let numbers: Vec<usize> = (0..case.output_count()).step_by(stride).collect();
    equal(actual.len(), numbers.len())?;
    let expected = case.outputs(numbers.iter().copied());
    let fits = |(actual, expected): (&T, &Sum)| T::agrees(*actual, *expected, case.taps.len());
    match actual.iter().zip(&expected).position(|pair| !fits(pair)) {
        Some(output) => {
            let (samples, taps) = (case.x.len(), case.taps.len());
            let Case { direction, boundary, extent, .. } = case;
            let which =
                format!("{samples} samples, {taps} taps, {direction:?}, {boundary:?}, {extent:?}, stride {stride}");
            Err(format!("{which}: output {output} is {}, not {:?}", actual[output], expected[output]).into())
        }
        None => Ok(()),
    }
}

fn lines<T: Sample>(device: &Device) -> Result<(), Failed> {
    let cases: &[_] = if is_slow(device) { &FEW_LINES } else { &LINES };
    for (number, &(samples, taps, stride)) in cases.iter().enumerate() {
        let (x, taps) = (Random::new(60).values::<T>(samples), Random::new(61).values::<T>(taps));
        let all = boundaries::<T>().into_iter().flat_map(|boundary| EXTENTS.map(|extent| (boundary, extent)));
        // On slow devices a boundary meets one extent, another one than the boundary before and than with the line before.
        let is_met = |&(i, _): &(usize, _)| !is_slow(device) || (i / 3 + i + number).is_multiple_of(3);
        for (_, ((_, boundary), extent)) in all.enumerate().filter(is_met) {
            let case = Case { x: &x, taps: &taps, direction: direction(taps.len()), boundary, extent };
            let filter = filter(&case).stride(stride).prepare(device)?;
            let outputs = filter.apply(&x)?;
            equal(filter.output_shape([samples])?, [outputs.len()])?;
            check(&case, stride, &outputs)?;
            // Sums down a column have the same order.
            let column = Array2::from_shape_vec((samples, 1), x.clone())?;
            let down = filter.along(0).apply(&column)?.into_raw_vec_and_offset().0;
            equal(T::difference(&down, &outputs), None)?;
        }
    }
    Ok(())
}

/// Rows and columns, with gaps.
fn matrices<T: Sample>(device: &Device) -> Result<(), Failed> {
    let shapes = match is_slow(device) {
        true => [(1, 40), (40, 1), (3, 65), (66, 5), (130, 3)],
        false => [(1, 40), (40, 1), (7, 65), (66, 35), (400, 3)],
    };
    for (rows, columns) in shapes {
        let (taps, samples) = (Random::new(62).values::<T>(6), Random::new(63).values::<T>(rows * columns));
        let matrix = Array2::from_shape_vec((rows, columns), samples)?;
        let pitched = Buffer2::upload_pitched(device, &matrix, columns + 3)?;
        for (axis, stride) in [(0, 2), (0, 5), (0, 11), (1, 2), (1, 3), (1, 200)] {
            let filter = Filter1d::correlate(&taps).extent(Extent::Full).stride(stride).prepare(device)?.along(axis);
            let outputs = filter.apply(&matrix)?;
            equal(filter.apply(&pitched)?.download()?, outputs.clone())?;
            for (line, actual) in matrix.lanes(Axis(axis)).into_iter().zip(outputs.lanes(Axis(axis))) {
                let (x, actual) = (line.to_vec(), actual.to_vec());
                let (direction, boundary) = (Direction::Correlate, Boundary::Zero);
                check(&Case { x: &x, taps: &taps, direction, boundary, extent: Extent::Full }, stride, &actual)?;
            }
        }
    }
    Ok(())
}

/// A NaN and an infinity affect only what they are part of.
fn not_finite(device: &Device) -> Result<(), Failed> {
    let mut samples = vec![1.0f32; 1000];
    (samples[300], samples[601]) = (f32::NAN, f32::INFINITY);
    for stride in [2, 3, 7, 30] {
        let sum = Filter1d::correlate(&[1.0f32; 5]).stride(stride).extent(Extent::Valid).prepare(device)?;
        let expected = (0..996).step_by(stride).map(|first| samples[first..first + 5].iter().sum::<f32>());
        let expected: Vec<u32> = expected.map(|sum| if sum.is_nan() { 0 } else { sum.to_bits() }).collect();
        let bits: Vec<u32> =
            sum.apply(&samples)?.iter().map(|sum| if sum.is_nan() { 0 } else { sum.to_bits() }).collect();
        same(&bits, &expected)?;
    }
    Ok(())
}

/// Types whose sums have another type, and channels.
fn narrow(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(62);
    let samples: Vec<u8> = random.values(30 * 41);
    let taps: Vec<f32> = (0..9).map(|tap| tap as f32 / 36.0).collect();
    for (channels, stride) in [(1, 2), (2, 1), (2, 3), (3, 5), (10, 2)] {
        let all = Filter1d::correlate(&taps).samples::<u8>().channels(channels);
        let expected = every(&all.prepare(device)?.apply(&samples)?, stride, channels);
        same(&all.clone().stride(stride).prepare(device)?.apply(&samples)?, &expected)?;
        let means = Filter1d::<u8, f32>::box_blur(4).channels(channels);
        let expected = every(&means.prepare(device)?.apply(&samples)?, stride, channels);
        same(&means.stride(stride).prepare(device)?.apply(&samples)?, &expected)?;
    }
    Ok(())
}

/// Streams and several devices have the outputs of the whole line.
fn parts(device: &Device) -> Result<(), Failed> {
    let mut random = Random::new(63);
    let samples: Vec<i32> = random.values(3000);
    for ((_, boundary), extent) in
        boundaries::<i32>().into_iter().flat_map(|boundary| EXTENTS.map(|extent| (boundary, extent)))
    {
        for (taps, stride) in [(1, 3), (31, 2), (40, 7)] {
            let taps: Vec<i32> = random.values(taps);
            let filter = Filter1d::correlate(&taps).boundary(boundary).extent(extent).stride(stride);
            let expected = filter.prepare(device)?.apply(&samples)?;
            let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
            let mut outputs = Vec::new();
            let prepared = filter.prepare(device)?;
            prepared.stream(std::io::Cursor::new(bytes), &mut outputs).memory(1).seekable().run()?;
            let outputs: Vec<i32> = outputs
                .chunks_exact(4)
                .map(|bytes| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
                .collect();
            same(&outputs, &expected)?;
            let devices = Devices::new([Device::cpu(), device.clone(), Device::cpu()])?;
            let matrix = Array2::from_shape_vec((samples.len(), 1), samples.clone())?;
            let distributed = filter.prepare_on(&devices)?.apply(&devices.distribute(&matrix)?)?;
            same(&distributed.download()?, &expected)?;
        }
    }
    Ok(())
}

fn plans(device: &Device) -> Result<(), Failed> {
    let filter = Filter1d::correlate(&[1.0f32; 33]).stride(4).prepare(device)?;
    let plan = filter.plan([1_000_001])?;
    equal(plan.outputs.clone(), vec![250_001])?;
    equal(filter.along(0).plan([81, 3])?.outputs, vec![21, 3])
}

fn refused(device: &Device) -> Result<(), Failed> {
    let sum = Filter1d::correlate(&[1.0f32, 1.0]);
    let error = |filter: &Filter1d<f32>| filter.prepare(device).err();
    equal(error(&sum.clone().stride(0)), Some(Filter1dError::NoStride.into()))?;
    let stride = 1 << 31;
    let limit = i32::MAX as u64;
    let too_large = Error::TooLarge { what: "the stride of a filter", factors: [stride as u64, 1], limit };
    equal(error(&sum.clone().stride(stride)), Some(too_large))?;
    for algorithm in ALGORITHMS.into_iter().chain([Filter1dAlgorithm::Fft]).filter(|a| *a != Filter1dAlgorithm::Auto) {
        let refused = Filter1dError::NoStrides { algorithm, stride: 2 };
        equal(error(&sum.clone().stride(2).algorithm(algorithm)), Some(refused.into()))?;
    }
    // A stride that is longer than any line.
    let first = sum.clone().stride(limit as usize).prepare(device)?;
    same(&first.apply(&[1.0, 2.0, 3.0])?, &[1.0])?;
    // Transforms would compute what is thrown away.
    let by_bound = sum.stride(2).error_bound(ErrorBound::PerSegment).prepare(device)?;
    same(&by_bound.apply(&[1.0, 2.0, 3.0])?, &[1.0, 5.0])
}
