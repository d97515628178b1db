//! Filters by Fourier transforms: against the oracle, within the bounds of a segment.

use super::oracle::{Case, Sample, Sum};
use super::{EXTENTS, SUITE, boundaries, direction, filter, positions};
use crate::common::{Random, equal, is_slow, on_every_backend};
use libtest_mimic::{Failed, Trial};
use slm::distributed::Devices;
use slm::filter1d::{ErrorBound, Filter1dAlgorithm, Filter1dError, Filter1dMethod, PreparedFilter1d};
use slm::ndarray::{Array2, s};
use slm::{Backend, Boundary, Buffer2, Device, Error, Extent, Filter1d};

/// Points of the longest transform.
const POINTS: usize = 8192;

/// Samples and taps: taps in one part and in several, one segment and several, an odd and an even number of them.
const LINES: [(usize, usize); 22] = [
    (0, 5),
    (1, 1),
    (1, 5),
    (2, 257),
    (100, 4096),
    // The last sample that a segment loads is one length of the line behind it, or more.
    (490, 91),
    (480, 91),
    // The first sample is one length before the line, with the extent `Full`, or one less or more.
    (2000, 2000),
    (2000, 2001),
    (2000, 2002),
    (4000, 4001),
    (4095, 2),
    (4096, 257),
    (4097, 1),
    (10_000, 257),
    (8192, 2049),
    (12_000, 2050),
    (9000, 4097),
    (5000, 4098),
    (20_000, 5000),
    (3000, 9000),
    (200_000, 600),
];

/// Those of emulated devices: every kernel is used.
const FEW_LINES: [(usize, usize); 14] = [
    (0, 5),
    (1, 1),
    (3, 257),
    // The last sample that a segment loads is one length of the line behind it, or more.
    (490, 91),
    (480, 91),
    // The first sample is one length before the line, with the extent `Full`, or more.
    (2000, 2001),
    (2000, 2002),
    (4097, 4),
    (8000, 257),
    (12_000, 33),
    (6000, 1500),
    (5000, 2050),
    (4500, 4098),
    (300, 6000),
];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = [of_type::<f32>(), of_type::<f64>()].into_iter().flatten().collect();
    trials.extend(on_every_backend(SUITE, "transforms::parts", parts));
    trials.extend(on_every_backend(SUITE, "transforms::refused", refused));
    trials.extend(on_every_backend(SUITE, "transforms::chosen", chosen));
    trials
}

fn of_type<T: Sample + Into<f64> + From<f32>>() -> Vec<Trial> {
    let mut trials = Vec::new();
    let name = |name: &str| format!("transforms::{}::{name}", T::NAME);
    for (boundary_name, boundary) in boundaries::<T>() {
        trials.extend(on_every_backend(SUITE, &name(boundary_name), move |device| lines(device, boundary)));
    }
    trials.extend(on_every_backend(SUITE, &name("axes"), axes::<T>));
    trials.extend(on_every_backend(SUITE, &name("by_bound"), by_bound::<T>));
    trials.extend(on_every_backend(SUITE, &name("badly_scaled"), badly_scaled::<T>));
    trials.extend(on_every_backend(SUITE, &name("not_finite"), not_finite::<T>));
    trials
}

/// Returns the unit roundoff.
fn unit<T>() -> f64 {
    if size_of::<T>() == 4 { f64::from(f32::EPSILON) / 2.0 } else { f64::EPSILON / 2.0 }
}

fn norm<T: Copy + Into<f64>>(numbers: &[T]) -> f64 {
    numbers.iter().map(|&number| number.into().powi(2)).sum::<f64>().sqrt()
}

/// Returns the error that is allowed for samples of this norm: a few roundings. The bound for any data is larger.
fn tolerance<T: Copy + Into<f64>>(norm_of_samples: f64, taps: &[T]) -> f64 {
    12.0 * unit::<T>() * norm_of_samples * norm(taps)
}

