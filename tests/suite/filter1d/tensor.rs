//! Filters on tensor cores: the outputs of the oracle, exactly.

use super::oracle::{Case, Direction};
use super::{EXTENTS, SUITE, boundaries, direction, filter, positions};
use crate::common::{Random, equal, is_slow, on_every_backend, same};
use libtest_mimic::{Failed, Trial};
use slm::distributed::Devices;
use slm::filter1d::{Filter1dAlgorithm, Filter1dError};
use slm::ndarray::Array2;
use slm::{Backend, Buffer2, Device, Error, Filter1d};

/// Samples and taps: one block and several, all remainders of the numbers of steps.
const LINES: [(usize, usize); 16] = [
    (0, 5),
    (1, 1),
    (1, 40),
    (2, 257),
    (2047, 2),
    (2048, 17),
    (2049, 18),
    (5000, 49),
    (4096, 65),
    (9001, 100),
    (70_001, 129),
    (30_000, 257),
    (30_000, 500),
    (12_345, 1025),
    (20_000, 4097),
    (300, 5000),
];

/// Those of emulated devices, where products take long: 1, 2, 3, 4 and 8 steps. One block has all its samples inside of the line.
const FEW_LINES: [(usize, usize); 7] = [(1, 1), (5, 15), (2060, 19), (2200, 5), (200, 70), (300, 110), (100, 230)];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, boundary) in boundaries::<i32>() {
        let test = move |device: &Device| lines(device, boundary);
        trials.extend(on_every_backend(SUITE, &format!("tensor::{name}"), where_possible(test)));
    }
    trials.extend(on_every_backend(SUITE, "tensor::largest", where_possible(largest)));
    trials.extend(on_every_backend(SUITE, "tensor::matrices", where_possible(matrices)));
    trials.extend(on_every_backend(SUITE, "tensor::parts", where_possible(parts)));
    trials.extend(on_every_backend(SUITE, "tensor::chosen", where_possible(chosen)));
    trials.extend(on_every_backend(SUITE, "tensor::refused", where_possible(refused)));
    trials
}

/// Returns a test that expects the error of an older GPU there.
fn where_possible(
    test: impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static,
) -> impl Fn(&Device) -> Result<(), Failed> + Send + Sync + 'static {
    move |device| match device.info().compute_capability {
        Some(found) if found < (8, 0) => {
            let filter = Filter1d::correlate(&[1]).algorithm(Filter1dAlgorithm::TensorCore);
            equal(filter.prepare(device).err(), Some(Filter1dError::NoTensorCores { found }.into()))
        }
        _ => test(device),
    }
}

fn lines(device: &Device, boundary: slm::Boundary<i32>) -> Result<(), Failed> {
    let lines = if is_slow(device) { &FEW_LINES[..] } else { &LINES[..] };
    for (&(samples, taps), extent) in lines.iter().flat_map(|line| EXTENTS.map(|extent| (line, extent))) {
        let (x, taps) = (Random::new(70).values::<i32>(samples), Random::new(71).values::<i32>(taps));
        let case = Case { x: &x, taps: &taps, direction: direction(taps.len()), boundary, extent };
        let outputs = filter(&case).algorithm(Filter1dAlgorithm::TensorCore).prepare(device)?.apply(&x)?;
        check(&case, &outputs)?;
    }
    Ok(())
}

fn check(case: &Case<'_, i32>, actual: &[i32]) -> Result<(), Failed> {
    use super::oracle::Sum;
    equal(actual.len(), case.output_count())?;
    let numbers: Vec<usize> = positions(case).collect();
    for (output, expected) in numbers.iter().copied().zip(case.outputs(numbers.iter().copied())) {
        if expected != Sum::Wrapped(actual[output]) {
            let (samples, taps) = (case.x.len(), case.taps.len());
            let which = format!("{samples} samples, {taps} taps, {:?}, {:?}", case.boundary, case.extent);
            return Err(format!("{which}: output {output} is {}, not {expected:?}", actual[output]).into());
        }
    }
    Ok(())
}

/// Numbers whose limbs are 0 or 255, so that sums of limbs are the largest.
fn largest(device: &Device) -> Result<(), Failed> {
    let count = if is_slow(device) { 60 } else { 3000 };
    for (tap, sample) in [(-1, -1), (-1, i32::MIN), (i32::MAX, i32::MAX), (-256, 0x00ff_00ff), (1, -1)] {
        let (taps, x) = (vec![tap; count], vec![sample; 2 * count]);
        let case = Case {
            x: &x,
            taps: &taps,
            direction: Direction::Correlate,
            boundary: slm::Boundary::Zero,
            extent: slm::Extent::Full,
        };
        check(&case, &filter(&case).algorithm(Filter1dAlgorithm::TensorCore).prepare(device)?.apply(&x)?)?;
    }
    Ok(())
}