/// Returns the norm that samples of two segments can have.
fn largest_norm<T: Copy + Into<f64>>(samples: &[T], boundary: Boundary<T>) -> f64 {
    let outside = if let Boundary::Constant(outside) = boundary { outside.into().abs() } else { 0.0 };
    let largest = samples.iter().map(|&sample| sample.into().abs()).fold(outside, f64::max);
    largest * (2.0 * POINTS as f64).sqrt()
}

fn check<T: Sample + Into<f64>>(case: &Case<'_, T>, actual: &[T], tolerance: f64) -> Result<(), String> {
    if actual.len() != case.output_count() {
        return Err(format!("{} outputs instead of {}", actual.len(), case.output_count()));
    }
    // Of thousands of products in an output, only some outputs, even and odd ones: a wrong sample or weight is in most outputs
    // of a segment.
    let positions = || positions(case).step_by((1 + case.taps.len() / 1000) | 1);
    for (o, exact) in positions().zip(case.outputs(positions())) {
        let Sum::Real(exact) = exact else { unreachable!("sums of floats are real") };
        let error = ((actual[o].into() - exact.sum) - exact.rest).abs();
        if error.is_nan() || error > tolerance {
            return Err(format!("output {o} is {}, expected {exact:?} within {tolerance:e}", actual[o]));
        }
    }
    Ok(())
}

fn lines<T: Sample + Into<f64>>(device: &Device, boundary: Boundary<T>) -> Result<(), Failed> {
    let lines = if is_slow(device) { &FEW_LINES[..] } else { &LINES[..] };
    for (&(samples, taps), extent) in lines.iter().flat_map(|line| EXTENTS.map(|extent| (line, extent))) {
        let (x, taps) = (Random::new(samples as u64).values::<T>(samples), Random::new(4).values::<T>(taps));
        let case = Case { x: &x, taps: &taps, direction: direction(taps.len()), boundary, extent };
        let filter = filter(&case).algorithm(Filter1dAlgorithm::Fft).prepare(device)?;
        check(&case, &filter.apply(&x)?, tolerance(largest_norm(&x, boundary), &taps))
            .map_err(|error| format!("{samples} samples, {} taps, {extent:?}: {error}", taps.len()))?;
    }
    Ok(())
}

/// Matrices with gaps, along both axes, with odd and even numbers of lines.
fn axes<T: Sample + Into<f64>>(device: &Device) -> Result<(), Failed> {
    for (axis, shape, taps) in
        [(0, [300, 3], 40), (0, [4200, 4], 33), (1, [3, 300], 40), (1, [4, 4200], 33), (1, [1, 9], 3), (0, [9, 1], 2)]
    {
        let taps = Random::new(5).values::<T>(taps);
        let wide = Array2::from_shape_vec([shape[0], shape[1] + 3], Random::new(6).values(shape[0] * (shape[1] + 3)))?;
        let matrix = wide.slice(s![.., ..shape[1]]);
        let filter = Filter1d::correlate(&taps).boundary(Boundary::Mirror).algorithm(Filter1dAlgorithm::Fft);
        let filter = filter.prepare(device)?.along(axis);
        let pitched = Buffer2::upload_pitched(device, matrix, shape[1] + 3)?;
        for outputs in [filter.apply(matrix)?, filter.apply(&pitched)?.download()?] {
            for (line, actual) in
                matrix.lanes(slm::ndarray::Axis(axis)).into_iter().zip(outputs.lanes(slm::ndarray::Axis(axis)))
            {
                let (x, actual) = (line.to_vec(), actual.to_vec());
                let direction = super::Direction::Correlate;
                let case = Case { x: &x, taps: &taps, direction, boundary: Boundary::Mirror, extent: Extent::Same };
                check(&case, &actual, tolerance(largest_norm(&x, Boundary::Mirror), &taps))
                    .map_err(|error| format!("{shape:?} along {axis}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// What `Auto` computes if transforms are allowed: lines that are shorter than the taps, and longer ones, along both axes.
fn by_bound<T: Sample + Into<f64>>(device: &Device) -> Result<(), Failed> {
    let taps = Random::new(15).values::<T>(301);
    for (samples, extent) in [(0, Extent::Same), (100, Extent::Full), (320, Extent::Valid), (7000, Extent::Same)] {
        let x = Random::new(16).values::<T>(samples);
        let (direction, boundary) = (super::Direction::Convolve, Boundary::Constant(T::random(17)));
        let case = Case { x: &x, taps: &taps, direction, boundary, extent };
        let filter = filter(&case).error_bound(ErrorBound::PerSegment).prepare(device)?;
        let allowed = tolerance(largest_norm(&x, boundary), &taps);
        check(&case, &filter.apply(&x)?, allowed).map_err(|error| format!("{samples} samples: {error}"))?;
        let column = Array2::from_shape_vec([samples, 1], x.clone())?;
        let outputs = filter.along(0).apply(&column)?.into_raw_vec_and_offset().0;
        check(&case, &outputs, allowed).map_err(|error| format!("{samples} samples down a column: {error}"))?;
    }
    Ok(())
}

/// Parts of a line: of a stream, and on several devices.
fn parts(device: &Device) -> Result<(), Failed> {
    let (x, taps) = (Random::new(18).values::<f32>(9000), Random::new(19).values::<f32>(401));
    let (direction, boundary) = (super::Direction::Correlate, Boundary::Mirror);
    let case = Case { x: &x, taps: &taps, direction, boundary, extent: Extent::Full };
    let filter = filter(&case).algorithm(Filter1dAlgorithm::Fft);
    let allowed = tolerance(largest_norm(&x, boundary), &taps);
    let bytes: Vec<u8> = x.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let mut streamed = Vec::new();
    filter.prepare(device)?.stream(&bytes[..], &mut streamed).memory(100_000).run()?;
    let outputs: Vec<f32> = streamed.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    check(&case, &outputs, allowed).map_err(|error| format!("a stream: {error}"))?;
    let devices = Devices::new([device.clone(), device.queue()?])?;
    let outputs = filter.prepare_on(&devices)?.apply(&devices.distribute(&x)?)?.download()?;
    check(&case, &outputs, allowed).map_err(|error| format!("two devices: {error}"))?;
    Ok(())
}

/// An impulse of 10^6 beside noise: errors are relative to the norm of its segment, and in other segments to theirs.
fn badly_scaled<T: Sample + Into<f64> + From<f32>>(device: &Device) -> Result<(), Failed> {
    let taps: Vec<T> = Random::new(8).values(301);
    let mut x: Vec<T> = Random::new(9).values(60_000);
    x[1000] = T::from(1e6);
    let filter = Filter1d::correlate(&taps).algorithm(Filter1dAlgorithm::Fft).prepare(device)?;
    let outputs = filter.apply(&x)?;
    let case = |x| Case {
        x,
        taps: &taps,
        direction: super::Direction::Correlate,
        boundary: Boundary::Zero,
        extent: Extent::Same,
    };
    check(&case(&x), &outputs, tolerance(norm(&x[..2 * POINTS]), &taps))?;
    // A pair of segments has fewer outputs.
    let far = 2 * POINTS + 1000;
    let (rest, noise) = (&x[far..], norm(&x[far..far + 2 * POINTS]));
    let of_rest: Vec<T> = outputs[far + 150..].to_vec();
    for (o, exact) in (150..rest.len()).step_by(7).zip(case(rest).outputs((150..rest.len()).step_by(7))) {
        let Sum::Real(exact) = exact else { unreachable!("sums of floats are real") };
        let error = (of_rest[o - 150].into() - exact.sum).abs();
        if error.is_nan() || error > tolerance(noise, &taps) {
            return Err(format!("output {} is {}, expected {exact:?}", o + far, of_rest[o - 150]).into());
        }
    }
    Ok(())
}

/// A NaN or an infinity affects at least the outputs that depend on it, and at most those that are transformed together with one of them.
fn not_finite<T: Sample + Into<f64> + From<f32>>(device: &Device) -> Result<(), Failed> {
    let taps = [T::from(1.0); 101];
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut x = vec![T::from(1.0); 60_000];
        x[30_000] = T::from(bad);
        let filter = Filter1d::correlate(&taps).algorithm(Filter1dAlgorithm::Fft).prepare(device)?;
        let outputs = filter.apply(&x)?;
        let is_bad = |o: usize| !outputs[o].into().is_finite();
        equal((29_950..=30_050).all(is_bad), true)?;
        let first = (0..outputs.len()).find(|&o| is_bad(o)).ok_or("no output is affected")?;
        let last = (0..outputs.len()).rfind(|&o| is_bad(o)).ok_or("no output is affected")?;
        let together = together(&filter, taps.len(), x.len())?;
        if first < 29_950 / together * together || last >= (30_050 / together + 1) * together {
            return Err(format!("{bad} at 30000 affects {first} to {last}, {together} are transformed together").into());
        }
    }
    Ok(())
}

/// Returns the number of outputs that are transformed together: those of a segment, or of a pair of segments on GPUs.
fn together<T: Sample>(filter: &PreparedFilter1d<T>, taps: usize, samples: usize) -> Result<usize, Failed> {
    let method = filter.plan([samples])?.details.method;
    let Filter1dMethod::Transforms { points } = method else { return Err(format!("{method:?}").into()) };
    let segments = if filter.device().info().backend == Backend::Cpu { 1 } else { 2 };
    Ok(segments * (points - taps + 1))
}

fn refused(device: &Device) -> Result<(), Failed> {
    let refused = |sample, tap, channels| Some(Error::from(Filter1dError::NoTransforms { sample, tap, channels }));
    let fft = Filter1dAlgorithm::Fft;
    equal(Filter1d::correlate(&[1, 2]).algorithm(fft).prepare(device).err(), refused("i32", "i32", 1))?;
    equal(
        Filter1d::correlate(&[1.0f32]).samples::<u8>().algorithm(fft).prepare(device).err(),
        refused("u8", "f32", 1),
    )?;
    equal(Filter1d::correlate(&[1.0f64]).channels(3).algorithm(fft).prepare(device).err(), refused("f64", "f64", 3))?;
    let text = "Fourier transforms filter one channel of f32 or f64 with taps of the same type, not 1 channel of i32 with taps of i32";
    let error = Filter1d::correlate(&[1, 2]).algorithm(fft).prepare(device).err();
    equal(error.map(|error| error.to_string()), Some(text.to_owned()))
}

/// `Auto` takes transforms if the bound allows it, for many taps and outputs.
fn chosen(device: &Device) -> Result<(), Failed> {
    if device.info().backend == Backend::Cpu {
        return Ok(());
    }
    let kernels = |taps: usize, bound, samples: usize| -> slm::Result<String> {
        let filter = Filter1d::correlate(&vec![1.0f32; taps]).error_bound(bound).prepare(device)?;
        Ok(filter.plan([samples])?.kernels().concat())
    };
    let (long, direct) = (1 << 24, "filter1d_register_rows_f32");
    equal(&*kernels(1001, ErrorBound::PerOutput, long)?, direct)?;
    equal(&*kernels(385, ErrorBound::PerSegment, long)?, "filter1d_fft_f32_4096")?;
    // Some emulated devices have too little shared memory for more points.
    let of_3001 = kernels(3001, ErrorBound::PerSegment, long)?;
    equal(["filter1d_fft_f32_8192", "filter1d_fft_parts_f32_4096"].contains(&&*of_3001), true)?;
    equal(&*kernels(9001, ErrorBound::PerSegment, long)?, "filter1d_fft_parts_f32_4096")?;
    equal(&*kernels(3, ErrorBound::PerSegment, long)?, direct)?;
    // The shortest launch of transforms takes less time than that of sums.
    equal(&*kernels(3, ErrorBound::PerSegment, 100)?, "filter1d_fft_f32_1024")
}