/// Rows and columns, with and without gaps and alignment, as by sums.
fn matrices(device: &Device) -> Result<(), Failed> {
    // Without the columns of the last one: thousands of lines of two samples take long on an emulated device.
    let shapes = [(1, 40, 0, 0..2), (40, 1, 2, 0..2), (3, 64, 0, 0..2), (5, 67, 3, 0..2), (2, 2100, 1, 1..2)];
    for (rows, columns, gap, axes) in shapes {
        let (taps, samples) = (Random::new(72).values::<i32>(21), Random::new(73).values::<i32>(rows * columns));
        let matrix = Array2::from_shape_vec((rows, columns), samples)?;
        let pitched = Buffer2::upload_pitched(device, &matrix, columns + gap)?;
        let filter = Filter1d::convolve(&taps).extent(slm::Extent::Full).boundary(slm::Boundary::Mirror);
        let products = filter.clone().algorithm(Filter1dAlgorithm::TensorCore).prepare(device)?;
        let sums = filter.prepare(&Device::cpu())?;
        for axis in axes {
            let expected = sums.along(axis).apply(&matrix)?;
            equal(products.along(axis).apply(&matrix)?, expected.clone())?;
            equal(products.along(axis).apply(&pitched)?.download()?, expected)?;
        }
    }
    Ok(())
}

/// Streams and several devices have the outputs of the whole line.
fn parts(device: &Device) -> Result<(), Failed> {
    let samples = Random::new(74).values::<i32>(700);
    let filter = Filter1d::correlate(&Random::new(75).values::<i32>(22)).algorithm(Filter1dAlgorithm::TensorCore);
    let (prepared, mut outputs) = (filter.prepare(device)?, Vec::new());
    let expected = filter.prepare(&Device::cpu())?.apply(&samples)?;
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    prepared.stream(&bytes[..], &mut outputs).memory(1).run()?;
    same(&outputs, &expected.iter().flat_map(|output| output.to_le_bytes()).collect::<Vec<u8>>())?;
    let devices = Devices::new([device.clone(), Device::cpu()])?;
    let matrix = Array2::from_shape_vec((samples.len(), 1), samples)?;
    same(&filter.prepare_on(&devices)?.apply(&devices.distribute(&matrix)?)?.download()?, &expected)
}

/// `Auto` takes tensor cores for long filters.
fn chosen(device: &Device) -> Result<(), Failed> {
    let plan = |taps: usize, outputs: usize| {
        let filter = Filter1d::correlate(&vec![1; taps]).prepare(device)?;
        slm::Result::Ok(filter.plan([outputs])?.launches.first().map(|launch| launch.kernel.to_owned()))
    };
    // Folded taps would fit into shared memory, and all of them do not.
    let many = Filter1d::correlate(&vec![1; 70_000]).boundary(slm::Boundary::Wrap).prepare(device)?;
    equal(many.plan([5000])?.outputs, vec![5000])?;
    if device.info().backend == Backend::Cpu {
        return Ok(());
    }
    equal(plan(257, 1 << 20)?.as_deref(), Some("filter1d_tensor_i32"))?;
    equal(plan(3, 1 << 20)?.as_deref(), Some("filter1d_register_rows_i32"))?;
    equal(plan(3, 100)?.as_deref(), Some("filter1d_register_rows_i32"))
}

fn refused(device: &Device) -> Result<(), Failed> {
    let refused = |sample, tap, channels| Some(Error::from(Filter1dError::NotOnTensorCores { sample, tap, channels }));
    let ones = Filter1d::correlate(&[1.0f32]).algorithm(Filter1dAlgorithm::TensorCore);
    equal(ones.prepare(device).err(), refused("f32", "f32", 1))?;
    equal(ones.samples::<i32>().prepare(device).err(), refused("i32", "f32", 1))?;
    let ones = Filter1d::correlate(&[1]).algorithm(Filter1dAlgorithm::TensorCore);
    equal(ones.clone().channels(2).prepare(device).err(), refused("i32", "i32", 2))?;
    equal(ones.samples::<u8>().prepare(device).err(), refused("u8", "i32", 1))?;
    // The samples of a block and of the taps' matrix must fit into shared memory.
    let Some(shared) = device.info().shared_memory else { return Ok(()) };
    let many = Filter1d::correlate(&vec![1; 1 << 17]).algorithm(Filter1dAlgorithm::TensorCore);
    match many.prepare(device).err() {
        Some(Error::SharedMemoryExceeded { requested, available, .. }) => {
            equal((available, requested > available), (shared.max_per_block, true))
        }
        other => Err(format!("{other:?}").into()),
    }
}
